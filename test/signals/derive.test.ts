import { describe, expect, test } from 'vitest'
import type { CounterSignal, HistogramReading, Readings } from '../../src/model/signals.ts'
import { derive } from '../../src/signals/derive.ts'
import { emptyReadings } from '../../src/signals/readings.ts'
import { increases, remember } from '../../src/signals/window.ts'

const MINUTE = 60_000

describe('what needs no second reading', () => {
  test('gauges as they are, and totals over all label sets', () => {
    const readings: Readings = {
      ...emptyReadings(),
      gauges: { waiting: { value: 42 }, running: { value: 16 }, kv_cache: { value: 0.93, at: 'engine 1' } },
      counters: { finished: { a: { value: 10 }, b: { value: 5 } }, admission_rejected: { a: { value: 2 } } },
    }
    expect(derive(readings, undefined)).toEqual({
      numbers: { up: 1, waiting: 42, running: 16, kv_cache: 0.93, finished: 15, admission_rejected: 2 },
      atLeast: [],
      faults: [],
    })
  })

  test('what is unknown is absent, never 0', () => {
    expect(derive(emptyReadings(), undefined).numbers).toEqual({ up: 1 })
  })

  test('of several GPUs and upstreams the worst is told', () => {
    const gpus: Readings = {
      ...emptyReadings(),
      subjects: {
        'GPU-1': { gpu_memory: 0.9, gpu_temperature: 60, gpu_utilisation: 1 },
        'GPU-2': { gpu_memory: 0.5, gpu_temperature: 81, gpu_xid: 0 },
      },
    }
    expect(derive(gpus, undefined).numbers).toEqual({
      up: 1,
      gpu_memory: 0.9,
      gpu_temperature: 81,
      gpu_utilisation: 1,
      gpu_xid: 0,
    })
    const upstreams: Readings = {
      ...emptyReadings(),
      subjects: { a: { upstream_health: 1 }, b: { upstream_health: 0 } },
    }
    expect(derive(upstreams, undefined).numbers.upstream_health).toBe(0)
  })

  test("the server's own hit share stands in where it counts no tokens", () => {
    const readings: Readings = { ...emptyReadings(), gauges: { hit_share: { value: 0.4 } } }
    expect(derive(readings, undefined).numbers.prefix_hit_share).toBe(0.4)
    const half: Readings = { ...readings, counters: { prefix_queries: { a: { value: 5 } } } }
    expect(derive(half, undefined).numbers.prefix_hit_share).toBe(0.4)
    const counting: Readings = {
      ...readings,
      counters: { prefix_queries: { a: { value: 5 } }, prefix_hits: { a: { value: 1 } } },
    }
    expect(derive(counting, undefined).numbers.prefix_hit_share).toBeUndefined()
  })
})

describe('what the window shows', () => {
  test('rates are per second over the whole window', () => {
    const found = between(
      counters({ generation_tokens: 1_000, finished: 10, preemptions: 0 }),
      counters({ generation_tokens: 7_000, finished: 40, preemptions: 6 }),
    )
    expect(found.numbers).toMatchObject({
      tokens_per_second: 100,
      requests_per_second: 0.5,
      preemptions_per_second: 0.1,
    })
  })

  test('mean wait, quantiles, and which of them are only at least', () => {
    const bounds = [1, 5, 10]
    const found = between(
      histograms({ bounds, counts: [0, 0, 0, 0], sum: 0 }),
      histograms({ bounds, counts: [50, 80, 95, 100], sum: 300 }),
    )
    expect(found.numbers).toMatchObject({ queue_wait: 3, ttft_p50: 1, ttft_p99: 10, itl_p50: 1, e2e_p99: 10 })
    expect(found.numbers.ttft_p90).toBeCloseTo(8.333_333, 5)
    expect(found.atLeast).toEqual(['ttft_p99', 'itl_p99', 'e2e_p99'])
    expect(found).toMatchObject({ itlMean: 3, e2eMean: 3 })
  })

  test('case 35: an outlier in the sum is told by the name of its series', () => {
    const bounds = [0.3, 10]
    const found = between(
      {
        ...histograms({ bounds, counts: [1_000, 1_000, 1_000], sum: 100 }),
        sources: { queue_wait: 'vllm:request_queue_time_seconds' },
      },
      {
        ...histograms({ bounds, counts: [1_100, 1_100, 1_101], sum: 1_209_750 }),
        sources: { queue_wait: 'vllm:request_queue_time_seconds' },
      },
    )
    expect(found.numbers.queue_wait).toBeLessThan(0.3)
    expect(found.faults).toContainEqual({
      signal: 'queue_wait',
      series: 'vllm:request_queue_time_seconds',
      what: 'outlier-in-sum',
    })
  })

  test('faults of the window get the name of their series', () => {
    const sources = { ttft: 'vllm:time_to_first_token_seconds' }
    const found = between(
      { ...histograms({ bounds: [1], counts: [10, 10], sum: 50 }), sources },
      { ...histograms({ bounds: [1], counts: [40, 40], sum: 20 }), sources },
    )
    expect(found.faults).toContainEqual({
      signal: 'ttft',
      series: 'vllm:time_to_first_token_seconds{a}',
      what: 'falling-sum',
    })
    expect(found.numbers.queue_wait).toBeUndefined()
    expect(found.numbers.ttft_p50).toBeDefined()
  })

  test('case 37: with a queue that stands still the mean wait is unknown', () => {
    const stuck = histograms({ bounds: [1, 5], counts: [500, 500, 500], sum: 40 })
    expect(between(stuck, stuck).numbers).toEqual({ up: 1 })
  })

  test('case 31: old slow requests are not judged at the first reading', () => {
    const old = histograms({ bounds: [1, 5], counts: [0, 500_000, 1_000_000], sum: 5_000_000 })
    expect(derive(old, undefined).numbers).toEqual({ up: 1 })
  })
})

