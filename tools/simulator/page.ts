import type { Engine } from './engine.ts'
import type { Histogram } from './histogram.ts'

type Labels = Readonly<Record<string, string>>

/**
 * The engine as a vLLM V1 `/metrics` page, in the form that Python's Prometheus client writes: HELP and TYPE, labels
 * sorted by name, `3.0` for 3, `_created` beside every total.
 */
export function vllmPage(engine: Engine): string {
  const labels = { engine: '0', model_name: engine.machine.model }
  const born = engine.startedAt() / 1000
  return [
    gauge('process_start_time_seconds', 'Start time of the process since unix epoch in seconds.', [[{}, born]]),
    ...gauges(engine, labels),
    ...counters(engine, labels, born),
    ...histograms(engine, labels, born),
    gauge('vllm:cache_config_info', 'Information of the LLMEngine CacheConfig', [[cacheConfig(engine), 1]]),
  ].join('')
}

function gauges(engine: Engine, labels: Labels): string[] {
  const { running, waiting, deferred, kvUsage } = engine.gauges()
  const asleep = engine.knobs().asleep ? 1 : 0
  return [
    gauge('vllm:num_requests_running', 'Number of requests in model execution batches.', [[labels, running]]),
    gauge('vllm:num_requests_waiting', 'Number of requests waiting to be processed.', [[labels, waiting]]),
    // The parts of the line above: whoever adds all series that begin with its name counts every request twice.
    gauge('vllm:num_requests_waiting_by_reason', 'Number of waiting requests by reason.', [
      [{ ...labels, reason: 'capacity' }, waiting - deferred],
      [{ ...labels, reason: 'deferred' }, deferred],
    ]),
    gauge('vllm:kv_cache_usage_perc', 'KV-cache usage. 1 means 100 percent usage.', [[labels, kvUsage]]),
    gauge('vllm:engine_sleep_state', 'Engine sleep state.', [
      [{ ...labels, sleep_state: 'awake' }, 1 - asleep],
      [{ ...labels, sleep_state: 'weights_offloaded' }, asleep],
      [{ ...labels, sleep_state: 'discard_all' }, 0],
    ]),
  ]
}

function counters(engine: Engine, labels: Labels, born: number): string[] {
  const totals = engine.totals()
  const reasons = Object.entries(totals.finished).map(([reason, value]): [Labels, number] => [
    { engine: '0', finished_reason: reason, model_name: engine.machine.model },
    value,
  ])
  const one = (name: string, help: string, value: number) => counter(name, help, [[labels, value]], born)
  return [
    one(
      'vllm:prefix_cache_queries',
      'Prefix cache queries, in terms of number of queried tokens.',
      totals.prefixQueries,
    ),
    one('vllm:prefix_cache_hits', 'Prefix cache hits, in terms of number of cached tokens.', totals.prefixHits),
    one('vllm:num_preemptions', 'Cumulative number of preemption from the engine.', totals.preemptions),
    one('vllm:prompt_tokens', 'Number of prefill tokens processed.', totals.promptTokens),
    one('vllm:generation_tokens', 'Number of generation tokens processed.', totals.generationTokens),
    counter('vllm:request_success', 'Count of successfully processed requests.', reasons, born),
    ...ofDraft(engine, { labels, born, one }),
    ...ofTransfers(engine, { labels, born, one }),
  ]
}

interface Writing {
  labels: Labels
  /** Unix seconds. */
  born: number
  one: (name: string, help: string, value: number) => string
}

/** Published with speculative decoding alone. */
function ofDraft(engine: Engine, { one }: Writing): string[] {
  const { draftTokens, draftAccepted } = engine.totals()
  if (engine.knobs().draftTokens === 0) return []
  return [
    one('vllm:spec_decode_num_draft_tokens', 'Number of draft tokens.', draftTokens),
    one('vllm:spec_decode_num_accepted_tokens', 'Number of accepted tokens.', draftAccepted),
  ]
}

