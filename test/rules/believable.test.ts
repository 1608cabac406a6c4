import { expect, test } from 'vitest'
import { play } from '../playing.ts'
import { vllm, vllmHistogram } from '../stories/pages.ts'

/** Minutes of a server that finishes 180 requests each. @param seconds as its page says, to the first token. */
function minutes(seconds: number, inside: number): string[] {
  return Array.from({ length: 8 }, (_, minute) => {
    const count = 180 * minute
    const buckets = { '1': 0, '160': seconds <= 160 ? count : 0, '640': count, '+Inf': count }
    const more = vllmHistogram('time_to_first_token_seconds', buckets, count * seconds)
    return vllm({ running: inside, finished: count, tokens: 200 * count, more })
  })
}

test('times that cannot be seconds are unknown, with a note of the unit', () => {
  const { told, last } = play('vllm', minutes(400, 6))
  expect(told.map(({ rule }) => rule)).toEqual([])
  expect(last?.signals.ttft_p99).toBeUndefined()
  expect(last?.notes).toEqual(['ttft: not-seconds'])
})

test.each([
  ['requests that long are inside', 400, 1_200],
  ['a time below the pause between two readings may have come and gone unseen', 59, 6],
])('near miss: %s', (_, seconds, inside) => {
  const { last } = play('vllm', minutes(seconds, inside), { WAITING_LIMIT: 'off' })
  expect(last?.notes).toBeUndefined()
  expect(last?.signals.ttft_p99).toBeGreaterThan(50)
})
