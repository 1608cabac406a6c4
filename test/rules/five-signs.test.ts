import { expect, test } from 'vitest'
import { configOf, messagesOf, playRuns } from '../playing.ts'
import { vllm } from '../stories/pages.ts'

const own = (name: string, labels = '') => `vllm:${name}{engine="0",model_name="m"${labels}}`
const CHAT = 'http_requests_total{handler="/v1/chat/completions",method="POST",status="5xx"}'

/** A busy engine; from minute 5 on it shows five signs of failure at once. */
function page(minute: number): string {
  const bad = Math.max(0, minute - 4)
  return vllm({
    running: 8,
    finished: 60 * minute,
    tokens: 6_000 * minute,
    more: {
      [CHAT]: 30 * bad,
      [own('admission_rejections_total', ',reason="max_num_queued_reqs"')]: 3 * bad,
      [own('corrupted_requests_total')]: bad,
      [own('nixl_num_failed_transfers_total')]: 2 * bad,
      [own('engine_healthy')]: bad > 0 ? 0 : 1,
    },
  })
}

test('five signs of failure at once are told within two runs, the worst first, in one message', () => {
  const runs = Array.from({ length: 12 }, (_, minute) => ({ at: minute * 60_000, seen: () => page(minute) }))
  const played = playRuns(configOf('vllm'), runs)
  const messages = played.flatMap((run, minute) => messagesOf(run).map((message) => ({ minute, ...message })))
  const [first, ...more] = messages
  expect([first?.minute, first?.priority]).toEqual([5, 9])
  expect(first?.title).toContain('engine is unhealthy')
  for (const sign of ['answered with garbage', 'HTTP 5xx', 'refused at admission', 'KV transfers failed'])
    expect(first?.body).toContain(sign)
  expect(more).toEqual([])
})
