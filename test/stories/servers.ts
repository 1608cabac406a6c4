import type { Backend } from '../../src/model/backend.ts'
import { type RuleId, rulesOf } from '../../src/rules/rules.ts'
import { page } from './pages.ts'
import { from, type Served, type Story } from './story.ts'

/** What a server does in one minute, in words that all of them share; times in seconds. */
interface Minute extends Paces {
  waiting: number
  running: number
  kv: number
  finished: number
  failed: number
  /** Ended by the client's own fault or wish, or refused for it. */
  theirs: number
  tokens: number
  prompt: number
  hits: number
  preempted: number
  rejected: number
  /** Times that a gateway decided by an old state of its engines. */
  stale: number
  /** Of the upstream `b`; `a` is healthy. */
  upstream: 'healthy' | 'partial' | 'out'
}

/** Of each request that finished: in the queue, to the first token, for each further one, in all. */
interface Paces<T = number> {
  wait: T
  first: T
  pace: T
  whole: T
}

const CALM: Minute = {
  ...{ waiting: 0, running: 3, kv: 0.3, finished: 100, failed: 0, theirs: 0, tokens: 6_000, prompt: 20_000 },
  ...{ hits: 10_000, preempted: 0, rejected: 0, stale: 0, upstream: 'healthy' },
  ...{ wait: 0.2, first: 0.4, pace: 0.02, whole: 1.5 },
}

/** Observations by bound, and their sum. */
interface Times {
  counts: number[]
  sum: number
}
const BOUNDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 2.5, 5, 10, 30, Infinity]

/** The gauges of a minute, and all that was counted since the server's start. */
type Totals = Omit<Minute, keyof Paces> & Paces<Times>

const COUNTED = ['finished', 'failed', 'theirs', 'tokens', 'prompt', 'hits', 'preempted', 'rejected', 'stale'] as const
const TIMED = ['wait', 'first', 'pace', 'whole'] as const

function started(): Totals {
  const none = (): Times => ({ counts: BOUNDS.map(() => 0), sum: 0 })
  const zero = Object.fromEntries(COUNTED.map((name) => [name, 0])) as Record<(typeof COUNTED)[number], number>
  const { upstream, waiting, running, kv } = CALM
  return { upstream, waiting, running, kv, ...zero, wait: none(), first: none(), pace: none(), whole: none() }
}

function after(before: Totals, minute: Minute): Totals {
  const counted = Object.fromEntries(COUNTED.map((name) => [name, before[name] + minute[name]])) as Record<
    (typeof COUNTED)[number],
    number
  >
  const timed = Object.fromEntries(
    TIMED.map((name): [string, Times] => [
      name,
      {
        counts: before[name].counts.map((n, i) => n + (minute[name] <= (BOUNDS[i] ?? 0) ? minute.finished : 0)),
        sum: before[name].sum + minute[name] * minute.finished,
      },
    ]),
  ) as unknown as Paces<Times>
  return { ...before, ...minute, ...counted, ...timed }
}

function times(name: string, labels: string, { counts, sum }: Times, unit = 1): Record<string, number> {
  const set = (more: string) => `{${[labels, more].filter((part) => part !== '').join(',')}}`
  const bound = (le: number) => (le === Infinity ? '+Inf' : String(le * unit))
  return {
    ...Object.fromEntries(counts.map((n, i) => [`${name}_bucket${set(`le="${bound(BOUNDS[i] ?? 0)}"`)}`, n])),
    [`${name}_sum${set('')}`]: sum * unit,
    [`${name}_count${set('')}`]: counts.at(-1) ?? 0,
  }
}

