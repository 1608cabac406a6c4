import { TABLES } from '../backends/backends.ts'
import type { BackendTable, ScrapedBackend } from '../model/backend.ts'
import type { Rule } from '../model/rule.ts'
import { alertKey, ruleOf, subjectOf } from '../state/alert-key.ts'
import type { End } from '../state/incident-schema.ts'
import type { Alert } from '../state/schema.ts'
import { type Decision, notMeasured } from './decision.ts'
import { isCritical, judge, type Measured } from './measured.ts'
import type { Surroundings } from './rule.ts'
import { HOLDING, specOf } from './rules.ts'
import { insideOf, type Snapshot } from './snapshot.ts'
import { type Judgement, step } from './step.ts'

/** An alert of an endpoint after one run, with what this run measured of it. */
export interface Judged {
  key: string
  rule: Rule
  /** Absent: this run did not measure it. */
  measured: Measured | undefined
  judgement: Judgement
  /** As it stands now; one that is over as it stood last. */
  alert: Alert
  began: boolean
  renewed: boolean
  /** How it came to its end in this run. */
  ended: End | undefined
}

/** An alert that does not fire yet, only because its time is not full. */
export type Coming = Pick<Judged, 'key' | 'rule' | 'measured'>

/** What the rules of one endpoint made of one run. */
export interface EndpointJudgement {
  alerts: Record<string, Alert>
  /** What fires now, and what stopped firing in this run. */
  judged: Judged[]
  /** What is beyond its critical limit already, or stands still for half of its time. */
  coming: Coming[]
  /** For `LOG_LEVEL=debug` and `--why`: each decision with its numbers. */
  decisions: Decision[]
}

interface Context extends Surroundings {
  snapshot: Snapshot
  interval: number | undefined
}

const IDLE = 15 * 60_000
/** An upstream, MIG instance or lost GPU that good answers have not named for this long was removed on purpose. Milliseconds. */
const FORGOTTEN = 86_400_000
const DAY = 86_400_000

/** Measures and steps every active rule of one endpoint. */
export function judgeEndpoint(context: Context): EndpointJudgement {
  const out: EndpointJudgement = { alerts: {}, judged: [], coming: [], decisions: [] }
  for (const rule of holdingFirst(context.snapshot.endpoint.rules)) {
    judgeRule(rule, holderOf(rule, out.alerts), context, out)
  }
  return out
}

/** Those that hold others back are judged before them, the one that holds all first. */
function holdingFirst(rules: readonly Rule[]): Rule[] {
  const rank = ({ id }: Rule) => {
    const at = HOLDING.indexOf(id)
    return at < 0 ? HOLDING.length : at
  }
  return [...rules].sort((a, b) => rank(a) - rank(b))
}

/** A dead server makes all its other numbers meaningless, and a stalled one its KV use. */
function holderOf({ id }: Rule, alerts: Readonly<Record<string, Alert>>): string | undefined {
  return HOLDING.find((holder) => {
    if (alerts[holder]?.phase !== 'firing' || holder === id) return false
    const { holds } = specOf(holder)
    return holds === 'all' || holds?.includes(id)
  })
}

function judgeRule(set: Rule, heldBy: string | undefined, context: Context, out: EndpointJudgement): void {
  const { snapshot } = context
  const rule = withLimitsOfSeries(set, snapshot)
  const before = snapshot.before.alerts
  for (const [key, alert] of Object.entries(before)) {
    if (ruleOf(key) === rule.id) out.alerts[key] = alert // stays, unless measured below
  }
  const { measure } = specOf(rule.id)
  const all = measure ? measure(snapshot, rule, context) : []
  for (const measured of all) judgeSubject(measured, { rule, heldBy }, context, out)
  const measuredKeys = new Set(all.map(({ subject }) => alertKey(rule.id, subject)))
  const others = Object.entries(out.alerts).filter(([key]) => ruleOf(key) === rule.id && !measuredKeys.has(key))
  if (snapshot.readings) forget(others, context.now, out)
  for (const [key, alert] of others)
    if (alert.phase === 'firing' && key in out.alerts) out.judged.push(unmeasured(key, rule, alert))
  if (others.length > 0 || (measure && all.length === 0))
    out.decisions.push(...notMeasured(rule, others, heldBy, snapshot))
}

/** A series that counts more than others do brings its own limits, where nobody set any. */
export function withLimitsOfSeries(rule: Rule, { backend, readings }: Pick<Snapshot, 'backend' | 'readings'>): Rule {
  const table: BackendTable | undefined = TABLES[backend as ScrapedBackend]
  if (!rule.isDefault || !readings || !table) return rule
  for (const signal of rule.needs.signals) {
    const alias = table.signals[signal]?.from.find(({ name }) => name === readings.sources[signal])
    const limits = alias?.limits?.[rule.id]
    if (limits) return { ...rule, ...limits }
  }
  return rule
}

