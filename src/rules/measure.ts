import type { DerivedSignal } from '../model/notification.ts'
import type { Rule } from '../model/rule.ts'
import { bin, usual } from '../signals/baseline.ts'
import type { Measured } from './measured.ts'
import { medianOfOthers, type Siblings } from './siblings.ts'
import type { Snapshot } from './snapshot.ts'
import type { Judgement } from './step.ts'
import { flagged, increased, lost, upstreams, xids } from './subjects.ts'
import { rateNow } from './workload.ts'

/** Measures a rule for every subject of an endpoint. `siblings`: of its group, where it has one. */
export function measure(rule: Rule, snapshot: Snapshot, siblings: Siblings | undefined, now: number): Measured[] {
  const { measure: m } = rule
  const { numbers } = snapshot.derived
  switch (m.kind) {
    case 'gauge':
      return [{ value: numbers[m.signal] }]
    case 'inflight':
      return [inflight(snapshot)]
    case 'growth':
      return [growth(snapshot, m.runs)]
    case 'mean':
      return [{ value: numbers[m.signal] }]
    case 'quantile': {
      const name: DerivedSignal = `${m.signal}_p99`
      return [{ value: numbers[name], atLeast: snapshot.derived.atLeast.includes(name) }]
    }
    case 'fall':
      return [m.of === 'prefix_hit_share' ? hitFall(snapshot, now) : throughputFall(snapshot, now)]
    case 'stalled':
      return [snapshot.noProgress === undefined ? { judgement: 'unknown' } : counted(snapshot.after.stalledRuns, rule)]
    case 'failed-share':
      return [{ value: numbers.failed_share }]
    case 'rate':
      return [{ value: numbers.preemptions_per_second }]
    case 'sibling':
      return [sibling(snapshot, siblings)]
    case 'failures':
      return [snapshot.observation.up === undefined ? { judgement: 'unknown' } : counted(snapshot.after.failures, rule)]
    case 'blind':
      return [snapshot.readings ? counted(snapshot.after.blindRuns, rule) : { judgement: 'unknown' }]
    case 'subject-gauge':
      return Object.entries(snapshot.readings?.subjects ?? {}).map(([subject, gauges]) => ({
        subject,
        value: gauges[m.signal],
      }))
    case 'xid':
      return xids(snapshot)
    case 'lost':
      return lost(snapshot)
    case 'flag':
      return [{ value: numbers[m.signal] }]
    case 'unhealthy-upstream':
      return upstreams(snapshot)
    case 'increase':
      return increased(snapshot, rule, m.signal)
    case 'canary':
      return [canary(snapshot, snapshot.backend === 'ollama' ? m.ollama : m.openai)]
    case 'refused':
      return [refused(snapshot)]
    case 'canary-load':
      return [{ value: numbers.canary_load }]
    case 'beat':
      return [beat(rule, snapshot, now)]
    case 'gap':
      return [] // judged once for the whole run, see evaluate.ts
    default:
      return m satisfies never
  }
}

/** Compares a number with a rule's limits. "At least 10" breaches a limit at or below 10 and cannot be judged by one above. */
export function judge(measured: Measured, rule: Rule): Judgement {
  if (measured.judgement) return measured.judgement
  const { value } = measured
  if (value === undefined) return 'unknown'
  if (measured.atLeast) return value >= rule.limit ? 'breach' : 'unknown'
  const past = (limit: number) => (rule.breach === 'above' ? value > limit : value >= limit)
  if (past(rule.limit)) return 'breach'
  return rule.clear !== undefined && past(rule.clear) ? 'between' : 'clear'
}

/** Runs in a row: fewer than the limit are neither a breach nor clear. */
function counted(runs: number, rule: Rule): Measured {
  return { value: runs, judgement: runs >= rule.limit ? 'breach' : runs > 0 ? 'between' : 'clear' }
}

