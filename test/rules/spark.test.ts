import { expect, test } from 'vitest'
import { play } from '../playing.ts'

const page = (waiting: number) => `vllm:num_requests_waiting{model_name="m"} ${waiting}
vllm:num_requests_running{model_name="m"} 8
vllm:kv_cache_usage_perc{model_name="m"} 0.3
`

test.each([
  ['a minute', 60_000, '1 → 42 in 3 min'],
  ['20 s', 20_000, '1 → 42 in 60 s'],
  ['5 s', 5_000, '1 → 42 in 15 s'],
])('a run each %s: the line of the queue says the time that it spans', (_gap, gap, said) => {
  const { messages } = play('vllm', [1, 5, 11, 42].map(page), {}, gap)
  expect(messages.map(({ body }) => body).join()).toContain(said)
})

test.each([
  ['that goes on', [0.3, 0.4, 0.5, 0.6, 0.7, 0.8], true],
  ['that has come to a stand', [0.3, 0.4, 0.5, 0.6, 0.7, 0.7], false],
])('a rise of the KV cache %s: %s, told ahead: %s', (_, rise, isForeseen) => {
  const pages = rise.map((kv, minute) => page(minute < 5 ? 1 : 42).replace(/0\.3$/m, String(kv)))
  const { messages } = play('vllm', pages)
  expect(messages.some(({ body }) => body.includes('the KV cache is full in'))).toBe(isForeseen)
})
