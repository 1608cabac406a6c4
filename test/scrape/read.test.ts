import { describe, expect, test } from 'vitest'
import { NOW, readingsOf, totalOf } from './reading.ts'

const MINUTE = 60_000

/** A whole histogram of one label set. */
function histogram(
  name: string,
  labels: string,
  buckets: Record<string, number | string>,
  sum: number | string,
): string {
  const comma = labels === '' ? '' : ','
  const lines = Object.entries(buckets).map(([le, count]) => `${name}_bucket{${labels}${comma}le="${le}"} ${count}\n`)
  return `${lines.join('')}${name}_sum{${labels}} ${sum}\n${name}_count{${labels}} ${buckets['+Inf'] ?? 0}\n`
}

describe('gauges', () => {
  test('case 41: the parts of the queue are not added to it', () => {
    const body = `vllm:num_requests_waiting{engine="0",model_name="m"} 6.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"} 6.0
vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="deferred"} 0.0
`
    expect(readingsOf('vllm', body).gauges.waiting).toEqual({ value: 6 })
  })

  test('case 42: of one gauge for each API server process the largest is the engine', () => {
    const lines = [0, 0, 0.6530455880475035, 0].map(
      (value, i) => `vllm:kv_cache_usage_perc{engine="0",model_name="m",pid="${277 - 2 * i}"} ${value}\n`,
    )
    expect(readingsOf('vllm', lines.join('')).gauges.kv_cache).toEqual({ value: 0.6530455880475035 })
    const queue = [3, 7].map((value) => `vllm:num_requests_waiting{engine="0",pid="${value}"} ${value}\n`).join('')
    expect(readingsOf('vllm', queue).gauges.waiting, 'requests of processes add up').toEqual({ value: 10 })
  })

  test('case 43: queues of engines add up, KV use is that of the fullest, which is named', () => {
    const body = `vllm:num_requests_waiting{engine="0",model_name="m"} 0
vllm:num_requests_waiting{engine="1",model_name="m"} 40
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.10
vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.97
`
    const { gauges } = readingsOf('vllm', body)
    expect(gauges).toEqual({
      waiting: { value: 40, byEngine: { 'engine 0': 0, 'engine 1': 40 } },
      kv_cache: { value: 0.97, at: 'engine 1', byEngine: { 'engine 0': 0.1, 'engine 1': 0.97 } },
    })
  })

  test.each([
    ['the new name alone', 'vllm:kv_cache_usage_perc{engine="0"} 0.97\n', 0.97, 'vllm:kv_cache_usage_perc'],
    ['the old name alone', 'vllm:gpu_cache_usage_perc{model_name="m"} 0.97\n', 0.97, 'vllm:gpu_cache_usage_perc'],
    [
      'both: one of them',
      'vllm:gpu_cache_usage_perc 0.5\nvllm:kv_cache_usage_perc 0.97\n',
      0.97,
      'vllm:kv_cache_usage_perc',
    ],
    ['Ray', 'ray_vllm:gpu_cache_usage_perc{WorkerId="1"} 0.97\n', 0.97, 'ray_vllm:gpu_cache_usage_perc'],
    ['newer Ray', 'ray_vllm_kv_cache_usage_perc{WorkerId="1"} 0.97\n', 0.97, 'ray_vllm_kv_cache_usage_perc'],
    ['an agent', 'vllm_kv_cache_usage_perc 0.97\n', 0.97, 'vllm_kv_cache_usage_perc'],
    ['NIM', 'gpu_cache_usage_perc{model_name="m"} 0.97\n', 0.97, 'gpu_cache_usage_perc'],
  ])('case 44: KV use is found under its name of the version: %s', (_, body, value, source) => {
    const { gauges, sources } = readingsOf('vllm', body)
    expect([gauges.kv_cache, sources.kv_cache]).toEqual([{ value }, source])
  })

  test('case 44: where no name is there the signal is absent, not 0', () => {
    const { gauges, sources } = readingsOf('vllm', 'vllm:num_requests_waiting 3\n')
    expect(gauges).toEqual({ waiting: { value: 3 } })
    expect('kv_cache' in sources).toBe(false)
  })

  test('case 46: HELP and TYPE without samples say nothing, and tell which server it is', () => {
    const readings = readingsOf('vllm', '# HELP vllm:num_requests_waiting x\n# TYPE vllm:num_requests_waiting gauge\n')
    expect(readings).toMatchObject({ gauges: {}, empty: true, malformed: 0, server: 'vLLM' })
  })

  test('case 47: a share is a share in spite of its name; percent where a share belongs is not believed', () => {
    expect(readingsOf('vllm', 'vllm:kv_cache_usage_perc 0.93\n').gauges.kv_cache).toEqual({ value: 0.93 })
    const { gauges, faults } = readingsOf(
      'sglang',
      'sglang:cache_hit_rate{name="m"} 87.58\nsglang:token_usage{name="m"} 0.0\n',
    )
    expect(gauges).toEqual({ kv_cache: { value: 0 } })
    expect(faults).toEqual([{ signal: 'hit_share', series: 'sglang:cache_hit_rate', what: 'out-of-range' }])
  })

  test('a hit rate of -1 says that caching is off: unknown, and nothing to report', () => {
    expect(readingsOf('vllm', 'vllm:gpu_prefix_cache_hit_rate -1.0\n')).toMatchObject({ gauges: {}, faults: [] })
  })

  test.each([
    ['NaN', 'not-a-number'],
    ['-1', 'out-of-range'],
    ['+Inf', 'out-of-range'],
    ['9223372036854775794', 'out-of-range'],
  ])('a queue of %s on one engine makes the whole queue unknown, and is told', (value, what) => {
    const { gauges, faults } = readingsOf(
      'vllm',
      `vllm:num_requests_waiting{engine="0"} 3\nvllm:num_requests_waiting{engine="1"} ${value}\n`,
    )
    expect(gauges).toEqual({})
    expect(faults).toEqual([{ signal: 'waiting', series: 'vllm:num_requests_waiting', what }])
  })

  test.each([
    [NOW - 5 * MINUTE, true],
    [NOW + 5 * MINUTE, true],
    [NOW - 5 * MINUTE - 1, false],
    [NOW + 5 * MINUTE + 1, false],
    [-1, false],
    [NOW / 1000 - 299, true],
    [NOW / 1000 - 301, false],
  ])('case 9: a sample with its own time %d is believed: %s', (stamp, believed) => {
    const { gauges, faults } = readingsOf('vllm', `vllm:num_requests_waiting 7 ${stamp}\n`)
    expect(gauges.waiting).toEqual(believed ? { value: 7 } : undefined)
    expect(faults.map(({ what }) => what)).toEqual(believed ? [] : ['stale-sample'])
  })

  test('SGLang: ranks repeat one number, data-parallel ranks add up', () => {
    const body = ['0', '1']
      .flatMap((dp) =>
        ['0', '1', '2', '3'].map(
          (tp) => `sglang:num_queue_reqs{dp_rank="${dp}",model_name="m",tp_rank="${tp}",pp_rank="0"} 5\n`,
        ),
      )
      .join('')
    expect(readingsOf('sglang', body).gauges.waiting).toEqual({
      value: 10,
      byEngine: { 'dp_rank 0': 5, 'dp_rank 1': 5 },
    })
  })

  test('SGLang: a total by priority is used without its parts, parts without a total add up', () => {
    const part = (priority: string, value: number) =>
      `sglang:num_queue_reqs{model_name="m",priority="${priority}"} ${value}\n`
    const nine = { value: 9, byPart: { 'model m': 9, 'priority 5': 6, 'priority 1': 3 } }
    expect(readingsOf('sglang', part('', 9) + part('5', 6) + part('1', 3)).gauges.waiting).toEqual(nine)
    expect(readingsOf('sglang', part('5', 6) + part('1', 3)).gauges.waiting).toEqual(nine)
  })

  test('SGLang: the queues of grammars and of a prefill/decode split are part of the queue', () => {
    const body = `sglang:num_queue_reqs{model_name="m"} 0
sglang:num_grammar_queue_reqs{model_name="m"} 1
sglang:num_prefill_bootstrap_queue_reqs{model_name="m"} 2
sglang:num_prefill_inflight_queue_reqs{model_name="m"} 4
sglang:num_decode_prealloc_queue_reqs{model_name="m"} 8
sglang:num_decode_transfer_queue_reqs{model_name="m"} 16
`
    expect(readingsOf('sglang', body).gauges.waiting).toEqual({ value: 31 })
  })

  test('llama.cpp: a number that is none costs that line alone', () => {
    const readings = readingsOf('llamacpp', 'llamacpp:kv_cache_usage_ratio -nan(ind)\nllamacpp:requests_deferred 2\n')
    expect(readings).toMatchObject({ gauges: { waiting: { value: 2 } }, malformed: 1 })
    expect(readings.gauges.kv_cache).toBeUndefined()
  })
})

