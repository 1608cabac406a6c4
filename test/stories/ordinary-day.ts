import { createRandom } from '../../tools/simulator/random.ts'
import { vllm, vllmHistogram } from './pages.ts'
import type { Served } from './story.ts'

/** Seconds of one step of the simulation. */
const TICK = 0.5
const HOUR = 3_600
const BOUNDS = [0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80]
const MOST_AT_ONCE = 512

interface Request {
  arrived: number
  left: number
  /** Gives up after so many of its tokens. */
  abortsAt: number
  reading: number
  isFirst: boolean
}

interface Process {
  started: number
  finished: number
  aborted: number
  tokens: number
  prompt: number
  seen: Record<'queue' | 'ttft' | 'itl' | 'e2e', { counts: number[]; sum: number }>
  waiting: Request[]
  running: Request[]
}

/**
 * A server with ordinary traffic, a page a minute for 24 hours: arrivals by chance, bursts of up to twice the load for a few
 * minutes, a lull from 1 to 6, one request in ten that its client gives up, and two restarts for an upgrade, each with two
 * minutes in which nobody answers. Tokens take longer when more requests run.
 */
export function* ordinaryDay(perSecond: number, seed: number): Generator<Served> {
  const random = createRandom(seed)
  let server = born(0)
  let burst = { until: 0, by: 1 }
  let nextBurst = 1_800
  const upgrades = [10 * HOUR + 420, 20 * HOUR + 60]
  for (let second = 0; second < 24 * HOUR; second += TICK) {
    if (second >= nextBurst) {
      burst = { until: second + 60 + 240 * random.uniform(), by: 1.3 + 0.7 * random.uniform() }
      nextBurst = second + 1_200 + 3_600 * random.uniform()
    }
    const isDown = upgrades.some((at) => second >= at && second < at + 120)
    if (isDown) server = born(second)
    else {
      const hour = second / HOUR
      const lull = hour >= 1 && hour < 6 ? 0.05 : 1
      const load = perSecond * lull * (second < burst.until ? burst.by : 1)
      for (let n = poisson(load * TICK, random.uniform); n > 0; n -= 1) server.waiting.push(arrive(second, random))
      advance(server, second)
    }
    if (second % 60 === 0) yield isDown ? 'refused' : pageOf(server)
  }
}

function born(started: number): Process {
  const empty = () => ({ counts: [...BOUNDS.map(() => 0), 0], sum: 0 })
  const seen = { queue: empty(), ttft: empty(), itl: empty(), e2e: empty() }
  return { started, finished: 0, aborted: 0, tokens: 0, prompt: 0, seen, waiting: [], running: [] }
}

function arrive(second: number, random: ReturnType<typeof createRandom>): Request {
  const left = Math.min(1_500, Math.max(2, Math.round(random.logNormal(150, 0.7))))
  const isAborted = random.uniform() < 0.1
  return {
    arrived: second + TICK * random.uniform(),
    left,
    abortsAt: isAborted ? Math.floor(left * random.uniform()) : -1,
    reading: 0.05 + 0.3 * random.uniform(),
    isFirst: true,
  }
}

function advance(server: Process, second: number): void {
  const { seen } = server
  while (server.running.length < MOST_AT_ONCE && server.waiting.length > 0) {
    const request = server.waiting.shift()
    if (!request) break
    observe(seen.queue, Math.max(0.001, second - request.arrived))
    server.running.push(request)
  }
  const step = 0.012 + 0.00004 * server.running.length
  const each = TICK / step
  server.running = server.running.filter((request) => {
    if (request.isFirst) {
      request.isFirst = false
      server.prompt += 400
      observe(seen.ttft, Math.max(0.02, second - request.arrived) + request.reading)
    }
    const made = Math.min(request.left, each)
    request.left -= made
    server.tokens += made
    observe(seen.itl, step, made)
    if (request.left <= request.abortsAt) {
      server.aborted += 1
      return false
    }
    if (request.left > 0) return true
    server.finished += 1
    observe(seen.e2e, second - request.arrived + TICK)
    return false
  })
}

function observe(into: { counts: number[]; sum: number }, value: number, times = 1): void {
  const bucket = BOUNDS.findIndex((bound) => value <= bound)
  const at = bucket < 0 ? BOUNDS.length : bucket
  into.counts[at] = (into.counts[at] ?? 0) + times
  into.sum += value * times
}

function pageOf(server: Process): string {
  const { seen } = server
  const shown = (name: string, { counts, sum }: { counts: number[]; sum: number }) => {
    let total = 0
    const cumulative = counts.map((count, i): [string, number] => {
      total += count
      return [String(BOUNDS[i] ?? '+Inf'), Math.round(total)]
    })
    return vllmHistogram(name, Object.fromEntries(cumulative), sum)
  }
  return vllm({
    started: 1_760_000_000 + server.started,
    running: server.running.length,
    waiting: server.waiting.length,
    kv: Math.min(0.8, 0.05 + server.running.length / 700),
    finished: server.finished,
    tokens: Math.round(server.tokens),
    prompt: server.prompt,
    queries: server.prompt,
    hits: Math.round(server.prompt * 0.3),
    more: {
      'vllm:request_success_total{engine="0",model_name="m",finished_reason="abort"}': server.aborted,
      ...shown('request_queue_time_seconds', seen.queue),
      ...shown('time_to_first_token_seconds', seen.ttft),
      ...shown('inter_token_latency_seconds', seen.itl),
      ...shown('e2e_request_latency_seconds', seen.e2e),
    },
  })
}

/** https://en.wikipedia.org/wiki/Poisson_distribution, Knuth's; the mean is small here. */
function poisson(mean: number, uniform: () => number): number {
  const limit = Math.exp(-mean)
  let count = 0
  for (let product = uniform(); product > limit; product *= uniform()) count += 1
  return count
}
