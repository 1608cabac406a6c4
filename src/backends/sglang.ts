import type { Alias, BackendTable } from '../model/backend.ts'

/** SGLang itself, and what its model gateway makes of the names. */
const PREFIXES = ['sglang:', 'sglang_'] as const

function named(...names: readonly string[]): Alias[] {
  return PREFIXES.flatMap((prefix) => names.map((name) => ({ name: prefix + name })))
}

/** Queues beside the main one: for grammars, and those of a prefill/decode split. */
const OTHER_QUEUES = [
  'num_grammar_queue_reqs',
  'num_prefill_bootstrap_queue_reqs',
  'num_prefill_prealloc_queue_reqs',
  'num_prefill_inflight_queue_reqs',
  'num_decode_prealloc_queue_reqs',
  'num_decode_transfer_queue_reqs',
]

const waiting: Alias[] = PREFIXES.map((prefix) => ({
  name: `${prefix}num_queue_reqs`,
  plus: OTHER_QUEUES.map((name) => prefix + name),
}))

const transferFailed: Alias[] = PREFIXES.map((prefix) => ({
  name: `${prefix}num_transfer_failed_reqs_total`,
  plus: [`${prefix}num_bootstrap_failed_reqs_total`],
}))

const LIVES: BackendTable['lives'] = {
  num_requests_waiting: { until: '0.4' }, // a prototype
  num_requests_running: { until: '0.4' },
  num_requests_total: { since: '0.4.9' },
  cached_tokens_total: { since: '0.4.9' },
  queue_time_seconds: { since: '0.5' },
  time_per_output_token_seconds: { until: '0.5' },
  time_per_output_token_seconds_count: { until: '0.5' },
  realtime_tokens_total: { since: '0.5' },
  prefill_effective_tokens_total: { since: '0.5' },
}

/** SGLang 0.4 and newer. Histograms and labelled counters appear with their first observation. */
export const sglang: BackendTable = {
  signals: {
    waiting: { from: [...waiting, ...named('num_requests_waiting')], core: true },
    running: { from: named('num_running_reqs', 'num_requests_running'), core: true },
    paused: { from: named('num_paused_reqs') },
    kv_cache: { from: named('token_usage'), combine: 'max', core: true },
    hit_share: { from: named('cache_hit_rate'), combine: 'max' }, // of the last prefill batch; percent in the prototype
    queue_wait: { from: named('queue_time_seconds') },
    ttft: { from: named('time_to_first_token_seconds') },
    itl: { from: named('inter_token_latency_seconds', 'time_per_output_token_seconds') },
    e2e: { from: named('e2e_request_latency_seconds') },
    finished: { from: named('num_requests_total', 'e2e_request_latency_seconds_count') },
    // Aborted is no failure: it counts the clients that hang up. All that SGLang tells apart beside it are the transfers.
    failed: { from: transferFailed, zeroBeside: 'finished' },
    transfer_failed: { from: transferFailed, zeroBeside: 'finished', optional: true },
    preemptions: { from: named('num_retracted_requests_total') },
    prompt_tokens: { from: named('prompt_tokens_total') },
    generation_tokens: { from: named('generation_tokens_total') },
    prefix_queries: { from: named('prefill_effective_tokens_total', 'prompt_tokens_total') },
    prefix_hits: {
      from: [
        // By where they were found: in the GPU, in the host's memory, in a store. Late 2026; all are there from the start.
        ...named('prefill_effective_tokens_total').map((alias) => ({
          ...alias,
          labels: { mode: ['device_hit', 'host_hit', 'storage_hit'] },
        })),
        ...named('cached_tokens_total'),
      ],
      zeroBeside: 'prefix_queries',
    },
    transfer_time: {
      from: PREFIXES.map((prefix) => ({
        name: `${prefix}kv_transfer_latency_ms_sum`,
        count: `${prefix}kv_transfer_latency_ms_count`,
        per: 1_000,
      })),
      optional: true,
    },
    accept_share: { from: named('spec_accept_rate'), combine: 'max', optional: true }, // with speculative decoding
    // Requests and their tokens are counted when they end: a long answer moves only these.
    steps: {
      from: named('realtime_tokens_total', 'inter_token_latency_seconds_count', 'time_per_output_token_seconds_count'),
    },
  },
  port: 30_000,
  versionAt: ['server_info', 'get_server_info'], // the first since 0.5.6, where the second is deprecated
  called: 'SGLang',
  flags: {
    offload: [{ name: '--enable-hierarchical-cache', since: '0.4.3' }], // sgl-project/sglang, pull request 2693
    'queue-cap': [{ name: '--max-queued-requests', since: '0.4.10' }], // pull request 7565
    draft: [{ name: '--speculative-algorithm', since: '0.4.1' }],
  },
  lives: LIVES,
  modelLabels: ['model_name', 'name'],
  repeats: ['tp_rank', 'pp_rank', 'moe_ep_rank'],
  engineLabel: 'dp_rank',
  ignored: [],
  classLabel: 'priority',
  totalLabel: 'priority',
  recognise: [
    { series: 'sglang:num_queue_reqs', as: 'SGLang' },
    { series: 'sglang:token_usage', as: 'SGLang' },
    { series: 'sglang_cache_hit_rate', as: 'SGLang behind its model gateway' },
    { series: 'sglang_num_queue_reqs', as: 'SGLang behind its model gateway' },
  ],
}
