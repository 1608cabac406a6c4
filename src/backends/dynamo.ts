import type { Alias, BackendTable } from '../model/backend.ts'

/** The frontend itself, and where `DYN_METRICS_PREFIX` took its name away. */
const PREFIXES = ['dynamo_frontend_', ''] as const

function named(...names: readonly string[]): Alias[] {
  return PREFIXES.flatMap((prefix) => names.map((name) => ({ name: prefix + name })))
}

/** The client's own faults, and what is a refusal and no failure. */
const NO_FAILURES = ['validation', 'not_found', 'cancelled', 'not_implemented', 'overload']

const failed = PREFIXES.map((prefix) => ({
  name: `${prefix}requests_total`,
  labels: { status: ['error'] },
  not: { error_type: NO_FAILURES }, // the label is newer than the series
}))

/** A request counts from its arrival to its first token, the prefill among it: many at once are no queue yet. */
const UP_TO_FIRST_TOKEN = { waiting: { limit: 64, clear: 32 } }

const waiting: Alias[] = PREFIXES.flatMap((prefix) => [
  { name: `${prefix}router_queue_pending_requests`, plus: [`${prefix}worker_num_requests_waiting`] },
  { name: `${prefix}worker_num_requests_waiting` },
  { name: `${prefix}worker_waiting_requests` },
  { name: `${prefix}queued_requests`, limits: UP_TO_FIRST_TOKEN },
])

/** NVIDIA Dynamo, the page of its frontend. All but one series appear with a model or its first request. */
export const dynamo: BackendTable = {
  signals: {
    waiting: { from: waiting, core: true, optional: true },
    running: {
      from: PREFIXES.map((prefix) => ({ name: `${prefix}inflight_requests`, less: `${prefix}queued_requests` })),
      core: true,
      optional: true,
    },
    kv_cache: {
      from: [
        ...PREFIXES.map((prefix) => ({
          name: `${prefix}worker_active_decode_blocks`,
          of: `${prefix}model_total_kv_blocks`,
        })),
        { name: 'dynamo_component_gpu_cache_usage_percent' }, // 0..1 in spite of its name; a worker's page
        { name: 'dynamo_component_kvstats_gpu_cache_usage_percent' },
      ],
      combine: 'max',
      optional: true,
    },
    ttft: { from: named('time_to_first_token_seconds'), optional: true },
    itl: { from: named('inter_token_latency_seconds'), optional: true },
    e2e: { from: named('request_duration_seconds'), optional: true },
    finished: { from: named('requests_total'), core: true, optional: true },
    failed: { from: failed, zeroBeside: 'finished' },
    prompt_tokens: { from: named('input_sequence_tokens_sum'), optional: true },
    generation_tokens: { from: named('output_tokens_total', 'output_sequence_tokens_sum'), optional: true },
    prefix_queries: { from: named('input_sequence_tokens_sum'), optional: true },
    prefix_hits: { from: named('cached_tokens_sum', 'cached_sequence_length_sum'), optional: true },
    steps: { from: named('output_tokens_total'), optional: true }, // counted while they are generated
    upstream_health: { from: named('model_ready'), perSubject: true, optional: true },
    admission_rejected: {
      from: [...named('model_rejection_total'), { name: 'dynamo_rejection_request_total' }], // the latter: before 1.6
      optional: true,
    },
  },
  modelLabels: ['model'],
  repeats: [],
  ignored: [],
  subject: { kind: 'upstream', id: 'model' },
  isGateway: true,
  oneCoreIsEnough: true,
  emptyIsHealthy: true,
  ownNames: 'dynamo_',
  recognise: [
    { series: 'dynamo_frontend_router_queue_pending_requests', as: 'Dynamo frontend with its router queue' },
    { series: 'dynamo_frontend_queued_requests', as: 'Dynamo frontend' },
    { series: 'dynamo_frontend_disconnected_clients', as: 'Dynamo frontend' },
    { series: 'dynamo_frontend_requests_total', as: 'Dynamo frontend' },
    { series: 'dynamo_component_inflight_requests', as: 'Dynamo worker' },
  ],
}
