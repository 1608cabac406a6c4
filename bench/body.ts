const TTFT =
  '0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0 160.0 640.0 2560.0'
const TOKEN = '0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0'
const REQUEST =
  '0.3 0.5 0.8 1.0 1.5 2.0 2.5 5.0 10.0 15.0 20.0 30.0 40.0 50.0 60.0 120.0 240.0 480.0 960.0 1920.0 7680.0'
const COUNTS =
  '1.0 2.0 5.0 10.0 20.0 50.0 100.0 200.0 500.0 1000.0 2000.0 5000.0 10000.0 20000.0 50000.0 100000.0 200000.0 500000.0 1e+06'
const BLOCKS =
  '0.001 0.002 0.005 0.01 0.02 0.05 0.1 0.2 0.5 1.0 2.0 5.0 10.0 20.0 30.0 60.0 120.0 300.0 600.0 1200.0 1800.0'
const STEPS = '1.0 8.0 16.0 32.0 64.0 128.0 256.0 512.0 1024.0 2048.0 4096.0 8192.0 16384.0'

/** A vLLM V1 page as its Python client writes it, most families of a release of 2026: about 75 KB for one engine, 500 KB for eight. */
export function vllmBody({ engines = 1, model = 'nvidia/Llama-3.1-Nemotron-70B-Instruct-HF' } = {}): string {
  const sets = Array.from({ length: engines }, (_, engine) => `engine="${engine}",model_name="${model}"`)
  return [python(), ...gauges(sets), ...counters(sets), ...histograms(sets), http()].join('')
}

/**
 * The same page of another size: without the families that nobody asks for where it must be smaller, with more of them
 * where it must be larger. What is read of it stays the same.
 */
