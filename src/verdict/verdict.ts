import { defined } from '../model/defined.ts'
import type { Uneven, Verdict } from '../model/explanation.ts'
import { type Shares, whoGrew } from './who-grew.ts'

/**
 * What the endpoint did in the span that is judged: since the trouble began, and at least since the last run; widened until
 * 20 requests have finished. Unknown is absent.
 */
export interface Workload {
  /** Length of the span. */
  seconds: number
  /** Requests finished in the span. */
  finished?: number
  /** (finished + change of what is inside) / seconds. */
  arrivalsPerSecond?: number
  /** Generated tokens a second. */
  tokensPerSecond?: number
  /** Seconds. */
  timePerToken?: number
  promptTokensPerRequest?: number
  outputTokensPerRequest?: number
  preemptionsPerSecond?: number
  /** Seconds, the mean of those that came. */
  firstToken?: number
  /** A rule says that first tokens are late. */
  firstTokenIsLate?: boolean
  /** Seconds, the mean of a KV transfer. */
  transferTime?: number
  /** KV transfers that failed or expired. */
  transfersFailed?: number
  /** Share 0..1 of the draft tokens of speculative decoding. */
  accepted?: number
  /** Requests, the most of the span. */
  waiting?: number
  /** Requests, at the end of the span; those of the queue that wait for an adapter or a transfer. */
  running?: number
  deferred?: number
  /** Share 0..1 of the fullest engine, the most of the span. */
  kvCache?: number
  /** Shares of the requests, and of their tokens, by model or priority class: only where there are several. */
  requestShares?: Shares
  tokenShares?: Shares
  /** Engines or replicas have the queue while others idle. */
  uneven?: Uneven
  /** It sleeps on purpose, or holds requests while weights are replaced. */
  asleep?: boolean
  /** Work was reported, and nothing finished and no token came since the last run. */
  noProgress: boolean
  /** The server's counters began anew inside the span. */
  restarted: boolean
}

/** The same endpoint's usual values: medians over at least an hour; `undefined` while the past is shorter. */
export interface PastWorkload {
  arrivalsPerSecond?: number
  /** The highest tokens a second that it sustained. */
  ceiling?: number
  tokensPerSecond?: number
  timePerToken?: number
  promptTokensPerRequest?: number
  outputTokensPerRequest?: number
  preemptionsPerSecond?: number
  firstToken?: number
  transferTime?: number
  accepted?: number
  requestShares?: Shares
  tokenShares?: Shares
  /** Requests computed at once: with it, a slow GPU is told from a full cache. */
  running?: number
}

/** Arrivals are up when they are this many times the usual, and more than chance makes them. */
const ARRIVALS_UP = 1.5
/** Standard deviations of a Poisson count that chance is given. */
const CHANCE = 4
/** Requests are heavier when their mean length is this many times the usual (more when few finished). */
const HEAVIER = 1.6
/** Fewer finished requests say nothing about their mean length or speed. */
const ENOUGH = 5
/** Time per token is much worse at this many times the usual; a bigger batch alone stays below it. */
const SLOWER = 1.8
/** Tokens a second are much worse at this share of the usual, while requests wait. */
const FEWER = 0.6
/** At this share of its highest sustained tokens a second the engine works at its ceiling. */
const AT_CEILING = 0.7
/** The KV cache is near the top. */
const CACHE_TOP = 0.9
/** Preemptions are above their past at this many times the usual, and at least three in the span. */
const PREEMPTIONS_UP = 3
/** With a full cache, only a step this many times slower than usual is more than the cache. */
const SLOWER_THAN_A_FULL_CACHE = 2.5

/** Of all that wait, at this share they wait for something else than room. */
const MOST = 0.8
/** A first token is late, a transfer slow, at this many times the usual. */
const LATE = 1.5
const SLOW_TRANSFER = 2
/** KV transfers that must have failed, of which one alone is an accident. */
const TRANSFERS = 3
/** Requests that may wait for room while the queue counts as flat, and the share of those running that may. */
const FLAT = 5
const FLAT_SHARE = 0.5
/** Draft tokens are accepted much more rarely at this share of the usual, and then each token takes longer by this. */
const DRAFT_FELL = 0.6
const DRAFT_SLOWER = 1.15

