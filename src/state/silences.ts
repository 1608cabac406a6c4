import type { Endpoint } from '../model/config.ts'
import type { Notification } from '../model/notification.ts'
import { ruleOf, subjectOf } from './alert-key.ts'
import { maintenanceAt } from './maintenance.ts'
import { enqueue, isClaimed } from './outbox.ts'
import type { Alert, EndpointState, Silence, State } from './schema.ts'

/** What silences and windows of planned work are asked about. */
export type Place = Pick<Endpoint, 'name' | 'group' | 'maintenance'>

/** Why nothing is pushed, and until when. Epoch milliseconds. */
export interface Quiet {
  kind: 'silence' | 'maintenance'
  from: number
  until: number
  by?: string
  comment?: string
}

/** Longest that a silence may last. Milliseconds. */
export const LONGEST_SILENCE = 7 * 86_400_000

/** What keeps pushes of an endpoint (or, without one, of the whole function) back at a moment: the one that lasts longest. */
export function quietAt(place: Place | undefined, silences: readonly Silence[], at: number): Quiet | undefined {
  const found: Quiet[] = silences
    .filter((silence) => silence.from <= at && at < silence.until && covers(silence, place))
    .map(({ from, until, by, comment }) => ({
      kind: 'silence',
      from,
      until,
      by,
      ...(comment === undefined ? {} : { comment }),
    }))
  const until = place?.maintenance && maintenanceAt(place.maintenance, at)
  if (until !== undefined) found.push({ kind: 'maintenance', from: at, until })
  return found.sort((a, b) => b.until - a.until)[0]
}

function covers({ scope, name }: Silence, place: Place | undefined): boolean {
  switch (scope) {
    case 'function':
      return true
    case 'group':
      return place !== undefined && place.group === name
    case 'endpoint':
      return place?.name === name
    default:
      return scope satisfies never
  }
}

/** Whether there is anything to hold back or to wake: without it a run does nothing of this. */
export function isAnythingQuiet(state: State, places: readonly Place[]): boolean {
  const { silences, acknowledged, held } = state
  return Boolean(silences || acknowledged || held) || places.some(({ maintenance }) => maintenance !== undefined)
}

/**
 * Before a run decides: silences that are over leave the state, and what still fires in their place is due to be told,
 * as a reminder says it: since when, and how it is now.
 * @returns also the endpoints that are no longer quiet.
 */
export function wake(
  state: State,
  places: readonly Place[],
  now: number,
): { state: State; woken: ReadonlySet<string> } {
  const silences = state.silences ?? []
  const lasting = silences.filter(({ until }) => until > now)
  const before = state.ranAt ?? 0
  // One that was ended early has its end before this run, perhaps by a clock that is not ours: it is over all the same.
  const over = silences.filter(({ from, until }) => until <= now && from <= before)
  const wasQuiet = (place: Place) =>
    over.some((silence) => covers(silence, place)) ||
    (place.maintenance !== undefined && maintenanceAt(place.maintenance, before) !== undefined)
  const woken = new Set(
    places.filter((place) => wasQuiet(place) && !quietAt(place, lasting, now)).map(({ name }) => name),
  )
  const endpoints = Object.fromEntries(
    Object.entries(state.endpoints).map(([name, endpoint]) => [
      name,
      woken.has(name) ? withRemindersDue(name, endpoint, state.acknowledged) : endpoint,
    ]),
  )
  const { silences: _, ...rest } = state
  return { state: { ...rest, endpoints, ...(lasting.length > 0 ? { silences: lasting } : {}) }, woken }
}

/** Longer ago than any time between reminders. */
const LONG_AGO = 0

function withRemindersDue(name: string, state: EndpointState, acknowledged: State['acknowledged']): EndpointState {
  const alerts = Object.entries(state.alerts).map(([key, alert]) =>
    alert.phase === 'firing' && !acknowledged?.[incidentOf(name, key, alert)]
      ? [key, { ...alert, lastSentAt: LONG_AGO }]
      : [key, alert],
  )
  return { ...state, alerts: Object.fromEntries(alerts) }
}

