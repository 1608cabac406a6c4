import type { Alias, BackendTable } from '../model/backend.ts'

/** The Rust exporter adds no `_total`; servers that imitate these names through the Python client do. */
function counter(name: string, more: Omit<Alias, 'name'> = {}): Alias[] {
  return [
    { name, ...more },
    { name: `${name}_total`, ...more },
  ]
}

/** The client's own faults: a request that is not valid, or that its chat template refuses. */
const CLIENT_FAULTS = ['validation', 'template']

/**
 * Text Generation Inference. Every series appears with its first event. No model label, no time to first token, no KV use.
 */
export const tgi: BackendTable = {
  signals: {
    waiting: { from: [{ name: 'tgi_queue_size' }], core: true },
    running: { from: [{ name: 'tgi_batch_current_size' }] },
    queue_wait: { from: [{ name: 'tgi_request_queue_duration' }] },
    itl: { from: [{ name: 'tgi_request_mean_time_per_token_duration' }] }, // with the prefill in it
    e2e: { from: [{ name: 'tgi_request_duration' }] },
    finished: { from: [...counter('tgi_request_success'), ...counter('tgi_request_failure')] }, // the latter: no success yet
    failed: { from: counter('tgi_request_failure', { not: { err: CLIENT_FAULTS } }), zeroBeside: 'finished' },
    prompt_tokens: { from: [{ name: 'tgi_request_input_length_sum' }] },
    generation_tokens: { from: [{ name: 'tgi_request_generated_tokens_sum' }] },
    steps: { from: counter('tgi_batch_inference_count') },
  },
  port: 8080,
  modelLabels: [],
  repeats: [],
  ignored: [],
  emptyIsHealthy: true,
  ownNames: 'tgi_',
  recognise: [
    { series: 'tgi_batch_concat', as: 'TGI' },
    { series: 'tgi_request_count', as: 'TGI' },
    { series: 'tgi_queue_size', as: 'TGI' },
    { series: 'tgi_batch_inference_count', as: 'TGI' },
    { series: 'tgi_request_count_total', as: 'a server with the names of TGI' },
  ],
}
