import type { Alias, BackendTable } from '../model/backend.ts'

const named = (...names: readonly string[]): Alias[] => names.map((name) => ({ name: `mistralrs_${name}` }))

/** mistral.rs 0.8 and newer. Its prefix cache is counted in sequences, which says nothing about tokens. */
export const mistralrs: BackendTable = {
  signals: {
    waiting: { from: named('sequences_waiting'), core: true, optional: true },
    running: { from: named('sequences_running'), core: true, optional: true },
    kv_cache: {
      from: [{ name: 'mistralrs_kv_cache_blocks_used', of: 'mistralrs_kv_cache_blocks_total' }],
      combine: 'max',
      optional: true,
    },
    ttft: { from: named('time_to_first_token_seconds'), optional: true },
    itl: { from: named('inter_token_latency_seconds'), optional: true },
    e2e: { from: [{ name: 'http_request_duration_seconds', labels: { path: ['/v1/*'] } }], optional: true },
    finished: { from: named('sequences_completed_total'), optional: true },
    failed: {
      from: named('sequences_completed_total').map((alias) => ({ ...alias, labels: { reason: ['error'] } })),
      zeroBeside: 'finished',
    },
    preemptions: { from: named('paged_preemptions_total'), optional: true },
    prompt_tokens: { from: named('prefill_tokens_processed_total'), optional: true },
    generation_tokens: { from: named('decode_tokens_processed_total'), optional: true },
    draft_tokens: { from: named('speculative_draft_tokens_proposed_total'), optional: true },
    draft_accepted: { from: named('speculative_draft_tokens_accepted_total'), optional: true },
    steps: {
      from: named('decode_tokens_processed_total').map((alias) => ({
        ...alias,
        plus: ['mistralrs_prefill_tokens_processed_total'],
      })),
      optional: true,
    },
  },
  port: 8080,
  modelLabels: ['model'],
  repeats: [],
  ignored: [],
  oneCoreIsEnough: true,
  emptyIsHealthy: true,
  ownNames: 'mistralrs_',
  recognise: [
    { series: 'mistralrs_sequences_capacity', as: 'mistral.rs' },
    { series: 'mistralrs_sequences_waiting', as: 'mistral.rs' },
    { series: 'mistralrs_sequences_running', as: 'mistral.rs' },
    { series: 'mistralrs_decode_tokens_processed_total', as: 'mistral.rs' },
  ],
}
