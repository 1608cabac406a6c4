import type { Alias, BackendTable } from '../model/backend.ts'

/** `trtllm-serve` itself, and what some platforms make of the underscore. */
const PREFIXES = ['trtllm_', 'trtllm:'] as const

function named(...names: readonly string[]): Alias[] {
  return PREFIXES.flatMap((prefix) => names.map((name) => ({ name: prefix + name })))
}

/**
 * TensorRT-LLM's `trtllm-serve`, with `return_perf_metrics`. Counters appear with the first finished request, gauges with
 * iteration statistics and since 2026.
 */
export const trtllm: BackendTable = {
  signals: {
    waiting: { from: named('num_requests_waiting'), core: true, optional: true },
    running: { from: named('num_requests_running'), core: true, optional: true },
    kv_cache: {
      from: [
        ...named('kv_cache_utilization'),
        ...PREFIXES.map((prefix) => ({ name: `${prefix}kv_cache_used_blocks`, of: `${prefix}kv_cache_max_blocks` })),
      ],
      combine: 'max',
      optional: true,
    },
    queue_wait: { from: named('request_queue_time_seconds'), optional: true },
    ttft: { from: named('time_to_first_token_seconds'), optional: true },
    itl: { from: named('time_per_output_token_seconds'), optional: true },
    e2e: { from: named('e2e_request_latency_seconds'), optional: true },
    finished: { from: named('request_success_total'), core: true, optional: true },
    failed: {
      from: named('request_error_total').map((alias) => ({ ...alias, labels: { http_code: ['5*'] } })),
      zeroBeside: 'finished',
    },
    prompt_tokens: { from: named('prompt_tokens_total'), optional: true },
    generation_tokens: { from: named('generation_tokens_total'), optional: true },
    prefix_queries: { from: named('prompt_tokens_total'), optional: true },
    prefix_hits: { from: named('prompt_cached_tokens_total'), optional: true },
    draft_tokens: { from: named('spec_decode_num_draft_tokens_total'), optional: true },
    draft_accepted: { from: named('spec_decode_num_accepted_tokens_total'), optional: true },
    steps: { from: named('generation_tokens_total', 'num_requests_completed_total'), optional: true },
  },
  path: 'prometheus/metrics',
  modelLabels: ['model_name'],
  repeats: [],
  ignored: [],
  oneCoreIsEnough: true,
  emptyIsHealthy: true,
  ownNames: 'trtllm',
  recognise: [
    { series: 'trtllm_kv_cache_utilization', as: 'TensorRT-LLM with iteration statistics' },
    { series: 'trtllm_num_requests_waiting', as: 'TensorRT-LLM' },
    { series: 'trtllm_request_success_total', as: 'TensorRT-LLM' },
    { series: 'trtllm_e2e_request_latency_seconds_count', as: 'TensorRT-LLM' },
    { series: 'trtllm:num_requests_waiting', as: 'TensorRT-LLM' },
    { series: 'trtllm:request_success_total', as: 'TensorRT-LLM' },
  ],
}
