import { defined } from '../model/defined.ts'
import type { Cause } from '../model/explanation.ts'
import type { About, AlertContext, Notification, Reason, Symptom } from '../model/notification.ts'
import { ruleOf, subjectOf } from '../state/alert-key.ts'
import type { Incident } from '../state/incident-schema.ts'
import { isClaimed } from '../state/legs.ts'
import type { Outgoing } from '../state/schema.ts'
import { channelsTold, type Threads, waitsFor } from '../state/threads.ts'
import { CRITICAL_PRIORITY, type Firing, type Followed, follow, type Told, WORK } from './incident.ts'
import type { Coming, Judged } from './judge-endpoint.ts'
import { joinLateNotices } from './late-notice.ts'
import { isCritical } from './measured.ts'
import type { RuleSpec } from './rule.ts'
import { RULE_IDS, type RuleId, ruleNamed, specOf } from './rules.ts'
import { insideOf, type Snapshot } from './snapshot.ts'
import type { Why } from './why.ts'

/** What became of one endpoint's incidents in one run. */
export interface Incidents {
  incidents: Record<string, Incident>
  notifications: Notification[]
  /** Incidents whose waiting notifications leave the outbox, and the incident whose notification tells them instead. */
  overtaken: Map<string, string>
}

interface Context {
  snapshot: Snapshot
  judged: readonly Judged[]
  coming: readonly Coming[]
  outbox: readonly Outgoing[]
  threads: Threads | undefined
  context: AlertContext
  why: Why
  now: number
}

/** Follows every incident of an endpoint, and says what is to be told of each. */
export function followAll(given: Context): Incidents {
  const { snapshot, judged, now } = given
  const out: Incidents = { incidents: {}, notifications: [], overtaken: new Map() }
  const kinds = new Set([...Object.keys(snapshot.before.incidents), ...judged.map(({ key }) => kindOf(key))])
  for (const kind of kinds) {
    const own = judged.filter(({ key }) => kindOf(key) === kind).sort(worstFirst)
    const before = snapshot.before.incidents[kind]
    const { incident: followed, told } = follow(before, seenOf(kind, own, before, given), now)
    const incident = followed && withReasons(kind, followed, own, given)
    if (incident) out.incidents[kind] = incident
    if (incident && told) tell(kind, { incident, told }, own, given, out)
  }
  return out
}

/** With why it is there: of work that does not get through the verdict, of anything what lies below it. */
function withReasons(kind: string, incident: Incident, own: readonly Judged[], { why }: Context): Incident {
  const { verdict: _, other: __, cause: known, ...rest } = incident
  const firing = own.find(({ ended }) => ended === undefined)
  const cause = (firing && causeOf(firing, incident, why)) ?? known
  if (incident.over) return { ...rest, ...defined({ cause }) }
  return { ...rest, ...defined({ cause }), ...(kind === WORK && defined({ verdict: why.verdict, other: why.other })) }
}

/** What a rule may be a symptom of; the hardware itself, the watcher and the workers are of nothing that is seen beside them. */
const ABOVE_A_CAUSE: readonly RuleSpec['about'][] = ['queue', 'engine', 'gateway', 'reachability']

function causeOf({ rule }: Judged, { openedAt }: Incident, why: Why): Cause | undefined {
  if (!ABOVE_A_CAUSE.includes(specOf(rule.id).about)) return undefined
  const { gpu, upstreams } = why.causeFor(openedAt)
  const cause = defined({ gpu, upstreams: rule.id === 'upstream' ? undefined : upstreams })
  return Object.keys(cause).length === 0 ? undefined : cause
}

export function kindOf(key: string): string {
  return ruleNamed(ruleOf(key))?.symptom ? WORK : key
}

function seenOf(kind: string, own: readonly Judged[], before: Incident | undefined, given: Context) {
  const { snapshot, context } = given
  const firing = own.filter(({ ended }) => ended === undefined)
  const ends = own.flatMap(({ ended }) => ended ?? [])
  const [worst] = firing
  return {
    firing: firing.map((one) => ({ ...firingOf(one), misled: refusesTheKey(one.key, before, snapshot) })),
    coming: comingTo(kind, given).map(({ rule, measured }) => ({
      priority: rule.priority,
      critical: isCritical(measured?.value, rule),
    })),
    ended: ends.includes('restarted') ? ('restarted' as const) : ends[0],
    idle: kind === WORK && isIdle(snapshot, before),
    verdict: kind === WORK ? context.verdict?.kind : undefined,
    flaps: snapshot.endpoint.flaps,
    claimed: isPutOff(before, given),
    id: worst ? idOf(worst, snapshot) : '',
  }
}