describe('models', () => {
  const body = `vllm:num_requests_waiting{model_name="base"} 3
vllm:num_requests_waiting{model_name="lora"} 4
vllm:generation_tokens_total{model_name="lora"} 10
http_requests_total{handler="/v1"} 5
`

  test('all models of a server add up, and the first one is its name', () => {
    expect(readingsOf('vllm', body)).toMatchObject({
      gauges: { waiting: { value: 7 } },
      model: 'base',
      modelFound: true,
    })
  })

  test('a configured model is read alone', () => {
    const readings = readingsOf('vllm', body, 'lora')
    expect(readings).toMatchObject({ gauges: { waiting: { value: 4 } }, model: 'lora', modelFound: true })
    expect(totalOf(readings.counters.generation_tokens)).toBe(10)
  })

  test('a configured model that no series names is told, and nothing is read in its place', () => {
    const readings = readingsOf('vllm', body, 'lorax')
    expect(readings).toMatchObject({ gauges: {}, counters: {}, modelFound: false, empty: false })
    expect(readings.model).toBeUndefined()
  })

  test('a server that names no model has whatever model is configured', () => {
    expect(readingsOf('tgi', 'tgi_queue_size 3\n', 'llama')).toMatchObject({
      gauges: { waiting: { value: 3 } },
      modelFound: true,
    })
  })
})