/**
 * Says why an endpoint is in trouble, from the work of now against its own past; nothing rather than a guess.
 * The first row that holds wins ("?" is unknown, "-" does not matter):
 *
 * | #  | what holds                                                                     | verdict    |
 * | -- | ------------------------------------------------------------------------------ | ---------- |
 * | 1  | the server's counters began anew                                               | restarted  |
 * | 2  | requests wait and the engine sleeps on purpose                                 | asleep     |
 * | 3  | work is reported and nothing moves                                             | stalled    |
 * | 4  | engines or replicas have the queue while others idle                           | imbalance  |
 * | 5  | KV transfers fail or take twice as long, first tokens are late, no queue       | transfer   |
 * | 6  | nearly all that wait are deferred: for an adapter or a transfer, not for room  | deferred   |
 *
 * and, where the endpoint is strained:
 *
 * | #  | arrivals | length of requests | cache full | drafts          | speed          | verdict    |
 * | -- | -------- | ------------------ | ---------- | --------------- | -------------- | ---------- |
 * | 7  | not more | longer             | -          | -               | -              | heavier    |
 * | 8  | up       | less than arrivals | -          | -               | at the ceiling | load-grew  |
 * | 9  | -        | usual or ?         | yes        | -               | not 2.5x slower | cache-full |
 * | 10 | not more | usual or ?         | -          | accepted rarely | slower         | draft      |
 * | 11 | known    | usual or ?         | -          | -               | much worse     | broke      |
 * | 12 | -        | -                  | -          | -               | usual or ?     | none       |
 *
 * Strained: requests wait, or tokens come 1.3 times slower than usual (with a draft: 1.15 times), or the cache is near the top.
 * "Not more" in row 7: lengths rose by more than arrivals did. Row 11 with arrivals up also needs tokens a second
 * well below the ceiling: otherwise the batch is just bigger. Where tokens are unknown (embeddings), finished requests
 * a second against the usual arrivals take their place.
 */
export function verdict(now: Workload, past: PastWorkload): Verdict | undefined {
  const kind = kindOf(now, past)
  return kind && { kind, ...ratios(now, past), ...detailsOf(kind, now, past) }
}

function kindOf(now: Workload, past: PastWorkload): Verdict['kind'] | undefined {
  if (now.restarted) return 'restarted'
  if (now.asleep && (now.waiting ?? 0) >= 1) return 'asleep'
  if (now.noProgress) return 'stalled'
  if (now.uneven) return 'imbalance'
  if (isTransfer(now, past)) return 'transfer'
  if (isDeferred(now)) return 'deferred'
  const arrivals = arrivalsUp(now, past)
  const isDraft = arrivals === undefined && hasDraftFallen(now, past)
  if (!isStrained(now, past) && !isDraft) return undefined
  const length = lengthUp(now, past)
  if (length !== undefined && length > (arrivals ?? 1)) return 'heavier'
  if (arrivals !== undefined && worksAtCeiling(now, past)) return 'load-grew'
  if (length !== undefined) return undefined
  if (isCacheFull(now, past) && !isSlowerThanCacheExplains(now, past)) return 'cache-full'
  if (isDraft) return 'draft'
  if (now.arrivalsPerSecond === undefined || !past.arrivalsPerSecond) return undefined
  return isMuchSlower(now, past, arrivals !== undefined) ? 'broke' : undefined
}

function isDeferred({ waiting = 0, deferred = 0 }: Workload): boolean {
  return deferred >= 1 && deferred >= MOST * waiting
}

function isTransfer(now: Workload, past: PastWorkload): boolean {
  const { waiting = 0, deferred = 0, running = 0, transfersFailed = 0 } = now
  if (waiting - deferred > Math.max(FLAT, FLAT_SHARE * running)) return false
  const isLate = (ratio(now.firstToken, past.firstToken) ?? 1) >= LATE || now.firstTokenIsLate === true
  const isSlow = (ratio(now.transferTime, past.transferTime) ?? 1) >= SLOW_TRANSFER
  return isLate && (isSlow || transfersFailed >= TRANSFERS)
}

