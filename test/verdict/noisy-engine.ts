import { defined } from '../../src/model/defined.ts'
import type { PastWorkload, Workload } from '../../src/verdict/verdict.ts'
import { createRandom } from '../../tools/simulator/random.ts'

/** What the engine of a test lives through; each can change in the middle. */
export interface Life {
  /** Mean requests a second, Poisson. */
  load: number
  /** Mean lengths in tokens, log-normal. */
  prompt: number
  output: number
  /** Tokens that the KV cache holds. */
  cache: number
  /** A step takes this many times longer. */
  slowness: number
  hung: boolean
}

export const USUAL: Life = { load: 3, prompt: 400, output: 200, cache: 40_000, slowness: 1, hung: false }

const MOST_AT_ONCE = 64
const RUN = 60
/** The longest prompt that the server takes. */
const LONGEST = 16_000
/** Of the lengths' logarithm. */
const SPREAD = 0.7

interface Request {
  prompt: number
  left: number
  made: number
  output: number
  startedAt: number
}

interface Totals {
  at: number
  finished: number
  tokens: number
  prompts: number
  perToken: number
  preemptions: number
  waiting: number
  running: number
  kv: number
}

/**
 * A continuous-batching engine with arrivals and lengths by chance, read once a minute; the same seed lives the same life.
 * Not the one of `tools/simulator`: it knows no pages, and the verdict must be right on more than one model of an engine.
 */
export function noisyEngine(seed: number) {
  const random = createRandom(seed)
  const waiting: Request[] = []
  const running: Request[] = []
  const totals = { finished: 0, tokens: 0, prompts: 0, perToken: 0, preemptions: 0 }
  const readings: Totals[] = []
  let now = 0

  /** Tokens in the cache. */
  let used = 0

  function arrive(life: Life, seconds: number) {
    let count = poisson(life.load * seconds, random.uniform)
    while (count-- > 0) {
      const output = Math.min(1000, Math.max(2, Math.round(random.logNormal(life.output, SPREAD))))
      waiting.push({
        prompt: Math.min(LONGEST, Math.max(1, Math.round(random.logNormal(life.prompt, SPREAD)))),
        left: output,
        made: 0,
        output,
        startedAt: now,
      })
    }
  }

  function step(life: Life): number {
    if (life.hung) return 1
    let prefill = 0
    for (
      let next = waiting[0];
      next && running.length < MOST_AT_ONCE && used + next.prompt < life.cache;
      next = waiting[0]
    ) {
      waiting.shift()
      prefill += next.prompt
      used += next.prompt
      if (next.made === 0 && next.left === next.output) next.startedAt = now
      running.push(next)
    }
    if (running.length === 0) return 0.05
    while (running.length > 1 && used + running.length > life.cache) preempt()
    const seconds = (0.02 + 0.0002 * running.length + prefill * 5e-5) * life.slowness
    for (const request of [...running]) {
      request.left--
      request.made++
      used++
      totals.tokens++
      if (request.left <= 0) finish(request, now + seconds)
    }
    return seconds
  }

  function preempt() {
    const last = running.pop()
    if (!last) return
    totals.preemptions++
    used -= last.prompt + last.made
    waiting.unshift({ ...last, prompt: last.prompt + last.made, made: 0 })
  }

  function finish(request: Request, at: number) {
    running.splice(running.indexOf(request), 1)
    used -= request.prompt + request.made
    totals.finished++
    totals.prompts += request.prompt
    totals.perToken += (at - request.startedAt) / request.output
  }

  return {
    /** Lives for a number of runs. */
    live(life: Life, runs: number) {
      for (let run = 0; run < runs; run++) {
        const end = now + RUN
        while (now < end) {
          const seconds = step(life)
          now += seconds
          arrive(life, seconds)
        }
        readings.push({
          at: now,
          ...totals,
          waiting: waiting.length,
          running: running.length,
          kv: Math.min(1, used / life.cache),
        })
      }
    },
    /** The work since the last run, widened until 20 requests have finished or five minutes are full. */
    work(): Workload {
      const last = readings.at(-1)
      if (!last) throw new Error('no reading')
      let from = readings.length - 2
      while (from > 0 && from > readings.length - 6 && last.finished - (readings[from]?.finished ?? 0) < 20) from--
      return workBetween(readings[from] ?? last, last, readings.at(-2) ?? last)
    },
    /** Medians of the last `runs` runs, and the best five minutes as the ceiling. */
    past(runs: number): PastWorkload {
      const works = readings
        .slice(-runs)
        .map((reading, index, all) => workBetween(all[index - 1] ?? reading, reading, reading))
        .slice(1)
      const fives = works
        .slice(4)
        .map((_, index) => mean(works.slice(index, index + 5).map((work) => work.tokensPerSecond ?? 0)))
      const median = (pick: (work: Workload) => number | undefined) =>
        middle(works.map(pick).filter((value) => value !== undefined))
      return defined({
        arrivalsPerSecond: median((work) => work.arrivalsPerSecond),
        tokensPerSecond: median((work) => work.tokensPerSecond),
        timePerToken: median((work) => work.timePerToken),
        promptTokensPerRequest: median((work) => work.promptTokensPerRequest),
        outputTokensPerRequest: median((work) => work.outputTokensPerRequest),
        preemptionsPerSecond: median((work) => work.preemptionsPerSecond),
        running: median((work) => work.running),
        ceiling: fives.length > 0 ? Math.max(...fives) : undefined,
      })
    },
  }
}

function workBetween(from: Totals, to: Totals, before: Totals): Workload {
  const seconds = Math.max(1, to.at - from.at)
  const finished = to.finished - from.finished
  const inside = to.waiting + to.running - from.waiting - from.running
  const perRequest = (value: number) => (finished > 0 ? value / finished : undefined)
  return {
    ...defined({
      timePerToken: perRequest(to.perToken - from.perToken),
      promptTokensPerRequest: perRequest(to.prompts - from.prompts),
      outputTokensPerRequest: finished >= 5 ? (to.tokens - from.tokens) / finished : undefined,
    }),
    seconds,
    finished,
    arrivalsPerSecond: (finished + inside) / seconds,
    tokensPerSecond: (to.tokens - from.tokens) / seconds,
    preemptionsPerSecond: (to.preemptions - from.preemptions) / seconds,
    waiting: to.waiting,
    running: to.running,
    kvCache: to.kv,
    noProgress: to.waiting + to.running > 0 && to.tokens === before.tokens && to !== before,
    restarted: false,
  }
}

function poisson(mean: number, random: () => number): number {
  let count = 0
  for (let product = random(), end = Math.exp(-mean); product > end; product *= random()) count++
  return count
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

function middle(values: number[]): number | undefined {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]
}