describe('counters', () => {
  test('every label set keeps its own count and start; a start is not a count', () => {
    const body = `vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 26.0
vllm:request_success_total{engine="0",finished_reason="error",model_name="m"} 2.0
vllm:request_success_created{engine="0",finished_reason="stop",model_name="m"} 1.788e+09
vllm:request_success_created{engine="0",finished_reason="error",model_name="m"} 1.789e+09
process_start_time_seconds 1.7889e+09
`
    const readings = readingsOf('vllm', body)
    expect(readings.counters).toEqual({
      finished: {
        'engine="0",finished_reason="stop",model_name="m"': { value: 26, created: 1.788e9 },
        'engine="0",finished_reason="error",model_name="m"': { value: 2, created: 1.789e9 },
      },
      failed: { 'engine="0",finished_reason="error",model_name="m"': { value: 2, created: 1.789e9 } },
    })
    expect(readings.startedAt).toBe(1.7889e9)
  })

  test('the starts of several processes on one page, in whatever order, are no start of the whole', () => {
    const starts =
      'process_start_time_seconds{WorkerId="a"} 1.78e+09\nprocess_start_time_seconds{WorkerId="b"} 1.79e+09\n'
    expect(readingsOf('vllm', starts).startedAt).toBeUndefined()
  })

  test('an abort is not a failure', () => {
    const body =
      'vllm:request_success_total{finished_reason="abort"} 9\nvllm:request_success_total{finished_reason="stop"} 1\n'
    const { counters, sources } = readingsOf('vllm', body)
    expect([totalOf(counters.finished), counters.failed, sources.failed]).toEqual([10, undefined, undefined])
  })

  test('NIM counts failures apart', () => {
    const { counters } = readingsOf(
      'vllm',
      'request_success_total{model_name="m"} 5\nrequest_failure_total{model_name="m"} 2\n',
    )
    expect([totalOf(counters.finished), totalOf(counters.failed)]).toEqual([5, 2])
  })

  test.each([
    ['aborted ones beside them', 'sglang:num_aborted_requests_total 1\nsglang:num_transfer_failed_reqs_total 2\n', 2],
    ['a part alone', 'sglang:num_bootstrap_failed_reqs_total 2\n', 2],
    ['both parts', 'sglang:num_transfer_failed_reqs_total 2\nsglang:num_bootstrap_failed_reqs_total 3\n', 5],
    ['aborted ones alone', 'sglang:num_aborted_requests_total 9\n', undefined],
    ['none', 'sglang:num_requests_total 9\n', undefined],
  ])('SGLang: failed transfers are failures, what was aborted is its client’s wish: %s', (_, body, failed) => {
    const { counters } = readingsOf('sglang', body)
    expect(counters.failed && totalOf(counters.failed)).toBe(failed)
    expect(counters.transfer_failed && totalOf(counters.transfer_failed)).toBe(failed)
  })

  test('TGI and TEI: the client’s own faults are no failures of the server', () => {
    const faults = (name: string) =>
      ['overloaded', 'validation', 'template', 'tokenization', 'batch_size', 'generation', 'inference']
        .map((err, i) => `${name}{err="${err}"} ${2 ** i}\n`)
        .join('')
    expect(Object.keys(readingsOf('tgi', faults('tgi_request_failure')).counters.failed ?? {})).toEqual([
      'err="overloaded"',
      'err="tokenization"',
      'err="batch_size"',
      'err="generation"',
      'err="inference"',
    ])
    expect(totalOf(readingsOf('tei', faults('te_request_failure')).counters.failed)).toBe(1 + 4 + 32 + 64)
  })

  test('the prefix cache of 0.8 is read under its old names, never beside the new ones', () => {
    const old = 'vllm:gpu_prefix_cache_queries_total 100\nvllm:gpu_prefix_cache_hits_total 70\n'
    const both = `${old}vllm:prefix_cache_queries_total 1600\nvllm:prefix_cache_hits_total 1120\n`
    const shares = [old, both].map((body) => {
      const { prefix_queries, prefix_hits } = readingsOf('vllm', body).counters
      return [totalOf(prefix_queries), totalOf(prefix_hits)]
    })
    expect(shares).toEqual([
      [100, 70],
      [1600, 1120],
    ])
  })

  test('llama.cpp looks up what it read and what it found in its cache', () => {
    const body = 'llamacpp:prompt_tokens_total 1000\nllamacpp:prompt_tokens_cached_total 3000\n'
    const { prefix_hits, prefix_queries, prompt_tokens } = readingsOf('llamacpp', body).counters
    expect([prefix_hits, prefix_queries, prompt_tokens].map((counter) => counter && totalOf(counter))).toEqual([
      3000, 4000, 1000,
    ])
    expect(readingsOf('llamacpp', 'llamacpp:prompt_tokens_total 1000\n').counters.prefix_queries).toBeUndefined()
  })

  test('the steps of the engine are the count of a histogram that is named like a counter', () => {
    const body = histogram('vllm:iteration_tokens_total', 'engine="0"', { '1.0': 3, '+Inf': 17833 }, 479207)
    expect(readingsOf('vllm', `${body}vllm:iteration_tokens_total_created{engine="0"} 1.7e9\n`).counters.steps).toEqual(
      {
        'engine="0"': { value: 17833, created: 1.7e9 },
      },
    )
  })

  test('ranks that repeat a counter count once', () => {
    const body = ['0', '1'].map((rank) => `sglang:num_retracted_requests_total{tp_rank="${rank}"} ${7}\n`).join('')
    expect(readingsOf('sglang', body).counters.preemptions).toEqual({ '': { value: 7 } })
  })

  test.each(['NaN', '-1', '+Inf'])(
    '%s in one label set makes the counter unknown: left out alone it would look new when back',
    (value) => {
      const { counters, faults } = readingsOf(
        'vllm',
        `vllm:generation_tokens_total{engine="0"} 5\nvllm:generation_tokens_total{engine="1"} ${value}\n`,
      )
      expect(counters).toEqual({})
      expect(faults).toHaveLength(1)
    },
  )
})

