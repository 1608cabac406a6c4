import { expect, test } from 'vitest'
import { play } from '../playing.ts'
import { page } from '../stories/pages.ts'

test('the message on failed requests of a gateway names the upstream that most of them failed at', () => {
  const [message] = play('gateway', [gateway({}), gateway({ ok: 90, bad: 12, worse: 1 })]).messages
  expect(message?.body).toContain('mostly: b')
  expect(message?.body).toContain('Look at that upstream')
})

test('no upstream is named where the failures are spread', () => {
  const [message] = play('gateway', [gateway({}), gateway({ ok: 90, bad: 6, worse: 6 })]).messages
  expect(message?.body).toMatch(/^Failed requests: 12 % \(limit 5 %\)\.$/m)
})

test("the server's own word for most errors is in the message", () => {
  const tgi = (failed: number) =>
    page({ tgi_queue_size: 0, tgi_request_success: 100 + failed, 'tgi_request_failure{err="overloaded"}': failed })
  const [message] = play('tgi', [tgi(0), tgi(40)]).messages
  expect(message?.body).toContain('mostly: overloaded')
})

test('an upstream that the gateway does not name is told when it is unhealthy, and when it is healthy again', () => {
  const pages = [1, 0, 1, 1].map((health) => `${gateway({})}upstream_health ${health}\n`)
  const { messages } = play('gateway', pages)
  expect(messages.map(({ title }) => title)).toEqual([
    expect.stringContaining('upstream is unhealthy'),
    expect.stringContaining('upstream is healthy again'),
  ])
})

test('what is over is told with the reason it was about', () => {
  const rejected = (n: number) =>
    `${gateway({})}admission_rejected_total{reason="kv"} ${n}\nadmission_rejected_total{reason="cap"} ${n}\n`
  const { messages } = play('gateway', [rejected(0), rejected(5), rejected(5), rejected(5)])
  expect(messages).toHaveLength(2)
  expect(messages[1]?.body).toMatch(/kv: /)
  expect(messages[1]?.body).toMatch(/cap: /)
})

test("a gateway's line of the last runs is its KV cache", () => {
  const kv = (share: number) => gateway({}).replace('vllm_kv_usage_perc 0.3', `vllm_kv_usage_perc ${share}`)
  const { messages } = play('gateway', [kv(0.5), kv(0.8), kv(0.95)], { GATEWAY_KV_CACHE_FOR: '0s' })
  expect(messages[0]?.body).toMatch(/^KV .* 50 % → 95 %/m)
})

test('a gateway whose requests take minutes is not said to stand still', () => {
  const full = gateway({ ok: 5 }).replace('vllm_kv_usage_perc 0.3', 'vllm_kv_usage_perc 0.95')
  const { messages, last } = play('gateway', [full, full, full], { GATEWAY_KV_CACHE_FOR: '1m' })
  expect(messages[0]?.body).not.toContain('makes no progress')
  expect(last?.alerts).toEqual({ kv_cache: 'firing' })
  expect(last?.verdict).toBeUndefined()
})

test('a value that cannot be is told as such, not as missing', () => {
  const pages = [0.2, 7, 7].map((kv) => gateway({}).replace('vllm_kv_usage_perc 0.3', `vllm_kv_usage_perc ${kv}`))
  const [message] = play('gateway', pages).messages
  expect(message?.title).toContain('cannot be believed')
  expect(message?.body).toContain('publishes values that cannot be: KV cache use')
})

test('a GPU is told with what a person calls it, also when it is over', () => {
  const hot = (celsius: number) => page({ 'DCGM_FI_DEV_GPU_TEMP{gpu="3",UUID="GPU-1",modelName="NVIDIA L4"}': celsius })
  const { messages } = play('dcgm', [hot(91), hot(60), hot(60)], { GPU_TEMPERATURE_FOR: '0s', BLIND_LIMIT: 'off' })
  expect(messages.map(({ body }) => body.split(':')[0])).toEqual(['gpu 3 (L4)', '“gpu 3 (L4)'])
})

/** Requests answered by upstream a, failed at upstream b, failed at upstream c. */
function gateway(requests: { ok?: number; bad?: number; worse?: number }): string {
  return page({
    vllm_requests_running: 1,
    vllm_kv_usage_perc: 0.3,
    'request_total{route="/v1",upstream="a",status="200"}': requests.ok ?? 0,
    'request_total{route="/v1",upstream="b",status="502"}': requests.bad ?? 0,
    'request_total{route="/v1",upstream="c",status="500"}': requests.worse ?? 0,
  })
}
