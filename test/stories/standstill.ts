import { page, vllm, vllmHistogram } from './pages.ts'
import { from, type Served, type Story } from './story.ts'

const MINUTES_OF_PEACE = 4

interface Engine {
  running?: number
  waiting?: number
  /** Thousands of tokens so far. */
  moved: number
  healthy?: number
}

/** Engines behind one page, each with its own queue and counters. */
function engines(all: readonly Engine[]): string {
  const lines = all.map(({ running = 2, waiting = 0, moved, healthy }, id) => {
    const series = (name: string, more = '') => `vllm:${name}{engine="${id}",model_name="m"${more}}`
    return {
      [series('num_requests_running')]: running,
      [series('num_requests_waiting')]: waiting,
      [series('kv_cache_usage_perc')]: 0.2,
      [series('generation_tokens_total')]: 1_000 * moved,
      [series('prompt_tokens_total')]: 1_000 * moved,
      [series('request_success_total', ',finished_reason="stop"')]: 10 * moved,
      [series('engine_healthy')]: healthy,
    }
  })
  return page(Object.assign({ process_start_time_seconds: 1_760_000_000 }, ...lines))
}

/** SGLang with data-parallel ranks, each repeated by two tensor-parallel ones. */
function ranks(all: readonly Engine[]): string {
  const lines = all.flatMap(({ running = 2, waiting = 0, moved }, dp) =>
    ['0', '1'].map((tp) => {
      const labels = `model_name="m",dp_rank="${dp}",tp_rank="${tp}"`
      return {
        [`sglang:num_running_reqs{${labels}}`]: running,
        [`sglang:num_queue_reqs{${labels}}`]: waiting,
        [`sglang:token_usage{${labels}}`]: 0.2,
        [`sglang:realtime_tokens_total{${labels},mode="decode"}`]: 1_000 * moved,
      }
    }),
  )
  return page(Object.assign({}, ...lines))
}

const frozen = (minute: number, which: number | undefined, waiting = 5): Engine[] =>
  [0, 1, 2, 3].map((id) =>
    id === which ? { running: 0, waiting, moved: MINUTES_OF_PEACE } : { running: 2, moved: minute },
  )

/** A vLLM page of one engine on which work waits. */
function held({ waiting = 14, running = 1, deferred, asleep, ...v }: Held): Served {
  const series = (name: string, label: string) => `vllm:${name}{engine="0",model_name="m",${label}}`
  return vllm({
    waiting,
    running,
    kv: 0.4,
    ...v,
    more: {
      ...(deferred === undefined ? {} : { [series('num_requests_waiting_by_reason', 'reason="deferred"')]: deferred }),
      ...(asleep === undefined
        ? {}
        : {
            [series('engine_sleep_state', 'sleep_state="awake"')]: 1 - asleep,
            [series('engine_sleep_state', 'sleep_state="weights_offloaded"')]: asleep,
          }),
      ...v.more,
    },
  })
}
type Held = {
  waiting?: number
  running?: number
  deferred?: number
  asleep?: number
  finished?: number
  tokens?: number
  prompt?: number
  queries?: number
  more?: Record<string, number>
}

const peace = (m: number) => vllm({ running: 2, finished: 100 * m, tokens: 10_000 * m })