/** One half alone, where the other was seen here before, is only the least that it can be. */
function inflight({ derived, before }: Snapshot): Measured {
  const { waiting, running } = derived.numbers
  if (waiting === undefined && running === undefined) return { judgement: 'unknown' }
  const isHalf = (['waiting', 'running'] as const).some(
    (half) => derived.numbers[half] === undefined && before.seen.includes(half),
  )
  return { value: (waiting ?? 0) + (running ?? 0), ...(isHalf ? { atLeast: true } : {}) }
}

/** Rose at each of the last runs: the rise over all of them; not so: 0. */
function growth(snapshot: Snapshot, runs: number): Measured {
  const values = snapshot.after.recent.slice(-(runs + 1)).map(([, value]) => value)
  if (values.length <= runs || values.some((v) => v === null)) return { judgement: 'unknown' }
  const known = values as number[]
  const rose = known.every((v, i) => i === 0 || v > (known[i - 1] ?? v))
  return { value: rose ? (known.at(-1) ?? 0) - (known[0] ?? 0) : 0 }
}

function hitFall(snapshot: Snapshot, now: number): Measured {
  return fall(snapshot.derived.numbers.prefix_hit_share, usual(snapshot.before.baselines.hits, now))
}

function throughputFall(snapshot: Snapshot, now: number): Measured {
  const running = snapshot.derived.numbers.running ?? 0
  if (running === 0) return { judgement: 'unknown' }
  return fall(rateNow(snapshot), usual(snapshot.before.baselines[`tokens${bin(running)}`], now))
}

function fall(value: number | undefined, usual: number | undefined): Measured {
  if (value === undefined || usual === undefined || usual === 0) return { judgement: 'unknown' }
  return { value: Math.max(0, (usual - value) / usual), usual }
}

/** Slower than the median of the others, by time per token, else by whole requests. At least two others must be known. */
function sibling(snapshot: Snapshot, siblings: Siblings | undefined): Measured {
  for (const mean of ['itlMean', 'e2eMean'] as const) {
    const own = snapshot.derived[mean]
    const median = own === undefined || !siblings ? undefined : medianOfOthers(siblings[mean], own)
    if (own !== undefined && median !== undefined && median > 0) return { value: own / median, usual: median }
  }
  return { judgement: 'unknown' }
}

function canary(snapshot: Snapshot, signal: 'canary_wait' | 'canary_ttft'): Measured {
  const { observation } = snapshot
  if (observation.up === false) return { judgement: 'unknown' }
  switch (observation.canary?.status) {
    case 'parked':
      return { value: observation.up ? observation.took / 1000 : undefined, atLeast: true }
    case 'answered':
    case 'cold-load':
      return { value: snapshot.derived.numbers[signal] }
    default:
      return { judgement: 'unknown' }
  }
}

function refused(snapshot: Snapshot): Measured {
  if (snapshot.observation.up === false) return { judgement: 'unknown' }
  switch (snapshot.observation.canary?.status) {
    case 'busy':
      return flagged(true)
    case 'answered':
    case 'cold-load':
    case 'not-loaded':
      return flagged(false)
    default:
      return { judgement: 'unknown' }
  }
}

/**
 * Late, failed, or never seen for longer than interval and grace. Seconds since the last beat. A failure is told at
 * once, also of a worker that was told as silent.
 */
function beat(rule: Rule, snapshot: Snapshot, now: number): Measured {
  const { observation, endpoint } = snapshot
  if (observation.up !== true || !observation.beat || !endpoint.beat) return { judgement: 'unknown' }
  const { age, failed } = observation.beat
  const allowed = endpoint.beat.interval + endpoint.beat.grace
  const silent = age ?? now - snapshot.before.since
  const toldAs = snapshot.before.alerts[rule.id]?.about?.beat
  const renewed = failed !== undefined && toldAs !== undefined && toldAs.failed === undefined && rule.for === 0
  // Never seen is told when interval and grace are over, not a run later.
  const late = age === undefined ? silent >= allowed : silent > allowed
  if (failed || late) return { value: silent / 1000, judgement: 'breach', renewed }
  return age === undefined ? { judgement: 'unknown' } : { value: age / 1000, judgement: 'clear' }
}
