import { histogram, page, vllm, vllmHistogram } from './pages.ts'
import { from, type Story } from './story.ts'

/** TGI, TEI, SGLang and llama.cpp: their own names for the rules that they share. */
export const OTHER_STORIES: readonly Story[] = [
  {
    name: 'case 53: a queue that grows while nothing finishes is told once as long, and as worse when it is stalled',
    backend: 'tgi',
    env: { TGI_WAITING_LIMIT: '10' },
    runs: [10, 11, 13, 17, 25, 25].map((queue, minute) => ({
      minute,
      served: page({ tgi_queue_size: queue, tgi_batch_current_size: 0, tgi_request_success: 500 }),
    })),
    pushes: [
      [1, 'fired', 'waiting'],
      [2, 'worse', 'stalled'],
    ],
  },
  {
    name: 'an empty body before the first request is healthy, and so is one after a restart',
    backend: 'tgi',
    runs: [
      ...from(0, 3, () => ''),
      ...from(4, 6, (m) => page({ tgi_queue_size: 0, tgi_batch_current_size: 1, tgi_request_success: m })),
      ...from(7, 12, () => ''),
    ],
    pushes: [],
  },
  ...(['tgi', 'tei'] as const).map(
    (backend): Story => ({
      name: `case 76: of another server, no series is there that ${backend} has, before its first request or after`,
      backend,
      runs: from(0, 3, () =>
        page({ 'python_gc_collections_total{generation="0"}': 5, 'vllm:num_requests_waiting': 90 }),
      ),
      pushes: [[1, 'fired', 'blind']],
    }),
  ),
  {
    name: 'series of its own that feed no rule are a page before the first request',
    backend: 'tei',
    runs: from(0, 3, (m) => page({ 'te_tokenize_count{method="single"}': m, process_cpu_seconds_total: m })),
    pushes: [],
  },
  {
    name: "errors: overload counts, the client's own faults do not",
    backend: 'tgi',
    runs: [
      ...from(0, 3, (m) =>
        page({
          tgi_queue_size: 1,
          tgi_batch_inference_count: m,
          tgi_request_success: 90 * m,
          'tgi_request_failure{err="validation"}': 50 * m,
        }),
      ),
      ...from(4, 6, (m) =>
        page({
          tgi_queue_size: 1,
          tgi_batch_inference_count: m,
          tgi_request_success: 90 * m,
          'tgi_request_failure{err="validation"}': 50 * m,
          'tgi_request_failure{err="overloaded"}': 40 * (m - 3),
        }),
      ),
    ],
    pushes: [[4, 'fired', 'errors']],
  },
  {
    name: 'queue_wait: the mean of the queue histogram',
    backend: 'tei',
    runs: [
      ...from(0, 1, (m) =>
        page({
          te_queue_size: 1,
          ...histogram('te_request_queue_duration', '', { 1: 100 * m, 14: 100 * m, '+Inf': 100 * m }, 20 * m),
        }),
      ),
      ...from(2, 3, (m) =>
        page({
          te_queue_size: 1,
          ...histogram('te_request_queue_duration', '', { 1: 100, 14: 100 * m, '+Inf': 100 * m }, 20 + 500 * (m - 1)),
        }),
      ),
    ],
    pushes: [[2, 'fired', 'queue_wait']],
  },
  {
    name: 'waiting: the queues of a prefill/decode split count too; ranks that repeat a number count once',
    backend: 'sglang',
    runs: from(0, 2, (m) => {
      const rank = (name: string, tp: number) => `sglang:${name}{model_name="m",tp_rank="${tp}",dp_rank="0"}`
      return page({
        [rank('num_queue_reqs', 0)]: 6,
        [rank('num_queue_reqs', 1)]: 6,
        [rank('num_prefill_inflight_queue_reqs', 0)]: m === 2 ? 15 : 14,
        [rank('num_running_reqs', 0)]: 3,
        [rank('token_usage', 0)]: 0.2,
      })
    }),
    pushes: [[2, 'fired', 'waiting']],
  },
  {
    name: 'kv_cache: token usage at 0.9 for five minutes',
    backend: 'sglang',
    runs: from(0, 6, () =>
      page({
        'sglang:num_queue_reqs{model_name="m"}': 0,
        'sglang:num_running_reqs{model_name="m"}': 3,
        'sglang:token_usage{model_name="m"}': 0.9,
      }),
    ),
    pushes: [[5, 'fired', 'kv_cache']],
  },
  {
    name: 'waiting: deferred requests',
    backend: 'llamacpp',
    runs: [...from(0, 1, (m) => llama(m, 0)), ...from(2, 4, (m) => llama(m, 21)), ...from(5, 7, (m) => llama(m, 3))],
    pushes: [
      [2, 'fired', 'waiting'],
      [6, 'resolved', 'waiting'],
    ],
  },
  {
    name: 'stalled: busy slots and not a token',
    backend: 'llamacpp',
    runs: [...from(0, 1, (m) => llama(m, 0)), ...from(2, 5, () => llama(1, 2))],
    pushes: [[3, 'fired', 'stalled']],
  },
  {
    name: 'throughput: a fall that has lasted for a day is the new usual, and its end is told',
    backend: 'vllm',
    env: { VLLM_GAP_LIMIT: 'off', VLLM_THROUGHPUT_REPEAT: 'off' },
    runs: [
      ...Array.from({ length: 30 }, (_, i) => i * 3).map((m) => ({ minute: m, served: steady(m, 100_000 * m) })),
      ...Array.from({ length: 580 }, (_, i) => 90 + i * 3).map((m) => ({
        minute: m,
        served: steady(m, 9_000_000 + 20_000 * (m - 90)),
      })),
    ],
    pushes: [
      [99, 'fired', 'throughput'],
      [1596, 'resolved', 'throughput'],
    ],
  },
  {
    name: 'throughput: two copies that run at nearly one moment teach no wild speed',
    backend: 'llamacpp',
    runs: from(0, 90, (m) => llama(m, 0)).flatMap(({ minute, served }) => [
      { minute, served },
      ...(minute < 70 ? [{ minute: minute + 0.0002, served: llama(minute + 0.02, 0) }] : []),
    ]),
    pushes: [],
  },
  {
    name: 'sibling: half as fast as the other two for ten minutes',
    backend: 'vllm',
    endpoints: ['chat/a', 'chat/b', 'chat/c'],
    runs: [
      ...from(0, 12, (m) => ({ 'chat/a': paced(m, 0.03), 'chat/b': paced(m, 0.031), 'chat/c': paced(m, 0.06) })),
      ...from(13, 22, (m) => ({ 'chat/a': paced(m, 0.03), 'chat/b': paced(m, 0.031), 'chat/c': paced(m, 0.06, 12) })),
    ],
    pushes: [
      [11, 'fired', 'sibling'],
      [17, 'resolved', 'sibling'],
    ],
  },
  {
    name: 'sibling: a group of two has no median to compare with',
    backend: 'vllm',
    endpoints: ['chat/a', 'chat/b'],
    runs: from(0, 20, (m) => ({ 'chat/a': paced(m, 0.03), 'chat/b': paced(m, 0.09) })),
    pushes: [],
  },
  {
    name: 'case 96: all endpoints failing in one run with one cause are one message, and one at their return',
    backend: 'vllm',
    endpoints: ['a', 'b', 'c', 'd', 'e'],
    runs: [
      ...from(0, 1, (m) => all(m)),
      ...from(2, 5, () => ({ a: 'refused', b: 'refused', c: 'refused', d: 'refused', e: 'refused' })),
      ...from(6, 8, (m) => all(m)),
    ],
    pushes: [
      [4, 'fired', 'down'],
      [7, 'resolved', 'down'],
    ],
  },
  {
    name: 'case 96: one that was down before has gone with the others where it fails alike',
    backend: 'vllm',
    endpoints: ['a', 'b', 'c'],
    runs: [
      ...from(0, 3, (m) => ({ a: 'refused', b: quiet(m), c: quiet(m) })),
      ...from(4, 7, () => ({ a: 'refused', b: 'refused', c: 'refused' })),
    ],
    pushes: [
      [2, 'fired', 'down'],
      [6, 'fired', 'down'],
    ],
  },
  {
    name: 'one that was down before and still answers shows that the way is open',
    backend: 'vllm',
    endpoints: ['a', 'b', 'c'],
    runs: [
      ...from(0, 3, (m) => ({ a: { status: 404 }, b: quiet(m), c: quiet(m) })),
      ...from(4, 7, () => ({ a: { status: 404 }, b: 'refused', c: 'refused' })),
    ],
    pushes: [
      [2, 'fired', 'down'],
      [6, 'fired', 'down'],
      [6, 'fired', 'down'],
    ],
  },
  {
    name: 'more than three endpoints changing in one run are one digest',
    backend: 'vllm',
    endpoints: ['a', 'b', 'c', 'd', 'e'],
    runs: [
      { minute: 0, served: all(0) },
      { minute: 1, served: { ...all(1), a: long(1), b: long(1), c: long(1), d: long(1) } },
    ],
    pushes: [[1, 'fired', 'waiting']],
  },
  {
    name: 'a latency alert without traffic closes as idle after 15 minutes',
    backend: 'vllm',
    runs: [...from(0, 2, (m) => slow(m)), ...from(3, 25, () => slow(2))],
    pushes: [
      [1, 'fired', 'ttft'],
      [18, 'resolved', 'ttft'],
    ],
  },
  {
    name: 'a reminder comes four hours after the last push',
    backend: 'vllm',
    runs: [0, 60, 120, 180, 239, 240, 300].map((minute) => ({ minute, served: long(minute) })),
    pushes: [
      [0, 'fired', 'waiting'],
      [240, 'repeated', 'waiting'],
    ],
  },
]

