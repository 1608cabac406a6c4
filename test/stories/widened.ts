import { vllm, vllmHistogram } from './pages.ts'
import { from, type Story } from './story.ts'

/** Times in seconds of all that finished so far, in the buckets of a server. */
function observed(name: string, times: readonly number[]): Record<string, number> {
  const bounds = [0.3, 1, 2.5, 5, 10, 40, 160, 640]
  const buckets = Object.fromEntries(bounds.map((bound) => [String(bound), times.filter((t) => t <= bound).length]))
  return vllmHistogram(
    name,
    { ...buckets, '+Inf': times.length },
    times.reduce((sum, t) => sum + t, 0),
  )
}

/** Few, heavy requests: one finishes at every second minute, after it waited so long. */
function heavy(minute: number, waits: (n: number) => number, waiting = 1): string {
  const finished = Math.floor(minute / 2)
  const times = Array.from({ length: finished }, (_, i) => waits(i + 1))
  const tokens = 1_700 * minute
  return vllm({ running: 1, waiting, kv: 0.64, finished, tokens, more: observed('request_queue_time_seconds', times) })
}

/** One first token a minute: the first so many in time, then late. */
function first(minute: number, inTime: number, late = 9): string {
  const times = Array.from({ length: minute }, (_, i) => (i < inTime ? 0.2 : late))
  return vllm({
    running: 1,
    finished: minute,
    tokens: 300 * minute,
    more: observed('time_to_first_token_seconds', times),
  })
}

export const WIDENED_STORIES: readonly Story[] = [
  {
    name: 'case 205: one request in two minutes, each waits longer: told at the first of them',
    backend: 'vllm',
    env: { VLLM_QUEUE_WAIT_REPEAT: 'off', VLLM_GROWTH_LIMIT: 'off' },
    runs: from(0, 200, (m) => heavy(m, (n) => (n <= 10 ? 0.5 : 41 + 3 * (n - 10)), m < 20 ? 0 : Math.min(5, m - 19))),
    pushes: [[22, 'fired', 'queue_wait']],
  },
  {
    name: 'case 205: the watcher has no past: told with the fifth',
    backend: 'vllm',
    env: { VLLM_QUEUE_WAIT_REPEAT: 'off' },
    runs: from(0, 60, (m) => heavy(m, () => 60)),
    pushes: [[10, 'fired', 'queue_wait']],
  },
  {
    name: 'case 205: one request in two minutes that waits a second is none',
    backend: 'vllm',
    runs: from(0, 120, (m) => heavy(m, () => 1)),
    pushes: [],
  },
  {
    name: 'ttft: one request a minute, late from the thirtieth on',
    backend: 'vllm',
    runs: from(0, 60, (m) => first(m, 30)),
    pushes: [[31, 'fired', 'ttft']],
  },
  {
    name: 'ttft: one request a minute in time is none',
    backend: 'vllm',
    runs: from(0, 90, (m) => first(m, 100)),
    pushes: [],
  },
]
