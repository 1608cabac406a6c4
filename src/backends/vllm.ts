import type { Alias, BackendTable, SignalRow } from '../model/backend.ts'

/**
 * vLLM itself; Ray Serve, in both of its spellings; vendors' agents, which turn the colon into an underscore; and
 * NVIDIA NIM, which publishes the names without a prefix.
 */
const PREFIXES = ['vllm:', 'ray_vllm:', 'ray_vllm_', 'vllm_', ''] as const

/** The names under every prefix, newest first within each. */
function named(...names: readonly string[]): Alias[] {
  return PREFIXES.flatMap((prefix) => names.map((name) => ({ name: prefix + name })))
}

/** Requests that ended with an error of the server; not `abort`, which is the client's wish. NIM counts them apart. */
const failed: Alias[] = PREFIXES.flatMap((prefix) => [
  { name: `${prefix}request_success_total`, labels: { finished_reason: ['error'] } },
  { name: `${prefix}request_failure_total` },
])

/** Paths of inference: a probe of health, a list of models or a scanner's path says nothing about requests. */
const INFERENCE = [
  '/v1/chat/completions*',
  '/v1/completions*',
  '/v1/responses*',
  '/v1/messages*',
  '/v1/embeddings',
  '/v1/audio/*',
  '/v1/images/*',
  '/v1/score',
  '/v1/rerank',
  '/v2/rerank',
  '/v2/embed',
  '/score',
  '/rerank',
  '/pooling',
  '/classify',
  '/generate*',
  '/inference/v1/generate',
  '/invocations',
]

/** The series of one quantity under every prefix; any of them is enough. */
function anyOf(first: string, ...others: readonly string[]): Alias[] {
  return PREFIXES.map((prefix) => ({ name: prefix + first, plus: others.map((name) => prefix + name) }))
}

/** A metric that is given up is hidden in one minor version and gone in the next. */
const LIVES: BackendTable['lives'] = {
  num_requests_waiting_by_reason: { since: '0.28' },
  engine_sleep_state: { since: '0.12' },
  kv_cache_usage_perc: { since: '0.9.2' },
  gpu_cache_usage_perc: { until: '0.11' },
  gpu_prefix_cache_hit_rate: { until: '0.11' },
  request_queue_time_seconds: { since: '0.7' },
  request_time_per_output_token_seconds: { since: '0.11' },
  inter_token_latency_seconds: { since: '0.10.2' },
  time_per_output_token_seconds: { until: '0.13' },
  admission_rejections_total: { since: '0.31' },
  corrupted_requests_total: { since: '0.11' },
  nixl_num_failed_transfers_total: { since: '0.12' },
  nixl_xfer_time_seconds_sum: { since: '0.12' },
  prefix_cache_queries_total: { since: '0.9.2' },
  prefix_cache_hits_total: { since: '0.9.2' },
  gpu_prefix_cache_queries_total: { since: '0.8', until: '0.11' },
  gpu_prefix_cache_hits_total: { since: '0.8', until: '0.11' },
}

const histogram = (...names: readonly string[]): SignalRow => ({ from: named(...names) })

