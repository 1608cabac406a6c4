import type { Knobs, Machine } from './machine.ts'
import { createRandom } from './random.ts'

/** One request in the engine. Times in seconds since the simulation's start. */
export interface Request {
  arrived: number
  prompt: number
  output: number
  /** Tokens of the prompt that the prefix cache holds. */
  cached: number
  /** It may be let in from then on; until then it is deferred. */
  ready: number
  /** Seconds in which its KV blocks come from a prefill node, and how many tries of that fail. */
  transfer: number
  failedTransfers: number
  /** Tokens whose keys and values are in the cache. */
  computed: number
  generated: number
  firstScheduled: number | undefined
  firstToken: number | undefined
  lastToken: number
}

/** The stream of requests; it goes on whatever the engine does. */
export interface Arrivals {
  /** When the next one comes. */
  next(): number
  /** Those that came up to this moment, oldest first. */
  until(clock: number): Request[]
  /** The rate changed at this moment. */
  redraw(clock: number): void
}

/** @param knobs asked at each draw. */
export function createArrivals(machine: Machine, knobs: () => Knobs): Arrivals {
  const random = createRandom(machine.seed)
  const gap = () => random.exponential(1 / knobs().arrivals)
  let next = gap()

  function draw(arrived: number): Request {
    const { promptTokens, outputTokens, prefixShare, cacheTokens } = knobs()
    const longest = Math.min(machine.maxModelLength, cacheTokens) / 2
    const length = (mean: number, spread: number) => clamp(Math.round(random.logNormal(mean, spread)), 1, longest)
    const prompt = length(promptTokens, 0.7)
    const found = prompt * prefixShare * 2 * random.uniform()
    const cached = Math.min(prompt - 1, Math.floor(found / machine.blockSize) * machine.blockSize)
    const output = length(outputTokens, 0.5)
    const none = { computed: 0, generated: 0, firstScheduled: undefined, firstToken: undefined, lastToken: 0 }
    return { arrived, prompt, output, cached, ...none, ...held(arrived) }
  }

  /** Draws nothing where nothing holds requests, so that a seed goes on giving the run that it gave. */
  function held(arrived: number): Pick<Request, 'ready' | 'transfer' | 'failedTransfers'> {
    const { transferSeconds, transferFailShare, adapterShare, adapterSeconds } = knobs()
    let transfer = 0
    let failedTransfers = 0
    if (transferSeconds > 0) {
      transfer = random.logNormal(transferSeconds, 0.4)
      for (; transferFailShare > 0 && random.uniform() < transferFailShare; failedTransfers += 1)
        transfer += random.logNormal(transferSeconds, 0.4)
    }
    const waits = adapterShare > 0 && random.uniform() < adapterShare
    const adapter = waits ? random.logNormal(adapterSeconds, 0.4) : 0
    return { ready: arrived + Math.max(transfer, adapter), transfer, failedTransfers }
  }

  return {
    next: () => next,
    until(clock) {
      const came: Request[] = []
      for (; next <= clock; next += gap()) came.push(draw(next))
      return came
    },
    redraw(clock) {
      // An exponential wait has no memory: drawing it anew at a changed rate is exact.
      next = clock + gap()
    },
  }
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high)
}
