import type { AlertContext, Notification, Reason } from '../model/notification.ts'
import type { Rule } from '../model/rule.ts'
import { alertKey, ruleOf, subjectOf } from '../state/alert-key.ts'
import { isClaimed } from '../state/outbox.ts'
import type { Alert, Outgoing } from '../state/schema.ts'
import { type Decision, notMeasured } from './decision.ts'
import { joinLateNotices } from './late-notice.ts'
import { judge, type Measured } from './measured.ts'
import type { Surroundings } from './rule.ts'
import { HOLDING, specOf } from './rules.ts'
import { insideOf, type Snapshot } from './snapshot.ts'
import { type Judgement, step } from './step.ts'

/** What the rules of one endpoint made of one run. */
export interface EndpointJudgement {
  alerts: Record<string, Alert>
  /** To be told, without their context. */
  notifications: Notification[]
  /** Incidents that ended before they could be told: their `fired` leaves the outbox. */
  overtaken: Set<string>
  /** For `LOG_LEVEL=debug` and `--why`: each decision with its numbers. */
  decisions: Decision[]
}

interface Context extends Surroundings {
  snapshot: Snapshot
  outbox: readonly Outgoing[]
  interval: number | undefined
}

const IDLE = 15 * 60_000
/** An upstream, MIG instance or lost GPU that good answers have not named for this long was removed on purpose. Milliseconds. */
const FORGOTTEN = 86_400_000

/** Measures and steps every active rule of one endpoint. */
export function judgeEndpoint(context: Context): EndpointJudgement {
  const out: EndpointJudgement = { alerts: {}, notifications: [], overtaken: new Set(), decisions: [] }
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

function judgeRule(rule: Rule, heldBy: string | undefined, context: Context, out: EndpointJudgement): void {
  const { snapshot } = context
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
  if (others.length > 0 || (measure && all.length === 0))
    out.decisions.push(...notMeasured(rule, others, heldBy, snapshot))
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
  const stepped = step(alert, judgement, rule, { now, value: measured.value, interval })
  const next = afterStep(stepped.alert, alert, rule, heldBy ? 'held' : judgement, context)
  const reason = next.idle ? 'resolved' : stepped.reason
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
  if (next.alert && reason !== 'resolved') out.alerts[key] = toldAs(next.alert, { reason, rule, measured }, snapshot)
  else delete out.alerts[key]
  if (reason && next.alert) tell({ reason, rule, measured, alert: next.alert, idle: next.idle, key }, context, out)
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
  judgement: Judgement | 'held',
  context: Context,
): { alert: Alert | undefined; idle: boolean } {
  if (alert?.phase !== 'firing' || before?.phase !== 'firing') return { alert, idle: false }
  const { snapshot, now } = context
  const { idleSince, restarted, ...rest } = alert
  // What still holds after a restart was not ended by it.
  const byRestart = snapshot.restarted || (restarted && judgement !== 'breach') ? { restarted: true as const } : {}
  const kept = { ...rest, ...byRestart }
  if (!rule.idles || !snapshot.readings)
    return { alert: { ...kept, ...(idleSince === undefined ? {} : { idleSince }) }, idle: false }
  if (hasTraffic(snapshot)) return { alert: kept, idle: false }
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

/** A change of one alert that is worth telling. */
interface Change {
  reason: 'fired' | 'repeated' | 'resolved'
  rule: Rule
  measured: Measured
  alert: Alert
  /** It ends for lack of traffic. */
  idle: boolean
  /** Of the alert in the state. */
  key: string
}

function tell(change: Change, { now, snapshot, outbox }: Context, out: EndpointJudgement): void {
  const { reason, rule, measured, alert, idle, key } = change
  const incident = `${snapshot.endpoint.name}|${rule.id}|${measured.subject ?? ''}@${alert.firedAt}`
  const queued = outbox.filter((item) => item.notification.incident === incident)
  const about =
    (reason === 'resolved' ? alert.about : undefined) ?? specOf(rule.id).describe?.(snapshot, measured.subject)
  const make = (reason: Reason, more: Partial<Notification> = {}): Notification => ({
    ...ofRule(rule, measured, alert, snapshot),
    ...about,
    id: `${incident}/${reason}/${now}`,
    incident,
    reason,
    at: now,
    ...more,
  })
  if (reason === 'fired') out.notifications.push(make('fired'))
  if (reason === 'repeated' && queued.length === 0) out.notifications.push(make('repeated'))
  if (reason !== 'resolved') return
  if (queued.some((item) => isClaimed(item, now))) {
    out.alerts[key] = alert // another run is telling it right now: resolve at the next run
    return
  }
  out.overtaken.add(incident)
  const end = { endedAt: now, ended: idle ? 'idle' : alert.restarted ? 'restarted' : 'clear' } as const
  const fired = queued.find((item) => item.notification.reason === 'fired')
  if (fired) {
    const maybeSent = fired.claim || fired.notification.maybeSent ? { maybeSent: true } : {}
    const joined = joinLateNotices(make('late', { ...end, ...maybeSent }), outbox, now)
    out.notifications.push(joined.late)
    if (joined.replaced) out.overtaken.add(joined.replaced)
  } else if (alert.lastSentAt !== undefined) {
    out.notifications.push(make('resolved', { ...end, priority: 4 }))
  }
}

/** Remembers what is told now, because at its end the endpoint no longer shows what it was. */
function toldAs(
  alert: Alert,
  { reason, rule, measured }: { reason: Reason | undefined; rule: Rule; measured: Measured },
  snapshot: Snapshot,
): Alert {
  const about = reason === undefined ? undefined : specOf(rule.id).describe?.(snapshot, measured.subject)
  return about && Object.keys(about).length > 0 ? { ...alert, about } : alert
}

/** The rule's part of a notification. */
function ofRule(
  rule: Rule,
  measured: Measured,
  alert: Alert,
  snapshot: Snapshot,
): Omit<Notification, 'id' | 'incident' | 'reason' | 'at'> {
  const { subject } = measured
  const subjectName = subject === undefined ? undefined : snapshot.readings?.subjectNames?.[subject]
  const round = (value: number) => Number(value.toPrecision(5))
  return {
    rule: rule.id,
    endpoint: snapshot.endpoint.name,
    priority: rule.priority,
    firedAt: alert.firedAt ?? alert.activeAt,
    limit: rule.limit,
    ...(subject === undefined ? {} : { subject }),
    ...(subjectName === undefined ? {} : { subjectName }),
    ...(measured.value === undefined ? {} : { value: round(measured.value) }),
    ...(measured.atLeast ? { atLeast: true } : {}),
    ...(measured.usual === undefined ? {} : { usual: round(measured.usual) }),
    ...(alert.peak === undefined ? {} : { peak: round(alert.peak) }),
  }
}

/** Puts the context, made once per endpoint, on its notifications. */
export function withContext(notifications: readonly Notification[], context: AlertContext): Notification[] {
  return notifications.map((notification) => ({ ...notification, context }))
}