/** The page of each server as it is while it works so. */
const PAGES: Partial<Record<Backend, (t: Totals) => Record<string, number | undefined>>> = {
  trtllm: (t) => ({
    'trtllm_num_requests_waiting{model_name="m"}': t.waiting,
    'trtllm_num_requests_running{model_name="m"}': t.running,
    'trtllm_kv_cache_utilization{model_name="m"}': t.kv,
    'trtllm_request_success_total{finished_reason="stop",model_name="m"}': t.finished,
    'trtllm_request_error_total{http_code="500",model_name="m"}': t.failed,
    'trtllm_request_error_total{http_code="400",model_name="m"}': t.theirs,
    'trtllm_prompt_tokens_total{model_name="m"}': t.prompt,
    'trtllm_prompt_cached_tokens_total{model_name="m"}': t.hits,
    'trtllm_generation_tokens_total{model_name="m"}': t.tokens,
    ...times('trtllm_request_queue_time_seconds', 'model_name="m"', t.wait),
    ...times('trtllm_time_to_first_token_seconds', 'model_name="m"', t.first),
    ...times('trtllm_time_per_output_token_seconds', 'model_name="m"', t.pace),
    ...times('trtllm_e2e_request_latency_seconds', 'model_name="m"', t.whole),
  }),
  dynamo: (t) => ({
    'dynamo_frontend_router_queue_pending_requests{worker_type="decode"}': t.waiting,
    'dynamo_frontend_inflight_requests{model="m"}': t.running + t.waiting,
    'dynamo_frontend_queued_requests{model="m"}': t.waiting,
    'dynamo_frontend_worker_active_decode_blocks{dp_rank="0",worker_id="1",worker_type="decode"}': t.kv * 1_000,
    'dynamo_frontend_model_total_kv_blocks{model="M"}': 1_000,
    'dynamo_frontend_model_ready{model="m"}': t.upstream === 'out' ? 0 : 1,
    'dynamo_frontend_requests_total{model="m",status="success",error_type=""}': t.finished,
    'dynamo_frontend_requests_total{model="m",status="error",error_type="internal"}': t.failed,
    'dynamo_frontend_requests_total{model="m",status="error",error_type="validation"}': t.theirs,
    'dynamo_frontend_input_sequence_tokens_sum{model="m"}': t.prompt,
    'dynamo_frontend_cached_tokens_sum{model="m"}': t.hits,
    'dynamo_frontend_output_tokens_total{model="m"}': t.tokens,
    'dynamo_frontend_model_rejection_total{model="m",endpoint="chat_completions"}': t.rejected,
    ...times('dynamo_frontend_time_to_first_token_seconds', 'model="m"', t.first),
    ...times('dynamo_frontend_inter_token_latency_seconds', 'model="m"', t.pace),
    ...times('dynamo_frontend_request_duration_seconds', 'model="m"', t.whole),
  }),
  litellm: (t) => ({
    litellm_in_flight_requests: t.running,
    'litellm_proxy_total_requests_metric_total{requested_model="m",status_code="200",user="ada@example.com"}':
      t.finished,
    'litellm_proxy_failed_requests_metric_total{requested_model="m",exception_status="500",exception_class="Openai.InternalServerError",user="ada@example.com"}':
      t.failed,
    'litellm_proxy_failed_requests_metric_total{requested_model="m",exception_status="429",exception_class="RateLimitError",user="bob@example.com"}':
      t.theirs,
    'litellm_output_tokens_metric_total{requested_model="m",user="ada@example.com"}': t.tokens,
    'litellm_deployment_state{model_id="a",api_base="http://a"}': 0,
    'litellm_deployment_state{model_id="b",api_base="http://b"}': { healthy: 0, partial: 1, out: 2 }[t.upstream],
    ...times('litellm_llm_api_time_to_first_token_metric', 'requested_model="m",user="ada@example.com"', t.first),
    ...times('litellm_deployment_latency_per_output_token', 'litellm_model_name="m",user="ada@example.com"', t.pace),
    ...times('litellm_request_total_latency_metric', 'requested_model="m",user="ada@example.com"', t.whole),
  }),
  epp: (t) => ({
    'llm_d_epp_flow_control_queue_size{fairness_id="ada",inference_pool="p"}': t.waiting,
    'inference_extension_flow_control_queue_size{fairness_id="ada",inference_pool="p"}': t.waiting,
    'llm_d_epp_request_running{fairness_id="ada",model_name="m"}': t.running,
    'llm_d_epp_average_kv_cache_utilization{name="p"}': t.kv,
    'llm_d_epp_ready_endpoints{name="p"}': t.upstream === 'out' ? 0 : 3,
    'llm_d_epp_request_total{fairness_id="ada",model_name="m"}': t.finished + t.failed + t.theirs,
    'llm_d_epp_request_error_total{error_code="Internal",fairness_id="ada",model_name="m"}': t.failed,
    'llm_d_epp_request_error_total{error_code="ResourceExhausted",fairness_id="ada",model_name="m"}': t.theirs,
    'llm_d_epp_flow_control_requests_total{outcome="Dispatched"}': t.finished,
    'llm_d_epp_flow_control_requests_total{outcome="RejectedCapacity"}': t.rejected,
    'llm_d_epp_flow_control_requests_total{outcome="EvictedContextCancelled"}': t.theirs,
    'llm_d_epp_datalayer_poll_errors_total{source_type="metrics"}': t.stale,
    ...times('llm_d_epp_flow_control_request_queue_duration_seconds', 'outcome="Dispatched"', t.wait),
    ...times('llm_d_epp_request_ttft_seconds', 'model_name="m"', t.first),
    ...times('llm_d_epp_request_streaming_tpot_seconds', 'model_name="m"', t.pace),
    ...times('llm_d_epp_request_duration_seconds', 'model_name="m"', t.whole),
  }),
  router: (t) => ({
    'vllm:num_requests_running{server="http://a"}': t.running,
    'vllm:healthy_pods_total{server="http://a"}': 1,
    'vllm:healthy_pods_total{server="http://b"}': t.upstream === 'out' ? 0 : 1,
    'vllm:request_errors_total{server="http://a",model="m",error_type="http_500"}': t.failed,
    'vllm:output_tokens_total{server="http://a",model="m"}': t.tokens,
    ...times('vllm:request_latency_seconds', 'model="m",server="http://a",status="success"', t.whole),
  }),
  triton: (t) => ({
    'nv_trt_llm_request_metrics{model="m",request_type="waiting",version="1"}': t.waiting,
    'nv_trt_llm_request_metrics{model="m",request_type="scheduled",version="1"}': t.running,
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",model="m",version="1"}': t.kv,
    'nv_inference_request_success{model="m",version="1"}': t.finished,
    'nv_inference_request_failure{model="m",reason="BACKEND",version="1"}': t.failed,
    'nv_inference_request_failure{model="m",reason="CANCELED",version="1"}': t.theirs,
    'nv_inference_queue_duration_us{model="m",version="1"}': t.wait.sum * 1e6,
    'nv_inference_request_duration_us{model="m",version="1"}': t.whole.sum * 1e6,
    'nv_inference_exec_count{model="m",version="1"}': t.tokens,
    ...times('nv_inference_first_response_histogram_ms', 'model="m",version="1"', t.first, 1_000),
  }),
  lmdeploy: (t) => ({
    'lmdeploy:num_requests_waiting{engine="0",model_name="m"}': Math.floor(t.waiting / 2),
    'lmdeploy:num_api_requests_waiting{engine="0",model_name="m"}': Math.ceil(t.waiting / 2),
    'lmdeploy:num_requests_running{engine="0",model_name="m"}': t.running,
    'lmdeploy:gpu_cache_usage_perc{engine="0",model_name="m"}': t.kv,
    'lmdeploy:request_success_total{engine="0",finished_reason="stop",model_name="m"}': t.finished,
    'lmdeploy:num_requests_failed{engine="0",model_name="m"}': t.failed,
    'lmdeploy:prompt_tokens_total{engine="0",model_name="m"}': t.prompt,
    'lmdeploy:cached_tokens_total{engine="0",model_name="m"}': t.hits,
    'lmdeploy:generation_tokens_total{engine="0",model_name="m"}': t.tokens,
    'lmdeploy:iteration_tokens_total_count{engine="0",model_name="m"}': t.tokens,
    ...times('lmdeploy:request_queue_time_seconds', 'engine="0",model_name="m"', t.wait),
    ...times('lmdeploy:time_to_first_token_seconds', 'engine="0",model_name="m"', t.first),
    ...times('lmdeploy:time_per_output_token_seconds', 'engine="0",model_name="m"', t.pace),
    ...times('lmdeploy:e2e_request_latency_seconds', 'engine="0",model_name="m"', t.whole),
  }),
  mistralrs: (t) => ({
    mistralrs_sequences_waiting: t.waiting,
    mistralrs_sequences_running: t.running,
    mistralrs_kv_cache_blocks_used: t.kv * 400,
    mistralrs_kv_cache_blocks_total: 400,
    'mistralrs_sequences_completed_total{reason="stop"}': t.finished,
    'mistralrs_sequences_completed_total{reason="error"}': t.failed,
    'mistralrs_sequences_completed_total{reason="canceled"}': t.theirs,
    mistralrs_paged_preemptions_total: t.preempted,
    mistralrs_prefill_tokens_processed_total: t.prompt,
    mistralrs_decode_tokens_processed_total: t.tokens,
    ...times('mistralrs_time_to_first_token_seconds', '', t.first),
    ...times('mistralrs_inter_token_latency_seconds', '', t.pace),
    ...times('http_request_duration_seconds', 'path="/v1/chat/completions",status="200"', t.whole),
  }),
  genai: (t) => ({
    ...times('gen_ai_server_request_duration_seconds', 'gen_ai_request_model="m"', t.whole),
    ...times('gen_ai_server_time_to_first_token_seconds', 'gen_ai_request_model="m"', t.first),
    ...times('gen_ai_server_time_per_output_token_seconds', 'gen_ai_request_model="m"', t.pace),
    ...(t.failed > 0 &&
      times('gen_ai_server_request_duration_seconds', 'error_type="_OTHER",gen_ai_request_model="m"', {
        counts: BOUNDS.map((le) => (le < 1 ? 0 : t.failed)),
        sum: t.failed,
      })),
    'gen_ai_client_token_usage_sum{gen_ai_request_model="m",gen_ai_token_type="input"}': t.prompt,
    'gen_ai_client_token_usage_sum{gen_ai_request_model="m",gen_ai_token_type="cached_input"}': t.hits,
  }),
  'ray-serve': (t) => ({
    'ray_serve_deployment_queued_queries{deployment="d"}': t.waiting,
    'ray_serve_replica_processing_queries{deployment="d",replica="r1"}': t.running,
    'ray_serve_num_http_requests_total{route="/"}': t.finished + t.failed + t.theirs,
    'ray_serve_num_http_error_requests_total{route="/",status_code="500"}': t.failed,
    'ray_serve_num_http_error_requests_total{route="/",status_code="404"}': t.theirs,
    'ray_serve_deployment_status{application="a",deployment="d"}': 6,
    'ray_serve_deployment_status{application="a",deployment="e"}': t.upstream === 'out' ? 2 : 6,
    'ray_serve_deployment_replica_healthy{application="a",deployment="d",replica="r1"}': 1,
    'ray_serve_deployment_replica_healthy{application="a",deployment="d",replica="stopped"}': 0,
    ...times('ray_serve_deployment_processing_latency_ms', 'deployment="d"', t.whole, 1_000),
  }),
}

