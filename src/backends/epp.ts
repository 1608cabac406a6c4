import type { Alias, BackendTable } from '../model/backend.ts'

const named = (...names: readonly string[]): Alias[] => names.map((name) => ({ name }))

/** What was refused or thrown out; a client that goes away while it waits was not refused. */
const rejected = named('llm_d_epp_flow_control_requests_total', 'inference_extension_flow_control_requests_total').map(
  (alias) => ({
    ...alias,
    labels: { outcome: ['Rejected*', 'Evicted*'] },
    not: { outcome: ['EvictedContextCancelled'] },
  }),
)

/** The client's own faults, and what is a refusal and no failure. */
const NO_FAILURES = [
  ...['ResourceExhausted', 'InvalidArgument', 'BadRequest', 'NotFound', 'Unauthenticated', 'PermissionDenied'],
  ...['Canceled', 'Cancelled'],
]

const failed = named(
  'llm_d_epp_request_error_total',
  'inference_objective_request_error_total',
  'inference_model_request_error_total',
).map((alias) => ({ ...alias, not: { error_code: NO_FAILURES }, among: true }))

/** 0 of a pool: nothing is left to send requests to. */
const ready = named('llm_d_epp_ready_endpoints', 'inference_pool_ready_pods').map((alias) => ({
  ...alias,
  states: { '0': 0, '*': 1 },
}))

/**
 * The endpoint picker of llm-d's router and of the Gateway API Inference Extension. Its names of three generations are
 * published side by side.
 */
export const epp: BackendTable = {
  signals: {
    waiting: {
      from: named(
        'llm_d_epp_flow_control_queue_size',
        'inference_extension_flow_control_queue_size',
        'llm_d_epp_average_queue_size', // the mean of the pool's servers: flow control is off
        'inference_pool_average_queue_size',
        'llm_d_epp_per_endpoint_queue_size',
        'inference_pool_per_pod_queue_size',
      ),
      core: true,
      optional: true,
    },
    running: {
      from: named(
        'llm_d_epp_request_running',
        'inference_objective_running_requests',
        'inference_model_running_requests',
      ),
      core: true,
      optional: true,
    },
    kv_cache: {
      from: named('llm_d_epp_average_kv_cache_utilization', 'inference_pool_average_kv_cache_utilization'), // a mean
      combine: 'max',
      core: true,
      optional: true,
    },
    queue_wait: {
      from: named(
        'llm_d_epp_flow_control_request_queue_duration_seconds',
        'inference_extension_flow_control_request_queue_duration_seconds',
      ),
      optional: true,
    },
    ttft: {
      from: named(
        'llm_d_epp_request_ttft_seconds',
        'inference_objective_request_ttft_seconds',
        'inference_model_request_ttft_seconds',
      ),
      optional: true,
    },
    itl: {
      from: named(
        'llm_d_epp_request_streaming_tpot_seconds',
        'llm_d_epp_request_streaming_itl_seconds',
        'llm_d_epp_request_ntpot_seconds',
        'inference_objective_request_tpot_seconds',
        'inference_model_request_tpot_seconds',
        'inference_objective_normalized_time_per_output_token_seconds',
        'normalized_time_per_output_token_seconds',
      ),
      optional: true,
    },
    e2e: {
      from: named(
        'llm_d_epp_request_duration_seconds',
        'inference_objective_request_duration_seconds',
        'inference_model_request_duration_seconds',
      ),
      optional: true,
    },
    finished: {
      from: named('llm_d_epp_request_total', 'inference_objective_request_total', 'inference_model_request_total'),
      core: true,
      optional: true,
    },
    failed: { from: failed, zeroBeside: 'finished' },
    upstream_health: { from: ready, perSubject: true, core: true, optional: true },
    admission_rejected: { from: rejected, optional: true },
    engine_state_stale: {
      from: ['llm_d_epp_datalayer', 'llm_d_inference_scheduler_datalayer'].map((prefix) => ({
        name: `${prefix}_poll_errors_total`,
        plus: [`${prefix}_extract_errors_total`],
      })),
      optional: true,
    },
  },
  port: 9090,
  modelLabels: ['model_name'],
  repeats: [],
  ignored: [],
  keeps: [
    ...['le', 'model_name', 'target_model_name', 'name', 'inference_pool', 'priority', 'outcome', 'error_code'],
    ...['source_type', 'model_server_endpoint', 'model_server_pod'],
  ],
  classLabel: 'priority',
  subject: { kind: 'upstream', id: 'name' },
  isGateway: true,
  oneCoreIsEnough: true,
  recognise: [
    { series: 'llm_d_epp_ready_endpoints', as: 'llm-d router (EPP)' },
    { series: 'llm_d_epp_request_total', as: 'llm-d router (EPP)' },
    { series: 'llm_d_epp_average_queue_size', as: 'llm-d router (EPP)' },
    { series: 'inference_pool_ready_pods', as: 'Gateway API Inference Extension (EPP), names of 2025' },
    { series: 'inference_pool_average_queue_size', as: 'Gateway API Inference Extension (EPP), names of 2025' },
    { series: 'inference_objective_request_total', as: 'Gateway API Inference Extension (EPP), names of 2025' },
    { series: 'inference_model_request_total', as: 'Gateway API Inference Extension (EPP), names of early 2025' },
  ],
}
