import { expect, test } from 'vitest'
import { rulerOf } from '../../src/verdict/ruler.ts'
import type { PastWorkload, Workload } from '../../src/verdict/verdict.ts'

const PAST: PastWorkload = { ceiling: 1_050, outputTokensPerRequest: 300 }
const NOW: Workload = {
  seconds: 60,
  finished: 190,
  arrivalsPerSecond: 4.6,
  tokensPerSecond: 1_000,
  noProgress: false,
  restarted: false,
}
const rule = (
  now: Partial<Workload> = {},
  kind: 'load-grew' | 'heavier' | 'broke' = 'load-grew',
  beside: number[] = [],
) => rulerOf({ ...NOW, ...now }, PAST, kind, beside)

test('one replica manages its ceiling of tokens at the usual length', () => {
  expect(rule()).toEqual({ manages: 3.5, comes: 4.6, replicas: 1, needed: 2 })
})

test('of a group all that comes counts', () => {
  expect(rule({}, 'load-grew', [4.4, 3])).toEqual({ manages: 3.5, comes: 12, replicas: 3, needed: 4 })
})

test('of heavier requests it manages those that finish', () => {
  expect(rule({ finished: 60 }, 'heavier')).toMatchObject({ manages: 1, needed: 5 })
})

test('without tokens (embeddings) too', () => {
  const { tokensPerSecond: _, ...work } = NOW
  expect(rulerOf({ ...work, finished: 120 }, {}, 'load-grew', [])).toMatchObject({ manages: 2, needed: 3 })
})

test.each([
  ['fewer than 20 finished requests', { finished: 19 }, 'load-grew', []],
  ['what comes is not known', { arrivalsPerSecond: undefined }, 'load-grew', []],
  ['it does not work at its ceiling', {}, 'broke', []],
  ['what comes is no more than they manage', {}, 'load-grew', [1.1]],
] as const)('none where %s', (_, now, kind, beside) => {
  expect(rule(now as Partial<Workload>, kind, [...beside])).toBeUndefined()
})

test('none where a replica does not say what comes to it', () => {
  expect(rulerOf(NOW, PAST, 'load-grew', undefined)).toBeUndefined()
})
