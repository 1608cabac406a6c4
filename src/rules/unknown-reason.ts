import { wordsOf } from '../model/observation.ts'
import type { Rule } from '../model/rule.ts'
import type { HistogramSignal, Signal } from '../model/signals.ts'
import { isPresent, signalsFor } from './missing.ts'
import type { Snapshot } from './snapshot.ts'
import { rateNow } from './workload.ts'

/** As in `signals/quantile.ts` and `signals/derive.ts`: fewer say nothing. */
const ENOUGH = { quantile: 20, mean: 5, requests: 20, tokens: 1_000 }
const FIRST = 'first reading: an increase needs two'
const QUIET = 'no traffic in the window'
const SHORT_PAST = 'its own past is too short: it needs an hour and 10 values'

/** Why a rule has no number for an endpoint, or for one subject of it, in this run, as a person may read it. */
export function unknownReason(rule: Rule, snapshot: Snapshot, subject?: string): string | undefined {
  const { observation, derived, readings, window } = snapshot
  if (observation.up === undefined) return `not asked: canary ${wordsOf(observation.canary.status)}`
  if (observation.up === false) {
    const { kind, code, status } = observation.failure
    return ['no usable answer:', kind, status, code].filter((part) => part !== undefined).join(' ')
  }
  const { measure } = rule
  const gone = absent(rule, snapshot)
  if (gone !== undefined) return gone
  switch (measure.kind) {
    case 'growth':
      return `has ${knownInARow(snapshot)} of the ${measure.runs + 1} runs in a row that it compares`
    case 'mean':
      return tooFew(measure.signal, ENOUGH.mean, snapshot)
    case 'quantile':
      return derived.atLeast.includes(`${measure.signal}_p99`)
        ? "only known to be at least this: the limit is above the server's largest bucket"
        : tooFew(measure.signal, ENOUGH.quantile, snapshot)
    case 'failed-share':
      return window ? few((window.counters.finished ?? 0) + (window.counters.failed ?? 0), ENOUGH.requests) : FIRST
    case 'fall':
      return measure.of === 'prefix_hit_share' ? noHitFall(snapshot) : noThroughputFall(snapshot)
    case 'stalled':
      return snapshot.last ? 'the server publishes no counter that shows progress' : FIRST
    case 'sibling':
      if (derived.itlMean !== undefined || derived.e2eMean !== undefined)
        return 'fewer than two siblings have a known time'
      return tooFew(isPresent('itl', snapshot.readings ?? observation.readings) ? 'itl' : 'e2e', ENOUGH.mean, snapshot)
    case 'canary':
    case 'refused':
    case 'canary-load':
      return observation.canary && `canary: ${wordsOf(observation.canary.status)}`
    case 'beat':
      return 'no beat yet, and none was due'
    case 'rate':
    case 'increase':
      return window ? undefined : FIRST
    case 'subject-gauge':
      return subject === undefined ? 'the page names none' : noneOf(subject, measure.signal, snapshot)
    case 'xid':
    case 'lost':
    case 'unhealthy-upstream':
      return Object.keys(readings?.subjects ?? {}).length === 0 ? 'the page names none' : undefined
    case 'gauge':
    case 'inflight':
    case 'flag':
    case 'failures':
    case 'blind':
    case 'gap':
      return undefined
    default:
      return measure satisfies never
  }
}

/** What the rule needs and the page does not have; a rule that needs one of several lacks something only without any. */
function absent(rule: Rule, { readings, faults, modelMissing }: Snapshot): string | undefined {
  if (!readings) return undefined
  if (modelMissing !== undefined) return `model not there: ${modelMissing}`
  const hits = rule.measure.kind === 'fall' && rule.measure.of === 'prefix_hit_share'
  if (hits && isPresent('hit_share', readings)) return undefined
  const needed = signalsFor(rule.measure)
  const gone = needed.filter((signal) => !isPresent(signal, readings))
  const either = ['inflight', 'stalled', 'sibling'].includes(rule.measure.kind)
  const [first] = gone
  if (first === undefined || (either && gone.length < needed.length)) return undefined
  if (rule.measure.kind === 'failed-share' && first === 'failed') return undefined // none so far
  const fault = faults.find((found) => found.signal === first)
  if (fault) return `${first} is not believable: ${fault.what}`
  return `not on the page: ${gone.join(either ? ' or ' : ', ')}`
}

/** Others have one: a split GPU, or one whose driver does not say. */
function noneOf(subject: string, signal: Signal, { readings, faults }: Snapshot): string {
  const fault = faults.find((found) => found.signal === signal)
  if (fault) return `${signal} is not believable: ${fault.what}`
  const isThere = readings?.subjects[subject] !== undefined
  return isThere ? `not on the page for ${subject}: ${signal}` : `not on the page: ${subject}`
}

/** The latest runs without one that knew nothing. */
function knownInARow({ after: { recent } }: Snapshot): number {
  return recent.length - 1 - recent.findLastIndex(([, value]) => value === null)
}

function tooFew(signal: HistogramSignal, enough: number, { window }: Snapshot): string {
  if (!window) return FIRST
  const found = window.histograms[signal]
  if (found && found.counts.at(-1) !== 0 && found.sum === undefined && enough === ENOUGH.mean)
    return `${signal} has no sum that can be believed`
  return few(found?.counts.at(-1) ?? 0, enough, signal === 'itl' ? 'tokens' : 'requests')
}

function few(n: number, enough: number, what = 'requests'): string {
  if (n === 0) return QUIET
  return n < enough ? `too few ${what}: ${Math.round(n)} of ${enough}` : 'no believable buckets'
}

function noHitFall({ derived, window, readings }: Snapshot): string {
  if (derived.numbers.prefix_hit_share !== undefined) return SHORT_PAST
  if (derived.hitsAlwaysZero) return 'the server publishes prefix hits and never counts them'
  if (!window) return FIRST
  const { prefix_queries, prompt_tokens } = window.counters
  const queries = readings?.gauges.hit_share && !readings.counters.prefix_hits ? prompt_tokens : prefix_queries
  if (queries === undefined || !readings) return 'no hit share is published'
  return queries === 0 ? QUIET : `too few tokens looked up: ${Math.round(queries)} of ${ENOUGH.tokens}`
}

function noThroughputFall(snapshot: Snapshot): string {
  if ((snapshot.derived.numbers.running ?? 0) === 0) return 'nothing is running'
  if (!snapshot.window) return FIRST
  return rateNow(snapshot) === undefined
    ? 'work goes on, its tokens are counted when a request ends'
    : `${SHORT_PAST} at this many running`
}