export const SERVERS = Object.keys(PAGES) as Backend[]

/** One minute: what differs from calm; `none` is no answer, `again` a process that has just started. */
type Told = Partial<Minute> | 'none' | 'again'

/** The answers of a server, a minute each. */
function served(backend: Backend, minutes: readonly Told[]): Served[] {
  let totals = started()
  return minutes.map((minute) => {
    if (minute === 'none') return 'refused'
    totals = minute === 'again' ? started() : after(totals, { ...CALM, ...minute })
    return page(PAGES[backend]?.(totals) ?? {})
  })
}

/** The page of a server after so many calm minutes. */
export function servedBy(backend: Backend, minutes: number): string {
  return served(
    backend,
    Array.from({ length: minutes + 1 }, () => ({})),
  ).at(-1) as string
}

const minutes = (n: number, told: (minute: number) => Told = () => ({})) => Array.from({ length: n }, (_, i) => told(i))

/** What fires a rule, and what is just short of it. */
interface Scene {
  /** Beside the other rules, which are off. */
  env?: Record<string, string>
  fires: readonly Told[]
  /** Minute and reason of each push. */
  told: readonly (readonly [number, 'fired' | 'resolved' | 'told-once'])[]
  short: readonly Told[]
  /** All other rules are on as well. */
  besides?: true
}

