import { createArrivals, type Request } from './arrivals.ts'
import { observe } from './histogram.ts'
import { DEFAULT_KNOBS, DEFAULT_MACHINE, type Knobs, type Machine } from './machine.ts'
import { createRandom } from './random.ts'
import { createTotals, type Totals } from './totals.ts'

/** The values of the last step; they stand still while the engine hangs. */
export interface Gauges {
  running: number
  waiting: number
  /** Of those waiting: for an adapter or for their KV blocks, not for room. */
  deferred: number
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

/**
 * Pure and deterministic: the same seed, the same knobs at the same moments, the same page. Times inside are
 * seconds since `start`.
 * @param start epoch milliseconds.
 */
export function createEngine(start: number, machine: Partial<Machine> = {}, knobs: Partial<Knobs> = {}): Engine {
  const fixed: Machine = { ...DEFAULT_MACHINE, ...machine }
  const random = createRandom(fixed.seed + 1)
  let turned: Knobs = { ...DEFAULT_KNOBS, ...knobs }
  let clock = 0
  let target = 0
  let bornAt = 0
  let waiting: Request[] = []
  let running: Request[] = []
  let totals = createTotals()
  let gauges: Gauges = { running: 0, waiting: 0, deferred: 0, kvUsage: 0 }
  /** Blocks of the running requests, those planned in this step included. */
  let held = 0
  const arrivals = createArrivals(fixed, () => turned)

  function advance(now: number): void {
    target = Math.max(target, (now - start) / 1000)
    while (clock < target) {
      takeArrivals()
      if (turned.hung || clock < bornAt) clock = Math.min(target, turned.hung ? target : bornAt)
      else if (running.length === 0 && firstReady() === undefined) idle()
      else step()
    }
    takeArrivals()
  }

  function takeArrivals(): void {
    // Nobody is connected to a process that is still starting.
    waiting.push(...arrivals.until(clock).filter(({ arrived }) => arrived >= bornAt))
  }

  /** Until somebody comes, or may be let in. */
  function idle(): void {
    show()
    clock = Math.min(target, arrivals.next(), ...waiting.map(({ ready }) => ready).filter((ready) => ready > clock))
  }

  function firstReady(): Request | undefined {
    return turned.asleep ? undefined : waiting.find(({ ready }) => ready <= clock)
  }

  function show(): void {
    const deferred = waiting.filter(({ ready }) => ready > clock).length
    const kvUsage = Math.min(1, held / allBlocks())
    gauges = { running: running.length, waiting: waiting.length, deferred, kvUsage }
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
    const sequences = plan.size * (1 + turned.draftTokens)
    const computing = fixed.stepSeconds + sequences * fixed.sequenceSeconds + promptTokens * fixed.promptTokenSeconds
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
      while (!take(request, tokens)) {
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
      const request = firstReady()
      if (!request) break
      const leave = () => waiting.splice(waiting.indexOf(request), 1)
      if (request.prompt + request.output > turned.cacheTokens) {
        // Drawn before the cache was made smaller: it would stand at the head of the queue for ever.
        leave()
        totals.finished.abort += 1
        continue
      }
      if (request.computed === 0) request.computed = request.cached
      const tokens = Math.min(remaining(request), left)
      if (!take(request, tokens)) break
      leave()
      running.push(request)
      if (request.firstScheduled === undefined) countTransfer(request)
      request.firstScheduled ??= clock
      plan.set(request, tokens)
      left -= tokens
    }
  }

  function countTransfer({ transfer, failedTransfers }: Request): void {
    if (transfer === 0) return
    observe(totals.transferTime, transfer)
    totals.failedTransfers += failedTransfers
  }

  /** All work is thrown away and done again: V1 preempts by recomputation. */
  function preempt(request: Request): void {
    held -= blocks(request, 0)
    request.computed = 0
    waiting.unshift(request)
    totals.preemptions += 1
  }

  /** Tokens to compute until the next token can be generated. */
  function remaining(request: Request): number {
    return Math.max(1, request.prompt + request.generated - request.computed)
  }

  /** Takes the blocks that the request needs for so many more tokens; `false` when there are not enough. */
  function take(request: Request, tokens: number): boolean {
    const more = blocks(request, tokens) - (running.includes(request) ? blocks(request, 0) : 0)
    if (held + more > allBlocks()) return false
    held += more
    return true
  }

  function allBlocks(): number {
    return Math.floor(turned.cacheTokens / fixed.blockSize)
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
    for (const request of running) if (request.generated >= request.output) finish(request)
    running = running.filter((request) => request.generated < request.output)
    show()
  }

  /** One token, and those of the draft that are accepted: all of them at one moment. */
  function generate(request: Request): void {
    const tokens = 1 + (request.firstToken === undefined ? 0 : acceptedDraft(request))
    const before = blocks(request, 0)
    request.generated += tokens
    request.computed += tokens - 1
    held += blocks(request, 0) - before
    totals.generationTokens += tokens
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

  function acceptedDraft({ generated, output }: Request): number {
    const { draftTokens, acceptShare } = turned
    if (draftTokens === 0) return 0
    let accepted = 0
    while (accepted < draftTokens && random.uniform() < acceptShare) accepted += 1
    totals.draftTokens += draftTokens
    totals.draftAccepted += accepted
    return Math.min(accepted, output - generated - 1)
  }

  function finish(request: Request): void {
    held -= blocks(request, 0)
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
    if (turned.arrivals !== before) arrivals.redraw(Math.max(clock, target))
  }

  function restart(startup = 0): void {
    waiting = []
    running = []
    held = 0
    totals = createTotals()
    gauges = { running: 0, waiting: 0, deferred: 0, kvUsage: 0 }
    bornAt = Math.max(clock, target) + startup / 1000
    turned = { ...turned, hung: false, asleep: false }
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
