import { page, vllm, vllmHistogram } from './pages.ts'
import { from, type Story } from './story.ts'

interface Pace {
  running?: number
  /** Seconds a token, until now and since. */
  tokens: readonly (readonly [count: number, seconds: number])[]
}

/** A vLLM page whose tokens took so long each. */
function paced({ running = 1, tokens }: Pace): string {
  const at = (bound: number) => tokens.reduce((sum, [count, seconds]) => sum + (seconds <= bound ? count : 0), 0)
  const all = at(Number.POSITIVE_INFINITY)
  const seconds = tokens.reduce((sum, [count, each]) => sum + count * each, 0)
  const more = vllmHistogram(
    'inter_token_latency_seconds',
    { 0.025: at(0.025), 0.05: at(0.05), 0.1: at(0.1), 0.5: at(0.5), '+Inf': all },
    seconds,
  )
  return vllm({ running, finished: Math.floor(all / 300), tokens: all, more })
}

/** 31.9 tokens a second for so long, then another pace. */
const latched = (m: number, until: number, slower: number, running = 1) =>
  paced({
    running: m > until ? running : 1,
    tokens: [
      [1_914 * Math.min(m, until), 0.0313],
      [Math.max(0, m - until) * Math.round((60 * (m > until ? running : 1)) / slower), slower],
    ],
  })

/** llama.cpp with one request after another. */
const llama = (m: number, until: number, seconds: number) => {
  const [before, since] = [Math.min(m, until), Math.max(0, m - until)]
  const tokens = 1_800 * before + Math.floor(60 / seconds) * since
  return page({
    'llamacpp:requests_processing': 1,
    'llamacpp:requests_deferred': 0,
    'llamacpp:n_decode_total': tokens,
    'llamacpp:tokens_predicted_total': tokens,
    'llamacpp:tokens_predicted_seconds_total': 60 * m,
    'llamacpp:prompt_tokens_total': 500 * m,
    'llamacpp:prompt_seconds_total': m,
  })
}

const histogramOf = (name: string, quick: number, late: number) =>
  vllmHistogram(name, { 0.5: quick, 5: quick, 10: quick + late, '+Inf': quick + late }, quick * 0.2 + late * 8)

/** So many quick requests a minute, and from minute 5 to 15 some late ones. */
const tail = (name: string, late: number) =>
  from(0, 30, (m) => {
    const n = Math.min(10, Math.max(0, m - 5))
    return vllm({
      running: 4,
      finished: (40 + late) * m,
      tokens: 10_000 * m,
      more: histogramOf(name, 40 * m, late * n),
    })
  })

export const SPEED_STORIES: readonly Story[] = [
  {
    name: 'case 213: decode latches at half speed: told once, and its end',
    backend: 'vllm',
    env: { VLLM_GAP_LIMIT: 'off' },
    runs: [...from(0, 160, (m) => latched(m, 120, 0.0621)), ...from(161, 170, (m) => recovered(m))],
    pushes: [
      [135, 'fired', 'token_time'],
      [163, 'resolved', 'token_time'],
    ],
  },
  {
    name: 'token_time: 1.7 times as long is none',
    backend: 'vllm',
    runs: from(0, 180, (m) => latched(m, 120, 0.053)),
    pushes: [],
  },
  {
    name: 'token_time: twice as long with eight times as many running is the batch',
    backend: 'vllm',
    runs: from(0, 180, (m) => latched(m, 120, 0.0621, 8)),
    pushes: [],
  },
  {
    name: 'token_time: llama.cpp by its own seconds of generating',
    backend: 'llamacpp',
    env: { LLAMACPP_THROUGHPUT_LIMIT: 'off' },
    runs: from(0, 150, (m) => llama(m, 120, 0.08)),
    pushes: [[134, 'fired', 'token_time']],
  },
  {
    name: 'queue_tail: one in ten waits 8 s, the mean is within its limit',
    backend: 'vllm',
    env: { VLLM_QUEUE_TAIL_LIMIT: '5s' },
    runs: tail('request_queue_time_seconds', 4),
    pushes: [
      [8, 'fired', 'queue_tail'],
      [19, 'resolved', 'queue_tail'],
    ],
  },
  {
    name: 'queue_tail: one in forty is none',
    backend: 'vllm',
    env: { VLLM_QUEUE_TAIL_LIMIT: '5s' },
    runs: tail('request_queue_time_seconds', 1),
    pushes: [],
  },
  {
    name: 'queue_tail: off unless it is set',
    backend: 'vllm',
    runs: tail('request_queue_time_seconds', 4),
    pushes: [],
  },
  {
    name: 'e2e: the p99 is above the limit for five minutes',
    backend: 'vllm',
    env: { VLLM_E2E_LIMIT: '6s' },
    runs: tail('e2e_request_latency_seconds', 4),
    pushes: [
      [11, 'fired', 'e2e'],
      [21, 'resolved', 'e2e'],
    ],
  },
  {
    name: 'e2e: three minutes above the limit are none',
    backend: 'vllm',
    env: { VLLM_E2E_LIMIT: '6s', VLLM_E2E_FOR: '12m' },
    runs: tail('e2e_request_latency_seconds', 1),
    pushes: [],
  },
  {
    name: 'slo: one in ten is late for ten minutes: told once while it lasts',
    backend: 'vllm',
    env: { SLO_TTFT: '500ms', VLLM_TTFT_LIMIT: 'off' },
    runs: tail('time_to_first_token_seconds', 4),
    pushes: [
      [6, 'fired', 'slo'],
      [21, 'resolved', 'slo'],
    ],
  },
  {
    name: 'slo: a looser limit holds',
    backend: 'vllm',
    env: { VLLM_SLO_TTFT: '500ms', SLO_LIMIT: '80%', VLLM_TTFT_LIMIT: 'off' },
    runs: tail('time_to_first_token_seconds', 4),
    pushes: [],
  },
  {
    name: 'slo: off without SLO_TTFT',
    backend: 'vllm',
    env: { VLLM_TTFT_LIMIT: 'off' },
    runs: tail('time_to_first_token_seconds', 4),
    pushes: [],
  },
]

/** After the latched half hour the engine is restarted by nobody, and is as quick as before. */
function recovered(m: number): string {
  return paced({
    tokens: [
      [1_914 * (m - 40), 0.0313],
      [40 * Math.round(60 / 0.0621), 0.0621],
    ],
  })
}
