import type { Backend } from '../../src/model/backend.ts'
import { histogram, page } from './pages.ts'
import { from, type Story } from './story.ts'

/** What a server does, in words that all of them share; each has its own names for what it publishes of it. */
interface Work {
  waiting?: number
  running?: number
  kv?: number
  finished?: number
  failed?: number
  /** Ended by the client's own fault or wish, or refused for it. */
  theirs?: number
  tokens?: number
  rejected?: number
  /** Of the upstream `b`; `a` is healthy. */
  upstream?: 'healthy' | 'partial' | 'out'
  /** Seconds that each request took to its first token, and waited. */
  slow?: number
}

const first = (name: string, labels: string, count: number, seconds: number, unit = 1) =>
  histogram(
    name,
    labels,
    { [1 * unit]: seconds < 1 ? count : 0, [5 * unit]: count, '+Inf': count },
    count * seconds * unit,
  )

/** The page of each server as it is while it works so. */
const PAGES: Partial<Record<Backend, (work: Required<Work>) => Record<string, number | undefined>>> = {
  trtllm: (w) => ({
    'trtllm_num_requests_waiting{model_name="m"}': w.waiting,
    'trtllm_num_requests_running{model_name="m"}': w.running,
    'trtllm_kv_cache_utilization{model_name="m"}': w.kv,
    'trtllm_request_success_total{finished_reason="stop",model_name="m"}': w.finished,
    'trtllm_request_error_total{http_code="500",model_name="m"}': w.failed,
    'trtllm_request_error_total{http_code="400",model_name="m"}': w.theirs,
    'trtllm_generation_tokens_total{model_name="m"}': w.tokens,
    ...first('trtllm_time_to_first_token_seconds', 'model_name="m"', w.finished, w.slow),
    ...first('trtllm_request_queue_time_seconds', 'model_name="m"', w.finished, w.slow),
  }),
  dynamo: (w) => ({
    'dynamo_frontend_router_queue_pending_requests{worker_type="decode"}': w.waiting,
    'dynamo_frontend_inflight_requests{model="m"}': w.running + w.waiting,
    'dynamo_frontend_queued_requests{model="m"}': w.waiting,
    'dynamo_frontend_worker_active_decode_blocks{dp_rank="0",worker_id="1",worker_type="decode"}': w.kv * 1_000,
    'dynamo_frontend_model_total_kv_blocks{model="M"}': 1_000,
    'dynamo_frontend_requests_total{model="m",status="success",error_type=""}': w.finished,
    'dynamo_frontend_requests_total{model="m",status="error",error_type="internal"}': w.failed,
    'dynamo_frontend_requests_total{model="m",status="error",error_type="validation"}': w.theirs,
    'dynamo_frontend_output_tokens_total{model="m"}': w.tokens,
    'dynamo_frontend_model_rejection_total{model="m",endpoint="chat_completions"}': w.rejected,
    ...first('dynamo_frontend_time_to_first_token_seconds', 'model="m"', w.finished, w.slow),
  }),
  litellm: (w) => ({
    litellm_in_flight_requests: w.running,
    'litellm_proxy_total_requests_metric_total{requested_model="m",status_code="200",user="ada@example.com"}':
      w.finished,
    'litellm_proxy_failed_requests_metric_total{requested_model="m",exception_status="500",exception_class="Openai.InternalServerError",user="ada@example.com"}':
      w.failed,
    'litellm_proxy_failed_requests_metric_total{requested_model="m",exception_status="429",exception_class="RateLimitError",user="bob@example.com"}':
      w.theirs,
    'litellm_deployment_state{model_id="a",api_base="http://a"}': 0,
    'litellm_deployment_state{model_id="b",api_base="http://b"}': { healthy: 0, partial: 1, out: 2 }[w.upstream],
    ...first(
      'litellm_llm_api_time_to_first_token_metric',
      'requested_model="m",user="ada@example.com"',
      w.finished,
      w.slow,
    ),
  }),
  epp: (w) => ({
    'llm_d_epp_flow_control_queue_size{fairness_id="ada",inference_pool="p"}': w.waiting,
    'inference_extension_flow_control_queue_size{fairness_id="ada",inference_pool="p"}': w.waiting,
    'llm_d_epp_request_running{fairness_id="ada",model_name="m"}': w.running,
    'llm_d_epp_average_kv_cache_utilization{name="p"}': w.kv,
    'llm_d_epp_ready_endpoints{name="p"}': w.upstream === 'out' ? 0 : 3,
    'llm_d_epp_request_total{fairness_id="ada",model_name="m"}': w.finished,
    'llm_d_epp_request_error_total{error_code="Internal",fairness_id="ada",model_name="m"}': w.failed,
    'llm_d_epp_request_error_total{error_code="ResourceExhausted",fairness_id="ada",model_name="m"}': w.theirs,
    'llm_d_epp_flow_control_requests_total{outcome="Dispatched"}': w.finished,
    'llm_d_epp_flow_control_requests_total{outcome="RejectedCapacity"}': w.rejected,
    'llm_d_epp_flow_control_requests_total{outcome="EvictedContextCancelled"}': w.theirs,
    ...first('llm_d_epp_request_ttft_seconds', 'model_name="m"', w.finished, w.slow),
    ...first('llm_d_epp_flow_control_request_queue_duration_seconds', 'outcome="Dispatched"', w.finished, w.slow),
  }),
  router: (w) => ({
    'vllm:num_requests_running{server="http://a"}': w.running,
    'vllm:healthy_pods_total{server="http://a"}': 1,
    'vllm:healthy_pods_total{server="http://b"}': w.upstream === 'out' ? 0 : 1,
    'vllm:request_errors_total{server="http://a",model="m",error_type="http_500"}': w.failed,
    'vllm:output_tokens_total{server="http://a",model="m"}': w.tokens,
    ...first('vllm:request_latency_seconds', 'model="m",server="http://a",status="success"', w.finished, w.slow),
  }),
  triton: (w) => ({
    'nv_trt_llm_request_metrics{model="m",request_type="waiting",version="1"}': w.waiting,
    'nv_trt_llm_request_metrics{model="m",request_type="scheduled",version="1"}': w.running,
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",model="m",version="1"}': w.kv,
    'nv_inference_request_success{model="m",version="1"}': w.finished,
    'nv_inference_request_failure{model="m",reason="BACKEND",version="1"}': w.failed,
    'nv_inference_request_failure{model="m",reason="CANCELED",version="1"}': w.theirs,
    'nv_inference_queue_duration_us{model="m",version="1"}': w.finished * w.slow * 1e6,
    'nv_inference_exec_count{model="m",version="1"}': w.tokens,
    ...first('nv_inference_first_response_histogram_ms', 'model="m",version="1"', w.finished, w.slow, 1_000),
  }),
  lmdeploy: (w) => ({
    'lmdeploy:num_requests_waiting{engine="0",model_name="m"}': Math.floor(w.waiting / 2),
    'lmdeploy:num_api_requests_waiting{engine="0",model_name="m"}': Math.ceil(w.waiting / 2),
    'lmdeploy:num_requests_running{engine="0",model_name="m"}': w.running,
    'lmdeploy:gpu_cache_usage_perc{engine="0",model_name="m"}': w.kv,
    'lmdeploy:request_success_total{engine="0",finished_reason="stop",model_name="m"}': w.finished,
    'lmdeploy:num_requests_failed{engine="0",model_name="m"}': w.failed,
    'lmdeploy:iteration_tokens_total_count{engine="0",model_name="m"}': w.tokens,
    'lmdeploy:generation_tokens_total{engine="0",model_name="m"}': w.tokens,
    ...first('lmdeploy:time_to_first_token_seconds', 'engine="0",model_name="m"', w.finished, w.slow),
    ...first('lmdeploy:request_queue_time_seconds', 'engine="0",model_name="m"', w.finished, w.slow),
  }),
  mistralrs: (w) => ({
    mistralrs_sequences_waiting: w.waiting,
    mistralrs_sequences_running: w.running,
    mistralrs_kv_cache_blocks_used: w.kv * 400,
    mistralrs_kv_cache_blocks_total: 400,
    'mistralrs_sequences_completed_total{reason="stop"}': w.finished,
    'mistralrs_sequences_completed_total{reason="error"}': w.failed,
    'mistralrs_sequences_completed_total{reason="canceled"}': w.theirs,
    mistralrs_decode_tokens_processed_total: w.tokens,
    ...first('mistralrs_time_to_first_token_seconds', '', w.finished, w.slow),
  }),
  genai: (w) => ({
    ...first('gen_ai_server_request_duration_seconds', 'gen_ai_request_model="m"', w.finished, w.slow),
    'gen_ai_server_request_duration_seconds_count{error_type="_OTHER",gen_ai_request_model="m"}': w.failed || undefined,
    ...(w.failed > 0 &&
      first('gen_ai_server_request_duration_seconds', 'error_type="_OTHER",gen_ai_request_model="m"', w.failed, 0.5)),
    ...first('gen_ai_server_time_to_first_token_seconds', 'gen_ai_request_model="m"', w.finished, w.slow),
  }),
  'ray-serve': (w) => ({
    'ray_serve_deployment_queued_queries{deployment="d"}': w.waiting,
    'ray_serve_replica_processing_queries{deployment="d",replica="r1"}': w.running,
    'ray_serve_num_http_requests_total{route="/"}': w.finished + w.failed + w.theirs,
    'ray_serve_num_http_error_requests_total{route="/",status_code="500"}': w.failed,
    'ray_serve_num_http_error_requests_total{route="/",status_code="404"}': w.theirs,
    'ray_serve_deployment_replica_healthy{deployment="d",replica="r1"}': 1,
    'ray_serve_deployment_replica_healthy{deployment="d",replica="r2"}': w.upstream === 'out' ? 0 : 1,
    ...first('ray_serve_deployment_processing_latency_ms', 'deployment="d"', w.finished, w.slow, 1_000),
  }),
}