export function vllmBodyOf(kilobytes: number, isWanted: (name: string) => boolean): string {
  const whole = vllmBody()
  const wanted = whole.split('\n').filter((line) => isWanted(/^(?:# \w+ )?([^{ ]*)/.exec(line)?.[1] ?? ''))
  let body = kilobytes * 1_000 < whole.length ? `${wanted.join('\n')}\n` : whole
  for (let n = 0; body.length < kilobytes * 1_000; n++)
    body += histogram(`other_${n}_seconds`, REQUEST, [
      'engine="0",model_name="nvidia/Llama-3.1-Nemotron-70B-Instruct-HF"',
    ])
  return body
}

function python(): string {
  const gc = ['objects_collected', 'objects_uncollectable', 'collections'].map((name) =>
    family(
      `python_gc_${name}_total`,
      'counter',
      [0, 1, 2].map((n) => [`generation="${n}"`, 11_299 / (n + 1)]),
    ),
  )
  const process = ['virtual_memory_bytes', 'resident_memory_bytes', 'start_time_seconds', 'open_fds'].map((name) =>
    family(`process_${name}`, 'gauge', [['', 1_762_438_367.32]]),
  )
  return [...gc, ...process].join('')
}

function gauges(sets: readonly string[]): string[] {
  const one = (name: string, value: number) =>
    family(
      `vllm:${name}`,
      'gauge',
      sets.map((set) => [set, value]),
    )
  const split = (name: string, label: string, values: readonly string[]) =>
    family(
      `vllm:${name}`,
      'gauge',
      sets.flatMap((set) => values.map((v): [string, number] => [`${set},${label}="${v}"`, 1])),
    )
  return [
    one('num_requests_running', 16),
    one('num_requests_waiting', 42),
    split('num_requests_waiting_by_reason', 'reason', ['capacity', 'deferred']),
    split('engine_sleep_state', 'sleep_state', ['awake', 'weights_offloaded', 'discard_all']),
    one('kv_cache_usage_perc', 0.6530455880475035),
    family(
      'vllm:cache_config_info',
      'gauge',
      sets.map((set) => [
        `block_size="16",cache_dtype="auto",enable_prefix_caching="True",${set},gpu_memory_utilization="0.9",num_gpu_blocks="11560"`,
        1,
      ]),
    ),
  ]
}

function counters(sets: readonly string[]): string[] {
  const plain = [
    ...['prefix_cache_queries', 'prefix_cache_hits', 'external_prefix_cache_queries', 'external_prefix_cache_hits'],
    ...[
      'mm_cache_queries',
      'mm_cache_hits',
      'num_preemptions',
      'prompt_tokens',
      'generation_tokens',
      'prompt_tokens_cached',
    ],
    ...['spec_decode_num_drafts', 'spec_decode_num_draft_tokens', 'spec_decode_num_accepted_tokens'],
    ...['estimated_flops_per_gpu', 'estimated_read_bytes_per_gpu', 'estimated_write_bytes_per_gpu'],
  ].map((name) => counter(name, sets))
  const split = (name: string, label: string, values: readonly string[]) =>
    counter(
      name,
      sets.flatMap((set) => values.map((value) => `${set},${label}="${value}"`)),
    )
  return [
    ...plain,
    split('request_success', 'finished_reason', ['stop', 'length', 'abort', 'error', 'repetition']),
    split('spec_decode_num_accepted_tokens_per_pos', 'position', ['0', '1', '2', '3', '4', '5']),
    split('prompt_tokens_by_source', 'source', ['local_compute', 'local_cache_hit', 'external_kv_transfer']),
  ]
}

function counter(name: string, sets: readonly string[]): string {
  const values = sets.map((set, i): [string, number] => [set, 1_234_567 + i])
  return (
    family(`vllm:${name}_total`, 'counter', values) +
    family(
      `vllm:${name}_created`,
      'gauge',
      sets.map((set) => [set, 1_788_860_277.535274]),
    )
  )
}

function histograms(sets: readonly string[]): string[] {
  const requests = [
    'e2e_request_latency',
    'request_queue_time',
    'request_inference_time',
    'request_prefill_time',
    'request_decode_time',
  ]
  const counts = [
    'prompt_tokens',
    'generation_tokens',
    'max_num_generation_tokens',
    'params_n',
    'params_max_tokens',
    'prefill_kv_computed_tokens',
  ]
  return [
    ...counts.map((name) => histogram(`request_${name}`, COUNTS, sets)),
    histogram('iteration_tokens_total', STEPS, sets),
    histogram('time_to_first_token_seconds', TTFT, sets),
    ...['inter_token_latency_seconds', 'request_time_per_output_token_seconds'].map((name) =>
      histogram(name, TOKEN, sets),
    ),
    ...['lifetime', 'idle_before_evict', 'reuse_gap'].map((name) =>
      histogram(`kv_block_${name}_seconds`, BLOCKS, sets),
    ),
    ...requests.map((name) => histogram(`${name}_seconds`, REQUEST, sets)),
  ]
}

function histogram(name: string, bounds: string, sets: readonly string[]): string {
  const lines = sets.flatMap((set) => {
    const le = [...bounds.split(' '), '+Inf']
    const buckets = le.map((bound, i) => line(`vllm:${name}_bucket`, set.replace('",', `",le="${bound}",`), i * 1_007))
    const total = (le.length - 1) * 1_007
    return [...buckets, line(`vllm:${name}_count`, set, total), line(`vllm:${name}_sum`, set, total * 0.8123046875)]
  })
  return `${header(`vllm:${name}`, 'histogram')}${lines.join('')}${family(
    `vllm:${name}_created`,
    'gauge',
    sets.map((set) => [set, 1_788_860_277.6086948]),
  )}`
}

function http(): string {
  const handlers = ['/v1/models', '/v1/chat/completions', '/metrics', 'none']
  const requests = handlers.map((name): [string, number] => [`handler="${name}",method="GET",status="2xx"`, 5])
  const sizes = handlers.map((name): [string, number] => [`handler="${name}"`, 24_100.5])
  return family('http_requests_total', 'counter', requests) + family('http_request_size_bytes_sum', 'summary', sizes)
}

function family(name: string, type: string, samples: readonly [labels: string, value: number][]): string {
  return header(name, type) + samples.map(([labels, value]) => line(name, labels, value)).join('')
}

function header(name: string, type: string): string {
  return `# HELP ${name} What the server says of ${name} in a sentence.\n# TYPE ${name} ${type}\n`
}

function line(name: string, labels: string, value: number): string {
  const number = Number.isInteger(value) ? (value >= 1e6 ? value.toExponential() : `${value}.0`) : String(value)
  return `${name}${labels === '' ? '' : `{${labels}}`} ${number}\n`
}