describe('histograms', () => {
  const ttft = 'vllm:time_to_first_token_seconds'

  test('case 20: bounds are numbers, in order, each once', () => {
    const body = `${ttft}_bucket{le="10"} 5\n${ttft}_bucket{le="+Inf"} 6\n${ttft}_bucket{le="1.0"} 3\n${ttft}_bucket{le="1"} 4\n${ttft}_bucket{le="2.5e+0"} 4\n${ttft}_sum 9.5\n${ttft}_count 6\n`
    expect(readingsOf('vllm', body).histograms.ttft).toEqual({
      '': { bounds: [1, 2.5, 10], counts: [4, 4, 5, 6], sum: 9.5 },
    })
  })

  test('case 15: a histogram needs no TYPE line', () => {
    const body = `# COMMENT TYPE h histogram\n${ttft}_bucket{le="1"} 3\n${ttft}_bucket{le="+Inf"} 4\n${ttft}_sum 5\n${ttft}_count 4\n`
    expect(readingsOf('vllm', body).histograms.ttft).toEqual({ '': { bounds: [1], counts: [3, 4], sum: 5 } })
  })

  test('case 55: labels tell the phases of TGI apart, and there is no time to first token', () => {
    const body =
      'tgi_batch_inference_count{method="prefill"} 10\ntgi_batch_inference_count{method="decode"} 1000\n' +
      histogram('tgi_request_queue_duration', '', { '0.1': 1, '+Inf': 2 }, 3)
    const readings = readingsOf('tgi', body)
    expect(readings.counters.steps).toEqual({ 'method="prefill"': { value: 10 }, 'method="decode"': { value: 1000 } })
    expect(Object.keys(readings.histograms)).toEqual(['queue_wait'])
  })

  test('case 56: a summary yields a mean and no buckets, and is told', () => {
    const body = `tgi_request_duration{quantile="0.5"} 1.2\ntgi_request_duration{quantile="0.99"} 12.3\ntgi_request_duration_sum 100\ntgi_request_duration_count 50\n`
    const { histograms, faults } = readingsOf('tgi', body)
    expect(histograms.e2e).toEqual({ '': { bounds: [], counts: [50], sum: 100 } })
    expect(faults).toEqual([{ signal: 'e2e', series: 'tgi_request_duration', what: 'summary-not-histogram' }])
  })

  test.each([
    ['no +Inf', `${ttft}_bucket{le="1"} 3\n${ttft}_sum 5\n${ttft}_count 4\n`],
    ['no buckets', `${ttft}_sum 5\n${ttft}_count 4\n`],
    ['no sum, but a count', `${ttft}_bucket{le="1"} 3\n${ttft}_bucket{le="+Inf"} 4\n${ttft}_count 4\n`],
    [
      'neither sum nor count, and the page ends in the middle of a line',
      `${ttft}_bucket{le="1"} 3\n${ttft}_bucket{le="+Inf"} 4`,
    ],
    ['one bucket alone', `${ttft}_bucket{le="1"} 3\n`],
    ['a bucket that cannot be read', histogram(ttft, '', { '1': 3, '2': 'oops', '+Inf': 4 }, 5)],
    ['a bucket without its bound', `${histogram(ttft, '', { '1': 3, '+Inf': 4 }, 5)}${ttft}_bucket 4\n`],
    [
      'a second engine without buckets',
      `${histogram(ttft, 'engine="0"', { '1': 3, '+Inf': 4 }, 5)}${ttft}_sum{engine="1"} 7\n`,
    ],
  ])('case 62: half a histogram is not a smaller truth: %s', (_, body) => {
    const { histograms, faults } = readingsOf('vllm', body)
    expect(histograms).toEqual({})
    expect(faults).toEqual([{ signal: 'ttft', series: ttft, what: 'cut-histogram' }])
  })

  test('buckets are whole without any sum or count: only the mean is unknown, and that is told', () => {
    const { histograms, faults } = readingsOf('vllm', `${ttft}_bucket{le="1"} 3\n${ttft}_bucket{le="+Inf"} 4\n`)
    expect(histograms.ttft).toEqual({ '': { bounds: [1], counts: [3, 4] } })
    expect(faults).toEqual([{ signal: 'ttft', series: ttft, what: 'cut-histogram' }])
  })

  test('a sum that is no number is unknown; the buckets stay', () => {
    const { histograms, faults } = readingsOf('vllm', histogram(ttft, '', { '1': 3, '+Inf': 4 }, 'NaN'))
    expect(histograms.ttft).toEqual({ '': { bounds: [1], counts: [3, 4] } })
    expect(faults).toMatchObject([{ what: 'not-a-number' }])
  })

  test('a count that cannot be makes the histogram unknown', () => {
    expect(readingsOf('vllm', histogram(ttft, '', { '1': -3, '+Inf': 4 }, 5)).histograms).toEqual({})
    expect(readingsOf('vllm', histogram(ttft, '', { '1': Number.NaN, '+Inf': 4 }, 5)).faults).toMatchObject([
      { what: 'not-a-number' },
    ])
  })

  test('time per token is the mean of a request where it is there, else that of a step, else the old name', () => {
    const names = [
      'request_time_per_output_token_seconds',
      'inter_token_latency_seconds',
      'time_per_output_token_seconds',
    ]
    const bodies = names.map((name, i) => histogram(`vllm:${name}`, '', { '1': i, '+Inf': i }, i))
    const sources = [0, 1, 2].map((from) => readingsOf('vllm', bodies.slice(from).reverse().join('')).sources.itl)
    expect(sources).toEqual(names.map((name) => `vllm:${name}`))
  })

  test('buckets with stale samples are unknown', () => {
    const body = histogram(ttft, '', { '1': 3, '+Inf': 4 }, 5).replaceAll('\n', ` ${NOW - 6 * MINUTE}\n`)
    expect(readingsOf('vllm', body)).toMatchObject({ histograms: {}, faults: [{ what: 'stale-sample' }] })
  })

  test('ranks that repeat a histogram count once, and which of them is ahead moves no bucket back', () => {
    const name = 'sglang:time_to_first_token_seconds'
    const ranks = (...of: [buckets: Record<string, number>, sum: number][]) =>
      readingsOf(
        'sglang',
        of.map(([buckets, sum], rank) => histogram(name, `tp_rank="${rank}"`, buckets, sum)).join(''),
      ).histograms.ttft
    const [before, after] = [
      ranks([{ '1': 50, '2': 99, '+Inf': 100 }, 120], [{ '1': 48, '2': 99, '+Inf': 99 }, 119]),
      ranks([{ '1': 50, '2': 104, '+Inf': 105 }, 125], [{ '1': 49, '2': 105, '+Inf': 106 }, 126]),
    ]
    expect(before).toEqual({ '': { bounds: [1, 2], counts: [50, 99, 100], sum: 120 } })
    expect(after).toEqual({ '': { bounds: [1, 2], counts: [50, 105, 106], sum: 126 } })
  })

  test('engines keep their histograms apart', () => {
    const body =
      histogram(ttft, 'engine="0"', { '1': 1, '+Inf': 2 }, 3) + histogram(ttft, 'engine="1"', { '1': 4, '+Inf': 5 }, 6)
    expect(readingsOf('vllm', body).histograms.ttft).toEqual({
      'engine="0"': { bounds: [1], counts: [1, 2], sum: 3 },
      'engine="1"': { bounds: [1], counts: [4, 5], sum: 6 },
    })
  })
})

