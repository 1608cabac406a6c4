import { defined } from '../model/defined.ts'
import { type Baseline, bin, ceiling, learn, usual } from '../signals/baseline.ts'
import { isRough } from '../signals/digits.ts'
import { mean } from '../signals/quantile.ts'
import { type Increases, increases } from '../signals/window.ts'
import type { EndpointState } from '../state/schema.ts'
import type { PastWorkload, Workload } from '../verdict/verdict.ts'
import { insideOf, type Snapshot } from './snapshot.ts'

/** Finished requests from which averages mean something. */
const ENOUGH = 20
/** Seconds. Over less a rate is noise: two runs moments apart would teach us that a million tokens a second are usual. */
const SHORTEST = 5

/**
 * The time that the verdict looks at: since the last run, widened until 20 requests have finished or the window is
 * full. Without a count of finished requests it is the time since the last run.
 */
export function lookBack(snapshot: Snapshot): LookBack | undefined {
  // Several rules and the verdict ask for it, and it is the same for all of them.
  if (!known.has(snapshot)) known.set(snapshot, lookedBack(snapshot))
  return known.get(snapshot)
}

interface LookBack {
  since: Increases
  /** Index into the kept readings. */
  from: number
}
const known = new WeakMap<Snapshot, LookBack | undefined>()

function lookedBack(snapshot: Snapshot): LookBack | undefined {
  const { history } = snapshot.after
  if (!history || history.times.length < 2) return undefined
  let from = history.times.length - 2
  let since = snapshot.last
  while (since && from > snapshot.windowFrom && isTooShort(since, snapshot)) {
    from -= 1
    since = increases(history, from) ?? since
  }
  return since && since.seconds >= SHORTEST ? { since, from } : undefined
}

function isTooShort({ seconds, counters }: Increases, { readings }: Snapshot): boolean {
  if (seconds < SHORTEST || (counters.finished ?? ENOUGH) < ENOUGH) return true
  return readings !== undefined && isRough('generation_tokens', counters.generation_tokens ?? 0, readings)
}

/** Generated tokens a second in the time the verdict looks at. */
export function rateNow(snapshot: Snapshot): number | undefined {
  const look = lookBack(snapshot)
  return look && tokensPerSecond(look.since, snapshot)
}

/** Most servers except vLLM count tokens when the request ends, so no tokens while the engine keeps stepping says nothing about speed. */
function tokensPerSecond({ seconds, counters }: Increases, { readings }: Snapshot): number | undefined {
  const { generation_tokens: tokens, steps } = counters
  if (tokens !== undefined && readings && isRough('generation_tokens', tokens, readings)) return undefined
  return tokens === undefined || (tokens === 0 && steps) ? undefined : tokens / seconds
}

/** Tokens below which a mean time says nothing, where only sums are published. */
const TOKENS = 20

/** Seconds, in the time the verdict looks at; on servers that publish sums alone, over the window. */
export function timePerTokenOf(snapshot: Snapshot, since = lookBack(snapshot)?.since): number | undefined {
  const { itl } = since?.histograms ?? {}
  if (itl) return mean(itl)?.value
  const { decode_seconds: seconds, generation_tokens: tokens = 0 } = snapshot.window?.counters ?? {}
  if (seconds === undefined || tokens < TOKENS || !snapshot.readings) return undefined
  const isUnsure =
    isRough('generation_tokens', tokens, snapshot.readings) || isRough('decode_seconds', seconds, snapshot.readings)
  return isUnsure ? undefined : seconds / tokens
}

/** What the endpoint did in the time the verdict looks at; `undefined` on a first reading. */
export function workloadOf(snapshot: Snapshot): Workload | undefined {
  const look = lookBack(snapshot)
  if (!look || !snapshot.readings) return undefined
  const { seconds, counters } = look.since
  const { finished, generation_tokens, prompt_tokens, preemptions } = counters
  const each = (total: number | undefined) => (total !== undefined && finished ? total / finished : undefined)
  const perSecond = (total: number | undefined) => (total === undefined ? undefined : total / seconds)
  const start = snapshot.after.history?.times[look.from]
  const insideNow = insideOf(snapshot.readings)
  const insideThen = start === undefined ? undefined : snapshot.after.inside[start]
  const known = finished !== undefined && insideNow !== undefined && insideThen !== undefined
  return defined({
    seconds,
    finished,
    // Arrivals: what finished, plus what the requests inside have grown by.
    arrivalsPerSecond: known ? Math.max(0, finished + insideNow - insideThen) / seconds : undefined,
    tokensPerSecond: tokensPerSecond(look.since, snapshot),
    timePerToken: timePerTokenOf(snapshot, look.since),
    promptTokensPerRequest: each(prompt_tokens),
    outputTokensPerRequest: each(generation_tokens),
    preemptionsPerSecond: perSecond(preemptions),
    waiting: snapshot.derived.numbers.waiting,
    running: snapshot.derived.numbers.running,
    kvCache: snapshot.derived.numbers.kv_cache,
    noProgress: snapshot.noProgress === true,
    restarted: snapshot.after.history?.restartedAt !== undefined,
  })
}

/** The endpoint's own usual values; each is absent while its past is too short. */
export function pastWorkloadOf(before: EndpointState, now: number): PastWorkload {
  const { baselines } = before
  const usualOf = (name: string) => usual(baselines[name], now)
  return defined({
    arrivalsPerSecond: usualOf('arrivals'),
    ceiling: ceiling(baselines.busy, now),
    tokensPerSecond: usualOf('busy'),
    timePerToken: usualOf('time'),
    promptTokensPerRequest: usualOf('prompt'),
    outputTokensPerRequest: usualOf('output'),
    preemptionsPerSecond: usualOf('preemptions'),
    running: usualOf('running'),
  })
}

/** Learns from a run in which nothing was wrong. */
export function learnFrom(snapshot: Snapshot, work: Workload | undefined, now: number): EndpointState['baselines'] {
  const values: Record<string, number | undefined> = {
    hits: snapshot.derived.numbers.prefix_hit_share,
    vram: snapshot.derived.numbers.vram_share,
    canary_rate: snapshot.derived.numbers.canary_rate,
  }
  if (work) {
    values.arrivals = work.arrivalsPerSecond
    values.time = work.timePerToken
    values.prompt = work.promptTokensPerRequest
    values.output = work.outputTokensPerRequest
    values.preemptions = work.preemptionsPerSecond
    if (work.running) {
      values.busy = work.tokensPerSecond
      values.running = work.running
      values[`tokens${bin(work.running)}`] = work.tokensPerSecond
    }
  }
  const learned: Record<string, Baseline> = { ...snapshot.after.baselines }
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined) learned[name] = learn(learned[name], value, now)
  }
  return learned
}