export const STANDSTILL_STORIES: readonly Story[] = [
  {
    name: 'case 207: one of four engines stands still, the others work: stalled, once, and its end',
    backend: 'vllm',
    runs: [
      ...from(0, MINUTES_OF_PEACE, (m) => engines(frozen(m, undefined))),
      ...from(5, 20, (m) => engines(frozen(m, 2))),
      ...from(21, 24, (m) => engines(frozen(m, undefined))),
    ],
    pushes: [
      [6, 'fired', 'stalled'],
      [22, 'resolved', 'stalled'],
    ],
  },
  {
    name: 'case 207: one of four data-parallel ranks of SGLang stands still',
    backend: 'sglang',
    runs: [
      ...from(0, MINUTES_OF_PEACE, (m) => ranks(frozen(m, undefined))),
      ...from(5, 12, (m) => ranks(frozen(m, 2))),
      ...from(13, 16, (m) => ranks(frozen(m, undefined))),
    ],
    pushes: [
      [6, 'fired', 'stalled'],
      [14, 'resolved', 'stalled'],
    ],
  },
  {
    name: 'four engines without work on one of them: nothing stands still',
    backend: 'vllm',
    runs: from(0, 20, (m) => engines(frozen(m, 2, 0))),
    pushes: [],
  },
  {
    name: 'four engines stand still at once: one message',
    backend: 'vllm',
    runs: [
      ...from(0, 4, (m) => engines(frozen(m, undefined))),
      ...from(5, 9, () => engines([0, 1, 2, 3].map(() => ({ running: 2, moved: 4 })))),
    ],
    pushes: [[6, 'fired', 'stalled']],
  },
  {
    name: 'an engine that the server calls unhealthy is told at once, also without work',
    backend: 'vllm',
    runs: [
      ...from(0, 2, (m) =>
        engines([
          { moved: m, healthy: 1 },
          { running: 0, moved: m, healthy: 1 },
        ]),
      ),
      ...from(3, 5, (m) =>
        engines([
          { moved: m, healthy: 1 },
          { running: 0, moved: 2, healthy: 0 },
        ]),
      ),
      ...from(6, 8, (m) =>
        engines([
          { moved: m, healthy: 1 },
          { running: 0, moved: m, healthy: 1 },
        ]),
      ),
    ],
    pushes: [
      [3, 'fired', 'stalled'],
      [7, 'resolved', 'stalled'],
    ],
  },
  {
    name: 'prompts are read again and again without a token: told within 15 minutes',
    backend: 'vllm',
    runs: [
      ...from(0, 4, (m) =>
        held({ waiting: 0, tokens: 5_000 * m, finished: 10 * m, queries: 1_000 * m, prompt: 900 * m }),
      ),
      ...from(5, 20, (m) =>
        held({ waiting: 0, tokens: 20_000, finished: 40, queries: 9_000 * m, prompt: 3_600, more: steps(m) }),
      ),
    ],
    pushes: [[16, 'fired', 'stalled']],
  },
  {
    name: 'a prompt that takes ten minutes to its first token is no standstill',
    backend: 'vllm',
    runs: [
      ...from(0, 4, (m) => held({ waiting: 0, tokens: 5_000 * m, finished: 10 * m, more: steps(m) })),
      ...from(5, 14, (m) => held({ waiting: 0, tokens: 20_000, finished: 40, more: steps(m) })),
      ...from(15, 20, (m) => held({ waiting: 0, tokens: 5_000 * m, finished: 10 * m, more: steps(m) })),
    ],
    pushes: [],
  },
  {
    name: 'case 200: all that wait are deferred and nothing moves: stalled, and not waiting',
    backend: 'vllm',
    runs: [
      ...from(0, 1, peace),
      ...from(2, 8, () => held({ waiting: 34, deferred: 34, running: 0, tokens: 10_000, finished: 100 })),
    ],
    pushes: [[3, 'fired', 'stalled']],
  },
  {
    name: 'case 201: a queue that is deferred while others are served is no alarm',
    backend: 'vllm',
    runs: [
      ...from(0, 1, peace),
      ...from(2, 30, (m) => held({ waiting: 30, deferred: 30, running: 4, tokens: 5_800 * m, finished: 58 * m })),
    ],
    pushes: [],
  },
  {
    name: 'waiting goes by those that wait for room: 40 of which 15 are deferred',
    backend: 'vllm',
    runs: [
      ...from(0, 1, peace),
      ...from(2, 4, (m) => held({ waiting: 40, deferred: 15, running: 4, tokens: 10_000 * m, finished: 100 * m })),
      ...from(5, 7, (m) => held({ waiting: 20, deferred: 15, running: 4, tokens: 10_000 * m, finished: 100 * m })),
    ],
    pushes: [
      [2, 'fired', 'waiting'],
      [6, 'resolved', 'waiting'],
    ],
  },
  {
    name: 'case 203: 14 wait and nothing finishes from the first run on: stuck after ten minutes, once, and its end',
    backend: 'vllm',
    env: { VLLM_GAP_LIMIT: 'off' },
    runs: [
      ...from(0, 60, (m) => held({ tokens: 324 * m })),
      ...from(61, 64, (m) => held({ waiting: 0, tokens: 324 * m, finished: 10 * (m - 60) })),
    ],
    pushes: [
      [10, 'fired', 'stuck'],
      [62, 'resolved', 'stuck'],
    ],
  },
  {
    name: 'stuck: a request that finishes in time every nine minutes keeps it silent',
    backend: 'vllm',
    runs: from(0, 40, (m) =>
      held({ tokens: 324 * m, finished: Math.floor(m / 9), more: waited(Math.floor(m / 9), 8) }),
    ),
    pushes: [],
  },
  {
    name: 'stuck: each that finishes had waited longer than ten minutes',
    backend: 'vllm',
    env: { VLLM_QUEUE_WAIT_LIMIT: 'off' },
    runs: from(0, 30, (m) =>
      held({ tokens: 324 * m, finished: Math.floor(m / 4), more: waited(Math.floor(m / 4), 700) }),
    ),
    pushes: [[10, 'fired', 'stuck']],
  },
  {
    name: 'an engine that sleeps on purpose does not stand still; requests for it are told after five minutes',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => held({ waiting: 0, running: 0, asleep: 0, tokens: 10_000 * m, finished: 100 * m })),
      ...from(2, 20, () => held({ waiting: 0, running: 0, asleep: 1, tokens: 10_000, finished: 100 })),
      ...from(21, 30, () => held({ waiting: 3, running: 0, asleep: 1, tokens: 10_000, finished: 100 })),
      ...from(31, 34, (m) => held({ waiting: 0, running: 1, asleep: 0, tokens: 10_000 * m, finished: 100 * m })),
    ],
    pushes: [
      [26, 'fired', 'stuck'],
      [32, 'resolved', 'stuck'],
    ],
  },
  {
    name: 'an engine woken after four minutes with requests for it is no alarm',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => held({ waiting: 0, running: 0, asleep: 0, tokens: 10_000 * m, finished: 100 * m })),
      ...from(2, 6, () => held({ waiting: 3, running: 0, asleep: 1, tokens: 10_000, finished: 100 })),
      ...from(7, 20, (m) => held({ waiting: 0, running: 1, asleep: 0, tokens: 10_000 * m, finished: 100 * m })),
    ],
    pushes: [],
  },
  {
    name: 'requests that waited while the engine slept do not make it slow',
    backend: 'vllm',
    env: { VLLM_TTFT_LIMIT: '2s', VLLM_E2E_LIMIT: '20s', VLLM_E2E_FOR: '0s' },
    runs: [
      ...from(0, 9, (m) =>
        held({ waiting: 0, asleep: 0, tokens: 10_000 * m, finished: 30 * m, more: late(30 * m, 0) }),
      ),
      ...from(10, 13, () =>
        held({ waiting: 8, running: 0, asleep: 1, tokens: 90_000, finished: 270, more: late(270, 0) }),
      ),
      ...from(14, 30, (m) =>
        held({ waiting: 0, asleep: 0, tokens: 10_000 * m, finished: 30 * m, more: late(30 * m - 8, 8) }),
      ),
    ],
    pushes: [],
  },
  {
    name: 'requests that are paused for new weights for five minutes are told, and that they are over',
    backend: 'sglang',
    runs: [
      ...from(0, 1, (m) => rank(m, { running: 4 })),
      ...from(2, 9, () => rank(1, { running: 0, paused: 4 })),
      ...from(10, 13, (m) => rank(m, { running: 4 })),
    ],
    pushes: [
      [7, 'fired', 'stuck'],
      [11, 'resolved', 'stuck'],
    ],
  },
  {
    name: 'stuck: a page without any count, on which some wait and none runs',
    backend: 'vllm',
    runs: from(0, 20, () => gaugesOnly(6, 0)),
    pushes: [[10, 'fired', 'stuck']],
  },
  {
    name: 'stuck: a page without any count, on which some run now and then',
    backend: 'vllm',
    runs: from(0, 30, (m) => gaugesOnly(6, m % 9 === 8 ? 1 : 0)),
    pushes: [],
  },
]