/** The id of the incident that an alert of an endpoint is, as its notifications carry it. @param key as in the state: `rule` or `rule@subject`. */
export function incidentOf(endpoint: string, key: string, { firedAt }: Pick<Alert, 'firedAt'>): string {
  return `${endpoint}|${ruleOf(key)}|${subjectOf(key) ?? ''}@${firedAt}`
}

/**
 * After a run has decided: takes out of the outbox what is not to be pushed. What began in a silence is told when it is
 * over, if it lasts (see `wake`); the end of what was told before it waits until then.
 */
export function holdBack(state: State, places: readonly Place[], now: number): State {
  const byName = new Map(places.map((place) => [place.name, place]))
  const silences = state.silences ?? []
  const quietOf = ({ endpoint, rule }: Notification) =>
    rule === 'silence' ? undefined : quietAt(endpoint === undefined ? undefined : byName.get(endpoint), silences, now)
  const held: Notification[] = []
  const freed: Notification[] = []
  for (const one of state.held ?? []) (quietOf(one) ? held : freed).push(one)
  const outbox = state.outbox.filter((item) => {
    const { notification } = item
    if (isClaimed(item, now)) return true
    if (notification.reason === 'repeated' && state.acknowledged?.[notification.incident]) return false
    const quiet = quietOf(notification)
    if (!quiet) return true
    if (notification.reason === 'resolved') held.push(notification)
    return false
  })
  const { held: _, acknowledged: __, ...rest } = state
  const acknowledged = stillFiring(state)
  return {
    ...rest,
    outbox: enqueue(outbox, freed, now),
    ...(held.length > 0 ? { held } : {}),
    ...(Object.keys(acknowledged).length > 0 ? { acknowledged } : {}),
  }
}

/** What was acknowledged and is over is forgotten. */
function stillFiring({ acknowledged = {}, endpoints }: State): NonNullable<State['acknowledged']> {
  if (Object.keys(acknowledged).length === 0) return {}
  const firing = new Set(
    Object.entries(endpoints).flatMap(([name, { alerts }]) =>
      Object.entries(alerts).flatMap(([key, alert]) => (alert.phase === 'firing' ? incidentOf(name, key, alert) : [])),
    ),
  )
  return Object.fromEntries(Object.entries(acknowledged).filter(([incident]) => firing.has(incident)))
}

/** Notes who has taken these incidents. The first one counts. */
export function acknowledge(state: State, incidents: readonly string[], at: number, by: string): State {
  const taken = Object.fromEntries(incidents.map((incident) => [incident, { at, by }]))
  return { ...state, acknowledged: { ...taken, ...state.acknowledged } }
}

/**
 * Adds a silence, and the push that tells of it. One with the same id that still holds stays as it is.
 * @param name of the function, for the push.
 */
export function addSilence(state: State, silence: Silence, name: string): State {
  const { from, until, by, comment } = silence
  const others = (state.silences ?? []).filter(({ id }) => id !== silence.id)
  const same = (state.silences ?? []).find(({ id }) => id === silence.id)
  if (same && same.until > from) return state
  const subject = silence.name ?? name
  const incident = `|silence|${subject}@${from}`
  const notification: Notification = {
    id: `${incident}/told-once/${from}`,
    incident,
    reason: 'told-once',
    rule: 'silence',
    subject,
    priority: 4,
    at: from,
    firedAt: from,
    silence: { from, until, by, ...(comment === undefined ? {} : { comment }) },
  }
  return { ...state, silences: [...others, silence], outbox: enqueue(state.outbox, [notification], from) }
}

/** Ends the silences of a place; the next run takes them out, and tells what fires. */
export function endSilences(state: State, scope: Pick<Silence, 'scope' | 'name'>, now: number): State {
  if (!state.silences) return state
  const isMeant = (silence: Silence) => silence.scope === scope.scope && silence.name === scope.name
  const silences = state.silences.map((silence) =>
    isMeant(silence) && silence.until > now ? { ...silence, until: now } : silence,
  )
  return { ...state, silences }
}
