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
  firstToken: 0.3,
  transferTime: 0.1,
  accepted: 0.6,
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

const UNEVEN = { of: 'engines' as const, at: ['engine 0'], waiting: 20, idle: 3 }
const OVERLOADED: Partial<Workload> = { waiting: 40, arrivalsPerSecond: 3, tokensPerSecond: 1150, timePerToken: 0.03 }
const FULL: Partial<Workload> = { waiting: 8, kvCache: 0.97, preemptionsPerSecond: 0.5 }

/** [row of the table, the work of now, the verdict]; what is not said is as usual. */
const ROWS: [string, Partial<Workload>, string | undefined][] = [
  ['2: it sleeps, and requests wait', { asleep: true, waiting: 3 }, 'asleep'],
  ['2: it sleeps, and nobody waits', { asleep: true }, undefined],
  ['4: the queue of some while others idle, whatever else', { ...OVERLOADED, uneven: UNEVEN }, 'imbalance'],
  ['5: transfers fail, first tokens are late, nobody queues', { transfersFailed: 3, firstToken: 0.9 }, 'transfer'],
  ['5: transfers take twice as long, first tokens are late', { transferTime: 0.2, firstToken: 0.9 }, 'transfer'],
  ['5: one transfer failed', { transfersFailed: 1, firstToken: 0.9 }, undefined],
  ['5: transfers fail, and first tokens come as usual', { transfersFailed: 30, firstToken: 0.31 }, undefined],
  [
    '5: transfers fail, and a queue explains the late tokens',
    { ...OVERLOADED, transfersFailed: 3, firstToken: 9 },
    'load-grew',
  ],
  [
    '5: those that wait for a transfer are no queue',
    { waiting: 40, deferred: 40, transfersFailed: 9, firstToken: 9 },
    'transfer',
  ],
  ['6: nearly all that wait are deferred', { waiting: 30, deferred: 28 }, 'deferred'],
  ['6: half of them', { waiting: 30, deferred: 15 }, undefined],
  ['10: a third of the usual drafts accepted, each token slower', { accepted: 0.2, timePerToken: 0.026 }, 'draft'],
  ['10: drafts accepted rarely, and tokens come as fast', { accepted: 0.2 }, undefined],
  ['10: somewhat fewer accepted', { accepted: 0.45, timePerToken: 0.026 }, undefined],
  ['10: more requests come', { ...OVERLOADED, accepted: 0.2, timePerToken: 0.04 }, 'load-grew'],
  ['1: the counters began anew, whatever else', { ...OVERLOADED, restarted: true, noProgress: true }, 'restarted'],
  ['3: work inside and no progress', { noProgress: true, waiting: 5, running: 3, tokensPerSecond: 0 }, 'stalled'],
  ['strained: all is well', {}, undefined],
  ['strained: three times the requests, and nobody waits', { arrivalsPerSecond: 3, tokensPerSecond: 1190 }, undefined],
  ['strained: a lull needs fewer tokens', { arrivalsPerSecond: 0.3, tokensPerSecond: 100 }, undefined],
  ['7: prompts eight times longer', { waiting: 4, promptTokensPerRequest: 4000, timePerToken: 0.05 }, 'heavier'],
  ['7: answers three times longer', { waiting: 4, outputTokensPerRequest: 900, tokensPerSecond: 1100 }, 'heavier'],
  ['7: longer by more than arrivals rose', { ...OVERLOADED, finished: 120, promptTokensPerRequest: 4000 }, 'heavier'],
  [
    '7: tokens come before their slowed requests finish, so length is not the cause',
    { waiting: 9, finished: 20, promptTokensPerRequest: 1500, tokensPerSecond: 140, timePerToken: 0.06 },
    'broke',
  ],
  ['8: three times the requests at the ceiling', OVERLOADED, 'load-grew'],
  ['8: the same with a full cache', { ...OVERLOADED, ...FULL, waiting: 40 }, 'load-grew'],
  ['8: arrivals rose by more than length', { ...OVERLOADED, promptTokensPerRequest: 900 }, 'load-grew'],
  ['9: the cache overflows at the usual load', { ...FULL, tokensPerSecond: 300, running: 8 }, 'cache-full'],
  ['9: the gauge fell just after a preemption', { ...FULL, kvCache: 0.6 }, 'cache-full'],
  ['9: a full cache without preemptions is no verdict', { ...FULL, preemptionsPerSecond: 0 }, undefined],
  [
    '11: full, but a step takes three times as long',
    { ...FULL, running: 12, tokensPerSecond: 140, timePerToken: 0.09 },
    'broke',
  ],
  [
    '11: three times the time per token at the usual load',
    { waiting: 3, timePerToken: 0.06, tokensPerSecond: 390 },
    'broke',
  ],
  ['11: a third of the tokens while requests wait', { waiting: 30, tokensPerSecond: 130, finished: 4 }, 'broke'],
  [
    '11: more requests come, far below the ceiling, slowly',
    { ...OVERLOADED, tokensPerSecond: 200, timePerToken: 0.08 },
    'broke',
  ],
  [
    '12: more requests wait, far below the ceiling, at the usual speed',
    { ...OVERLOADED, tokensPerSecond: 600, timePerToken: 0.021 },
    undefined,
  ],
  ['12: a bigger batch is somewhat slower', { waiting: 2, timePerToken: 0.032, tokensPerSecond: 420 }, undefined],
  [
    '12: fewer tokens because fewer requests come',
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

/** What the page says by itself needs no past. */
const SAID = ['restarted', 'asleep', 'stalled', 'imbalance', 'deferred']

test('case 30, 31: with no past, or a past of zeros, there is no verdict but what the page says itself', () => {
  const zeros = { arrivalsPerSecond: 0, ceiling: 0, tokensPerSecond: 0, timePerToken: 0, promptTokensPerRequest: 0 }
  for (const [row, now, kind] of ROWS) {
    const expected = kind !== undefined && SAID.includes(kind) ? kind : undefined
    // Deferred of a past that is too short to know first tokens.
    if (kind === 'transfer' && now.deferred) continue
    expect(verdict({ ...WELL, ...now }, {})?.kind, row).toBe(expected)
    expect(verdict({ ...WELL, ...now }, zeros)?.kind, row).toBe(expected)
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
