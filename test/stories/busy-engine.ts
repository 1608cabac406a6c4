import { createRandom } from '../../tools/simulator/random.ts'
import { vllm, vllmHistogram } from './pages.ts'

const TTFT = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
]
const TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80]
const REQUEST = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680]

/** Bounds as vLLM has them; the usual time in peace and in trouble, in seconds. */
const HISTOGRAMS = {
  time_to_first_token_seconds: { bounds: TTFT, calm: 0.12, ill: 9 },
  inter_token_latency_seconds: { bounds: TOKEN, calm: 0.03, ill: 0.08 },
  request_queue_time_seconds: { bounds: REQUEST, calm: 0.05, ill: 8 },
  e2e_request_latency_seconds: { bounds: REQUEST, calm: 9, ill: 40 },
}
const TOKENS = 211
/** Observations that are drawn for a minute. */
const DRAWN = 200

/**
 * One engine of vLLM, a page a minute, whose load swings so that every bin of running requests gets a past, with
 * everything on its page that is read of it. From `badFrom` on most of its signs are bad.
 */
export function* busyEngine(of: { minutes: number; badFrom: number; perMinute: number }): Generator<string> {
  const random = createRandom(7)
  const counted: Record<string, number> = {}
  const seen = Object.entries(HISTOGRAMS).map(([name, { bounds }]) => ({
    name: name as keyof typeof HISTOGRAMS,
    counts: [...bounds.map(() => 0), 0],
    sum: 0,
  }))
  const count = (name: string, by: number, more = '') => {
    const series = name.includes('{') ? name : `vllm:${name}{engine="0",model_name="m"${more}}`
    counted[series] = (counted[series] ?? 0) + Math.round(by)
  }
  for (let minute = 0; minute < of.minutes; minute++) {
    const isBad = minute >= of.badFrom
    const load = isBad ? 1 : 0.02 + Math.abs(Math.sin(minute / 50))
    const n = Math.round(of.perMinute * load * (0.8 + 0.4 * random.uniform()))
    for (const reason of ['stop', 'length', 'abort', 'error', 'repetition'])
      count('request_success_total', share(reason, isBad) * n, `,finished_reason="${reason}"`)
    count('generation_tokens_total', TOKENS * n)
    count('prompt_tokens_total', 1_713 * n)
    count('prefix_cache_queries_total', 1_713 * n)
    count('prefix_cache_hits_total', 801 * n)
    count('external_prefix_cache_hits_total', 20 * n)
    count('iteration_tokens_total_count', 1_500)
    count('num_preemptions_total', isBad ? 90 : 0)
    count('corrupted_requests_total', 0)
    count('nixl_num_failed_transfers_total', 0)
    count('nixl_num_kv_expired_reqs_total', 0)
    count('admission_rejections_total', 0, ',reason="max_num_queued_reqs"')
    count('http_requests_total{handler="/v1/chat/completions",method="POST",status="2xx"}', n)
    count('http_requests_total{handler="/v1/chat/completions",method="POST",status="5xx"}', isBad ? n / 9 : 0)
    for (const one of seen) {
      const { bounds, calm, ill } = HISTOGRAMS[one.name]
      const all = one.name.startsWith('inter') ? TOKENS * n : n
      const drawn = Math.min(DRAWN, all)
      for (let i = 0; i < drawn; i++) {
        const value = random.logNormal(isBad ? ill : calm, 0.7)
        const bucket = bounds.findIndex((bound) => value <= bound)
        const at = bucket < 0 ? bounds.length : bucket
        one.counts[at] = (one.counts[at] ?? 0) + Math.round(all / drawn)
        one.sum += (value * all) / drawn
      }
    }
    yield vllm({
      running: Math.max(1, Math.round(200 * load)),
      waiting: isBad ? 240 + (minute % 7) : Math.round(3 * load),
      kv: isBad ? 0.986 : 0.6 * load + 0.0123,
      more: Object.assign({ ...counted }, ...seen.map(shown)),
    })
  }
}

function share(reason: string, isBad: boolean): number {
  if (reason === 'stop') return 1
  return reason === 'error' ? (isBad ? 0.11 : 0) : 0.05
}

function shown({ name, counts, sum }: { name: keyof typeof HISTOGRAMS; counts: readonly number[]; sum: number }) {
  let total = 0
  const cumulative = counts.map((count, i): [string, number] => {
    total += count
    return [String(HISTOGRAMS[name].bounds[i] ?? '+Inf'), total]
  })
  return vllmHistogram(name, Object.fromEntries(cumulative), sum)
}
