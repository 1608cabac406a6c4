import type { Alias, BackendTable } from '../model/backend.ts'

/** Answers of 503, or of 5xx, by whatever the label is called: one that is not known would read as no failure at all. */
const failed: Alias[] = ['status', 'status_code', 'code'].map((label) => ({
  name: 'request_total',
  labels: { [label]: ['5*'] },
}))

/** The LLM gateway: its own counters, and its mirror of the engine behind it. */
export const gateway: BackendTable = {
  signals: {
    running: { from: [{ name: 'vllm_requests_running' }], core: true },
    waiting: { from: [{ name: 'vllm_requests_waiting' }] },
    kv_cache: { from: [{ name: 'vllm_kv_usage_perc' }], combine: 'max', core: true },
    e2e: { from: [{ name: 'request_duration_seconds' }] },
    finished: { from: [{ name: 'request_total' }] },
    failed: { from: failed, zeroBeside: 'finished' },
    prefix_hits: { from: [{ name: 'vllm_prefix_cache_hit_tokens_total' }] },
    observer_degraded: { from: [{ name: 'observer_degraded' }], combine: 'max' },
    upstream_health: { from: [{ name: 'upstream_health' }], perSubject: true },
    admission_rejected: { from: [{ name: 'admission_rejected_total' }] },
    admission_parked: { from: [{ name: 'admission_parked_total' }] },
    engine_state_stale: { from: [{ name: 'engine_state_stale_total' }] },
    queue_full: { from: [{ name: 'queue_full_requests_total' }] },
  },
  isGateway: true,
  modelLabels: ['model', 'model_name'],
  repeats: [],
  ignored: [],
  subject: { kind: 'upstream', id: 'upstream' },
  recognise: [
    { series: 'warmup_requests_delayed_total', as: 'LLM gateway' },
    { series: 'observer_degraded', as: 'LLM gateway' },
    { series: 'upstream_health', as: 'LLM gateway' },
    { series: 'admission_rejected_total', as: 'LLM gateway' },
  ],
}
