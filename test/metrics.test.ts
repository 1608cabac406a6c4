import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseConfig } from '../src/config/parse.ts'
import type { Config, MetricsMode } from '../src/model/config.ts'
import type { EndpointResult, RunResult } from '../src/model/result.ts'
import { metricLines, type RunFigures } from '../src/report/emf.ts'
import { OWN_FIGURES } from '../tools/deploy/cost.ts'

const NOW = Date.UTC(2026, 10, 30, 12)
const busy: EndpointResult = {
  name: 'chat/a',
  url: 'http://10.0.0.5:8000/metrics',
  up: true,
  model: 'llama-3.1-8b',
  signals: {
    up: 1,
    waiting: 42,
    running: 16,
    kv_cache: 0.93,
    queue_wait: 1.25,
    ttft_p50: 1,
    ttft_p99: 2.6,
    tokens_per_second: 405.123456789,
    finished: 12_345,
  },
  alerts: { waiting: 'firing', kv_cache: 'pending', blind: 'firing' },
}
const dead: EndpointResult = {
  name: 'chat/b',
  url: 'http://10.0.0.6:8000/metrics',
  up: false,
  signals: { up: 0 },
  alerts: { down: 'firing' },
  failure: { kind: 'refused' },
}
/** All that may become a metric of an endpoint. */
const SHOWN_SIGNALS = [
  ...['up', 'waiting', 'running', 'kv_cache', 'queue_wait', 'ttft_p99', 'itl_p99', 'e2e_p99', 'tokens_per_second'],
  ...['requests_per_second', 'prefix_hit_share', 'preemptions_per_second', 'failed_share', 'gpu_memory'],
  ...['gpu_utilisation', 'gpu_temperature', 'gpu_xid', 'canary_total', 'canary_wait', 'canary_load', 'canary_ttft'],
  ...['beat_age', 'observer_degraded', 'upstream_health'],
]
const pushes = { delivered: 2, waiting: 1, refused: 0 }
const completed: RunResult = {
  backend: 'vllm',
  at: '2026-11-30T12:00:00.000Z',
  outcome: 'completed',
  endpoints: [busy, dead],
  pushes,
}
const figures: RunFigures = { now: NOW, ms: 321, failed: false, result: completed }