const SERVERS = Object.keys(PAGES) as Backend[]
/** Signals as far as they differ between the servers. */
const WITH = {
  queue: SERVERS.filter((b) => !['litellm', 'router', 'genai'].includes(b)),
  cache: SERVERS.filter((b) => !['litellm', 'router', 'genai', 'ray-serve'].includes(b)),
  firstToken: SERVERS.filter((b) => !['router', 'ray-serve'].includes(b)),
  refusals: ['dynamo', 'epp'] as Backend[],
  upstreams: ['litellm', 'epp', 'router', 'ray-serve'] as Backend[],
  steps: ['trtllm', 'dynamo', 'triton', 'lmdeploy', 'mistralrs'] as Backend[],
}

export function servedBy(backend: Backend, minute: number, work: Work = {}): string {
  const all: Required<Work> = {
    waiting: 0,
    running: 3,
    kv: 0.3,
    finished: 100 * minute,
    failed: 0,
    theirs: 0,
    tokens: 1_000 * minute,
    rejected: 0,
    upstream: 'healthy',
    slow: 0.5,
    ...work,
  }
  return page(PAGES[backend]?.(all) ?? {})
}

/** Calm, then trouble from minute 3 to 8, then calm again. */
function troubled(backend: Backend, work: (minute: number) => Work): Story['runs'] {
  return [
    ...from(0, 2, (m) => servedBy(backend, m)),
    ...from(3, 8, (m) => servedBy(backend, m, work(m))),
    ...from(9, 18, (m) => servedBy(backend, m, { ...work(8), waiting: 0, kv: 0.3, upstream: 'healthy', slow: 0.5 })),
  ]
}

