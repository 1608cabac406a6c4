import type { About, AlertContext, Notification, Reason } from '../model/notification.ts'
import type { Rule } from '../model/rule.ts'
import { isClaimed } from '../state/legs.ts'
import type { Alert, Outgoing } from '../state/schema.ts'
import { alertKey, channelsTold, incidentOf, type Threads, waitsFor } from '../state/threads.ts'
import { type Decision, decision, type HoldingRule, notMeasured } from './decision.ts'
import { joinLates } from './late-notice.ts'
import { judge, measure } from './measure.ts'
import type { Measured } from './measured.ts'
import type { Siblings } from './siblings.ts'
import { insideOf, type Snapshot } from './snapshot.ts'
import { type Judgement, step } from './step.ts'

/** What all rules of one endpoint made of one run. */
export interface EndpointJudgement {
  alerts: Record<string, Alert>
  /** To be told, without their context. */
  notifications: Notification[]
  /** Incidents whose waiting notifications leave the outbox, and the incident whose notification tells them instead. */
  overtaken: Map<string, string>
  /** For `LOG_LEVEL=debug` and `--why`: each decision with its numbers. */
  decisions: Decision[]
}

interface Context {
  snapshot: Snapshot
  siblings: Siblings | undefined
  outbox: readonly Outgoing[]
  threads: Threads | undefined
  interval: number | undefined
  now: number
}

const IDLE = 15 * 60_000
/** An upstream, a MIG instance or a lost GPU that good answers have not named for so long was taken away on purpose. */
const FORGOTTEN = 86_400_000

/** Measures and steps every active rule of one endpoint. */
export function judgeEndpoint(context: Context): EndpointJudgement {
  const out: EndpointJudgement = { alerts: {}, notifications: [], overtaken: new Map(), decisions: [] }
  const firing = (id: string) => out.alerts[id]?.phase === 'firing'
  for (const rule of inOrder(context.snapshot.endpoint.rules)) {
    // A dead server makes all its other numbers meaningless, and a stalled one its KV use.
    if (rule.id !== 'down' && firing('down')) judgeRule(rule, 'down', context, out)
    else judgeRule(rule, rule.id === 'kv_cache' && firing('stalled') ? 'stalled' : undefined, context, out)
  }
  return out
}

/** `down` and `stalled` first: they hold back others. */
function inOrder(rules: readonly Rule[]): Rule[] {
  const rank = (rule: Rule) => (rule.id === 'down' ? 0 : rule.id === 'stalled' ? 1 : 2)
  return [...rules].sort((a, b) => rank(a) - rank(b))
}

function judgeRule(rule: Rule, heldBy: HoldingRule | undefined, context: Context, out: EndpointJudgement): void {
  const before = context.snapshot.before.alerts
  for (const [key, alert] of Object.entries(before)) {
    if (isOf(rule, key)) out.alerts[key] = alert // stays, unless measured below
  }
  const all = measure(rule, context.snapshot, context.siblings, context.now)
  for (const measured of all) {
    const judgement = heldBy ? 'unknown' : judge(measured, rule)
    const key = alertKey(rule.id, measured.subject)
    const alert = measured.renewed && judgement === 'breach' ? undefined : before[key]
    const stepped = step(alert, judgement, rule, {
      now: context.now,
      value: measured.value,
      interval: context.interval,
    })
    const next = afterStep(stepped.alert, alert, rule, heldBy ? 'held' : judgement, context)
    const reason = next.idle ? 'resolved' : stepped.reason
    const after = reason === 'resolved' ? 'ok' : (next.alert?.phase ?? 'ok')
    const facts = { rule, measured, judgement, before: before[key]?.phase ?? 'ok', after } as const
    out.decisions.push(decision(facts, next.alert, heldBy, context.snapshot))
    if (next.alert && reason !== 'resolved') out.alerts[key] = toldAs(next.alert, reason, rule, context.snapshot)
    else delete out.alerts[key]
    if (reason && next.alert) tell({ reason, rule, measured, alert: next.alert, idle: next.idle, key }, context, out)
  }
  const measuredKeys = new Set(all.map(({ subject }) => alertKey(rule.id, subject)))
  const others = Object.entries(out.alerts).filter(([key]) => isOf(rule, key) && !measuredKeys.has(key))
  if (context.snapshot.readings) forget(others, context.now, out)
  if (all.length === 0 || others.length > 0)
    out.decisions.push(...notMeasured(rule, Object.fromEntries(others), heldBy, context.snapshot))
}

/** Drops the alerts of subjects that are gone for good, without a message. */
function forget(others: readonly [string, Alert][], now: number, out: EndpointJudgement): void {
  for (const [key, alert] of others) if (key.includes('@') && now - alert.seenAt > FORGOTTEN) delete out.alerts[key]
}

