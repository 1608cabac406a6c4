import { expect, test } from 'vitest'
import { type PastWorkload, verdict, type Workload } from '../../src/verdict/verdict.ts'

const PAST: PastWorkload = {
  arrivalsPerSecond: 1,
  ceiling: 1200,
  tokensPerSecond: 400,
  timePerToken: 0.02,
  promptTokensPerRequest: 500,
  outputTokensPerRequest: 300,
  preemptionsPerSecond: 0,
  running: 10,
}

const WELL: Workload = {
  seconds: 60,
  finished: 60,
  arrivalsPerSecond: 1,
  tokensPerSecond: 400,
  timePerToken: 0.02,
  promptTokensPerRequest: 500,
  outputTokensPerRequest: 300,
  preemptionsPerSecond: 0,
  waiting: 0,
  running: 10,
  kvCache: 0.4,
  noProgress: false,
  restarted: false,
}

const OVERLOADED: Partial<Workload> = { waiting: 40, arrivalsPerSecond: 3, tokensPerSecond: 1150, timePerToken: 0.03 }
const FULL: Partial<Workload> = { waiting: 8, kvCache: 0.97, preemptionsPerSecond: 0.5 }

/** [row of the table, the work of now, the verdict]; what is not said is as usual. */
const ROWS: [string, Partial<Workload>, string | undefined][] = [
  ['1: the counters began anew, whatever else', { ...OVERLOADED, restarted: true, noProgress: true }, 'restarted'],
  ['2: work inside and no progress', { noProgress: true, waiting: 5, running: 3, tokensPerSecond: 0 }, 'stalled'],
  ['3: all is well', {}, undefined],
  ['3: three times the requests, and nobody waits', { arrivalsPerSecond: 3, tokensPerSecond: 1190 }, undefined],
  ['3: a lull needs fewer tokens', { arrivalsPerSecond: 0.3, tokensPerSecond: 100 }, undefined],
  ['4: prompts eight times longer', { waiting: 4, promptTokensPerRequest: 4000, timePerToken: 0.05 }, 'heavier'],
  ['4: answers three times longer', { waiting: 4, outputTokensPerRequest: 900, tokensPerSecond: 1100 }, 'heavier'],
  ['4: longer by more than arrivals rose', { ...OVERLOADED, finished: 120, promptTokensPerRequest: 4000 }, 'heavier'],
  [
    '4: tokens come before their slowed requests finish, so length is not the cause',
    { waiting: 9, finished: 20, promptTokensPerRequest: 1500, tokensPerSecond: 140, timePerToken: 0.06 },
    'broke',
  ],
  ['5: three times the requests at the ceiling', OVERLOADED, 'load-grew'],
  ['5: the same with a full cache', { ...OVERLOADED, ...FULL, waiting: 40 }, 'load-grew'],
  ['5: arrivals rose by more than length', { ...OVERLOADED, promptTokensPerRequest: 900 }, 'load-grew'],
  ['6: the cache overflows at the usual load', { ...FULL, tokensPerSecond: 300, running: 8 }, 'cache-full'],
  ['6: the gauge fell just after a preemption', { ...FULL, kvCache: 0.6 }, 'cache-full'],
  ['6: a full cache without preemptions is no verdict', { ...FULL, preemptionsPerSecond: 0 }, undefined],
  [
    '7: full, but a step takes three times as long',
    { ...FULL, running: 12, tokensPerSecond: 140, timePerToken: 0.09 },
    'broke',
  ],
  [
    '7: three times the time per token at the usual load',
    { waiting: 3, timePerToken: 0.06, tokensPerSecond: 390 },
    'broke',
  ],
  ['7: a third of the tokens while requests wait', { waiting: 30, tokensPerSecond: 130, finished: 4 }, 'broke'],
  [
    '7: more requests come, far below the ceiling, slowly',
    { ...OVERLOADED, tokensPerSecond: 200, timePerToken: 0.08 },
    'broke',
  ],
  [
    '8: more requests wait, far below the ceiling, at the usual speed',
    { ...OVERLOADED, tokensPerSecond: 600, timePerToken: 0.021 },
    undefined,
  ],
  ['8: a bigger batch is somewhat slower', { waiting: 2, timePerToken: 0.032, tokensPerSecond: 420 }, undefined],
  [
    '8: fewer tokens because fewer requests come',
    { waiting: 1, tokensPerSecond: 130, arrivalsPerSecond: 0.4, finished: 24 },
    undefined,
  ],
]

test.each(ROWS)('row %s', (_, now, kind) => {
  expect(verdict({ ...WELL, ...now }, PAST)?.kind).toBe(kind)
})

test('chance: five requests instead of two in five minutes are no grown load', () => {
  const past = { ...PAST, arrivalsPerSecond: 2 / 300 }
  const now = { ...WELL, ...OVERLOADED, seconds: 300, finished: 5, arrivalsPerSecond: 5 / 300 }
  expect(verdict(now, past)).toBeUndefined()
})

test('chance: a few long prompts among few finished requests are no heavier load', () => {
  const now = { ...WELL, waiting: 2, finished: 6, promptTokensPerRequest: 1100 }
  expect(verdict(now, PAST)).toBeUndefined()
})

test('case 30, 31: with no past, or a past of zeros, there is no verdict', () => {
  const zeros = { arrivalsPerSecond: 0, ceiling: 0, tokensPerSecond: 0, timePerToken: 0, promptTokensPerRequest: 0 }
  for (const [, now] of ROWS) {
    if (now.restarted || now.noProgress) continue
    expect(verdict({ ...WELL, ...now }, {})).toBeUndefined()
    expect(verdict({ ...WELL, ...now }, zeros)).toBeUndefined()
  }
})

test('without tokens (embeddings) finished requests take their place', () => {
  const past = { arrivalsPerSecond: 20 }
  const base = { seconds: 60, waiting: 100, noProgress: false, restarted: false }
  expect(verdict({ ...base, finished: 1500, arrivalsPerSecond: 60 }, past)?.kind).toBe('load-grew')
  expect(verdict({ ...base, finished: 300, arrivalsPerSecond: 21 }, past)?.kind).toBe('broke')
  expect(verdict({ ...base, finished: 1190, arrivalsPerSecond: 21 }, past)).toBeUndefined()
})

test('case 37, 53: requests wait and nothing finishes, so latency says nothing: the queue and the tokens do', () => {
  const now = { ...WELL, finished: 0, waiting: 40, tokensPerSecond: 0 }
  const { timePerToken: _, promptTokensPerRequest: __, outputTokensPerRequest: ___, ...unknown } = now
  expect(verdict(unknown, PAST)?.kind).toBe('broke')
})

test('the ratios say what the verdict rests on, and only what is known', () => {
  const { preemptionsPerSecond: _, ...past } = PAST
  expect(verdict({ ...WELL, ...OVERLOADED }, past)).toEqual({
    kind: 'load-grew',
    arrivals: 3,
    tokensPerSecond: 1150 / 400,
    timePerToken: 1.5,
    promptTokens: 1,
    outputTokens: 1,
  })
})
