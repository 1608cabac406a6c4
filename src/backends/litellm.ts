import type { Alias, BackendTable } from '../model/backend.ts'

/** Faults of the server; what a key may not do, or has done too often, is the client's. Without both labels all of them count. */
const SERVER_FAULTS: NonNullable<Alias['oneOf']> = [
  { exception_status: ['5*'] },
  {
    exception_class: [
      '*Timeout',
      '*APIConnectionError',
      '*InternalServerError',
      '*ServiceUnavailableError',
      '*ServiceUnavailable',
    ],
  },
  { exception_status: [''], exception_class: [''] },
]

const REQUESTS = 'litellm_proxy_total_requests_metric_total'

/**
 * LiteLLM's proxy. The owner chooses which series and labels there are, and may add some that name anything; a request has
 * labels of its person, key and team. A page may have thousands of them, of which a few dozen sets are left.
 */
export const litellm: BackendTable = {
  signals: {
    running: { from: [{ name: 'litellm_in_flight_requests' }], core: true, optional: true },
    ttft: { from: [{ name: 'litellm_llm_api_time_to_first_token_metric' }], optional: true }, // of streams alone
    itl: { from: [{ name: 'litellm_deployment_latency_per_output_token' }], optional: true },
    e2e: {
      from: [{ name: 'litellm_request_total_latency_metric' }, { name: 'litellm_llm_api_latency_metric' }],
      optional: true,
    },
    finished: { from: [{ name: REQUESTS }, { name: 'litellm_requests_metric_total' }], core: true, optional: true },
    failed: {
      from: [
        { name: 'litellm_proxy_failed_requests_metric_total', oneOf: SERVER_FAULTS, among: true },
        { name: REQUESTS, labels: { status_code: ['5*', '408'] } },
      ],
      zeroBeside: 'finished',
    },
    prompt_tokens: { from: [{ name: 'litellm_input_tokens_metric_total' }], optional: true },
    generation_tokens: { from: [{ name: 'litellm_output_tokens_metric_total' }], optional: true },
    upstream_health: {
      // 0 healthy, 1 partial, 2 complete outage
      from: [{ name: 'litellm_deployment_state', states: { '0': 1, '1': 0.5, '2': 0 } }],
      perSubject: true,
      core: true,
      optional: true,
    },
  },
  port: 4000,
  modelLabels: ['requested_model', 'model', 'litellm_model_name'],
  repeats: [],
  ignored: [],
  keeps: [
    ...['le', 'requested_model', 'model', 'litellm_model_name', 'model_id', 'api_base', 'api_provider'],
    ...['status_code', 'exception_status', 'exception_class'],
  ],
  subject: { kind: 'upstream', id: ['model_id', 'api_base'] },
  isGateway: true,
  oneCoreIsEnough: true,
  emptyIsHealthy: true,
  ownNames: 'litellm_',
  recognise: [
    { series: 'litellm_in_flight_requests', as: 'LiteLLM proxy' },
    { series: REQUESTS, as: 'LiteLLM proxy' },
    { series: 'litellm_proxy_total_requests_metric', as: 'LiteLLM proxy' },
    { series: 'litellm_deployment_state', as: 'LiteLLM proxy' },
    { series: 'litellm_request_total_latency_metric', as: 'LiteLLM proxy' },
    { series: 'litellm_self_latency', as: 'LiteLLM proxy' },
  ],
}
