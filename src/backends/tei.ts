import type { BackendTable } from '../model/backend.ts'

/** The client's own faults: input that cannot be read, is too much, or asks for what this model does not do. */
const CLIENT_FAULTS = ['validation', 'tokenization', 'batch_size', 'model_type', 'missing_values']

/** Text Embeddings Inference. The same names from v0.6 on; every series appears with its first event; no model label. */
export const tei: BackendTable = {
  signals: {
    waiting: { from: [{ name: 'te_queue_size' }], core: true },
    queue_wait: { from: [{ name: 'te_request_queue_duration' }, { name: 'te_embed_queue_duration' }] },
    e2e: { from: [{ name: 'te_request_duration' }, { name: 'te_embed_duration' }] },
    finished: { from: [{ name: 'te_request_success' }, { name: 'te_request_failure' }] }, // the latter: no success yet
    failed: { from: [{ name: 'te_request_failure', not: { err: CLIENT_FAULTS } }], zeroBeside: 'finished' },
    prompt_tokens: { from: [{ name: 'te_request_input_length_sum' }] },
  },
  port: 8080,
  modelLabels: [],
  repeats: [],
  ignored: [],
  emptyIsHealthy: true,
  ownNames: 'te_',
  recognise: [
    { series: 'te_request_count', as: 'TEI' },
    { series: 'te_queue_size', as: 'TEI' },
    { series: 'te_embed_count', as: 'TEI' },
  ],
}