/** Calm, then six minutes of trouble, then calm again. */
const trouble = (what: Partial<Minute>, calm = 3, long = 6): Told[] => [
  ...minutes(calm),
  ...minutes(long, () => what),
  ...minutes(12),
]
/** An hour of its own past. */
const PAST = 70

/** Each rule with the trouble that it is for. The window is five minutes, an end takes two clear runs. */
const SCENES: Partial<Record<RuleId, Scene>> = {
  waiting: {
    fires: trouble({ waiting: 21 }),
    told: [
      [3, 'fired'],
      [10, 'resolved'],
    ],
    short: trouble({ waiting: 20 }),
  },
  inflight: {
    env: { INFLIGHT_LIMIT: '25' },
    fires: trouble({ running: 25 }),
    told: [
      [3, 'fired'],
      [10, 'resolved'],
    ],
    short: trouble({ running: 24 }),
  },
  growth: {
    fires: [...minutes(9, (i) => ({ waiting: i })), ...minutes(6)],
    told: [
      [5, 'fired'],
      [10, 'resolved'],
    ],
    short: [...minutes(9, (i) => ({ waiting: i - (i % 3) })), ...minutes(6)],
  },
  queue_wait: {
    fires: trouble({ wait: 8 }),
    told: [
      [3, 'fired'],
      [14, 'resolved'],
    ],
    short: trouble({ wait: 1.9 }),
  },
  kv_cache: {
    fires: trouble({ kv: 0.95 }),
    told: [
      [8, 'fired'],
      [10, 'resolved'],
    ],
    short: trouble({ kv: 0.89 }),
  },
  ttft: {
    fires: trouble({ first: 4 }),
    told: [
      [3, 'fired'],
      [14, 'resolved'],
    ],
    short: trouble({ first: 1.9 }),
  },
  itl: {
    env: { ITL_LIMIT: '0.2' },
    fires: trouble({ pace: 0.4 }),
    told: [
      [8, 'fired'],
      [14, 'resolved'],
    ],
    short: trouble({ pace: 0.09 }),
  },
  token_time: {
    fires: trouble({ pace: 0.04 }, PAST, 12),
    told: [
      [PAST + 10, 'fired'],
      [PAST + 13, 'resolved'],
    ],
    short: trouble({ pace: 0.035 }, PAST, 12),
  },
  queue_tail: {
    env: { QUEUE_TAIL_LIMIT: '3' },
    fires: trouble({ wait: 4 }),
    told: [
      [3, 'fired'],
      [14, 'resolved'],
    ],
    short: trouble({ wait: 1.9 }),
  },
  e2e: {
    env: { E2E_LIMIT: '4' },
    fires: trouble({ whole: 8 }),
    told: [
      [8, 'fired'],
      [14, 'resolved'],
    ],
    short: trouble({ whole: 2.4 }),
  },
  slo: {
    env: { SLO_TTFT: '500ms' },
    fires: trouble({ first: 2 }),
    told: [
      [3, 'fired'],
      [14, 'resolved'],
    ],
    short: trouble({ first: 0.49 }),
  },
  prefix_hits: {
    fires: trouble({ hits: 0 }, PAST, 16),
    told: [
      [PAST + 12, 'fired'],
      [PAST + 20, 'resolved'],
    ],
    short: trouble({ hits: 6_000 }, PAST, 16),
  },
  throughput: {
    fires: trouble({ tokens: 2_000 }, PAST, 8),
    told: [
      [PAST + 5, 'fired'],
      [PAST + 9, 'resolved'],
    ],
    short: trouble({ tokens: 3_500 }, PAST, 8),
  },
  stuck: {
    fires: trouble({ waiting: 5, finished: 0 }, 3, 14),
    told: [
      [13, 'fired'],
      [18, 'resolved'],
    ],
    short: trouble({ waiting: 5, finished: 0 }, 3, 10),
  },
  stalled: {
    fires: trouble({ finished: 0, tokens: 0, prompt: 0, hits: 0 }, 3, 4),
    told: [
      [4, 'fired'],
      [8, 'resolved'],
    ],
    short: trouble({ finished: 0, tokens: 0, prompt: 0, hits: 0 }, 3, 1),
  },
  errors: {
    fires: trouble({ failed: 20 }),
    told: [
      [3, 'fired'],
      [14, 'resolved'],
    ],
    short: trouble({ failed: 4, theirs: 20 }),
  },
  preemptions: {
    fires: trouble({ preempted: 120 }),
    told: [
      [10, 'fired'],
      [14, 'resolved'],
    ],
    short: trouble({ preempted: 55 }),
  },
  down: {
    fires: [...minutes(3), ...minutes(4, () => 'none'), ...minutes(3)],
    told: [
      [5, 'fired'],
      [8, 'resolved'],
    ],
    short: [...minutes(3), 'none', 'none', ...minutes(3)],
  },
  restarts: {
    fires: [...minutes(3), 'again', ...minutes(4), 'again', ...minutes(4), 'again', ...minutes(60)],
    told: [
      [13, 'fired'],
      [64, 'resolved'],
    ],
    short: [...minutes(3), 'again', ...minutes(4), 'again', ...minutes(60)],
  },
  upstream: {
    fires: trouble({ upstream: 'out' }),
    told: [
      [3, 'fired'],
      [10, 'resolved'],
    ],
    short: trouble({ upstream: 'partial' }),
  },
  rejected: {
    fires: trouble({ rejected: 5 }),
    told: [
      [3, 'fired'],
      [10, 'resolved'],
    ],
    short: trouble({ theirs: 5 }),
  },
  stale: {
    fires: trouble({ stale: 2 }),
    told: [
      [3, 'fired'],
      [10, 'resolved'],
    ],
    short: trouble({ theirs: 5 }),
  },
}