const story = (backend: Backend, name: string, work: (minute: number) => Work, pushes: Story['pushes']): Story => ({
  name: `${backend}: ${name}`,
  backend,
  env: { GROWTH_LIMIT: 'off', QUEUE_WAIT_LIMIT: 'off', TOKEN_TIME_LIMIT: 'off' },
  runs: troubled(backend, work),
  pushes,
})

/** Each of the gateways and engines that publish a signal tells its rule once, and its end; what is just short of it tells nothing. */
export const SERVER_STORIES: readonly Story[] = [
  ...WITH.queue.flatMap((b) => [
    story(b, 'a queue', () => ({ waiting: 30 }), [
      [3, 'fired', 'waiting'],
      [10, 'resolved', 'waiting'],
    ]),
    story(b, 'a queue just at its limit', () => ({ waiting: 20 }), []),
  ]),
  ...WITH.cache.flatMap((b) => [
    story(b, 'a full cache', () => ({ kv: 0.95 }), [
      [8, 'fired', 'kv_cache'],
      [10, 'resolved', 'kv_cache'],
    ]),
    story(b, 'a cache just short of full', () => ({ kv: 0.89 }), []),
  ]),
  ...WITH.firstToken.map((b) => story(b, 'first tokens within the limit', () => ({ slow: 0.9 }), [])),
  ...WITH.refusals.flatMap((b) => [
    story(b, 'refusals', (m) => ({ rejected: 5 * Math.min(6, m - 2) }), [
      [3, 'fired', 'rejected'],
      [10, 'resolved', 'rejected'],
    ]),
    story(b, 'what the client gave up itself is no refusal', (m) => ({ theirs: 5 * (m - 2) }), []),
  ]),
  ...WITH.upstreams.map((b) =>
    story(b, 'an upstream that is out', () => ({ upstream: 'out' }), [
      [3, 'fired', 'upstream'],
      [10, 'resolved', 'upstream'],
    ]),
  ),
  story('litellm', 'a partial outage is none', () => ({ upstream: 'partial' }), []),
  ...SERVERS.flatMap((b) => [
    story(b, 'failures of the server', (m) => ({ failed: 50 * (m - 2) }), [
      [3, 'fired', 'errors'],
      [14, 'resolved', 'errors'],
    ]),
    story(b, "the client's own failures", (m) => ({ theirs: 5 * (m - 2) }), []),
  ]),
  ...WITH.steps.map(
    (b): Story => ({
      name: `${b}: work is reported and nothing moves`,
      backend: b,
      env: { GROWTH_LIMIT: 'off' },
      runs: [
        ...from(0, 2, (m) => servedBy(b, m)),
        ...from(3, 6, () => servedBy(b, 2)),
        ...from(7, 9, (m) => servedBy(b, m)),
      ],
      pushes: [
        [4, 'fired', 'stalled'],
        [8, 'resolved', 'stalled'],
      ],
    }),
  ),
  {
    name: 'dynamo: only the gauge with the prefill in it: 40 are no queue yet',
    backend: 'dynamo',
    env: { GROWTH_LIMIT: 'off' },
    runs: from(0, 4, (m) => prefillOnly(m, 40)),
    pushes: [],
  },
  {
    name: 'dynamo: only the gauge with the prefill in it: 70 are one',
    backend: 'dynamo',
    env: { GROWTH_LIMIT: 'off' },
    runs: [
      ...from(0, 1, (m) => prefillOnly(m, 40)),
      ...from(2, 4, (m) => prefillOnly(m, 70)),
      ...from(5, 7, (m) => prefillOnly(m, 20)),
    ],
    pushes: [
      [2, 'fired', 'waiting'],
      [6, 'resolved', 'waiting'],
    ],
  },
  {
    name: 'dynamo: a limit of its owner holds for that gauge too',
    backend: 'dynamo',
    env: { GROWTH_LIMIT: 'off', DYNAMO_WAITING_LIMIT: '30' },
    runs: from(0, 2, (m) => prefillOnly(m, 40)),
    pushes: [[0, 'fired', 'waiting']],
  },
  {
    name: 'epp: a page that has only the older names',
    backend: 'epp',
    env: { GROWTH_LIMIT: 'off' },
    runs: from(0, 3, (m) =>
      page({
        'inference_pool_average_queue_size{name="p"}': m < 2 ? 3 : 30,
        'inference_pool_ready_pods{name="p"}': 2,
        'inference_objective_running_requests{model_name="m"}': 4,
        'inference_objective_request_total{model_name="m",target_model_name="m"}': 100 * m,
      }),
    ),
    pushes: [[2, 'fired', 'waiting']],
  },
]

function prefillOnly(minute: number, queued: number): string {
  return page({
    'dynamo_frontend_queued_requests{model="m"}': queued,
    'dynamo_frontend_inflight_requests{model="m"}': queued + 10,
    'dynamo_frontend_requests_total{model="m",status="success"}': 100 * minute,
    'dynamo_frontend_output_tokens_total{model="m"}': 1_000 * minute,
  })
}