describe('the prefix hit share', () => {
  const share = (before: [queries: number, hits: number], after: [queries: number, hits: number]) =>
    between(
      counters({ prefix_queries: before[0], prefix_hits: before[1] }),
      counters({ prefix_queries: after[0], prefix_hits: after[1] }),
    )

  test('case 33: is hits over queries', () => {
    expect(share([1_000, 700], [2_000, 1_300]).numbers.prefix_hit_share).toBeCloseTo(0.6, 12)
  })

  test('is never above 1', () => {
    expect(share([1_000, 0], [2_000, 1_300]).numbers.prefix_hit_share).toBe(1)
  })

  test('case 30: is unknown below 1,000 tokens', () => {
    expect(share([1_000_000, 700_000], [1_000_032, 700_000]).numbers.prefix_hit_share).toBeUndefined()
    expect(share([0, 0], [999, 500]).numbers.prefix_hit_share).toBeUndefined()
    expect(share([0, 0], [1_000, 500]).numbers.prefix_hit_share).toBe(0.5)
  })

  test('case 50: hits that never moved since the start are no share of 0', () => {
    const found = share([5_000, 0], [10_000, 0])
    expect(found.numbers.prefix_hit_share).toBeUndefined()
    expect(found.hitsAlwaysZero).toBe(true)
  })

  test('hits that moved once and now stand still are a share of 0', () => {
    const found = share([5_000, 1_700], [10_000, 1_700])
    expect(found.numbers.prefix_hit_share).toBe(0)
    expect(found.hitsAlwaysZero).toBeUndefined()
  })
})

describe('the failed share', () => {
  const failing = (finished: number, failed: number | undefined, sources: Readings['sources'] = {}) => {
    const none = { ...counters({ finished: 0, ...(failed === undefined ? {} : { failed: 0 }) }), sources }
    const some = { ...counters({ finished, ...(failed === undefined ? {} : { failed }) }), sources }
    return between(none, some).numbers.failed_share
  }
  const oneSeries = { finished: 'vllm:request_success_total', failed: 'vllm:request_success_total' }

  test('counts the failed among the finished where both are one series', () => {
    expect(failing(40, 10, oneSeries)).toBe(0.25)
  })

  test('counts them on top where they are two', () => {
    expect(failing(30, 10, { finished: 'tgi_request_success', failed: 'tgi_request_failure' })).toBe(0.25)
    expect(failing(15, 10, { finished: 'tgi_request_success', failed: 'tgi_request_failure' })).toBe(0.4)
    expect(failing(30, 10)).toBe(0.25)
  })

  test('is unknown below 20 requests', () => {
    expect(failing(19, 19, oneSeries)).toBeUndefined()
    expect(failing(20, 20, oneSeries)).toBe(1)
    expect(failing(10, 9)).toBeUndefined()
  })

  test('is 0 while no failure was ever published', () => {
    expect(failing(20, undefined)).toBe(0)
  })

  test('what vLLM turned away at its own cap is no failure, other answers with 5xx are', () => {
    const share = (finished: number, http_failed: number, admission_rejected: number) =>
      between(
        counters({ finished: 0, http_failed: 0, admission_rejected: 0 }),
        counters({ finished, http_failed, admission_rejected }),
      ).numbers.failed_share
    expect(share(67, 1_933, 1_934)).toBe(0)
    expect(share(20, 15, 10)).toBe(0.2)
    expect(share(10, 1_933, 1_933)).toBeUndefined()
  })

  test('is unknown where nothing finished is published', () => {
    expect(between(counters({ failed: 0 }), counters({ failed: 50 })).numbers.failed_share).toBeUndefined()
  })
})

/** What the second of two readings a minute apart yields. */
function between(before: Readings, after: Readings) {
  const { history } = remember(undefined, before, MINUTE, 5 * MINUTE)
  return derive(after, increases(remember(history, after, 2 * MINUTE, 5 * MINUTE).history))
}

function counters(values: Partial<Record<CounterSignal, number>>): Readings {
  const series = Object.entries(values).map(([signal, value]) => [signal, { a: { value } }] as const)
  return { ...emptyReadings(), counters: Object.fromEntries(series) }
}

/** The same buckets for all four. */
function histograms(reading: HistogramReading): Readings {
  const one = { a: reading }
  return { ...emptyReadings(), histograms: { queue_wait: one, ttft: one, itl: one, e2e: one } }
}
