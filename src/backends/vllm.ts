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

const histogram = (...names: readonly string[]): SignalRow => ({ from: named(...names) })

/** vLLM, V0 and V1. Shares are 0..1 in spite of `perc`; between 0.9.2 and 0.10 the old and the new name are both there. */
export const vllm: BackendTable = {
  signals: {
    waiting: { from: named('num_requests_waiting'), core: true },
    running: { from: named('num_requests_running'), core: true },
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
      'time_per_output_token_seconds', // the same, to 0.12
    ),
    e2e: histogram('e2e_request_latency_seconds'),
    finished: { from: named('request_success_total') }, // all reasons; in NIM the successes alone
    failed: { from: failed, zeroBeside: 'finished' },
    preemptions: { from: named('num_preemptions_total') },
    prompt_tokens: { from: named('prompt_tokens_total') },
    generation_tokens: { from: named('generation_tokens_total') },
    prefix_queries: { from: named('prefix_cache_queries_total', 'gpu_prefix_cache_queries_total') },
    prefix_hits: { from: named('prefix_cache_hits_total', 'gpu_prefix_cache_hits_total') },
    steps: { from: named('iteration_tokens_total_count') }, // a histogram, despite its name
  },
  modelLabels: ['model_name'],
  repeats: [],
  ignored: [],
  settings: named('cache_config_info').map(({ name }) => name),
  recognise: [
    { series: 'vllm:healthy_pods_total', as: "vLLM's router, not an engine", instead: 'watch the engines behind it' },
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
