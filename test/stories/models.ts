import { histogram, page } from './pages.ts'
import { from, type Story } from './story.ts'

interface Model {
  name: string
  /** Requests a minute. */
  rate: number
  /** Seconds to the first token. */
  ttft: number
  failing?: number
}

/** Two models on one server, each with its own series. */
function shared(minute: number, models: readonly Model[]): string {
  const series = models.map(({ name, rate, ttft, failing = 0 }) => {
    const labels = `engine="0",model_name="${name}"`
    const count = rate * minute
    const at = (bound: number) => (ttft <= bound ? count : 0)
    return {
      [`vllm:num_requests_running{${labels}}`]: 2,
      [`vllm:num_requests_waiting{${labels}}`]: 0,
      [`vllm:kv_cache_usage_perc{${labels}}`]: 0.3,
      [`vllm:request_success_total{${labels},finished_reason="stop"}`]: count - failing * minute,
      [`vllm:request_success_total{${labels},finished_reason="error"}`]: failing * minute,
      [`vllm:generation_tokens_total{${labels}}`]: 100 * count,
      ...histogram(
        'vllm:time_to_first_token_seconds',
        labels,
        { 0.5: at(0.5), 5: at(5), 20: count, '+Inf': count },
        count * ttft,
      ),
    }
  })
  return page(Object.assign({ process_start_time_seconds: 1_760_000_000 }, ...series))
}

const BIG: Model = { name: 'big', rate: 3_000, ttft: 0.2 }

export const MODEL_STORIES: readonly Story[] = [
  {
    name: 'case 414: every request of a small model beside a big one is late',
    backend: 'vllm',
    runs: from(0, 20, (m) => shared(m, [BIG, { name: 'org/small', rate: 6, ttft: 15 }])),
    pushes: [[4, 'fired', 'ttft']],
  },
  {
    name: 'a small model beside a big one, in time: nothing',
    backend: 'vllm',
    runs: from(0, 20, (m) => shared(m, [BIG, { name: 'small', rate: 6, ttft: 0.4 }])),
    pushes: [],
  },
  {
    name: 'one in three requests of a small model fails, one in 1,500 of all',
    backend: 'vllm',
    runs: from(0, 20, (m) => shared(m, [BIG, { name: 'small', rate: 6, ttft: 0.4, failing: 2 }])),
    pushes: [[4, 'fired', 'errors']],
  },
  {
    name: 'every second request of a small model fails: told of the whole, which has enough requests first, and not again of the model',
    backend: 'vllm',
    runs: from(0, 20, (m) =>
      shared(m, [
        { ...BIG, rate: 16 },
        { name: 'small', rate: 6, ttft: 0.4, failing: 3 },
      ]),
    ),
    pushes: [[1, 'fired', 'errors']],
  },
]