/** vLLM, V0 and V1. Shares are 0..1 in spite of `perc`; between 0.9.2 and 0.10 the old and the new name are both there. */
export const vllm: BackendTable = {
  signals: {
    waiting: { from: named('num_requests_waiting'), core: true },
    running: { from: named('num_requests_running'), core: true },
    waiting_deferred: {
      from: named('num_requests_waiting_by_reason').map((alias) => ({ ...alias, labels: { reason: ['deferred'] } })),
    },
    asleep: {
      from: named('engine_sleep_state').map((alias) => ({ ...alias, not: { sleep_state: ['awake'] } })),
      combine: 'max',
    },
    engine_healthy: { from: named('engine_healthy'), combine: 'min' }, // with --enable-fault-tolerance
    kv_cache: { from: named('kv_cache_usage_perc', 'gpu_cache_usage_perc'), combine: 'max', core: true },
    hit_share: {
      from: named('gpu_prefix_cache_hit_rate').map((alias) => ({ ...alias, off: [-1] })), // V0; -1: caching is off
      combine: 'max',
    },
    queue_wait: histogram('request_queue_time_seconds'),
    ttft: histogram('time_to_first_token_seconds'),
    itl: histogram(
      'request_time_per_output_token_seconds', // one observation a request
      'inter_token_latency_seconds', // one an engine step
      'time_per_output_token_seconds', // the same
    ),
    e2e: histogram('e2e_request_latency_seconds'),
    finished: { from: named('request_success_total') }, // all reasons; in NIM the successes alone
    failed: { from: failed, zeroBeside: 'finished' },
    // Of the API server, without prefix: a dead engine (500) and what admission refused (503) are counted here alone.
    http_failed: {
      from: [{ name: 'http_requests_total', labels: { handler: INFERENCE, status: ['5*'] } }],
      zeroBeside: 'finished',
    },
    admission_rejected: { from: named('admission_rejections_total'), optional: true }, // where the queue has a cap
    corrupted: { from: named('corrupted_requests_total'), optional: true }, // where NaNs are looked for
    transfer_failed: {
      from: anyOf(
        'nixl_num_failed_transfers_total',
        'nixl_num_failed_notifications_total',
        'nixl_num_kv_expired_reqs_total',
        'nixl_num_notifications_after_expiry_total',
        'kv_offload_allocation_failure_total',
      ),
      zeroBeside: 'finished',
      optional: true,
    },
    preemptions: { from: named('num_preemptions_total') },
    prompt_tokens: { from: named('prompt_tokens_total') },
    generation_tokens: { from: named('generation_tokens_total') },
    prefix_queries: { from: named('prefix_cache_queries_total', 'gpu_prefix_cache_queries_total'), optional: true }, // V1
    // What another tier had (CPU, disk, a remote cache) is looked up after the GPU's own misses: a hit as well.
    prefix_hits: {
      from: PREFIXES.flatMap((prefix) =>
        ['prefix_cache_hits_total', 'gpu_prefix_cache_hits_total'].map((name) => ({
          name: prefix + name,
          plus: [`${prefix}external_prefix_cache_hits_total`],
        })),
      ),
      optional: true,
    },
    // Beside the transfers that fail, those that take long; the mean is enough.
    transfer_time: {
      from: PREFIXES.map((prefix) => ({
        name: `${prefix}nixl_xfer_time_seconds_sum`,
        count: `${prefix}nixl_xfer_time_seconds_count`,
      })),
      optional: true,
    },
    draft_tokens: { from: named('spec_decode_num_draft_tokens_total'), optional: true }, // with speculative decoding
    draft_accepted: { from: named('spec_decode_num_accepted_tokens_total'), optional: true },
    steps: { from: named('iteration_tokens_total_count') }, // a histogram, despite its name
  },
  modelLabels: ['model_name'],
  repeats: [],
  engineLabel: 'engine',
  ignored: [],
  settings: named('cache_config_info').map(({ name }) => name),
  versionAt: ['version'],
  called: 'vLLM',
  flags: {
    // To 0.14 the size alone switched nothing on. vllm-project/vllm, pull requests 27621 and 32421.
    offload: [
      { name: '--kv-offloading-size', since: '0.15' },
      { name: '--kv-offloading-backend native --kv-offloading-size', since: '0.11.1', until: '0.15' },
    ],
    'queue-cap': [{ name: '--max-num-queued-reqs', since: '0.29' }], // pull request 49445
    draft: [
      { name: '--speculative-config', since: '0.8' },
      { name: '--speculative-model', until: '0.8' }, // pull request 15466
    ],
  },
  lives: LIVES,
  recognise: [
    {
      series: 'vllm:healthy_pods_total',
      as: "vLLM's router, not an engine",
      instead: 'watch the engines behind it; for itself it has the function router',
    },
    { series: 'vllm:kv_cache_usage_perc', as: 'vLLM V1, 0.9.2 or newer' },
    { series: 'vllm:gpu_prefix_cache_queries_total', as: 'vLLM V1, before 0.9.2' },
    { series: 'vllm:gpu_cache_usage_perc', as: 'vLLM V0, or V1 before 0.9.2' },
    { series: 'vllm:num_requests_waiting', as: 'vLLM' },
    { series: 'vllm:num_requests_running', as: 'vLLM' },
    { series: 'vllm:request_generation_tokens_count', as: 'vLLM' },
    { series: 'vllm:request_params_n_count', as: 'vLLM' },
    { series: 'ray_vllm:num_requests_waiting', as: 'vLLM under Ray Serve' },
    { series: 'ray_vllm_num_requests_waiting', as: 'vLLM under Ray Serve' },
    { series: 'vllm_num_requests_waiting', as: 'vLLM through an agent' },
    { series: 'num_request_max', as: 'NVIDIA NIM' },
    { series: 'num_requests_waiting', as: 'NVIDIA NIM' },
  ],
}
