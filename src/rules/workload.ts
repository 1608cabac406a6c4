import { defined } from '../model/defined.ts'
import { type Baseline, bin, ceiling, learn, usual } from '../signals/baseline.ts'
import { isRough } from '../signals/digits.ts'
import { mean } from '../signals/quantile.ts'
import { type Increases, increases } from '../signals/window.ts'
import type { EndpointState } from '../state/schema.ts'
import type { PastWorkload, Workload } from '../verdict/verdict.ts'
import { pastSharesOf, sharesOf, sharesToLearn, withoutGone } from './shares.ts'
import { insideOf, mainSignal, type Snapshot } from './snapshot.ts'
import { WHOLE } from './standstill.ts'
import { type Load, unevenOf } from './uneven.ts'

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

/** Draft tokens below which their acceptance says nothing. */
const DRAFTS = 200

/** What is known of an endpoint beside its own page. */
interface Beside {
  /** Of its group, itself among them. */
  loads?: readonly Load[]
  /** Epoch milliseconds since when it is in trouble. */
  since?: number | undefined
}

/** What the endpoint did since its trouble began, else in the time the verdict looks at; on a first reading, what it shows. */
export function workloadOf(snapshot: Snapshot, { loads = [], since: began }: Beside = {}): Workload | undefined {
  if (!snapshot.readings) return undefined
  const usual = lookBack(snapshot)
  const look = usual && widenedTo(usual, began, snapshot)
  if (!look) return { ...ofNow(snapshot, loads), seconds: 0 }
  const { seconds, counters, histograms } = look.since
  const { finished, generation_tokens, prompt_tokens, preemptions, transfer_failed } = counters
  const each = (total: number | undefined) => (total !== undefined && finished ? total / finished : undefined)
  const perSecond = (total: number | undefined) => (total === undefined ? undefined : total / seconds)
  const start = snapshot.after.history?.times[look.from]
  const insideNow = insideOf(snapshot.readings)
  const insideThen = start === undefined ? undefined : snapshot.after.inside[start]
  const known = finished !== undefined && insideNow !== undefined && insideThen !== undefined
  const { waiting, kv_cache } = snapshot.derived.numbers
  const meanOf = (name: 'ttft' | 'transfer_time') => histograms[name] && mean(histograms[name])?.value
  return defined({
    ...ofNow(snapshot, loads),
    seconds,
    finished,
    // Arrivals: what finished, plus what the requests inside have grown by.
    arrivalsPerSecond: known ? Math.max(0, finished + insideNow - insideThen) / seconds : undefined,
    tokensPerSecond: tokensPerSecond(look.since, snapshot),
    timePerToken: timePerTokenOf(snapshot, look.since),
    promptTokensPerRequest: each(prompt_tokens),
    outputTokensPerRequest: each(generation_tokens),
    preemptionsPerSecond: perSecond(preemptions),
    firstToken: meanOf('ttft'),
    transferTime: meanOf('transfer_time'),
    transfersFailed: transfer_failed,
    accepted: acceptedOf(snapshot, look.since),
    ...sharesOf(snapshot, look.since),
    waiting: isMain('waiting', snapshot) ? mostOf(1, waiting, start, snapshot) : waiting,
    kvCache: mostOf(2, kv_cache, start, snapshot),
  })
}

/** What the page says of this moment: all that a first reading has. */
function ofNow(snapshot: Snapshot, loads: readonly Load[]) {
  const { waiting, running, kv_cache, waiting_deferred } = snapshot.derived.numbers
  return defined({
    waiting,
    running,
    deferred: waiting_deferred,
    kvCache: kv_cache,
    uneven: unevenOf(snapshot.readings, snapshot.endpoint.name, loads),
    asleep: snapshot.motions[WHOLE]?.asleep,
    noProgress: snapshot.noProgress === true,
    restarted: snapshot.after.history?.restartedAt !== undefined,
  })
}

/** Back to the last reading before the trouble, as far as the window has it. */
function widenedTo(look: LookBack, began: number | undefined, { after, windowFrom }: Snapshot): LookBack {
  const { history } = after
  if (began === undefined || !history) return look
  const before = history.times.findLastIndex((time) => time < began)
  const from = Math.max(windowFrom, before)
  const since = from < look.from ? increases(history, from) : undefined
  return since ? { since, from } : look
}

/** The highest of a value at the runs since a reading, which is not among them. @param at its place in `recent`. */
function mostOf(
  at: 1 | 2,
  now: number | undefined,
  start: number | undefined,
  { after }: Snapshot,
): number | undefined {
  if (now === undefined || start === undefined) return now
  return Math.max(now, ...after.recent.flatMap((run) => (run[0] > start && run[at] !== null ? [run[at]] : [])))
}

function isMain(signal: 'waiting', { backend }: Snapshot): boolean {
  return mainSignal(backend) === signal
}

function acceptedOf({ readings }: Snapshot, { counters }: Increases): number | undefined {
  const { draft_tokens: drafts, draft_accepted: accepted } = counters
  if (drafts === undefined || accepted === undefined) return readings?.gauges.accept_share?.value
  const isUnsure = drafts < DRAFTS || (readings !== undefined && isRough('draft_accepted', accepted, readings))
  return isUnsure ? undefined : Math.min(1, accepted / drafts)
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
    firstToken: usualOf('first'),
    transferTime: usualOf('transfer'),
    accepted: usualOf('accepted'),
    running: usualOf('running'),
    ...pastSharesOf(before, now),
  })
}

/** Learns from a run in which nothing was wrong. */
export function learnFrom(snapshot: Snapshot, work: Workload | undefined, now: number): EndpointState['baselines'] {
  const values: Record<string, number | undefined> = {
    hits: snapshot.derived.numbers.prefix_hit_share,
    vram: snapshot.derived.numbers.vram_share,
    canary_rate: snapshot.derived.numbers.canary_rate,
  }
  if (work && work.seconds > 0) {
    values.arrivals = work.arrivalsPerSecond
    values.time = work.timePerToken
    values.prompt = work.promptTokensPerRequest
    values.output = work.outputTokensPerRequest
    values.preemptions = work.preemptionsPerSecond
    // Of first tokens only what lateness by transfers is measured against.
    const { transfer_failed, transfer_time } = snapshot.readings?.sources ?? {}
    if (transfer_failed !== undefined || transfer_time !== undefined) values.first = work.firstToken
    values.transfer = work.transferTime
    values.accepted = work.accepted
    Object.assign(values, sharesToLearn(work, snapshot.after))
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
  return withoutGone(learned, now)
}
