import { page, vllm, vllmHistogram } from './pages.ts'
import { from, type Story } from './story.ts'

const busy = (minute: number) => ({ running: 4, finished: 100 * minute, tokens: 10_000 * minute })
const ttft = (fast: number, slow: number) =>
  vllmHistogram(
    'time_to_first_token_seconds',
    { 0.5: fast, 2.5: fast, 5: fast + slow, '+Inf': fast + slow },
    fast * 0.3 + slow * 4,
  )
const queue = (count: number, sum: number) =>
  vllmHistogram('request_queue_time_seconds', { 0.3: 0, 5: count, '+Inf': count }, sum)

/** Each rule of vLLM: pages that fire it exactly once and clear it, and a near miss that does not. */
export const VLLM_STORIES: readonly Story[] = [
  {
    name: 'waiting: 21 fires once, stays silent while it lasts, tells its end once',
    backend: 'vllm',
    runs: [
      ...from(0, 2, (m) => vllm(busy(m))),
      ...from(3, 8, (m) => vllm({ ...busy(m), waiting: 21 + (m % 2) })),
      ...from(9, 10, (m) => vllm({ ...busy(m), waiting: 15 })),
      ...from(11, 14, (m) => vllm({ ...busy(m), waiting: 10 })),
    ],
    pushes: [
      [3, 'fired', 'waiting'],
      [12, 'resolved', 'waiting'],
    ],
  },
  {
    name: 'waiting: 20 does not fire',
    backend: 'vllm',
    runs: from(0, 6, (m) => vllm({ ...busy(m), waiting: 20 })),
    pushes: [],
  },
  {
    name: 'case 41: num_requests_waiting_by_reason is not counted',
    backend: 'vllm',
    runs: from(0, 4, (m) =>
      vllm({
        ...busy(m),
        waiting: 12,
        more: { 'vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="capacity"}': 12 },
      }),
    ),
    pushes: [],
  },
  {
    name: 'case 43: two engines add up',
    backend: 'vllm',
    runs: from(0, 1, (m) =>
      vllm({ ...busy(m), waiting: 11, more: { 'vllm:num_requests_waiting{engine="1",model_name="m"}': m * 10 } }),
    ),
    pushes: [[1, 'fired', 'waiting']],
  },
  {
    name: 'kv_cache: 0.91 for five minutes fires',
    backend: 'vllm',
    runs: [
      ...from(0, 5, (m) => vllm({ ...busy(m), kv: 0.91 })),
      ...from(6, 8, (m) => vllm({ ...busy(m), kv: 0.86 })),
      ...from(9, 10, (m) => vllm({ ...busy(m), kv: 0.5 })),
    ],
    pushes: [
      [5, 'fired', 'kv_cache'],
      [10, 'resolved', 'kv_cache'],
    ],
  },
  {
    name: 'kv_cache: 0.91 for four minutes does not fire',
    backend: 'vllm',
    runs: [...from(0, 4, (m) => vllm({ ...busy(m), kv: 0.91 })), ...from(5, 12, (m) => vllm({ ...busy(m), kv: 0.8 }))],
    pushes: [],
  },
  {
    name: 'case 46: headers without samples are blind, not a queue of 0',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => vllm(busy(m))),
      ...from(
        2,
        5,
        () => '# HELP vllm:num_requests_waiting Number of requests waiting.\n# TYPE vllm:num_requests_waiting gauge\n',
      ),
      ...from(6, 8, (m) => vllm(busy(m))),
    ],
    pushes: [
      [3, 'fired', 'blind'],
      [7, 'resolved', 'blind'],
    ],
  },
  {
    name: 'blind: one run without a series is not told',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => vllm(busy(m))),
      { minute: 2, served: page({ 'vllm:num_requests_running{model_name="m"}': 1 }) },
      ...from(3, 4, (m) => vllm(busy(m))),
    ],
    pushes: [],
  },
  {
    name: 'down: three refused connections are one alert, resolved after two good ones',
    backend: 'vllm',
    runs: [...from(0, 1, (m) => vllm(busy(m))), ...from(2, 6, () => 'refused'), ...from(7, 9, (m) => vllm(busy(m)))],
    pushes: [
      [4, 'fired', 'down'],
      [8, 'resolved', 'down'],
    ],
  },
  {
    name: 'down: two refused connections are none',
    backend: 'vllm',
    runs: [...from(0, 1, (m) => vllm(busy(m))), ...from(2, 3, () => 'refused'), ...from(4, 6, (m) => vllm(busy(m)))],
    pushes: [],
  },
  {
    name: 'case 93: up and down every few minutes is one down, and no end until two good runs in a row',
    backend: 'vllm',
    runs: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13].map((minute) => ({
      minute,
      served: minute % 4 === 3 || minute > 11 ? vllm(busy(minute)) : ('refused' as const),
    })),
    pushes: [
      [2, 'fired', 'down'],
      [12, 'resolved', 'down'],
    ],
  },
  {
    name: 'case 90: a firing KV alert is not resolved by a server that stops answering',
    backend: 'vllm',
    runs: [...from(0, 5, (m) => vllm({ ...busy(m), kv: 0.95 })), ...from(6, 12, () => 'refused')],
    pushes: [
      [5, 'fired', 'kv_cache'],
      [8, 'fired', 'down'],
    ],
  },
  {
    name: 'case 49: metrics that answer 500 are down in their own words after three polls',
    backend: 'vllm',
    runs: from(0, 4, () => ({ status: 500, body: 'Internal Server Error', type: 'text/plain' })),
    pushes: [[2, 'fired', 'down']],
  },
  {
    name: 'queue_wait: a mean of 2.5 s fires, its fall below 1 s is the end',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => vllm({ ...busy(m), more: queue(100 * m, 10 * m) })),
      ...from(2, 9, (m) => vllm({ ...busy(m), more: queue(100 * m, 10 + 350 * (m - 1)) })),
      ...from(10, 20, (m) => vllm({ ...busy(m), more: queue(100 * m, 2_810 + 10 * (m - 9)) })),
    ],
    pushes: [
      [3, 'fired', 'queue_wait'],
      [14, 'resolved', 'queue_wait'],
    ],
  },
  {
    name: 'queue_wait: a mean of 1.9 s does not',
    backend: 'vllm',
    runs: from(0, 8, (m) => vllm({ ...busy(m), more: queue(100 * m, 190 * m) })),
    pushes: [],
  },
  {
    name: 'ttft: p99 above 3 s fires once and clears when the window has passed',
    backend: 'vllm',
    runs: [
      ...from(0, 2, (m) => vllm({ ...busy(m), more: ttft(100 * m, 0) })),
      ...from(3, 5, (m) => vllm({ ...busy(m), more: ttft(100 * m, 20 * (m - 2)) })),
      ...from(6, 14, (m) => vllm({ ...busy(m), more: ttft(100 * m, 60) })),
    ],
    pushes: [
      [3, 'fired', 'ttft'],
      [11, 'resolved', 'ttft'],
    ],
  },
  {
    name: 'ttft: 19 slow requests are too few to judge',
    backend: 'vllm',
    runs: from(0, 6, (m) => vllm({ ...busy(m), more: ttft(0, Math.min(m, 1) * 19) })),
    pushes: [],
  },
  {
    name: 'errors: 6 % of 100 requests fire, 1 % ends it',
    backend: 'vllm',
    runs: [
      ...from(0, 2, (m) => vllm({ running: 4, tokens: m * 1000, finished: 94 * m, errors: 6 * m })),
      ...from(3, 12, (m) => vllm({ running: 4, tokens: m * 1000, finished: 94 * m, errors: 12 })),
    ],
    pushes: [
      [1, 'fired', 'errors'],
      [8, 'resolved', 'errors'],
    ],
  },
  {
    name: 'errors: 4 % do not',
    backend: 'vllm',
    runs: from(0, 6, (m) => vllm({ running: 4, tokens: m * 1000, finished: 96 * m, errors: 4 * m })),
    pushes: [],
  },
  {
    name: 'errors: 19 requests that all failed are too few to judge',
    backend: 'vllm',
    runs: from(0, 6, (m) => vllm({ running: 4, tokens: m * 1000, finished: 384, errors: 16 + 19 * Math.min(m, 1) })),
    pushes: [],
  },
  {
    name: 'preemptions: more than one a second for five minutes fire',
    backend: 'vllm',
    runs: [
      ...from(0, 10, (m) => vllm({ ...busy(m), preemptions: 90 * m })),
      ...from(11, 20, (m) => vllm({ ...busy(m), preemptions: 900 })),
    ],
    pushes: [
      [6, 'fired', 'preemptions'],
      [16, 'resolved', 'preemptions'],
    ],
  },
  {
    name: 'preemptions: 0.9 a second do not',
    backend: 'vllm',
    runs: from(0, 12, (m) => vllm({ ...busy(m), preemptions: 54 * m })),
    pushes: [],
  },
  {
    name: 'case 39: an engine that hangs with work inside is stalled at the second run without progress',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => vllm(busy(m))),
      ...from(2, 6, () => vllm({ ...busy(1), running: 35, waiting: 15, kv: 0.99 })),
      ...from(7, 9, (m) => vllm(busy(m))),
    ],
    pushes: [
      [3, 'fired', 'stalled'],
      [8, 'resolved', 'stalled'],
    ],
  },
  {
    name: 'stalled: a long prefill that moves nothing for one run is none',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => vllm(busy(m))),
      { minute: 2, served: vllm(busy(1)) },
      ...from(3, 5, (m) => vllm(busy(m))),
    ],
    pushes: [],
  },
  {
    name: 'case 38: frozen gauges of an idle server are told as stalled, not as a full KV cache',
    backend: 'vllm',
    runs: [
      ...from(0, 1, (m) => vllm(busy(m))),
      ...from(2, 10, () => vllm({ ...busy(1), running: 106, waiting: 15, kv: 0.904 })),
    ],
    pushes: [[3, 'fired', 'stalled']],
  },
  {
    name: 'growth: a queue that rose at each of five runs fires before it is long',
    backend: 'vllm',
    runs: [
      ...from(0, 5, (m) => vllm({ ...busy(m), waiting: 3 * m })),
      ...from(6, 8, (m) => vllm({ ...busy(m), waiting: 15 })),
    ],
    pushes: [
      [5, 'fired', 'growth'],
      [7, 'resolved', 'growth'],
    ],
  },
  {
    name: 'growth: four rises and a pause do not',
    backend: 'vllm',
    runs: from(0, 8, (m) => vllm({ ...busy(m), waiting: 2 * (m % 5) + (m > 4 ? 1 : 0) })),
    pushes: [],
  },
  {
    name: 'inflight: off unless a limit is set, then at the limit',
    backend: 'vllm',
    env: { VLLM_INFLIGHT_LIMIT: '24' },
    runs: [
      ...from(0, 1, (m) => vllm({ ...busy(m), running: 16, waiting: 7 })),
      { minute: 2, served: vllm({ ...busy(2), running: 16, waiting: 8 }) },
      ...from(3, 4, (m) => vllm({ ...busy(m), running: 16, waiting: 0 })),
    ],
    pushes: [
      [2, 'fired', 'inflight'],
      [4, 'resolved', 'inflight'],
    ],
  },
  {
    name: 'prefix_hits: a fall from 34 % to 12 % after an hour of history fires after ten minutes',
    backend: 'vllm',
    runs: [
      ...from(0, 70, (m) => vllm({ ...busy(m), queries: 10_000 * m, hits: 3_400 * m })),
      ...from(71, 95, (m) => vllm({ ...busy(m), queries: 10_000 * m, hits: 238_000 + 1_200 * (m - 70) })),
      ...from(96, 110, (m) => vllm({ ...busy(m), queries: 10_000 * m, hits: 268_000 + 3_400 * (m - 95) })),
    ],
    pushes: [
      [84, 'fired', 'prefix_hits'],
      [100, 'resolved', 'prefix_hits'],
    ],
  },
  {
    name: 'prefix_hits: a fall from 34 % to 20 % does not fire, nor does any without an hour of history',
    backend: 'vllm',
    runs: [
      ...from(0, 20, (m) => vllm({ ...busy(m), queries: 10_000 * m, hits: 3_400 * m })),
      ...from(21, 40, (m) => vllm({ ...busy(m), queries: 10_000 * m, hits: 68_000 + 100 * (m - 20) })),
    ],
    pushes: [],
  },
  {
    name: 'throughput: a third of the usual tokens at the same number running fires after five minutes',
    backend: 'vllm',
    runs: [
      ...from(0, 70, (m) => vllm({ running: 12, finished: 100 * m, tokens: 60_000 * m })),
      ...from(71, 85, (m) =>
        vllm({ running: 12, finished: 7_000 + 33 * (m - 70), tokens: 4_200_000 + 20_000 * (m - 70) }),
      ),
      ...from(86, 95, (m) =>
        vllm({ running: 12, finished: 7_495 + 100 * (m - 85), tokens: 4_500_000 + 60_000 * (m - 85) }),
      ),
    ],
    pushes: [
      [76, 'fired', 'throughput'],
      [87, 'resolved', 'throughput'],
    ],
  },
  {
    name: 'throughput: fewer tokens with fewer requests running are no fall',
    backend: 'vllm',
    runs: [
      ...from(0, 70, (m) => vllm({ running: 12, finished: 100 * m, tokens: 60_000 * m })),
      ...from(71, 90, (m) =>
        vllm({ running: 1, finished: 7_000 + 10 * (m - 70), tokens: 4_200_000 + 6_000 * (m - 70) }),
      ),
    ],
    pushes: [],
  },
  {
    name: 'gap: the watcher did not run for more than three of its intervals',
    backend: 'vllm',
    runs: [
      ...from(0, 10, (m) => vllm(busy(m))),
      { minute: 14, served: vllm(busy(14)) },
      { minute: 15, served: vllm(busy(15)) },
    ],
    pushes: [[14, 'told-once', 'gap']],
  },
  {
    name: 'gap: three intervals are none',
    backend: 'vllm',
    runs: [...from(0, 10, (m) => vllm(busy(m))), { minute: 13, served: vllm(busy(13)) }],
    pushes: [],
  },
]