function config(mode: MetricsMode | undefined, more: Partial<Config> = {}): Config {
  const parsed = parseConfig('vllm', mode ? { METRICS: mode } : {}, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  return { ...parsed.config, ...more }
}

const documents = (given: RunFigures, by: Config) => metricLines(given, by).map((line) => JSON.parse(line))
/** The metrics of a document with their units and values. */
function metricsOf(document: ReturnType<typeof JSON.parse>): Record<string, [unit: string, value: number]> {
  const [{ Metrics }] = document._aws.CloudWatchMetrics
  return Object.fromEntries(
    Metrics.map(({ Name, Unit }: { Name: string; Unit: string }) => [Name, [Unit, document[Name]]]),
  )
}

test('METRICS is own unless it is set; off writes nothing', () => {
  expect(config(undefined).metrics).toBe('own')
  expect(metricLines(figures, config('off'))).toEqual([])
})

test('own: one document of nine figures, by function, at the time of the run', () => {
  const found = documents(figures, config('own'))
  expect(found).toHaveLength(1)
  expect(found[0]._aws).toMatchObject({
    Timestamp: NOW,
    CloudWatchMetrics: [{ Namespace: 'Queuebell', Dimensions: [['function']] }],
  })
  expect(found[0].function).toBe('vllm')
  // What the deployment says that they cost.
  expect(Object.keys(metricsOf(found[0]))).toHaveLength(OWN_FIGURES)
  expect(metricsOf(found[0])).toEqual({
    Endpoints: ['Count', 2],
    Down: ['Count', 1],
    Blind: ['Count', 1],
    Firing: ['Count', 3],
    PushesDelivered: ['Count', 2],
    PushesWaiting: ['Count', 1],
    PushesRefused: ['Count', 0],
    DurationMs: ['Milliseconds', 321],
    Failed: ['Count', 0],
  })
})

test('all: one document more for each endpoint: its signals in their units, shares in percent, unknown ones absent', () => {
  const [, first, second, ...rest] = documents(figures, config('all'))
  expect(rest).toEqual([])
  expect(first._aws.CloudWatchMetrics[0].Dimensions).toEqual([['function', 'endpoint']])
  expect(first).toMatchObject({ function: 'vllm', endpoint: 'chat/a' })
  expect(metricsOf(first)).toEqual({
    up: ['None', 1],
    waiting: ['Count', 42],
    running: ['Count', 16],
    kv_cache: ['Percent', 93],
    queue_wait: ['Seconds', 1.25],
    ttft_p99: ['Seconds', 2.6],
    tokens_per_second: ['Count/Second', 405.123],
  })
  expect(second).toMatchObject({ function: 'vllm', endpoint: 'chat/b' })
  expect(metricsOf(second)).toEqual({ up: ['None', 0] })
})

test('nothing in a document is not declared, or declared and not there', () => {
  for (const document of documents(figures, config('all'))) {
    const { _aws, ...values } = document
    const [{ Dimensions, Metrics }] = _aws.CloudWatchMetrics
    const declared = [...Dimensions[0], ...Metrics.map(({ Name }: { Name: string }) => Name)]
    expect(Object.keys(values).sort()).toEqual(declared.sort())
    expect(Metrics.length).toBeLessThanOrEqual(100)
  }
})

describe('a run that did not complete', () => {
  test.each<[string, RunFigures, number]>([
    ['failed before it had a result', { now: NOW, ms: 5, failed: true }, 1],
    [
      'was a duplicate',
      { now: NOW, ms: 5, failed: false, result: { ...completed, outcome: 'duplicate', endpoints: [] } },
      0,
    ],
  ])('that %s has no counts, only its time and whether it failed', (_, given, failed) => {
    const [own, ...rest] = documents(given, config('all'))
    expect(rest).toEqual([])
    expect(metricsOf(own)).toEqual({ DurationMs: ['Milliseconds', 5], Failed: ['Count', failed] })
  })
})

test('the functions that share the endpoints of a backend are told apart', () => {
  const [own] = documents(figures, config('own', { shard: { index: 2, of: 8 } }))
  expect(own.function).toBe('vllm.2-of-8')
})

test('a planted secret is in no document, even as the name of an endpoint', () => {
  const planted = { ...busy, name: 'planted-5ecret', url: 'http://u:planted-5ecret@h/', notes: ['planted-5ecret'] }
  const result = { ...completed, endpoints: [planted] }
  const lines = metricLines({ ...figures, result }, config('all', { secrets: ['planted-5ecret'] }))
  expect(lines).toHaveLength(2)
  expect(lines.join('\n')).not.toContain('planted')
  for (const line of lines) expect(() => JSON.parse(line)).not.toThrow()
})

test('docs/logs.md names every metric with its unit', () => {
  const text = readFileSync('docs/logs.md', 'utf8')
  const signals = Object.fromEntries(SHOWN_SIGNALS.map((name) => [name, 0.5]))
  const result = { ...completed, endpoints: [{ ...busy, signals }] }
  const named = documents({ ...figures, result }, config('all')).flatMap((document) =>
    Object.entries(metricsOf(document)),
  )
  expect(named.length).toBe(9 + SHOWN_SIGNALS.length)
  for (const [name, [unit]] of named) expect(text).toContain(`| \`${name}\` | ${unit} |`)
})

test.each([
  [50, 'all', true, 0],
  [51, 'all', true, 1],
  [51, 'own', true, 0],
  [51, 'all', false, 0],
])('%i endpoints with METRICS=%s (in Lambda: %s): %i warnings of the cost', (count, mode, lambda, warnings) => {
  const endpoints = Array.from({ length: count }, (_, i) => `e${i}=http://10.0.0.5:8000/${i}`).join(' ')
  const env = { VLLM_ENDPOINTS: endpoints, METRICS: mode, NOTIFLY_URL: 'http://10.0.0.1', NOTIFLY_TOKEN: 'a-token' }
  const parsed = parseConfig('vllm', { ...env, STATE_BUCKET: 'state' }, { lambda })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  expect(parsed.config.warnings.filter((warning) => warning.startsWith('METRICS=all'))).toHaveLength(warnings)
})
