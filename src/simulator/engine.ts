import { observe } from './histogram.ts'
import { createRandom } from './random.ts'
import { createTotals, type Totals } from './totals.ts'

/** What can be turned while the engine runs. */
export interface Knobs {
  /** Requests a second; they arrive independently of each other (Poisson). */
  arrivals: number
  /** Means, in tokens; lengths spread log-normally around them. */
  promptTokens: number
  outputTokens: number
  /** Share of a prompt that is found in the prefix cache. */
  prefixShare: number
  /** KV cache, in tokens. */
  cacheTokens: number
  /** Every step takes this many times as long: 3 is a GPU slowed to a third. */
  slowdown: number
  /** No step is made; the page keeps its last values, as vLLM's does when its engine core hangs. */
  hung: boolean
  /** Share of requests that end with `error`. */
  errorShare: number
}

/** What is fixed while the process lives. */
export interface Machine {
  seed: number
  model: string
  /** `--max-num-seqs`: requests computed at once. */
  maxNumSeqs: number
  /** `--max-num-batched-tokens`: tokens of one step; longer prompts are read in several. */
  maxBatchedTokens: number
  maxModelLength: number
  blockSize: number
  /** Seconds of one step, of each sequence in it, and of each prompt token in it. */
  stepSeconds: number
  sequenceSeconds: number
  promptTokenSeconds: number
}

/** A small model on one GPU: about 600 tokens a second at 16 sequences, about 3 requests a second. */
export const DEFAULT_MACHINE: Machine = {
  seed: 1,
  model: 'llama-3.1-8b',
  maxNumSeqs: 16,
  maxBatchedTokens: 2048,
  maxModelLength: 16_384,
  blockSize: 16,
  stepSeconds: 0.018,
  sequenceSeconds: 0.0004,
  promptTokenSeconds: 0.000_03,
}

export const DEFAULT_KNOBS: Knobs = {
  arrivals: 2,
  promptTokens: 400,
  outputTokens: 180,
  prefixShare: 0.3,
  cacheTokens: 24_000,
  slowdown: 1,
  hung: false,
  errorShare: 0,
}

/** The values of the last step; they stand still while the engine hangs. */
export interface Gauges {
  running: number
  waiting: number
  /** 0..1. */
  kvUsage: number
}

/** A simulated vLLM V1 engine: a queue in front of continuous batching over a paged KV cache. */
export interface Engine {
  /** Plays on to this moment, epoch milliseconds; an earlier moment changes nothing. */
  advance(now: number): void
  change(knobs: Partial<Knobs>): void
  /** The process died: all work and all totals are gone; it answers again after `startup` milliseconds. */
  restart(startup?: number): void
  /** `false` while the process starts: nothing listens on its port. */
  listening(): boolean
  gauges(): Gauges
  totals(): Totals
  machine: Machine
  knobs(): Readonly<Knobs>
  /** Epoch milliseconds. */
  startedAt(): number
}

interface Request {
  arrived: number
  prompt: number
  output: number
  /** Tokens of the prompt that the prefix cache holds. */
  cached: number
  /** Tokens whose keys and values are in the cache. */
  computed: number
  generated: number
  firstScheduled: number | undefined
  firstToken: number | undefined
  lastToken: number
}

/**
 * Pure and deterministic: the same seed, the same knobs at the same moments, the same page. Times inside are
 * seconds since `start`.
 * @param start epoch milliseconds.
 */