function hasDraftFallen(now: Workload, past: PastWorkload): boolean {
  const kept = ratio(now.accepted, past.accepted)
  if (kept === undefined || kept > DRAFT_FELL) return false
  const slower = ratio(now.timePerToken, past.timePerToken)
  const speed = ratio(now.tokensPerSecond, past.tokensPerSecond)
  return (slower ?? 1) >= DRAFT_SLOWER || (slower === undefined && speed !== undefined && speed <= 1 / DRAFT_SLOWER)
}

function isStrained(now: Workload, past: PastWorkload): boolean {
  const slower = ratio(now.timePerToken, past.timePerToken) ?? 1
  return (now.waiting ?? 0) >= 1 || slower >= 1.3 || (now.kvCache ?? 0) >= CACHE_TOP
}

/** How many times the usual arrivals, when that is more than chance; the count of arrivals varies by its square root. */
function arrivalsUp(now: Workload, past: PastWorkload): number | undefined {
  const times = ratio(now.arrivalsPerSecond, past.arrivalsPerSecond)
  if (times === undefined || times < ARRIVALS_UP) return undefined
  const usual = (past.arrivalsPerSecond ?? 0) * now.seconds
  const came = (now.arrivalsPerSecond ?? 0) * now.seconds
  return came - usual >= CHANCE * Math.sqrt(Math.max(usual, 1)) ? times : undefined
}

/**
 * How many times longer requests are than usual, in prompt or output, when that is more than the spread of a few requests.
 * Tokens come before their request finishes, so while work slows down or piles up there are more tokens for each
 * finished request although no request is longer: then tokens for each request that came are the proof.
 */
function lengthUp(now: Workload, past: PastWorkload): number | undefined {
  const finished = now.finished ?? 0
  if (finished < ENOUGH) return undefined
  const came = (now.arrivalsPerSecond ?? 0) * now.seconds
  const share = came > 0 ? Math.min(1, finished / came) : 0
  const prompts = (ratio(now.promptTokensPerRequest, past.promptTokensPerRequest) ?? 0) * share
  const isSteady = (ratio(now.tokensPerSecond, past.tokensPerSecond) ?? 0) >= 0.9 && arrivalsUp(now, past) === undefined
  const outputs = (ratio(now.outputTokensPerRequest, past.outputTokensPerRequest) ?? 0) * (isSteady ? 1 : share)
  const times = Math.max(prompts, outputs)
  return times >= Math.max(HEAVIER, 1 + CHANCE / Math.sqrt(finished)) ? times : undefined
}

function worksAtCeiling(now: Workload, past: PastWorkload): boolean {
  const ofCeiling = ratio(now.tokensPerSecond, past.ceiling)
  if (ofCeiling !== undefined) return ofCeiling >= AT_CEILING
  const ofUsual = ratio(now.tokensPerSecond, past.tokensPerSecond) ?? finishRatio(now, past)
  return ofUsual !== undefined && ofUsual >= 0.9
}

function isCacheFull(now: Workload, past: PastWorkload): boolean {
  if (past.preemptionsPerSecond === undefined) return false
  const rate = now.preemptionsPerSecond ?? 0
  const count = rate * now.seconds
  if (count < 3 || rate < PREEMPTIONS_UP * past.preemptionsPerSecond) return false
  // Each preemption was a moment with a full cache; the gauge is one moment more, and may fall just after one.
  return (now.kvCache ?? 0) >= (count >= 10 ? CACHE_TOP / 2 : CACHE_TOP)
}

/** A preempted request leaves the batch, so running / tokens a second is the time of a step without the waits that a full cache causes. */
function isSlowerThanCacheExplains(now: Workload, past: PastWorkload): boolean {
  const step = ratio(quotient(now.running, now.tokensPerSecond), quotient(past.running, past.tokensPerSecond))
  return step !== undefined && step >= SLOWER_THAN_A_FULL_CACHE
}