/** Whether an alert is this rule's, for whatever subject. */
function isOf(rule: Rule, key: string): boolean {
  return key === rule.id || key.startsWith(`${rule.id}@`)
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
  // What is still so after a restart did not end by it.
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
  // A model that nobody asks leaves the memory; any other answer, also a refusal, is one to a request.
  if (canary) return canary.status !== 'not-loaded' && canary.status !== 'other-model'
  if (snapshot.readings && (insideOf(snapshot.readings) ?? 0) > 0) return true
  const counts = [
    ...Object.values(snapshot.last?.counters ?? {}),
    ...Object.values(snapshot.last?.histograms ?? {}).map((h) => h.counts.at(-1) ?? 0),
  ]
  return counts.some((n) => n > 0)
}

/** What one measure of a rule made worth telling. */
interface News {
  reason: 'fired' | 'repeated' | 'resolved'
  rule: Rule
  measured: Measured
  alert: Alert
  /** It ends for lack of traffic. */
  idle: boolean
  /** Of the alert in the state. */
  key: string
}

function tell(news: News, { now, snapshot, outbox, threads }: Context, out: EndpointJudgement): void {
  const { reason, rule, measured, alert, idle, key } = news
  const incident = incidentOf(snapshot.endpoint.name, rule.id, measured.subject, alert.firedAt)
  const queued = outbox.filter((item) => item.notification.incident === incident)
  const about = (reason === 'resolved' ? alert.about : undefined) ?? aboutOf(rule, snapshot)
  const make = (reason: Reason, more: Partial<Notification> = {}): Notification => ({
    ...facts(rule, measured, alert, snapshot),
    ...about,
    id: `${incident}/${reason}/${now}`,
    incident,
    reason,
    at: now,
    ...more,
  })
  if (reason === 'fired') out.notifications.push(make('fired'))
  const told = channelsTold(threads, incident, alert)
  if (reason === 'repeated' && told.some((channel) => !waitsFor(queued, channel, incident)))
    out.notifications.push(make('repeated'))
  if (reason !== 'resolved') return
  if (queued.some((item) => isClaimed(item, now))) {
    out.alerts[key] = alert // another run is telling it right now: resolve at the next run
    return
  }
  out.overtaken.set(incident, incident)
  const end = { endedAt: now, ended: idle ? 'idle' : alert.restarted ? 'restarted' : 'clear' } as const
  // A channel for which the beginning still waits hears of it as past, the others of its end.
  if (queued.some(({ notification }) => notification.reason === 'fired' || notification.reason === 'worse')) {
    const joined = joinLates(make('late', end), outbox, now)
    out.notifications.push(joined.late)
    if (joined.replaced) out.overtaken.set(joined.replaced, incident)
  }
  if (alert.lastSentAt !== undefined) out.notifications.push(make('resolved', { ...end, priority: 4 }))
}

/** Remembers what is told now: when it is over, the endpoint no longer shows what it was. */
function toldAs(alert: Alert, reason: Reason | undefined, rule: Rule, snapshot: Snapshot): Alert {
  const about = reason === undefined ? {} : aboutOf(rule, snapshot)
  return Object.keys(about).length > 0 ? { ...alert, about } : alert
}

function aboutOf(rule: Rule, snapshot: Snapshot): About {
  const { observation, endpoint } = snapshot
  const failure = snapshot.after.failure ?? snapshot.before.failure
  if (rule.id === 'down') return failure ? { failure } : {}
  if (rule.id === 'blind') return unseen(snapshot)
  const beat = observation.up === true ? observation.beat : undefined
  if (rule.id !== 'heartbeat' || !endpoint.beat || !beat) return {}
  const { age, failed, body } = beat
  return {
    beat: {
      ...endpoint.beat,
      never: age === undefined,
      ...(age === undefined ? {} : { age }),
      ...(failed ? { failed } : {}),
      ...(body === undefined ? {} : { body }),
    },
  }
}

/** What a blind rule cannot see: not there, or there with a value that cannot be. */
function unseen({ observation, missing, faults, modelMissing }: Snapshot): About {
  if (modelMissing) return { modelMissing }
  if (missing.length === 0) return {}
  if (observation.unread) return { unread: missing }
  const [gone, doubted] = [false, true].map((isThere) =>
    missing.filter((signal) => faults.some((fault) => fault.signal === signal) === isThere),
  )
  return { ...(gone?.length ? { missing: gone } : {}), ...(doubted?.length ? { doubted } : {}) }
}

/** The rule's part of a notification. */
function facts(
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

/** Puts the context, made once an endpoint, on its notifications. */
export function withContext(notifications: readonly Notification[], context: AlertContext): Notification[] {
  return notifications.map((notification) => ({ ...notification, context }))
}
