import type { Alias, BackendTable } from '../model/backend.ts'

/** A collector may leave the unit out of the name. */
function seconds(...names: readonly string[]): Alias[] {
  return names.flatMap((name) => [{ name: `gen_ai_${name}_seconds` }, { name: `gen_ai_${name}` }])
}

const durations = seconds('server_request_duration', 'client_operation_duration')
const counts = durations.map(({ name }) => ({ name: `${name}_count` }))

function tokens(type: string): Alias[] {
  const names = ['gen_ai_client_token_usage', 'gen_ai_client_token_usage_tokens', 'gen_ai_client_token_usage_token']
  return names.map((name) => ({ name: `${name}_sum`, labels: { gen_ai_token_type: [type] } }))
}

/**
 * OpenTelemetry's names for generative AI, in the form that Prometheus gives them: Envoy AI Gateway and any exporter.
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/
 */
export const genai: BackendTable = {
  signals: {
    ttft: { from: seconds('server_time_to_first_token'), optional: true },
    itl: { from: seconds('server_time_per_output_token'), optional: true },
    e2e: { from: durations, core: true, optional: true },
    finished: { from: counts, core: true, optional: true },
    failed: { from: counts.map((alias) => ({ ...alias, not: { error_type: [''] } })), zeroBeside: 'finished' },
    prompt_tokens: { from: tokens('input'), optional: true },
    generation_tokens: { from: tokens('output'), optional: true },
    prefix_queries: { from: tokens('input'), optional: true },
    prefix_hits: { from: tokens('cached_input'), optional: true },
  },
  port: 1064,
  modelLabels: ['gen_ai_request_model', 'gen_ai_original_model', 'gen_ai_response_model'],
  repeats: [],
  ignored: [],
  keeps: [
    ...['le', 'gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_system', 'gen_ai_token_type', 'error_type'],
    ...['gen_ai_request_model', 'gen_ai_original_model', 'gen_ai_response_model'],
  ],
  isGateway: true,
  oneCoreIsEnough: true,
  emptyIsHealthy: true,
  ownNames: 'gen_ai_',
  recognise: [
    { series: 'gen_ai_server_request_duration_seconds_count', as: 'OpenTelemetry GenAI names (Envoy AI Gateway)' },
    { series: 'gen_ai_server_request_duration_seconds', as: 'OpenTelemetry GenAI names (Envoy AI Gateway)' },
    { series: 'gen_ai_server_time_to_first_token_seconds_count', as: 'OpenTelemetry GenAI names' },
    { series: 'gen_ai_client_token_usage_sum', as: 'OpenTelemetry GenAI names' },
    { series: 'gen_ai_client_operation_duration_seconds_count', as: 'OpenTelemetry GenAI names of a client' },
  ],
}