/** Published where prompts are read on another node. */
function ofTransfers(engine: Engine, { labels, born, one }: Writing): string[] {
  const { transferTime, failedTransfers } = engine.totals()
  if (engine.knobs().transferSeconds === 0) return []
  return [
    histogram('vllm:nixl_xfer_time_seconds', 'Histogram of NIXL transfer duration.', labels, transferTime, born),
    one('vllm:nixl_num_failed_transfers', 'Number of failed NIXL KV Cache transfers.', failedTransfers),
  ]
}

function histograms(engine: Engine, labels: Labels, born: number): string[] {
  const totals = engine.totals()
  const rows: [string, string, Histogram][] = [
    ['vllm:request_prompt_tokens', 'Number of prefill tokens processed.', totals.requestPrompt],
    ['vllm:request_generation_tokens', 'Number of generation tokens processed.', totals.requestGeneration],
    ['vllm:iteration_tokens_total', 'Histogram of number of tokens per engine_step.', totals.iterationTokens],
    ['vllm:time_to_first_token_seconds', 'Histogram of time to first token in seconds.', totals.ttft],
    ['vllm:inter_token_latency_seconds', 'Histogram of inter-token latency in seconds.', totals.itl],
    ['vllm:request_time_per_output_token_seconds', 'Histogram of time per output token.', totals.timePerToken],
    ['vllm:e2e_request_latency_seconds', 'Histogram of e2e request latency in seconds.', totals.e2e],
    ['vllm:request_queue_time_seconds', 'Histogram of time spent in WAITING phase for request.', totals.queue],
    ['vllm:request_inference_time_seconds', 'Histogram of time spent in RUNNING phase.', totals.inference],
    ['vllm:request_prefill_time_seconds', 'Histogram of time spent in PREFILL phase for request.', totals.prefill],
    ['vllm:request_decode_time_seconds', 'Histogram of time spent in DECODE phase for request.', totals.decode],
  ]
  return rows.map(([name, help, of]) => histogram(name, help, labels, of, born))
}

function cacheConfig(engine: Engine): Labels {
  const { blockSize } = engine.machine
  return {
    block_size: String(blockSize),
    cache_dtype: 'auto',
    enable_prefix_caching: 'True',
    engine: '0',
    gpu_memory_utilization: '0.9',
    num_gpu_blocks: String(Math.floor(engine.knobs().cacheTokens / blockSize)),
  }
}

function gauge(name: string, help: string, samples: readonly (readonly [Labels, number])[]): string {
  return head(name, help, 'gauge') + samples.map(([labels, value]) => sample(name, labels, value)).join('')
}

/** The text form adds `_total` to a counter's name; its `_created` has a family of its own. */
function counter(name: string, help: string, samples: readonly (readonly [Labels, number])[], born: number): string {
  const total = `${name}_total`
  const lines = samples.map(([labels, value]) => sample(total, labels, value)).join('')
  return (
    head(total, help, 'counter') +
    lines +
    gauge(
      `${name}_created`,
      help,
      samples.map(([labels]) => [labels, born]),
    )
  )
}

function histogram(name: string, help: string, labels: Labels, of: Histogram, born: number): string {
  const buckets = of.counts.map((count, index) => {
    const bound = of.bounds[index]
    return sample(`${name}_bucket`, { ...labels, le: bound === undefined ? '+Inf' : pythonNumber(bound) }, count)
  })
  const count = sample(`${name}_count`, labels, of.counts.at(-1) ?? 0)
  const sum = sample(`${name}_sum`, labels, of.sum)
  return (
    head(name, help, 'histogram') + buckets.join('') + count + sum + gauge(`${name}_created`, help, [[labels, born]])
  )
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`
}

function sample(name: string, labels: Labels, value: number): string {
  const names = Object.keys(labels).sort()
  const pairs = names.map((label) => `${label}="${escaped(labels[label] ?? '')}"`)
  return `${name}${pairs.length ? `{${pairs.join(',')}}` : ''} ${pythonNumber(value)}\n`
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}

/** 3 → `3.0`, 0.25 → `0.25`, 5453083 → `5.453083e+06`: how Python's client writes a number. */
function pythonNumber(value: number): string {
  if (Math.abs(value) < 1e6) return Number.isInteger(value) ? `${value}.0` : String(value)
  const [mantissa = '', exponent = ''] = value.toExponential().split('e+')
  return `${mantissa}e+${exponent.padStart(2, '0')}`
}
