import type { BackendTable } from '../model/backend.ts'

/**
 * vLLM's two routers. That of the production stack has names of the engine with the label `server`; its
 * `num_requests_waiting` is declared and never set, and its gauges are forgotten at every scrape, so that a server that is
 * gone is not on the page. The other (`vllm-router`, in Rust) has names and a port of its own: it counts as a request only
 * what an engine answered, as an error each attempt, and as exhausted each request that failed, also where it may not retry.
 */
export const router: BackendTable = {
  signals: {
    running: {
      from: [{ name: 'vllm:num_requests_running' }, { name: 'vllm_router_running_requests' }],
      core: true,
      optional: true,
    },
    hit_share: { from: [{ name: 'vllm:gpu_prefix_cache_hit_rate', off: [-1] }], combine: 'max', optional: true },
    e2e: {
      from: [{ name: 'vllm:request_latency_seconds' }, { name: 'vllm_router_generate_duration_seconds' }],
      optional: true,
    },
    finished: {
      from: [{ name: 'vllm:request_latency_seconds_count' }, { name: 'vllm_router_requests_total' }],
      core: true,
      optional: true,
    },
    failed: {
      from: [{ name: 'vllm:request_errors_total' }, { name: 'vllm_router_retries_exhausted_total' }],
      zeroBeside: 'finished',
    },
    prompt_tokens: { from: [{ name: 'vllm:input_tokens_total' }], optional: true },
    generation_tokens: { from: [{ name: 'vllm:output_tokens_total' }], optional: true },
    upstream_health: {
      from: [{ name: 'vllm:healthy_pods_total' }, { name: 'vllm_router_worker_health' }],
      perSubject: true,
      core: true,
      optional: true,
    },
  },
  modelLabels: ['model'],
  repeats: [],
  ignored: [],
  subject: { kind: 'upstream', id: ['server', 'worker'] },
  isGateway: true,
  oneCoreIsEnough: true,
  recognise: [
    { series: 'vllm:healthy_pods_total', as: "vLLM's router (production stack)" },
    { series: 'vllm:num_incoming_requests_total', as: "vLLM's router (production stack)" },
    { series: 'router_cpu_usage_percent', as: "vLLM's router (production stack)" },
    { series: 'vllm_router_active_workers', as: "vLLM's router (vllm-router)" },
    { series: 'vllm:current_qps', as: "vLLM's router (production stack)" },
  ],
}