export function createEngine(start: number, machine: Partial<Machine> = {}, knobs: Partial<Knobs> = {}): Engine {
  const fixed: Machine = { ...DEFAULT_MACHINE, ...machine }
  const random = createRandom(fixed.seed)
  let turned: Knobs = { ...DEFAULT_KNOBS, ...knobs }
  let clock = 0
  let target = 0
  let bornAt = 0
  let waiting: Request[] = []
  let running: Request[] = []
  let totals = createTotals()
  let gauges: Gauges = { running: 0, waiting: 0, kvUsage: 0 }
  let nextArrival = random.exponential(1 / turned.arrivals)

  function advance(now: number): void {
    target = Math.max(target, (now - start) / 1000)
    while (clock < target) {
      takeArrivals()
      if (turned.hung || clock < bornAt) clock = Math.min(target, turned.hung ? target : bornAt)
      else if (running.length + waiting.length === 0) sleepUntilArrival()
      else step()
    }
    takeArrivals()
  }

  function takeArrivals(): void {
    while (nextArrival <= clock) {
      // Nobody is connected to a process that is still starting.
      if (nextArrival >= bornAt) waiting.push(draw(nextArrival))
      nextArrival += random.exponential(1 / turned.arrivals)
    }
  }

  function draw(arrived: number): Request {
    const longest = Math.min(fixed.maxModelLength, turned.cacheTokens) / 2
    const length = (mean: number, spread: number) => clamp(Math.round(random.logNormal(mean, spread)), 1, longest)
    const prompt = length(turned.promptTokens, 0.7)
    const cached = Math.min(prompt - 1, wholeBlocks(prompt * turned.prefixShare * 2 * random.uniform()))
    const output = length(turned.outputTokens, 0.5)
    const none = { computed: 0, generated: 0, firstScheduled: undefined, firstToken: undefined, lastToken: 0 }
    return { arrived, prompt, output, cached, ...none }
  }

  function wholeBlocks(tokens: number): number {
    return Math.floor(tokens / fixed.blockSize) * fixed.blockSize
  }

  function sleepUntilArrival(): void {
    gauges = { running: 0, waiting: 0, kvUsage: 0 }
    clock = Math.min(target, nextArrival)
  }

  /** One step of the scheduler: those that run go on, then the queue is let in, then the GPU computes. */
  function step(): void {
    const plan = new Map<Request, number>()
    const preemptions = totals.preemptions
    const used = planRunning(plan, fixed.maxBatchedTokens)
    // As in vLLM: nobody is let in at a step that had to send somebody back.
    if (totals.preemptions === preemptions) admit(plan, fixed.maxBatchedTokens - used)
    const promptTokens = [...plan].reduce(
      (sum, [request, tokens]) => sum + (tokens > 1 || request.generated === 0 ? tokens : 0),
      0,
    )
    const computing = fixed.stepSeconds + plan.size * fixed.sequenceSeconds + promptTokens * fixed.promptTokenSeconds
    clock += computing * turned.slowdown
    settle(plan)
  }

  /** A running request decodes one token or reads on in its prompt; without a free block the youngest gives way. */
  function planRunning(plan: Map<Request, number>, budget: number): number {
    let used = 0
    for (let index = 0; index < running.length && used < budget; index += 1) {
      const request = running[index]
      if (!request) break
      const tokens = Math.min(remaining(request), budget - used)
      while (!fits(plan, request, tokens)) {
        const victim = running.pop()
        if (!victim) break
        preempt(victim)
        if (victim === request) break
      }
      if (running[index] !== request) break
      plan.set(request, tokens)
      used += tokens
    }
    return used
  }

  function admit(plan: Map<Request, number>, budget: number): void {
    let left = budget
    while (running.length < fixed.maxNumSeqs && left > 0) {
      const request = waiting[0]
      if (!request) break
      if (request.computed === 0) request.computed = request.cached
      const tokens = Math.min(remaining(request), left)
      if (!fits(plan, request, tokens)) break
      waiting.shift()
      running.push(request)
      request.firstScheduled ??= clock
      plan.set(request, tokens)
      left -= tokens
    }
  }

  /** All work is thrown away and done again: V1 preempts by recomputation. */
  function preempt(request: Request): void {
    request.computed = 0
    waiting.unshift(request)
    totals.preemptions += 1
  }

  /** Tokens to compute until the next token can be generated. */
  function remaining(request: Request): number {
    return Math.max(1, request.prompt + request.generated - request.computed)
  }

  function fits(plan: ReadonlyMap<Request, number>, request: Request, tokens: number): boolean {
    const others = running.reduce(
      (sum, other) => sum + (other === request ? 0 : blocks(other, plan.get(other) ?? 0)),
      0,
    )
    return others + blocks(request, tokens) <= Math.floor(turned.cacheTokens / fixed.blockSize)
  }

  function blocks(request: Request, more: number): number {
    return Math.ceil((request.computed + more) / fixed.blockSize)
  }

  function settle(plan: ReadonlyMap<Request, number>): void {
    let tokens = 0
    for (const [request, planned] of plan) {
      tokens += planned
      request.computed += planned
      if (request.computed >= request.prompt + request.generated) generate(request)
    }
    if (tokens > 0) observe(totals.iterationTokens, tokens)
    const done = running.filter((request) => request.generated >= request.output)
    for (const request of done) finish(request)
    running = running.filter((request) => request.generated < request.output)
    const held = running.reduce((sum, request) => sum + blocks(request, 0), 0)
    const all = Math.floor(turned.cacheTokens / fixed.blockSize)
    gauges = { running: running.length, waiting: waiting.length, kvUsage: Math.min(1, held / all) }
  }

  function generate(request: Request): void {
    request.generated += 1
    totals.generationTokens += 1
    if (request.firstToken === undefined) {
      request.firstToken = clock
      totals.promptTokens += request.prompt
      totals.prefixQueries += request.prompt
      totals.prefixHits += request.cached
      observe(totals.ttft, clock - request.arrived)
    } else {
      observe(totals.itl, clock - request.lastToken)
    }
    request.lastToken = clock
  }

  function finish(request: Request): void {
    const scheduled = request.firstScheduled ?? clock
    const first = request.firstToken ?? clock
    const failed = random.uniform() < turned.errorShare
    totals.finished[failed ? 'error' : random.uniform() < 0.15 ? 'length' : 'stop'] += 1
    observe(totals.e2e, clock - request.arrived)
    observe(totals.queue, scheduled - request.arrived)
    observe(totals.inference, clock - scheduled)
    observe(totals.prefill, first - scheduled)
    observe(totals.decode, clock - first)
    observe(totals.timePerToken, request.output > 1 ? (clock - first) / (request.output - 1) : 0)
    observe(totals.requestPrompt, request.prompt)
    observe(totals.requestGeneration, request.generated)
  }

  function change(knobs: Partial<Knobs>): void {
    const before = turned.arrivals
    turned = { ...turned, ...knobs }
    // An exponential wait has no memory: drawing it anew at a changed rate is exact.
    if (turned.arrivals !== before) nextArrival = Math.max(clock, target) + random.exponential(1 / turned.arrivals)
  }

  function restart(startup = 0): void {
    waiting = []
    running = []
    totals = createTotals()
    gauges = { running: 0, waiting: 0, kvUsage: 0 }
    bornAt = Math.max(clock, target) + startup / 1000
    turned = { ...turned, hung: false }
  }

  return {
    advance,
    change,
    restart,
    listening: () => Math.max(clock, target) >= bornAt,
    gauges: () => gauges,
    totals: () => totals,
    machine: fixed,
    knobs: () => turned,
    startedAt: () => start + bornAt * 1000,
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high)
}