/** All rules of a server but this one. */
function without(backend: Backend, rule: RuleId): Record<string, string> {
  const others = rulesOf(backend).filter((id) => id !== rule)
  return Object.fromEntries(others.map((id) => [`${id.toUpperCase()}_LIMIT`, 'off']))
}

function storiesOf(backend: Backend): Story[] {
  return rulesOf(backend).flatMap((rule) => {
    const scene = SCENES[rule]
    if (!scene) return []
    const env = { ...without(backend, rule), ...scene.env }
    const runs = (told: readonly Told[]) => served(backend, told).map((answer, minute) => ({ minute, served: answer }))
    return [
      {
        name: `${rule} fires once, and ends`,
        backend,
        env,
        runs: runs(scene.fires),
        pushes: scene.told.map(([at, why]) => [at, why, rule] as const),
      },
      { name: `just short of ${rule}`, backend, env, runs: runs(scene.short), pushes: [] },
    ]
  })
}

/** Rules of several endpoints, of their group, of what a page no longer has, and of the watcher itself. */
function otherStoriesOf(backend: Backend): Story[] {
  const replicas = ['g/a', 'g/b', 'g/c']
  const each = (told: Record<string, readonly Told[]>): Story['runs'] => {
    const answers = Object.entries(told).map(([name, all]) => [name, served(backend, all)] as const)
    return from(0, (answers[0]?.[1].length ?? 0) - 1, (minute) =>
      Object.fromEntries(answers.map(([name, all]) => [name, all[minute] ?? 'refused'])),
    )
  }
  const calm = minutes(30)
  const slow = (times: number) => trouble({ pace: CALM.pace * times, whole: CALM.whole * times }, 3, 15)
  const gone = (long: number) => [...minutes(3), ...minutes(long, () => 'none' as const), ...minutes(20 - long)]
  const all = (told: readonly Told[]) => served(backend, told)
  const linesBut = (text: Served, line: string): Served =>
    typeof text === 'string'
      ? text
          .split('\n')
          .filter((one) => !one.startsWith(line))
          .join('\n')
      : text
  const lost = (line: string) => all(minutes(12)).map((text, minute) => ({ minute, served: linesBut(text, line) }))
  const whole = all(minutes(12)).map((served, minute) => ({ minute, served }))
  const series = LOSES[backend] ?? ''
  const blind = (from: number, to: number) => [
    ...whole.slice(0, from),
    ...lost(series).slice(from, to),
    ...whole.slice(to),
  ]
  const gap = (length: number) => [
    ...whole.slice(0, 6),
    ...all(minutes(6 + length + 3))
      .map((served, minute) => ({ minute, served }))
      .slice(6 + length - 1),
  ]
  const one = (rule: RuleId, name: string, more: Omit<Story, 'name' | 'backend'>): Story => ({
    name: `${rule}: ${name}`,
    backend,
    env: without(backend, rule),
    ...more,
  })
  const sibling: Story[] = rulesOf(backend).includes('sibling')
    ? [
        one('sibling', 'one replica is slower than the others', {
          endpoints: replicas,
          runs: each({ 'g/a': slow(3), 'g/b': calm, 'g/c': calm }),
          pushes: [
            [13, 'fired', 'sibling'],
            [23, 'resolved', 'sibling'],
          ],
        }),
        one('sibling', 'all are', {
          endpoints: replicas,
          runs: each({ 'g/a': slow(3), 'g/b': slow(3), 'g/c': slow(3) }),
          pushes: [],
        }),
      ]
    : []
  return [
    ...sibling,
    one('pool', 'no replica answers', {
      endpoints: replicas,
      runs: each({ 'g/a': gone(4), 'g/b': gone(4), 'g/c': gone(4) }),
      pushes: [
        [5, 'fired', 'pool'],
        [8, 'resolved', 'pool'],
      ],
    }),
    one('pool', 'one still answers', {
      endpoints: replicas,
      runs: each({ 'g/a': gone(4), 'g/b': gone(4), 'g/c': minutes(23) }),
      pushes: [],
    }),
    one('blind', 'what was there is gone', {
      env: {},
      runs: blind(4, 8),
      pushes: [
        [5, 'fired', 'blind'],
        [9, 'resolved', 'blind'],
      ],
    }),
    one('blind', 'for one run', { env: {}, runs: blind(4, 5), pushes: [] }),
    one('gap', 'the watcher missed four ticks', { runs: gap(5), pushes: [[10, 'told-once', 'gap']] }),
    one('gap', 'the watcher missed one', { runs: gap(2), pushes: [] }),
  ]
}

