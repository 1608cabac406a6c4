import { bin, past } from '../signals/baseline.ts'
import type { DerivedSignal } from '../state/notification.ts'
import type { Rule } from './catalogue.ts'
import { rateNow } from './past.ts'
import type { Judgement } from './step.ts'
import { gpuNames, type View } from './view.ts'

/** A rule's number for one subject in one run. */
export interface Measured {
  /** A GPU, an upstream or a reason, where the rule has subjects. */
  subject?: string | undefined
  /** In the rule's unit. Absent: unknown. */
  value?: number | undefined
  /** Only known to be at least `value`. */
  atLeast?: boolean | undefined
  /** What `value` was compared with: the own past, or the siblings' median. */
  usual?: number | undefined
  /** Where the number alone does not decide. */
  judgement?: Judgement
  /** The condition changed into another one (a new XID): a new incident. */
  renewed?: boolean
}

const unknown: Measured[] = [{ judgement: 'unknown' }]

/** Measures a rule for every subject of an endpoint. `group`: the views of the endpoint's siblings, itself left out. */
export function measure(rule: Rule, view: View, group: readonly View[], now: number): Measured[] {
  const { measure: m } = rule
  const { numbers } = view.derived
  switch (m.kind) {
    case 'gauge':
      return [{ value: numbers[m.signal] }]
    case 'inflight':
      return numbers.running === undefined && numbers.waiting === undefined
        ? unknown
        : [{ value: (numbers.waiting ?? 0) + (numbers.running ?? 0) }]
    case 'growth':
      return [growth(view, m.runs)]
    case 'mean':
      return [{ value: numbers[m.signal] }]
    case 'quantile': {
      const name: DerivedSignal = `${m.signal}_p99`
      return [{ value: numbers[name], atLeast: view.derived.atLeast.includes(name) }]
    }
    case 'fall':
      return [m.of === 'prefix_hit_share' ? hitFall(view, now) : throughputFall(view, now)]
    case 'stalled':
      return [view.noProgress === undefined ? { judgement: 'unknown' } : counted(view.after.stalledRuns, rule)]
    case 'failed-share':
      return [{ value: numbers.failed_share }]
    case 'rate':
      return [{ value: numbers.preemptions_per_second }]
    case 'sibling':
      return [sibling(view, group)]
    case 'failures':
      return [view.observation.up === undefined ? { judgement: 'unknown' } : counted(view.after.failures, rule)]
    case 'blind':
      return [view.readings ? counted(view.after.blindRuns, rule) : { judgement: 'unknown' }]
    case 'subject-gauge':
      return Object.entries(view.readings?.subjects ?? {}).map(([subject, gauges]) => ({
        subject,
        value: gauges[m.signal],
      }))
    case 'xid':
      return xids(view)
    case 'lost':
      return lost(view)
    case 'flag':
      return [{ value: numbers[m.signal] }]
    case 'unhealthy-upstream':
      return Object.entries(view.readings?.subjects ?? {}).map(([subject, gauges]) =>
        flagged(gauges.upstream_health === undefined ? undefined : gauges.upstream_health === 0, subject),
      )
    case 'increase':
      return increased(view, rule, m.signal)
    case 'canary':
      return [canary(view, view.backend === 'ollama' ? m.ollama : m.openai)]
    case 'refused':
      return [refused(view)]
    case 'canary-load':
      return [{ value: numbers.canary_load }]
    case 'beat':
      return [beat(view, now)]
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

function flagged(bad: boolean | undefined, subject?: string): Measured {
  if (bad === undefined) return { subject, judgement: 'unknown' }
  return { subject, value: bad ? 1 : 0, judgement: bad ? 'breach' : 'clear' }
}

/** Rose at each of the last runs: the rise over all of them; not so: 0. */
function growth(view: View, runs: number): Measured {
  const values = view.after.recent.slice(-(runs + 1)).map(([, value]) => value)
  if (values.length <= runs || values.some((v) => v === null)) return { judgement: 'unknown' }
  const known = values as number[]
  const rose = known.every((v, i) => i === 0 || v > (known[i - 1] ?? v))
  return { value: rose ? (known.at(-1) ?? 0) - (known[0] ?? 0) : 0 }
}

function hitFall(view: View, now: number): Measured {
  return fall(view.derived.numbers.prefix_hit_share, past(view.before.baselines.hits, now))
}

function throughputFall(view: View, now: number): Measured {
  const running = view.derived.numbers.running ?? 0
  if (running === 0) return { judgement: 'unknown' }
  return fall(rateNow(view), past(view.before.baselines[`tokens${bin(running)}`], now))
}

function fall(value: number | undefined, usual: number | undefined): Measured {
  if (value === undefined || usual === undefined || usual === 0) return { judgement: 'unknown' }
  return { value: Math.max(0, (usual - value) / usual), usual }
}

/** Slower than the median of the others, by time per token, else by whole requests. At least two others must be known. */
function sibling(view: View, group: readonly View[]): Measured {
  for (const mean of ['itlMean', 'e2eMean'] as const) {
    const own = view.derived[mean]
    const others = group.flatMap((other) => other.derived[mean] ?? []).sort((a, b) => a - b)
    if (own === undefined || others.length < 2) continue
    const middle = others.length / 2
    const median = ((others[Math.floor(middle - 0.5)] ?? 0) + (others[Math.floor(middle)] ?? 0)) / 2
    if (median > 0) return { value: own / median, usual: median }
  }
  return { judgement: 'unknown' }
}

/** An XID stays published after the event: only a change to a new code is one. What was there at our first look is old. */
function xids(view: View): Measured[] {
  if (!view.readings) return []
  return Object.entries(view.readings.subjects).map(([subject, gauges]): Measured => {
    const code = gauges.gpu_xid ?? 0
    if (code === 0) return { subject, value: 0, judgement: 'clear' }
    const before = view.before.xids[subject] ?? (view.before.goodAt === undefined ? code : 0)
    if (code !== before) return { subject, value: code, judgement: 'breach', renewed: true }
    return { subject, value: code, judgement: view.before.alerts[`gpu_xid@${subject}`] ? 'between' : 'clear' }
  })
}

function lost(view: View): Measured[] {
  if (!view.readings) return []
  const present = new Set(gpuNames(view.readings, 'dcgm'))
  return Object.keys(view.before.gpus).map((gpu) => flagged(!present.has(gpu), gpu))
}

/** Counts since the last run, by reason or upstream where the series says so. */
function increased(
  view: View,
  rule: Rule,
  signal: 'admission_rejected' | 'engine_state_stale' | 'queue_full' | 'admission_parked',
): Measured[] {
  if (!view.last) return []
  const bySubject = new Map<string | undefined, number>()
  for (const key of Object.keys(view.before.alerts)) {
    const [id, subject] = key.split('@')
    if (id === rule.id) bySubject.set(subject, 0)
  }
  for (const [labels, n] of Object.entries(view.last.byLabels[signal] ?? {})) {
    const subject = /(?:^|,)(?:reason|upstream)="((?:[^"\\]|\\.)*)"/.exec(labels)?.[1]
    bySubject.set(subject, (bySubject.get(subject) ?? 0) + n)
  }
  return [...bySubject].map(([subject, value]) => ({ subject, value }))
}