describe('GPUs', () => {
  const gpu = (name: string, value: number | string, labels = 'gpu="0",UUID="GPU-1"') =>
    `DCGM_FI_${name}{${labels}} ${value}\n`

  test('case 68: memory is used / (used + free); reserved memory counts on neither side', () => {
    const body = gpu('DEV_FB_USED', 76000) + gpu('DEV_FB_FREE', 4000) + gpu('DEV_FB_RESERVED', 1559)
    expect(readingsOf('dcgm', body).subjects).toEqual({ 'GPU-1': { gpu_memory: 0.95 } })
  })

  test('case 68: the share that the exporter publishes is used where the pair is missing', () => {
    const other = 'gpu="1",UUID="GPU-2"'
    const body =
      gpu('DEV_FB_USED', 1) +
      gpu('DEV_FB_FREE', 3) +
      gpu('DEV_FB_USED_PERCENT', 0.9) +
      gpu('DEV_FB_USED_PERCENT', 0.5, other) +
      gpu('DEV_FB_USED_PERCENT', 95, 'UUID="GPU-3"')
    const readings = readingsOf('dcgm', body)
    expect(readings.subjects).toEqual({ 'GPU-1': { gpu_memory: 0.25 }, 'GPU-2': { gpu_memory: 0.5 }, 'GPU-3': {} })
    expect(readings.faults).toMatchObject([{ signal: 'gpu_memory', what: 'out-of-range' }])
  })

  test('case 70: no memory lines, half of them, or nothing in both: unknown, and the GPU is there', () => {
    expect(readingsOf('dcgm', gpu('DEV_GPU_TEMP', 50)).subjects).toEqual({ 'GPU-1': { gpu_temperature: 50 } })
    expect(readingsOf('dcgm', gpu('DEV_FB_USED', 50)).subjects).toEqual({ 'GPU-1': {} })
    expect(readingsOf('dcgm', gpu('DEV_FB_USED', 0) + gpu('DEV_FB_FREE', 0)).subjects).toEqual({ 'GPU-1': {} })
  })

  test.each(['', ',pod="a",namespace="x",container="y"', ',pod="b"'])(
    'case 71: a GPU is its UUID, whatever pod uses it: %s',
    (pods) => {
      const labels = `gpu="0",UUID="GPU-1"${pods}`
      const body = gpu('DEV_FB_USED', 79000, labels) + gpu('DEV_FB_FREE', 1000, labels)
      expect(readingsOf('dcgm', body).subjects).toEqual({ 'GPU-1': { gpu_memory: 0.9875 } })
    },
  )

  test('a GPU that several pods share is one', () => {
    const pods = ['a', 'b', 'c'].map((pod) => `gpu="0",UUID="GPU-1",pod="${pod}"`)
    const body = pods.map((labels) => gpu('DEV_FB_USED', 60, labels) + gpu('DEV_FB_FREE', 20, labels)).join('')
    expect(readingsOf('dcgm', body).subjects).toEqual({ 'GPU-1': { gpu_memory: 0.75 } })
  })

  test('case 72: the use of the memory’s bus is not the use of the memory', () => {
    const body = gpu('DEV_MEM_COPY_UTIL', 100) + gpu('DEV_FB_USED', 1) + gpu('DEV_FB_FREE', 79999)
    expect(readingsOf('dcgm', body).subjects['GPU-1']).toEqual({ gpu_memory: 1 / 80000 })
  })

  test('every whole percent of utilisation is the share that a person would write', () => {
    const shares = Array.from({ length: 101 }, (_, percent) => gpu('DEV_GPU_UTIL', percent)).map(
      (body) => readingsOf('dcgm', body).subjects['GPU-1']?.gpu_utilisation,
    )
    expect(shares).toEqual(Array.from({ length: 101 }, (_, percent) => percent / 100))
  })

  test('MIG instances of one GPU are subjects of their own, each by the series that it has', () => {
    const mig = (id: number) => `gpu="0",UUID="GPU-1",GPU_I_PROFILE="2g.20gb",GPU_I_ID="${id}"`
    const body =
      gpu('DEV_GPU_UTIL', 40) +
      gpu('PROF_GR_ENGINE_ACTIVE', 0.1) +
      gpu('PROF_GR_ENGINE_ACTIVE', 0.7, mig(3)) +
      gpu('PROF_GR_ENGINE_ACTIVE', 0.2, mig(5))
    const { subjects, subjectNames } = readingsOf('dcgm', body)
    expect(subjects).toEqual({
      'GPU-1': { gpu_utilisation: 0.4 },
      'GPU-1/mig 3': { gpu_utilisation: 0.7 },
      'GPU-1/mig 5': { gpu_utilisation: 0.2 },
    })
    expect(subjectNames).toMatchObject({ 'GPU-1/mig 3': 'gpu 0, 2g.20gb' })
  })

  test('an XID is its number; the text beside it makes no other GPU, and no XID is no fault', () => {
    const body = gpu('DEV_XID_ERRORS', 79, 'gpu="0",UUID="GPU-1",err_code="79",err_msg="GPU has fallen off the bus"')
    expect(readingsOf('dcgm', body).subjects).toEqual({ 'GPU-1': { gpu_xid: 79 } })
    expect(readingsOf('dcgm', gpu('DEV_GPU_UTIL', 1))).toMatchObject({
      subjects: { 'GPU-1': { gpu_utilisation: 0.01 } },
      faults: [],
    })
  })

  test.each(['9223372036854775794', '2147483632', '-273', 'NaN'])(
    'a temperature of %s is "not supported": unknown',
    (value) => {
      expect(readingsOf('dcgm', gpu('DEV_GPU_TEMP', value))).toMatchObject({
        subjects: { 'GPU-1': {} },
        faults: [{ signal: 'gpu_temperature' }],
      })
    },
  )

  test.each(['9223372036854775794', '140737488355328.000000', '2147483632'])(
    'memory of the sentinel %s is unknown, not full',
    (sentinel) => {
      const body = gpu('DEV_FB_USED', sentinel) + gpu('DEV_FB_FREE', 1000)
      expect(readingsOf('dcgm', body)).toMatchObject({
        subjects: { 'GPU-1': {} },
        faults: [{ signal: 'gpu_memory', what: 'out-of-range' }],
      })
    },
  )

  test('a GPU without a UUID is its number', () => {
    const body = 'DCGM_FI_DEV_FB_USED{gpu="3"} 30\nDCGM_FI_DEV_FB_FREE{gpu="3"} 10\nDCGM_FI_DEV_GPU_TEMP{gpu="3"} 60\n'
    expect(readingsOf('dcgm', body).subjects).toEqual({ 'gpu 3': { gpu_memory: 0.75, gpu_temperature: 60 } })
  })

  test('cases 68, 72: a GPU without any name is one where it is the only one', () => {
    const body = 'DCGM_FI_DEV_FB_USED 76000\nDCGM_FI_DEV_FB_FREE 4000\nDCGM_FI_DEV_FB_RESERVED 1559\n'
    const temperature = 'DCGM_FI_DEV_GPU_TEMP{Hostname="h"} 60\n'
    expect(readingsOf('dcgm', body + temperature).subjects).toEqual({ gpu: { gpu_memory: 0.95, gpu_temperature: 60 } })
    expect(readingsOf('dcgm', `${temperature}DCGM_FI_DEV_GPU_TEMP{Hostname="i"} 60\n`).subjects).toEqual({})
  })

  test('labels without UUID and number, or with a dangerous one, name no GPU', () => {
    expect(readingsOf('dcgm', 'DCGM_FI_DEV_GPU_TEMP 0\nDCGM_FI_DEV_GPU_TEMP{UUID="__proto__"} 50\n').subjects).toEqual(
      {},
    )
    expect(({} as Record<string, unknown>).gpu_temperature).toBeUndefined()
  })
})