function judgeSubject(
  measured: Measured,
  { rule, heldBy }: { rule: Rule; heldBy: string | undefined },
  context: Context,
  out: EndpointJudgement,
): void {
  const { snapshot, now, interval } = context
  const judgement = heldBy ? 'unknown' : judge(measured, rule)
  const key = alertKey(rule.id, measured.subject)
  const before = snapshot.before.alerts[key]
  const alert = measured.renewed && judgement === 'breach' ? undefined : before
  const isProven = specOf(rule.id).provenBy?.some((id) => out.alerts[id]?.phase === 'firing')
  const stepped = step(alert, judgement, isProven ? { ...rule, runs: 1 } : rule, {
    now,
    value: measured.value,
    interval: betweenLooks(snapshot, interval),
  })
  const next = afterStep(
    stepped.alert,
    alert,
    rule,
    { judgement: heldBy ? 'held' : judgement, quiet: measured.quiet },
    context,
  )
  const byLimit = isUnderNewLimit(alert, rule, judgement)
  const reason = next.idle || byLimit ? 'resolved' : stepped.reason
  const ended = byLimit ? 'limit-changed' : endOf(next, measured)
  const after = reason === 'resolved' ? 'ok' : (next.alert?.phase ?? 'ok')
  out.decisions.push({
    rule,
    measured,
    judgement,
    before: before?.phase ?? 'ok',
    after,
    alert: next.alert,
    heldBy,
    snapshot,
  })
  if (next.alert && reason !== 'resolved') out.alerts[key] = withLimit(next.alert, rule, judgement)
  else delete out.alerts[key]
  if (next.alert?.phase !== 'firing') {
    if (isComing(measured, rule, judgement)) out.coming.push({ key, rule, measured })
    return
  }
  const renewed = measured.renewed === true && before?.phase === 'firing'
  const end = reason === 'resolved' ? ended : undefined
  out.judged.push({ key, rule, measured, judgement, alert: next.alert, began: reason === 'fired', renewed, ended: end })
}

function isComing({ value, halfway }: Measured, rule: Rule, judgement: Judgement): boolean {
  return judgement === 'breach' ? isCritical(value, rule) : judgement === 'between' && halfway === true
}

/** Milliseconds, as far as known: a canary with a budget asks more rarely than runs come. */
function betweenLooks({ endpoint }: Snapshot, interval: number | undefined): number | undefined {
  const budget = endpoint.canary?.budget
  return budget === undefined ? interval : Math.max(interval ?? 0, DAY / budget)
}

function endOf({ alert, idle }: { alert: Alert | undefined; idle: boolean }, { forgotten }: Measured): End {
  if (forgotten) return 'forgotten'
  return idle ? 'idle' : alert?.restarted ? 'restarted' : 'clear'
}

/** Its limit was changed while it fired, and by the new one it is no breach: over at once, lest a reminder contradict itself. */
function isUnderNewLimit(alert: Alert | undefined, rule: Rule, judgement: Judgement): boolean {
  if (alert?.phase !== 'firing' || alert.limit === undefined || alert.limit === rule.limit) return false
  return judgement === 'clear' || judgement === 'between'
}

/** The limit that it was judged by last, while it fires. */
function withLimit(alert: Alert, { limit }: Rule, judgement: Judgement): Alert {
  return alert.phase === 'firing' && judgement !== 'unknown' ? { ...alert, limit } : alert
}

function unmeasured(key: string, rule: Rule, alert: Alert): Judged {
  const same = { judgement: 'unknown', began: false, renewed: false, ended: undefined } as const
  return { key, rule, measured: undefined, alert, ...same }
}

/** Drops the alerts of subjects that are gone for good, without a message. */
function forget(others: readonly [string, Alert][], now: number, out: EndpointJudgement): void {
  for (const [key, alert] of others)
    if (subjectOf(key) !== undefined && now - alert.seenAt > FORGOTTEN) delete out.alerts[key]
}

/** Notes a restart and the time without traffic on a firing alert; closes a latency alert as idle. */
function afterStep(
  alert: Alert | undefined,
  before: Alert | undefined,
  rule: Rule,
  { judgement, quiet }: { judgement: Judgement | 'held'; quiet: boolean | undefined },
  context: Context,
): { alert: Alert | undefined; idle: boolean } {
  if (alert?.phase !== 'firing' || before?.phase !== 'firing') return { alert, idle: false }
  const { snapshot, now } = context
  const { idleSince, restarted, ...rest } = alert
  // What still holds after a restart was not ended by it.
  const byRestart = specOf(rule.id).outlivesRestart
    ? {}
    : snapshot.restarted || (restarted && judgement !== 'breach')
      ? { restarted: true as const }
      : {}
  const kept = { ...rest, ...byRestart }
  if (!rule.idles || !snapshot.readings)
    return { alert: { ...kept, ...(idleSince === undefined ? {} : { idleSince }) }, idle: false }
  if (!(quiet ?? !hasTraffic(snapshot))) return { alert: kept, idle: false }
  const since = idleSince ?? now
  return { alert: { ...kept, idleSince: since }, idle: judgement === 'unknown' && now - since >= IDLE }
}

function hasTraffic(snapshot: Snapshot): boolean {
  const { canary } = snapshot.observation
  // A model that nobody uses is unloaded; any other answer, even a refusal, is traffic.
  if (canary) return canary.status !== 'not-loaded' && canary.status !== 'other-model'
  if (snapshot.readings && (insideOf(snapshot.readings) ?? 0) > 0) return true
  const counts = [
    ...Object.values(snapshot.last?.counters ?? {}),
    ...Object.values(snapshot.last?.histograms ?? {}).map((h) => h.counts.at(-1) ?? 0),
  ]
  return counts.some((n) => n > 0)
}