function canary(view: View, signal: 'canary_wait' | 'canary_ttft'): Measured {
  const { observation } = view
  if (observation.up === false) return { judgement: 'unknown' }
  switch (observation.canary?.status) {
    case 'not-loaded':
      return { value: 0, judgement: 'clear' } // no model in memory: nobody waits for it
    case 'parked':
      return { value: observation.up ? observation.took / 1000 : undefined, atLeast: true }
    case 'answered':
    case 'cold-load':
      return { value: view.derived.numbers[signal] }
    default:
      return { judgement: 'unknown' }
  }
}

function refused(view: View): Measured {
  if (view.observation.up === false) return { judgement: 'unknown' }
  switch (view.observation.canary?.status) {
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

/** Late, failed, or never seen for longer than interval and grace. Seconds since the last beat. */
function beat(view: View, now: number): Measured {
  const { observation, endpoint } = view
  if (observation.up !== true || !observation.beat || !endpoint.beat) return { judgement: 'unknown' }
  const { age, failed } = observation.beat
  const allowed = endpoint.beat.interval + endpoint.beat.grace
  const silent = age ?? now - view.before.since
  if (failed || silent > allowed) return { value: silent / 1000, judgement: 'breach' }
  return age === undefined ? { judgement: 'unknown' } : { value: age / 1000, judgement: 'clear' }
}