describe('the gateway and its endpoint', () => {
  test('failures are answers of 5xx, spelt as a class or a code; upstreams are subjects', () => {
    const body = `request_total{route="/v1",upstream="a",status="200"} 90
request_total{route="/v1",upstream="a",status="503"} 4
request_total{route="/v1",upstream="b",status="5xx"} 5
request_total{route="/v1",upstream="b",status="404"} 1
upstream_health{upstream="a"} 1
upstream_health{upstream="b"} 0
observer_degraded 1
vllm_requests_running 12
vllm_kv_usage_perc 0.91
admission_rejected_total{reason="kv"} 3
admission_rejected_total{reason="cap"} 2
admission_parked_total 7
engine_state_stale_total 1
queue_full_requests_total 6
warmup_requests_delayed_total 2
vllm_prefix_cache_hit_tokens_total 640
`
    const readings = readingsOf('gateway', body)
    expect(readings.gauges).toEqual({
      running: { value: 12 },
      kv_cache: { value: 0.91 },
      observer_degraded: { value: 1 },
    })
    expect(readings.subjects).toEqual({ a: { upstream_health: 1 }, b: { upstream_health: 0 } })
    expect(readings.counters.admission_rejected).toEqual({ 'reason="kv"': { value: 3 }, 'reason="cap"': { value: 2 } })
    expect(
      Object.fromEntries(Object.entries(readings.counters).map(([name, counter]) => [name, totalOf(counter)])),
    ).toEqual({
      finished: 100,
      failed: 9,
      prefix_hits: 640,
      admission_rejected: 5,
      admission_parked: 7,
      engine_state_stale: 1,
      queue_full: 6,
    })
    expect(readings.server).toBe('LLM gateway')
  })

  test.each(['status', 'status_code', 'code'])('failures are told by the label %s', (label) => {
    const body = `request_total{${label}="200"} 90\nrequest_total{${label}="503"} 4\n`
    const { finished, failed } = readingsOf('gateway', body).counters
    expect([finished && totalOf(finished), failed && totalOf(failed)]).toEqual([94, 4])
  })

  test.each<[what: string, body: string, subjects: Record<string, object>, own?: number]>([
    ['no label at all: the gateway has one', 'upstream_health 0', {}, 0],
    ['another label', 'upstream_health{backend="b"} 0', { 'backend b': { upstream_health: 0 } }],
    ['a label beside its name', 'upstream_health{upstream="a",zone="1"} 1', { a: { upstream_health: 1 } }],
    [
      'two series of one: unhealthy in one of them',
      'upstream_health{upstream="a",zone="1"} 0\nupstream_health{upstream="a",zone="2"} 1',
      { a: { upstream_health: 0 } },
    ],
  ])('no upstream is passed over: %s', (_, body, subjects, own) => {
    const readings = readingsOf('gateway', `${body}\n`)
    expect(readings.subjects).toEqual(subjects)
    expect(readings.gauges.upstream_health?.value).toBe(own)
  })

  test('case 76: a page of process metrics alone holds samples and no signal', () => {
    const body = 'python_gc_collections_total{generation="0"} 1746.0\nprocess_open_fds 45.0\n'
    expect(readingsOf('vllm', body)).toMatchObject({ gauges: {}, counters: {}, sources: {}, empty: false })
    expect(readingsOf('vllm', '')).toMatchObject({ empty: true, malformed: 0 })
  })

  test('case 79: the start time of the process is told, so that another process can be', () => {
    expect(readingsOf('vllm', 'process_start_time_seconds 1.7624e+09\n').startedAt).toBe(1.7624e9)
    expect(readingsOf('vllm', 'process_start_time_seconds NaN\n').startedAt).toBeUndefined()
  })

  test.each([
    ['samples of another server', 'tgi', 'python_gc_collections_total 5\nvllm:num_requests_waiting 3\n', true],
    ['its own samples, none of them wanted', 'tgi', 'process_cpu_seconds_total 1\ntgi_batch_next_size_sum 4\n', false],
    ['its own names announced after samples', 'tei', 'up 1\n# TYPE te_request_count counter\n', false],
    ['nothing', 'tgi', '', false],
    ['names that do not tell', 'vllm', 'python_gc_collections_total 5\n', false],
  ] as const)('%s: whether a page is foreign to %s', (_, backend, body, expected) => {
    expect(readingsOf(backend, body).foreign).toBe(expected)
  })

  test('a name with too many label sets is unknown, not a part of itself', () => {
    const many = Array.from({ length: 10_001 }, (_, i) => `vllm:num_requests_waiting{engine="${i}"} 1\n`).join('')
    expect(readingsOf('vllm', many)).toMatchObject({ gauges: {}, faults: [{ signal: 'waiting' }] })
  })

  test('settings are the labels of the series that holds them', () => {
    const body = 'vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="11560",note="a \\"b\\""} 1.0\n'
    expect(readingsOf('vllm', body).settings).toEqual({
      block_size: '16',
      engine: '0',
      num_gpu_blocks: '11560',
      note: 'a "b"',
    })
  })
})

describe('a replica that Ray has stopped stays at 0 on its page', () => {
  const replica = (name: string, value: number) =>
    `ray_serve_deployment_replica_healthy{application="a",deployment="d",replica="${name}"} ${value}.0`
  const status = (value: number) => `ray_serve_deployment_status{application="a",deployment="d"} ${value}.0`

  test.each<[string, string[], number]>([
    ['beside one that is healthy: the deployment is', [replica('old', 0), replica('new', 1)], 1],
    ['alone: it is not', [replica('old', 0)], 0],
    ['and the deployment itself says that it is healthy', [replica('old', 0), status(6)], 1],
    ['and the deployment itself says that it is not', [replica('old', 0), replica('new', 1), status(2)], 0],
    ['its deployment could not be deployed', [status(1)], 0],
    ['it is being updated: no fault', [status(3)], 1],
    ['replicas are a number', ['ray_serve_deployment_replica_healthy{application="a",deployment="d"} 2.0'], 1],
  ])('%s', (_, lines, expected) => {
    expect(readingsOf('ray-serve', `${lines.join('\n')}\n`).subjects).toEqual({
      'd at a': { upstream_health: expected },
    })
  })
})
