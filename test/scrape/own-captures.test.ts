import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { readingsOf, totalOf } from './reading.ts'

/** Pages of servers that `npm run real` started; the first lines of each say how. */
const read = (file: string) => readFileSync(path.join(import.meta.dirname, 'captures', file))

function mapped<T, R>(record: Partial<Record<string, T>>, of: (value: T) => R): Record<string, R> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, one]) => (one === undefined ? [] : [[name, of(one)]])),
  )
}

test('vLLM 0.32.0 with a queue: every signal of its page, as it stands there', () => {
  const readings = readingsOf('vllm', read('vllm-0.32.0-busy.prom'))
  expect(readings.server).toBe('vLLM V1, 0.9.2 or newer')
  expect(mapped(readings.gauges, ({ value }) => value)).toEqual({
    ...{ waiting: 16, waiting_deferred: 0, running: 4 },
    ...{ asleep: 0, kv_cache: 0.015686274509803977 },
  })
  // Refusals are counted without a label of the engine.
  expect(mapped(readings.counters, totalOf)).toEqual({
    ...{ finished: 1, failed: 0, admission_rejected: 0, preemptions: 0, steps: 59 },
    ...{ prompt_tokens: 83, generation_tokens: 86, prefix_queries: 83, prefix_hits: 0 },
  })
  const counts = mapped(readings.histograms, (sets) =>
    Object.values(sets).map(({ bounds, counts }) => [bounds.length, counts.at(-1)]),
  )
  expect(counts).toEqual({ ttft: [[22, 5]], itl: [[19, 1]], e2e: [[21, 1]], queue_wait: [[21, 1]] })
  expect(readings.settings).toMatchObject({ num_gpu_blocks: '256', block_size: '128' })
  expect(readings).toMatchObject({ model: 'tiny', startedAt: 1_796_105_040.82, malformed: 0, faults: [] })
})

test('vllm-router 0.1.17 with no engine left: what it served, the requests that failed, and both engines by name', () => {
  const readings = readingsOf('router', read('vllm-router-0.1.17-engines-gone.prom'))
  expect(readings.server).toBe("vLLM's router (vllm-router)")
  // 35 attempts failed, of 9 requests; they are not among the 17 that it counts as requests.
  expect(mapped(readings.counters, totalOf)).toEqual({ finished: 17, failed: 9 })
  expect(readings.subjects).toEqual({
    'http://127.0.0.1:19001': { upstream_health: 0 },
    'http://127.0.0.1:19002': { upstream_health: 0 },
  })
  expect(mapped(readings.histograms, (sets) => Object.values(sets).map(({ counts }) => counts.at(-1)))).toEqual({
    e2e: [17],
  })
})

test('Ray Serve 2.60.0 with two replicas: what is inside, what failed among what ended, and the deployment', () => {
  const readings = readingsOf('ray-serve', read('ray-serve-2.60.0-busy.prom'))
  expect(readings).toMatchObject({ server: 'Ray Serve', malformed: 0, faults: [] })
  expect(mapped(readings.gauges, ({ value }) => value)).toEqual({ waiting: 0, running: 4 })
  // Failures have the label error_code, all requests status_code.
  expect(mapped(readings.counters, totalOf)).toEqual({ finished: 11, failed: 3 })
  expect(readings.subjects).toEqual({ 'Chat at default': { upstream_health: 1 } })
  // Milliseconds: 11 requests took 28 seconds.
  const sums = Object.values(readings.histograms.e2e ?? {}).map(({ sum }) => sum ?? 0)
  expect(sums.reduce((all, one) => all + one, 0)).toBeCloseTo(28.0575, 4)
})

test('LiteLLM 1.108.7 while an engine was gone: what failed among what ended, by model, and nobody by name', () => {
  const page = read('litellm-1.108.7-engine-gone.prom')
  const readings = readingsOf('litellm', page)
  expect(readings).toMatchObject({ server: 'LiteLLM proxy', malformed: 0, faults: [] })
  expect(mapped(readings.counters, totalOf)).toEqual({
    ...{ finished: 602, failed: 56, prompt_tokens: 30_576, generation_tokens: 8_650 },
  })
  // The bounds are not those of older versions.
  expect(Object.values(readings.histograms.e2e ?? {})[0]?.bounds).toEqual([
    ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 420, 600],
  ])
  // Seen while it lasted: a deployment that stands alone is called partly out (1) at most.
  expect(Object.values(readings.subjects)).toEqual([{ upstream_health: 1 }, { upstream_health: 1 }])
  const persons = /alice|bela|people\.example|84f2cdc6|b9d6a981/
  expect(page.toString()).toMatch(persons)
  expect(JSON.stringify(readings)).not.toMatch(persons)
})