function isMuchSlower(now: Workload, past: PastWorkload, moreArrivals: boolean): boolean {
  if (moreArrivals && (ratio(now.tokensPerSecond, past.ceiling) ?? 1) > FEWER) return false
  const slower = ratio(now.timePerToken, past.timePerToken) ?? 1
  if (slower >= SLOWER && (now.finished ?? 0) >= ENOUGH) return true
  const speed = ratio(now.tokensPerSecond, past.tokensPerSecond) ?? finishRatio(now, past)
  return (now.waiting ?? 0) >= 1 && speed !== undefined && speed <= FEWER && isNoLull(now, past)
}

/** Fewer requests than usual need fewer tokens: a low speed says something only while the usual number arrives. */
function isNoLull(now: Workload, past: PastWorkload): boolean {
  return (ratio(now.arrivalsPerSecond, past.arrivalsPerSecond) ?? 0) >= 0.8
}

/** Finished requests a second against the usual arrivals, where enough were to be expected. */
function finishRatio(now: Workload, past: PastWorkload): number | undefined {
  if (now.finished === undefined || past.arrivalsPerSecond === undefined) return undefined
  return past.arrivalsPerSecond * now.seconds >= 20
    ? ratio(now.finished / now.seconds, past.arrivalsPerSecond)
    : undefined
}

function ratios(now: Workload, past: PastWorkload): Omit<Verdict, 'kind'> {
  const all = {
    arrivals: ratio(now.arrivalsPerSecond, past.arrivalsPerSecond),
    tokensPerSecond: ratio(now.tokensPerSecond, past.tokensPerSecond),
    timePerToken: ratio(now.timePerToken, past.timePerToken),
    promptTokens: ratio(now.promptTokensPerRequest, past.promptTokensPerRequest),
    outputTokens: ratio(now.outputTokensPerRequest, past.outputTokensPerRequest),
    preemptions: ratio(now.preemptionsPerSecond, past.preemptionsPerSecond),
    firstToken: ratio(now.firstToken, past.firstToken),
  }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Number(value.toPrecision(DIGITS))]],
    ),
  )
}
/** Of a ratio: more than any message shows. */
const DIGITS = 4

/** What only this kind tells. */
function detailsOf(kind: Verdict['kind'], now: Workload, past: PastWorkload): Partial<Verdict> {
  const { waiting, deferred, uneven, accepted, transfersFailed } = now
  switch (kind) {
    case 'load-grew':
      return defined({ grown: grownOf(now.requestShares, past.requestShares, arrivalsRatio(now, past)) })
    case 'heavier':
      return defined({ grown: grownOf(now.tokenShares, past.tokenShares, tokensRatio(now, past)) })
    case 'imbalance':
      return defined({ uneven })
    case 'asleep':
      return defined({ waiting })
    case 'deferred':
      return defined({ waiting, deferred })
    case 'transfer':
      return defined({ transfersFailed, transferTime: ratio(now.transferTime, past.transferTime) })
    case 'draft':
      return defined({ accepted, usuallyAccepted: past.accepted })
    default:
      return {}
  }
}

function grownOf(now: Shares | undefined, past: Shares | undefined, times: number | undefined) {
  return now && past && whoGrew(now, past, times)
}

function arrivalsRatio(now: Workload, past: PastWorkload): number | undefined {
  return ratio(now.arrivalsPerSecond, past.arrivalsPerSecond)
}

/** Of the tokens that requests bring and take, by the longer of the two. */
function tokensRatio(now: Workload, past: PastWorkload): number | undefined {
  const longer = [
    ratio(now.promptTokensPerRequest, past.promptTokensPerRequest),
    ratio(now.outputTokensPerRequest, past.outputTokensPerRequest),
  ].filter((one) => one !== undefined)
  return longer.length === 0 ? undefined : Math.max(...longer) * (arrivalsRatio(now, past) ?? 1)
}

/** now / past; unknown when either is, and when the past is no positive number. */
function ratio(now: number | undefined, past: number | undefined): number | undefined {
  const value = quotient(now, past)
  return value !== undefined && value >= 0 ? value : undefined
}

function quotient(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined || !(b > 0)) return undefined
  const value = a / b
  return Number.isFinite(value) ? value : undefined
}