/**
 * Told as gone, it is there again and refuses the watcher's key, for two runs now: it will go on so until somebody gives the
 * watcher the new one, and the reminder is hours away.
 */
function refusesTheKey(key: string, open: Incident | undefined, { before, after }: Snapshot): boolean {
  const told = open?.symptoms[key]?.about?.failure
  const isRefused = [before, after].every(({ failure }) => failure?.kind === 'not-authorised')
  return told !== undefined && told.kind !== 'not-authorised' && isRefused
}

function comingTo(kind: string, { coming }: Pick<Context, 'coming'>): Coming[] {
  return coming.filter(({ key }) => kindOf(key) === kind)
}

/** Its end is to wait for the next run: another one is telling of it right now, or it was put off and nothing is known now. */
function isPutOff(before: Incident | undefined, { snapshot, outbox, now }: Context): boolean {
  if (!before) return false
  const isTelling = outbox.some((item) => item.notification.incident === before.id && isClaimed(item, now))
  return isTelling || (before.calmSince !== undefined && snapshot.observation.up === false)
}

function firingOf({ key, rule, measured, judgement, alert, began, renewed }: Judged): Omit<Firing, 'misled'> {
  const critical = isCritical(measured?.value, rule)
  const lasts = judgement === 'breach' || judgement === 'between'
  const lowIsWorse = rule.breach === 'below'
  const { priority, repeat } = rule
  return { key, priority, repeat, peak: alert.peak, lowIsWorse, lasts, began, renewed, critical }
}

/**
 * Nobody asks any more: no request is in the server, and none has finished since the last run, though some had before.
 * Not known of a server that does not count them, or whose count stands still all the time.
 */
function isIdle({ readings, last, window }: Snapshot, before: Incident | undefined): boolean {
  if (readings === undefined || insideOf(readings) !== 0 || last?.counters.finished !== 0) return false
  return before?.calmSince !== undefined || (window?.counters.finished ?? 0) > 0
}

function idOf({ key, alert }: Judged, { endpoint }: Snapshot): string {
  return `${endpoint.name}|${ruleOf(key)}|${subjectOf(key) ?? ''}@${alert.firedAt ?? alert.activeAt}`
}

/** By priority; of equal ones the one that stands first in the list of rules. */
function worstFirst(a: Judged, b: Judged): number {
  return b.rule.priority - a.rule.priority || placeOf(a.key) - placeOf(b.key)
}

function placeOf(key: string): number {
  return RULE_IDS.indexOf(ruleOf(key) as RuleId)
}

/** Adds what is to be told of one incident. */
function tell(
  kind: string,
  { incident, told }: Followed & { incident: Incident; told: Told },
  own: readonly Judged[],
  given: Context,
  out: Incidents,
): void {
  const { snapshot, outbox, threads, now } = given
  const queued = outbox.filter((item) => item.notification.incident === incident.id)
  const key = told.key ?? mainOf(incident, snapshot)
  const main = own.find((one) => one.key === key)
  const isEnd = told.reason === 'resolved'
  const make = (reason: Reason, more: Partial<Notification> = {}): Notification => ({
    ...factOf(main ?? { key }, incident, snapshot),
    id: `${incident.id}/${reason}/${now}`,
    incident: incident.id,
    reason,
    priority: told.priority,
    at: now,
    firedAt: told.flaps?.since ?? incident.openedAt,
    context: { ...given.context, ...defined({ cause: incident.cause }) },
    ...defined({
      symptoms: symptomsOf(key, partsOf(told, incident, own, comingTo(kind, given)), incident, snapshot),
      turn: told.turn,
      critical: told.turn === 'critical' || told.priority >= CRITICAL_PRIORITY ? criticalOf(main) : undefined,
      flaps: told.flaps,
      began: isEnd ? oftenOf(incident) : undefined,
    }),
    ...more,
  })
  if (!isEnd) {
    const channels = channelsTold(threads, incident.id, incident)
    const isFree = channels.some((channel) => !waitsFor(queued, channel, incident.id))
    if (told.reason !== 'repeated' || isFree) out.notifications.push(make(told.reason))
    out.incidents[kind] = { ...incident, symptoms: asTold(incident.symptoms, own, snapshot) }
    return
  }
  out.overtaken.set(incident.id, incident.id)
  const end = { endedAt: incident.calmSince ?? now, ended: incident.ended ?? 'clear' } as const
  // A channel for which the beginning still waits hears of it as past, the others of its end.
  if (queued.some(({ notification }) => notification.reason === 'fired' || notification.reason === 'worse')) {
    const joined = joinLateNotices(make('late', end), outbox, now)
    out.notifications.push(joined.late)
    if (joined.replaced) out.overtaken.set(joined.replaced, incident.id)
  }
  if (incident.lastSentAt !== undefined) out.notifications.push(make('resolved', { ...end, priority: 4 }))
}

