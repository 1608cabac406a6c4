import { expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { emptyState } from '../../src/state/schema.ts'

const MINUTE = 60_000

/** Rules of the notifications of runs at these times, in milliseconds. */
function follow(times: readonly number[]): string[] {
  const parsed = parseConfig('vllm', { VLLM_ENDPOINTS: 'a=http://127.0.0.1:1001' }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  let state = emptyState()
  const told: string[] = []
  for (const now of times) {
    const evaluation = evaluate(state, [], parsed.config, now)
    told.push(...evaluation.notifications.map(({ rule }) => rule))
    state = evaluation.state
  }
  return told
}

test('case 99: two copies seconds apart do not make the time between their pairs a gap', () => {
  const pairs = Array.from({ length: 12 }, (_, i) => [i * 2 * MINUTE, i * 2 * MINUTE + 2_000]).flat()
  expect(follow(pairs)).toEqual([])
  expect(follow([...pairs, 40 * MINUTE])).toEqual(['gap'])
})

test('a schedule that became rarer is told once, until its interval is learned', () => {
  const often = Array.from({ length: 12 }, (_, i) => i * MINUTE)
  const rarer = Array.from({ length: 12 }, (_, i) => (16 + i * 5) * MINUTE + (i % 2) * 2_000)
  expect(follow([...often, ...rarer])).toEqual(['gap'])
  expect(follow([...often, ...rarer, 100 * MINUTE])).toEqual(['gap', 'gap'])
})

test('of two gaps in a row, each is told', () => {
  const often = Array.from({ length: 12 }, (_, i) => i * MINUTE)
  expect(follow([...often, 16 * MINUTE, 36 * MINUTE, 37 * MINUTE])).toEqual(['gap', 'gap'])
  expect(follow([...often, 16 * MINUTE, 17 * MINUTE, 22 * MINUTE])).toEqual(['gap', 'gap'])
})

test('a gap names the function, and its shard, that did not run', () => {
  const parsed = parseConfig('vllm', { VLLM_ENDPOINTS: 'a=http://127.0.0.1:1001' }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const state = { ...emptyState(), gaps: Array.from({ length: 5 }, () => MINUTE), ranAt: 0 }
  const subjectIn = (config: typeof parsed.config) => evaluate(state, [], config, 47 * MINUTE).notifications[0]?.subject
  expect(subjectIn(parsed.config)).toBe('vllm')
  expect(subjectIn({ ...parsed.config, shard: { index: 2, of: 8 } })).toBe('vllm.2-of-8')
})
