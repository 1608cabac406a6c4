import { histogram, page, vllm, vllmHistogram } from './pages.ts'
import { from, type Story } from './story.ts'

const http = (handler: string, status: string) =>
  `http_requests_total{handler="${handler}",method="POST",status="${status}"}`
const own = (name: string, labels = '') => `vllm:${name}{engine="0",model_name="m"${labels}}`
const CHAT = '/v1/chat/completions'

/** A vLLM that finishes 30 requests a minute, and what else it counts. */
const working = (minute: number, more: Record<string, number> = {}, errors = 0) =>
  vllm({ running: 4, finished: 30 * minute, tokens: 3_000 * minute, prompt: 900 * minute, errors, more })

function sglang(minute: number, more: Record<string, number>): string {
  return page({
    'sglang:num_queue_reqs{model_name="m"}': 0,
    'sglang:num_running_reqs{model_name="m"}': 4,
    'sglang:token_usage{model_name="m"}': 0.3,
    'sglang:num_requests_total{model_name="m"}': 60 * minute,
    'sglang:generation_tokens_total{model_name="m"}': 6_000 * minute,
    ...more,
  })
}

/** What breaks in a server: failures, refusals, corrupt answers, transfers, crashes. */
export const FAULT_STORIES: readonly Story[] = [
  {
    name: "errors: 5xx of the server's own HTTP counter, which a dead engine never counts; over when they are gone",
    backend: 'vllm',
    runs: [
      ...from(0, 3, (m) => working(m, { [http(CHAT, '2xx')]: 30 * m })),
      ...from(4, 6, (m) => working(m, { [http(CHAT, '2xx')]: 30 * m, [http(CHAT, '5xx')]: 20 * (m - 3) })),
      ...from(7, 13, (m) => working(m, { [http(CHAT, '2xx')]: 30 * m, [http(CHAT, '5xx')]: 60 })),
    ],
    pushes: [
      [4, 'fired', 'errors'],
      [12, 'resolved', 'errors'],
    ],
  },
  {
    name: 'errors: nothing finishes any more, each request is answered with 500',
    backend: 'vllm',
    runs: [
      ...from(0, 3, (m) => working(m)),
      ...from(4, 5, (m) => working(3, { [http(CHAT, '5xx')]: 40 * (m - 3) })).map(({ minute, served }) => ({
        minute,
        served: String(served).replace(
          'num_requests_running{engine="0",model_name="m"} 4',
          'num_requests_running{engine="0",model_name="m"} 0',
        ),
      })),
    ],
    pushes: [[4, 'fired', 'errors']],
  },
  {
    name: 'errors: 5xx of probes, 4xx, other paths and the aborts of clients are none',
    backend: 'vllm',
    runs: from(0, 6, (m) =>
      working(m, {
        [http('/health', '5xx')]: 40 * m,
        [http('/metrics', '5xx')]: 40 * m,
        [http('none', '5xx')]: 40 * m,
        [http(CHAT, '4xx')]: 40 * m,
        [own('request_success_total', ',finished_reason="abort"')]: 10 * m,
      }),
    ),
    pushes: [],
  },
  {
    name: "case 218: SGLang's aborted requests are clients that hung up",
    backend: 'sglang',
    runs: from(0, 10, (m) => sglang(m, { 'sglang:num_aborted_requests_total{model_name="m"}': 8 * m })),
    pushes: [],
  },
  {
    name: 'corrupted: one corrupt answer is told at once, and over after two runs without',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => working(m, { [own('corrupted_requests_total')]: 0 })),
      ...from(2, 5, (m) => working(m, { [own('corrupted_requests_total')]: 1 })),
    ],
    pushes: [
      [2, 'fired', 'corrupted'],
      [4, 'resolved', 'corrupted'],
    ],
  },
  {
    name: 'corrupted: what was corrupt before our first look is not told',
    backend: 'vllm',
    runs: from(0, 3, (m) => working(m, { [own('corrupted_requests_total')]: 7 })),
    pushes: [],
  },
  {
    name: 'rejected: vLLM itself refuses above the cap of its queue, by reason',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => working(m)),
      ...from(2, 3, (m) =>
        working(m, { [own('admission_rejections_total', ',reason="max_num_queued_reqs"')]: 2 * (m - 1) }),
      ),
      ...from(4, 5, (m) => working(m, { [own('admission_rejections_total', ',reason="max_num_queued_reqs"')]: 4 })),
    ],
    pushes: [
      [2, 'fired', 'rejected'],
      [5, 'resolved', 'rejected'],
    ],
  },
  {
    name: 'transfer: failed in two runs in a row; once alone is none',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => working(m, { [own('nixl_num_failed_transfers_total')]: 0 })),
      ...from(2, 3, (m) => working(m, { [own('nixl_num_failed_transfers_total')]: 1 })),
      { minute: 4, served: working(4, { [own('nixl_num_failed_transfers_total')]: 3 }) },
      ...from(5, 7, (m) =>
        working(m, { [own('nixl_num_failed_transfers_total')]: 3, [own('nixl_num_kv_expired_reqs_total')]: 2 }),
      ),
    ],
    pushes: [
      [5, 'fired', 'transfer'],
      [7, 'resolved', 'transfer'],
    ],
  },
  {
    name: 'transfer: of a decode node of SGLang',
    backend: 'sglang',
    runs: from(0, 2, (m) => sglang(m, { 'sglang:num_transfer_failed_reqs_total{model_name="m"}': m })),
    pushes: [[2, 'fired', 'transfer']],
  },
  {
    name: 'prefix_hits: hits that moved to another tier are hits',
    backend: 'vllm',
    runs: [
      ...from(0, 75, (m) => vllm({ running: 2, finished: 30 * m, queries: 9_000 * m, hits: 6_000 * m })),
      ...from(76, 100, (m) =>
        vllm({
          running: 2,
          finished: 30 * m,
          queries: 9_000 * m,
          hits: 6_000 * 75 + 500 * (m - 75),
          more: { [own('external_prefix_cache_hits_total')]: 5_500 * (m - 75) },
        }),
      ),
    ],
    pushes: [],
  },
  {
    name: 'prefix_hits: hits that are gone from every tier are told',
    backend: 'vllm',
    runs: [
      ...from(0, 75, (m) => vllm({ running: 2, finished: 30 * m, queries: 9_000 * m, hits: 6_000 * m })),
      ...from(76, 100, (m) =>
        vllm({ running: 2, finished: 30 * m, queries: 9_000 * m, hits: 6_000 * 75 + 500 * (m - 75) }),
      ),
    ],
    pushes: [[88, 'fired', 'prefix_hits']],
  },
  {
    name: 'case 413: a first-token histogram in milliseconds is unknown, not four minutes',
    backend: 'vllm',
    runs: from(0, 6, (m) =>
      working(
        m,
        vllmHistogram(
          'time_to_first_token_seconds',
          { '250': 20 * m, '500': 29 * m, '1000': 30 * m, '240000': 30 * m, '+Inf': 30 * m },
          9_000 * m,
        ),
      ),
    ),
    pushes: [],
  },
  {
    name: 'ttft: milliseconds in the buckets of a client of seconds are unknown',
    backend: 'vllm',
    runs: from(0, 6, (m) =>
      working(
        m,
        vllmHistogram(
          'time_to_first_token_seconds',
          { '5': 0, '100': 0, '250': 20 * m, '1000': 29 * m, '10000': 30 * m, '+Inf': 30 * m },
          9_000 * m,
        ),
      ),
    ),
    pushes: [],
  },
  {
    name: 'ttft: milliseconds in the buckets of seconds are unknown, since so many requests were never inside for so long',
    backend: 'vllm',
    runs: from(0, 12, (m) => timed(m, { running: 6, rate: 180, ttft: 400 })),
    pushes: [],
  },
  {
    name: 'ttft: requests that wait for minutes are inside, so that it is seconds',
    backend: 'vllm',
    env: { WAITING_LIMIT: 'off', THROUGHPUT_LIMIT: 'off' },
    runs: from(0, 3, (m) => timed(m, { running: 64, waiting: 1_200, rate: 180, ttft: 400 })),
    pushes: [[1, 'fired', 'ttft']],
  },
  {
    name: 'ttft: wide bounds that are seconds stay seconds',
    backend: 'vllm',
    runs: from(0, 2, (m) =>
      working(
        m,
        vllmHistogram('time_to_first_token_seconds', { '1': 0, '30': 30 * m, '2560': 30 * m, '+Inf': 30 * m }, 600 * m),
      ),
    ),
    pushes: [[1, 'fired', 'ttft']],
  },
  {
    name: 'queue_wait: one wide bucket alone tells no unit',
    backend: 'tei',
    runs: from(0, 2, (m) =>
      page({
        te_queue_size: 1,
        ...histogram('te_request_queue_duration', '', { 14: 50 * m, '+Inf': 50 * m }, 500 * m),
      }),
    ),
    pushes: [[1, 'fired', 'queue_wait']],
  },
  {
    name: 'restarts: the third within an hour is told once, and over when fewer than three are left',
    backend: 'vllm',
    runs: from(0, 70, (m) => vllm({ running: 1, tokens: m, started: 1_760_000_000 + startedAt(m) })),
    pushes: [
      [7, 'fired', 'restarts'],
      [64, 'resolved', 'restarts'],
    ],
  },
  {
    name: 'restarts: two within an hour are an upgrade and a second thought',
    backend: 'vllm',
    runs: from(0, 9, (m) => vllm({ running: 1, tokens: m, started: 1_760_000_000 + (m > 6 ? 300 : m > 3 ? 120 : 0) })),
    pushes: [],
  },
]

/** Requests a minute that all take as long to their first token as it is written: seconds, or a thousand of them. */
function timed(
  minute: number,
  { running, waiting = 0, rate, ttft }: Record<'running' | 'rate' | 'ttft', number> & { waiting?: number },
): string {
  const count = rate * minute
  const buckets = { '1': 0, '160': 0, '640': count, '2560': count, '+Inf': count }
  return vllm({
    running,
    waiting,
    finished: count,
    tokens: 200 * count,
    more: vllmHistogram('time_to_first_token_seconds', buckets, count * ttft),
  })
}

/** Unix seconds after the first start: new processes at minutes 3, 5 and 7. */
function startedAt(minute: number): number {
  return [3, 5, 7].filter((at) => minute >= at).length * 150
}
