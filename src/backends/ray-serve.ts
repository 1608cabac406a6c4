import type { Alias, BackendTable } from '../model/backend.ts'

const named = (...names: readonly string[]): Alias[] => names.map((name) => ({ name: `ray_serve_${name}` }))

const MILLISECONDS = 1e3

/** Ray Serve, the page of a node's metrics agent; the engine's own names on it are read by `vllm`. */
export const rayServe: BackendTable = {
  signals: {
    waiting: { from: named('deployment_queued_queries'), core: true, optional: true },
    running: { from: named('replica_processing_queries', 'num_ongoing_http_requests'), core: true, optional: true },
    e2e: {
      from: named('deployment_processing_latency_ms', 'http_request_latency_ms').map((alias) => ({
        ...alias,
        per: MILLISECONDS,
      })),
      optional: true,
    },
    finished: { from: named('num_http_requests_total', 'num_http_requests'), core: true, optional: true },
    failed: {
      from: named('num_http_error_requests_total', 'num_http_error_requests').map((alias) => ({
        ...alias,
        oneOf: [{ status_code: ['5*'] }, { error_code: ['5*'] }], // 2.60 says the latter here, the former of all requests
        among: true,
      })),
      zeroBeside: 'finished',
    },
    // A replica that was stopped (a new version, fewer of them, a crash) stays at 0 as long as the controller lives: older
    // versions have nothing else, and a deployment then is as healthy as the best of its replicas, or has a number of them.
    upstream_health: {
      from: [
        ...named('deployment_status').map((alias) => ({ ...alias, states: { '1': 0, '2': 0, '*': 1 } })),
        ...named('deployment_replica_healthy').map((alias) => ({ ...alias, states: { '0': 0, '*': 1 } })),
      ],
      combine: 'max',
      perSubject: true,
      core: true,
      optional: true,
    },
  },
  port: 8080,
  modelLabels: [],
  repeats: [],
  ignored: [],
  subject: { kind: 'upstream', id: ['deployment', 'application'] },
  isGateway: true,
  oneCoreIsEnough: true,
  recognise: [
    { series: 'ray_serve_deployment_queued_queries', as: 'Ray Serve' },
    { series: 'ray_serve_deployment_status', as: 'Ray Serve' },
    { series: 'ray_serve_deployment_replica_healthy', as: 'Ray Serve' },
    { series: 'ray_serve_num_http_requests_total', as: 'Ray Serve' },
    { series: 'ray_serve_replica_processing_queries', as: 'Ray Serve' },
  ],
}