function llama(minute: number, deferred: number): string {
  return page({
    'llamacpp:requests_processing': 2,
    'llamacpp:requests_deferred': deferred,
    'llamacpp:tokens_predicted_total': 1000 * minute,
    'llamacpp:n_decode_total': 1000 * minute,
  })
}

/** A replica whose requests take so many seconds a token, until a minute from which it is as fast as the others. */
function paced(minute: number, secondsAToken: number, until = minute): string {
  const count = 50 * minute
  const sum = 50 * Math.min(minute, until) * secondsAToken + 50 * Math.max(0, minute - until) * 0.03
  const more = vllmHistogram('request_time_per_output_token_seconds', { 0.01: 0, 0.1: count, '+Inf': count }, sum)
  return vllm({ running: 4, finished: count, tokens: count * 100, more })
}

/** Twelve requests at once, all the time. */
function steady(minute: number, tokens: number): string {
  return vllm({ running: 12, finished: 100 * minute, tokens })
}

function quiet(minute: number): string {
  return vllm({ running: 2, finished: 100 * minute, tokens: 1000 * minute })
}

function long(minute: number): string {
  return vllm({ running: 2, waiting: 42, finished: 100 * minute, tokens: 1000 * minute })
}

function all(minute: number): Record<string, string> {
  return Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, quiet(minute)]))
}

function slow(minute: number): string {
  const count = 50 * minute
  const more = vllmHistogram('time_to_first_token_seconds', { 2.5: 0, 5: count, '+Inf': count }, count * 4)
  return vllm({ finished: count, tokens: 1000 * minute, more })
}
