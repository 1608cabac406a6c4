import { describe, expect, test } from 'vitest'
import { litellmBody } from '../../bench/litellm-body.ts'
import { pageOf, readingsOf, totalOf } from './reading.ts'

describe("LiteLLM's labels of persons, keys and teams", () => {
  const body = litellmBody()
  const readings = readingsOf('litellm', body)
  const people = body.match(/^litellm_proxy_total_requests_metric_total/gm)?.length ?? 0

  test('a page of 17,000 series and more than 2 MB has them', () => {
    expect(body.length).toBeGreaterThan(2_000_000)
    expect(body.split('\n').length).toBeGreaterThan(17_000)
  })

  test('are in nothing that is read', () => {
    const page = pageOf('litellm', body)
    const all = JSON.stringify([readings, [...page.samples], [...page.buckets], page.labelSets])
    expect(all).not.toMatch(/person-|sk-hash|key-\d|team-|10\.0\.|agent-/)
  })

  test('are added up: requests, and each bucket of the times', () => {
    expect(totalOf(readings.counters.finished)).toBe((people * (people + 1)) / 2)
    const sets = Object.values(readings.histograms.e2e ?? {})
    expect(sets).toHaveLength(3)
    expect(sets.reduce((n, { counts }) => n + (counts.at(-1) ?? 0), 0)).toBe(28 * people)
    expect(sets[0]?.counts).toEqual(sets[0]?.bounds.concat(Infinity).map((_, i) => (i + 1) * (sets[0]?.counts[0] ?? 0)))
  })

  test('a new person is no restart: the oldest start of a series counts', () => {
    const [first] = Object.values(readings.counters.finished ?? {})
    expect(first?.created).toBe(1_786_114_997.25)
  })
})

test('samples that differ in a dropped label alone add up; of a label set without one the order does not matter', () => {
  const total = 'litellm_proxy_total_requests_metric_total'
  const body = [
    `${total}{requested_model="m",user="ada"} 3`,
    `${total}{user="bob",requested_model="m"} 4`,
    `${total}{requested_model="m",metadata_owner="carol"} 5`,
  ].join('\n')
  expect(readingsOf('litellm', body).counters.finished).toEqual({ 'requested_model="m"': { value: 12 } })
})

test('buckets whose bounds differ cannot be added up, and make the times unknown', () => {
  const name = 'litellm_request_total_latency_metric'
  const series = (user: string, bounds: string[]) => [
    ...bounds.map((le, i) => `${name}_bucket{user="${user}",le="${le}"} ${i + 1}`),
    `${name}_sum{user="${user}"} 2`,
    `${name}_count{user="${user}"} ${bounds.length}`,
  ]
  const body = [...series('ada', ['1', '2', '+Inf']), ...series('bob', ['1', '4', '+Inf'])].join('\n')
  const { histograms, faults } = readingsOf('litellm', `${body}\n`)
  expect(histograms.e2e).toBeUndefined()
  expect(faults.map(({ what }) => what)).toEqual(['cut-histogram'])
})

test.each([
  [0, 1],
  [1, 0.5],
  [2, 0],
  [3, undefined],
])('LiteLLM calls an upstream %s, which is a health of %s', (state, health) => {
  const body = `litellm_deployment_state{model_id="m1",api_base="http://a"} ${state}\n`
  expect(readingsOf('litellm', body).subjects).toEqual({
    'm1 at http://a': health === undefined ? {} : { upstream_health: health },
  })
})

test.each([
  [
    'a difference of two gauges',
    'dynamo',
    'dynamo_frontend_inflight_requests{model="m"} 9\ndynamo_frontend_queued_requests{model="m"} 4\n',
    'running',
    5,
  ],
  [
    'never below 0, where they were read apart',
    'dynamo',
    'dynamo_frontend_inflight_requests{model="m"} 3\ndynamo_frontend_queued_requests{model="m"} 4\n',
    'running',
    0,
  ],
  [
    'a share of two gauges',
    'mistralrs',
    'mistralrs_kv_cache_blocks_used 30\nmistralrs_kv_cache_blocks_total 40\n',
    'kv_cache',
    0.75,
  ],
  [
    'the fullest of several parts of one whole',
    'dynamo',
    'dynamo_frontend_worker_active_decode_blocks{worker_id="1"} 30\ndynamo_frontend_worker_active_decode_blocks{worker_id="2"} 90\ndynamo_frontend_model_total_kv_blocks{model="m"} 100\n',
    'kv_cache',
    0.9,
  ],
  [
    'a whole that is not known yet',
    'mistralrs',
    'mistralrs_kv_cache_blocks_used 0\nmistralrs_kv_cache_blocks_total 0\n',
    'kv_cache',
    undefined,
  ],
  [
    'old names beside new ones, read once',
    'epp',
    'inference_pool_average_queue_size{name="p"} 7\nllm_d_epp_average_queue_size{name="p"} 7\n',
    'waiting',
    7,
  ],
] as const)('%s', (_, backend, body, signal, value) => {
  expect(readingsOf(backend, body).gauges[signal]?.value).toBe(value)
})

test.each([
  ['an older frontend without the label', 'status="error"', 4],
  ['an error of the server', 'status="error",error_type="internal"', 4],
  ["the client's own", 'status="error",error_type="validation"', undefined],
])('Dynamo: %s', (_, labels, failed) => {
  expect(totalOf(readingsOf('dynamo', `dynamo_frontend_requests_total{${labels}} 4\n`).counters.failed)).toBe(failed)
})
