import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import { mean, quantile } from '../../src/signals/quantile.ts'
import { increases, remember } from '../../src/signals/window.ts'
import { readingsOf } from '../scrape/reading.ts'

/*
 * Prometheus is the judge of what tables make of series: both get the same two pages, a minute apart. `promtool test
 * rules` prints what it found where nothing is expected.
 */
const promtool = spawnSync('promtool', ['--version']).status === 0
type Pages = [Record<string, number>, Record<string, number>]

function ours(backend: ScrapedBackend, [before, after]: Pages) {
  const read = (page: Record<string, number>) =>
    readingsOf(
      backend,
      Object.entries(page)
        .map(([series, value]) => `${series} ${value}\n`)
        .join(''),
    )
  const [first, second] = [read(before), read(after)]
  const history = remember(remember(undefined, first, 0, 300_000).history, second, 60_000, 300_000).history
  return { gauges: second.gauges, increase: increases(history) }
}

/** What Prometheus makes of an expression at the second page. */
function theirs([before, after]: Pages, expressions: readonly string[]): number[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'arithmetic-'))
  try {
    const file = path.join(folder, 'test.yml')
    const input_series = Object.keys(after).map((series) => ({ series, values: `${before[series]} ${after[series]}` }))
    const promql_expr_test = expressions.map((expr) => ({ expr, eval_time: '1m', exp_samples: [] }))
    writeFileSync(
      file,
      JSON.stringify({ evaluation_interval: '1m', tests: [{ interval: '1m', input_series, promql_expr_test }] }),
    )
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
    return expressions.map((expr) => {
      const answer = (stdout + stderr).split('expr: ').find((part) => part.startsWith(JSON.stringify(expr)))
      return Number(/got:\s*(?:\{[^}]*\})? ?(\S+?)(?=[,\s]|$)/.exec(answer ?? '')?.[1])
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const since = (name: string) => `sum(${name} - ${name} offset 1m)`
const count = fc.integer({ min: 30, max: 5_000 })
const RUNS = { numRuns: 5, seed: 20_261_130 }

test.skipIf(!promtool)('a mean of two counters in microseconds', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(count, count, fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e9 }), (a, b, t, u) => {
      const at = (n: number): Record<string, number> => ({
        'nv_inference_request_success{model="a"}': a * n,
        'nv_inference_request_success{model="b"}': b * n,
        'nv_inference_queue_duration_us{model="a"}': t * n,
        'nv_inference_queue_duration_us{model="b"}': u * n,
      })
      const pages: Pages = [at(1), at(2)]
      const { increase } = ours('triton', pages)
      const found = increase?.histograms.queue_wait && mean(increase.histograms.queue_wait)?.value
      const [judged] = theirs(pages, [
        `${since('nv_inference_queue_duration_us')} / 1e6 / ${since('nv_inference_request_success')}`,
      ])
      expect(found).toBeCloseTo(judged ?? Number.NaN, 6)
    }),
    RUNS,
  )
})

test.skipIf(!promtool)('a histogram in milliseconds', { timeout: 60_000 }, () => {
  const name = 'ray_serve_deployment_processing_latency_ms'
  fc.assert(
    fc.property(count, count, count, (a, b, c) => {
      const at = (n: number): Record<string, number> => ({
        [`${name}_bucket{le="100"}`]: a * n,
        [`${name}_bucket{le="2500"}`]: (a + b) * n,
        [`${name}_bucket{le="+Inf"}`]: (a + b + c) * n,
        [`${name}_sum`]: 50 * (a + b + c) * n,
        [`${name}_count`]: (a + b + c) * n,
      })
      const pages: Pages = [at(1), at(2)]
      const histogram = ours('ray-serve', pages).increase?.histograms.e2e
      const of = (q: number) => histogram && quantile(q, histogram)?.value
      const judged = theirs(
        pages,
        [0.1, 0.5].map(
          (q) => `histogram_quantile(${q}, sum by (le) (${name}_bucket - ${name}_bucket offset 1m)) / 1000`,
        ),
      )
      expect(of(0.1)).toBeCloseTo(judged[0] ?? Number.NaN, 6)
      expect(of(0.5)).toBeCloseTo(judged[1] ?? Number.NaN, 6)
    }),
    RUNS,
  )
})

test.skipIf(!promtool)('a difference and a share of two gauges', { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(fc.nat(500), fc.nat(500), fc.integer({ min: 0, max: 1_000 }), (queued, more, used) => {
      const page = {
        'dynamo_frontend_inflight_requests{model="a"}': queued + more,
        'dynamo_frontend_inflight_requests{model="b"}': more,
        'dynamo_frontend_queued_requests{model="a"}': queued,
        'dynamo_frontend_queued_requests{model="b"}': 0,
        'dynamo_frontend_worker_active_decode_blocks{worker_id="1"}': used,
        'dynamo_frontend_model_total_kv_blocks{model="M"}': 1_000,
      }
      const { gauges } = ours('dynamo', [page, page])
      const [running, share] = theirs(
        [page, page],
        [
          'sum(dynamo_frontend_inflight_requests - dynamo_frontend_queued_requests)',
          'max(dynamo_frontend_worker_active_decode_blocks / ignoring(worker_id, model) dynamo_frontend_model_total_kv_blocks)',
        ],
      )
      expect(gauges.running?.value).toBeCloseTo(running ?? Number.NaN, 6)
      expect(gauges.kv_cache?.value).toBeCloseTo(share ?? Number.NaN, 6)
    }),
    RUNS,
  )
})