/** A series of each that was there and feeds a rule. */
const LOSES: Partial<Record<Backend, string>> = {
  trtllm: 'trtllm_kv_cache',
  dynamo: 'dynamo_frontend_inflight',
  litellm: 'litellm_in_flight',
  epp: 'llm_d_epp_average_kv',
  router: 'vllm:num_requests_running',
  triton: 'nv_trt_llm_kv',
  lmdeploy: 'lmdeploy:gpu_cache',
  mistralrs: 'mistralrs_kv_cache_blocks_used',
  genai: 'gen_ai_server_time_to_first_token',
  'ray-serve': 'ray_serve_deployment_queued',
}

/** Each rule of each of the servers: it tells its trouble once, and its end; what is just short of it tells nothing. */
export const SERVER_STORIES: readonly Story[] = [
  ...SERVERS.flatMap((backend) => [...storiesOf(backend), ...otherStoriesOf(backend)]),
  {
    name: 'only the gauge with the prefill in it: 40 are no queue yet',
    backend: 'dynamo',
    env: { GROWTH_LIMIT: 'off' },
    runs: from(0, 4, (m) => prefillOnly(m, 40)),
    pushes: [],
  },
  {
    name: 'only the gauge with the prefill in it: 70 are one',
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
    name: 'a limit of its owner holds for that gauge too',
    backend: 'dynamo',
    env: { GROWTH_LIMIT: 'off', DYNAMO_WAITING_LIMIT: '30' },
    runs: from(0, 2, (m) => prefillOnly(m, 40)),
    pushes: [[0, 'fired', 'waiting']],
  },
  {
    name: 'a page that has only the older names',
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