/** Remembers what is told now, because at its end the endpoint no longer shows what it was. */
function asTold(symptoms: Incident['symptoms'], own: readonly Judged[], snapshot: Snapshot): Incident['symptoms'] {
  const told = own.flatMap(({ key, ended }) => {
    const known = symptoms[key]
    const about = ended === undefined ? describe(key, snapshot) : {}
    return known && Object.keys(about).length > 0 ? [[key, { ...known, about }] as const] : []
  })
  return told.length === 0 ? symptoms : { ...symptoms, ...Object.fromEntries(told) }
}

function describe(key: string, snapshot: Snapshot): About {
  return specOf(ruleOf(key)).describe?.(snapshot, subjectOf(key)) ?? {}
}

/** The most urgent that took part names the end. */
function mainOf({ symptoms }: Incident, { endpoint }: Snapshot): string {
  const priority = (key: string) => endpoint.rules.find(({ id }) => id === ruleOf(key))?.priority ?? -1
  const keys = Object.keys(symptoms)
  return keys.sort((a, b) => priority(b) - priority(a) || placeOf(a) - placeOf(b))[0] ?? ''
}

/** One that takes part, with what this run made of it. */
type Part = Pick<Judged, 'key'> & Partial<Judged>

/** What fires, and of a beginning what soon will; of an end, what took part. */
function partsOf({ reason }: Told, { symptoms }: Incident, own: readonly Judged[], coming: readonly Part[]): Part[] {
  if (reason === 'resolved') return Object.keys(symptoms).map((key) => own.find((one) => one.key === key) ?? { key })
  const firing = own.filter(({ ended }) => !ended)
  return reason === 'fired' ? [...firing, ...coming] : firing
}

/** All that takes part beside the main one. */
function symptomsOf(
  main: string,
  parts: readonly Part[],
  incident: Incident,
  snapshot: Snapshot,
): Symptom[] | undefined {
  const others = parts.filter(({ key }) => key !== main && specOf(ruleOf(key)) !== undefined)
  return others.length === 0 ? undefined : others.map((part) => factOf(part, incident, snapshot))
}

/** The rule's part of a notification. */
function factOf({ key, rule: judgedBy, measured, alert, ended }: Part, { symptoms }: Incident, snapshot: Snapshot) {
  const { endpoint, readings } = snapshot
  const subject = subjectOf(key)
  const rule = judgedBy ?? endpoint.rules.find(({ id }) => id === ruleOf(key))
  const { value, usual, atLeast } = measured ?? {}
  const peak = symptoms[key]?.peak ?? alert?.peak
  const fires = judgedBy !== undefined && ended === undefined
  return {
    ...(fires ? describe(key, snapshot) : (symptoms[key]?.about ?? describe(key, snapshot))),
    rule: ruleOf(key),
    endpoint: endpoint.name,
    ...defined({
      subject,
      subjectName: subject === undefined ? undefined : readings?.subjectNames?.[subject],
      limit: rule?.limit,
      value: rounded(value),
      atLeast: atLeast || undefined,
      usual: rounded(usual),
      peak: rounded(peak),
    }),
  }
}

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Number(value.toPrecision(5))
}

function criticalOf(main: Judged | undefined): number | undefined {
  return main && isCritical(main.measured?.value, main.rule) ? main.rule.critical : undefined
}

/** How often the most restless of its symptoms began to fire, where that is worth a word. */
function oftenOf({ symptoms }: Incident): number | undefined {
  const most = Math.max(0, ...Object.values(symptoms).map(({ times }) => times))
  return most >= 3 ? most : undefined
}
