import type { Alias, BackendTable } from '../model/backend.ts'

const named = (name: string): Alias[] => [{ name: `llamacpp:${name}` }]

/** The server of llama.cpp. No labels, no histograms; no KV use since May 2025. */
export const llamacpp: BackendTable = {
  signals: {
    waiting: { from: named('requests_deferred'), core: true },
    running: { from: named('requests_processing'), core: true },
    kv_cache: { from: named('kv_cache_usage_ratio'), combine: 'max', optional: true },
    prompt_tokens: { from: named('prompt_tokens_total') }, // cached ones are left out since 2026
    generation_tokens: { from: named('tokens_predicted_total') },
    prefix_queries: {
      from: named('prompt_tokens_cached_total').map((alias) => ({ ...alias, plus: ['llamacpp:prompt_tokens_total'] })),
    },
    prefix_hits: { from: named('prompt_tokens_cached_total') },
    draft_tokens: { from: named('spec_decode_num_draft_tokens_total'), optional: true },
    draft_accepted: { from: named('spec_decode_num_accepted_tokens_total'), optional: true },
    steps: { from: named('n_decode_total') }, // one for each batch of up to 2,048 tokens while a prompt is read
    decode_seconds: { from: named('tokens_predicted_seconds_total'), optional: true },
    prompt_seconds: { from: named('prompt_seconds_total'), optional: true },
  },
  lives: {
    // By date: releases are numbered builds.
    kv_cache_usage_ratio: { until: '2025-05' },
    prompt_tokens_cached_total: { since: '2026' },
    spec_decode_num_draft_tokens_total: { since: '2026' },
    spec_decode_num_accepted_tokens_total: { since: '2026' },
  },
  port: 8080,
  modelLabels: [],
  repeats: [],
  ignored: [],
  readsAtOnce: 2_048, // --batch-size
  digits: 6, // a C++ stream's default
  recognise: [
    { series: 'llamacpp:n_tokens_max', as: 'llama.cpp of 2025 or newer' },
    { series: 'llamacpp:kv_cache_usage_ratio', as: 'llama.cpp before May 2025' },
    { series: 'llamacpp:requests_deferred', as: 'llama.cpp' },
    { series: 'llamacpp:prompt_tokens_total', as: 'llama.cpp' },
  ],
}