/** SGLang with one rank. */
function rank(moved: number, { running, paused = 0 }: { running: number; paused?: number }): string {
  const labels = 'model_name="m"'
  return page({
    [`sglang:num_running_reqs{${labels}}`]: running,
    [`sglang:num_queue_reqs{${labels}}`]: 0,
    [`sglang:num_paused_reqs{${labels}}`]: paused,
    [`sglang:token_usage{${labels}}`]: 0.2,
    [`sglang:num_requests_total{${labels}}`]: 10 * moved,
    [`sglang:generation_tokens_total{${labels}}`]: 1_000 * moved,
  })
}

function gaugesOnly(waiting: number, running: number): string {
  const labels = 'engine="0",model_name="m"'
  return page({
    [`vllm:num_requests_running{${labels}}`]: running,
    [`vllm:num_requests_waiting{${labels}}`]: waiting,
    [`vllm:kv_cache_usage_perc{${labels}}`]: 0.4,
  })
}

/** So many quick requests, and so many that waited for four minutes. */
function late(quick: number, slow: number): Record<string, number> {
  const all = quick + slow
  const times = { 0.5: quick, 5: quick, 160: quick, 640: all, '+Inf': all }
  const names = ['request_queue_time_seconds', 'time_to_first_token_seconds', 'e2e_request_latency_seconds']
  return Object.assign({}, ...names.map((name) => vllmHistogram(name, times, 0.2 * quick + 240 * slow)))
}

function steps(minute: number): Record<string, number> {
  return { 'vllm:iteration_tokens_total_count{engine="0",model_name="m"}': 50 * minute }
}

/** So many finished requests, each of which waited for so many seconds. */
function waited(count: number, seconds: number): Record<string, number> {
  const at = (bound: number) => (seconds <= bound ? count : 0)
  return vllmHistogram(
    'request_queue_time_seconds',
    { 10: at(10), 640: at(640), 1280: count, '+Inf': count },
    count * seconds,
  )
}
