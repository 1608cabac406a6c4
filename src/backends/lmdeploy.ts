import type { Alias, BackendTable } from '../model/backend.ts'

const named = (...names: readonly string[]): Alias[] => names.map((name) => ({ name: `lmdeploy:${name}` }))

/** LMDeploy's API server: names and times as vLLM has them. */
export const lmdeploy: BackendTable = {
  signals: {
    waiting: {
      // In the engine, and before it in the API server.
      from: named('num_requests_waiting').map((alias) => ({ ...alias, plus: ['lmdeploy:num_api_requests_waiting'] })),
      core: true,
    },
    running: { from: named('num_requests_running'), core: true },
    kv_cache: { from: named('gpu_cache_usage_perc'), combine: 'max', core: true },
    hit_share: { from: named('prefix_cache_hit_rate'), combine: 'max', optional: true },
    queue_wait: { from: named('request_queue_time_seconds'), optional: true },
    ttft: { from: named('time_to_first_token_seconds'), optional: true },
    itl: { from: named('time_per_output_token_seconds', 'iter_token_latency'), optional: true },
    e2e: { from: named('e2e_request_latency_seconds'), optional: true },
    finished: { from: named('request_success_total', 'num_requests_succeeded') },
    failed: { from: named('num_requests_failed'), zeroBeside: 'finished' }, // a gauge that only grows
    prompt_tokens: { from: named('prompt_tokens_total'), optional: true },
    generation_tokens: { from: named('generation_tokens_total'), optional: true },
    prefix_queries: { from: named('prompt_tokens_total'), optional: true },
    prefix_hits: { from: named('cached_tokens_total'), optional: true },
    steps: { from: named('iteration_tokens_total_count'), optional: true }, // a histogram, despite its name
  },
  port: 23_333,
  modelLabels: ['model_name'],
  repeats: [],
  ignored: [],
  recognise: [
    { series: 'lmdeploy:num_api_requests_waiting', as: 'LMDeploy' },
    { series: 'lmdeploy:num_requests_waiting', as: 'LMDeploy' },
    { series: 'lmdeploy:num_requests_running', as: 'LMDeploy' },
    { series: 'lmdeploy:request_success_total', as: 'LMDeploy' },
  ],
}
