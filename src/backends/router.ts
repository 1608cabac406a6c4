import type { BackendTable } from '../model/backend.ts'

/**
 * The router of vLLM's production stack: names of the engine with the label `server`. Its `num_requests_waiting` is declared
 * and never set, and its gauges are forgotten at every scrape, so that a server that is gone is not on the page.
 */
export const router: BackendTable = {
  signals: {
    running: { from: [{ name: 'vllm:num_requests_running' }], core: true, optional: true },
    hit_share: { from: [{ name: 'vllm:gpu_prefix_cache_hit_rate', off: [-1] }], combine: 'max', optional: true },
    e2e: { from: [{ name: 'vllm:request_latency_seconds' }], optional: true },
    finished: { from: [{ name: 'vllm:request_latency_seconds_count' }], core: true, optional: true },
    failed: { from: [{ name: 'vllm:request_errors_total' }], zeroBeside: 'finished' },
    prompt_tokens: { from: [{ name: 'vllm:input_tokens_total' }], optional: true },
    generation_tokens: { from: [{ name: 'vllm:output_tokens_total' }], optional: true },
    upstream_health: { from: [{ name: 'vllm:healthy_pods_total' }], perSubject: true, core: true, optional: true },
  },
  modelLabels: ['model'],
  repeats: [],
  ignored: [],
  subject: { kind: 'upstream', id: 'server' },
  isGateway: true,
  oneCoreIsEnough: true,
  recognise: [
    { series: 'vllm:healthy_pods_total', as: "vLLM's router (production stack)" },
    { series: 'vllm:num_incoming_requests_total', as: "vLLM's router (production stack)" },
    { series: 'router_cpu_usage_percent', as: "vLLM's router (production stack)" },
    { series: 'vllm:current_qps', as: "vLLM's router (production stack)" },
  ],
}
