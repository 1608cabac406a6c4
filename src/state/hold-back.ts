import type { Notification } from '../model/notification.ts'
import type { Incident } from './incident-schema.ts'
import { isAhead, type Legs, legsOf, withLegs } from './legs.ts'
import { maintenanceAt } from './maintenance.ts'
import type { EndpointState, Outgoing, State } from './schema.ts'
import type { Silence } from './silence-schema.ts'
import { covers, isOpen, type Place, quietAt } from './silences.ts'

/** Whether there is anything to hold back or to wake: without it a run does nothing of this. */
export function isAnythingQuiet(state: State, places: readonly Place[]): boolean {
  const { silences, acknowledged, held } = state
  return Boolean(silences || acknowledged || held) || places.some(({ maintenance }) => maintenance !== undefined)
}

/** What is to be told after a silence: incidents that fire and were not told since its end, with when they last were. */
export type Owed = ReadonlyMap<string, number | undefined>

/**
 * Before a run decides: what fires in a place whose silence is over, and was not told since, is due to be told as a
 * reminder says it: since when, and how it is now. Planned work that is over is noted as a silence that is, so that both
 * are owed until they are told.
 */
export function wake(state: State, places: readonly Place[], now: number): { state: State; owed: Owed } {
  const silences = [...(state.silences ?? []), ...endedWork(state, places, now)]
  const over = silences.filter(({ until }) => until <= now)
  if (over.length === 0) return { state, owed: new Map() }
  const owed = new Map<string, number | undefined>()
  const endpoints = { ...state.endpoints }
  for (const place of places) {
    const endpoint = Object.hasOwn(endpoints, place.name) ? endpoints[place.name] : undefined
    const until = Math.max(...over.filter((silence) => covers(silence, place)).map((silence) => silence.until))
    if (!endpoint || !Number.isFinite(until) || quietAt(place, silences, now)) continue
    for (const { id, lastSentAt } of untold(endpoint, until, state.acknowledged)) owed.set(id, lastSentAt)
    endpoints[place.name] = withIncidents(endpoint, (incident) =>
      owed.has(incident.id) ? { ...incident, lastSentAt: LONG_AGO } : incident,
    )
  }
  return { state: { ...state, endpoints, silences }, owed }
}

/** Longer ago than any time between reminders. Epoch milliseconds. */
export const LONG_AGO = 0

/** Planned work that was going on at the last run and is over now. */
function endedWork({ ranAt }: State, places: readonly Place[], now: number): Silence[] {
  if (ranAt === undefined) return []
  return places.flatMap(({ name, maintenance }) => {
    if (
      !maintenance ||
      maintenanceAt(maintenance, ranAt) === undefined ||
      maintenanceAt(maintenance, now) !== undefined
    )
      return []
    return [{ id: `planned work ${name}`, scope: 'endpoint', name, from: ranAt, until: now, by: 'planned work' }]
  })
}

/** What fires and was not told since a moment; not what somebody has taken. */
function untold({ incidents }: EndpointState, since: number, acknowledged: State['acknowledged']): Incident[] {
  return Object.values(incidents).filter(
    (incident) =>
      isOpen(incident) &&
      incident.calmSince === undefined &&
      (incident.lastSentAt ?? LONG_AGO) < since &&
      !acknowledged?.[incident.id],
  )
}

function withIncidents(endpoint: EndpointState, change: (incident: Incident) => Incident): EndpointState {
  const incidents = Object.entries(endpoint.incidents).map(([kind, incident]) => [kind, change(incident)])
  return { ...endpoint, incidents: Object.fromEntries(incidents) }
}

/**
 * After a run has decided: takes out of the outbox what is not to be pushed. What began in a silence is told when it is
 * over, if it lasts (see `wake`); the end of what was told before it waits until then.
 */
export function holdBack(decided: State, places: readonly Place[], owed: Owed, now: number): State {
  const state = withTimesTold(decided, owed)
  const byName = new Map(places.map((place) => [place.name, place]))
  const silences = state.silences ?? []
  const quietOf = ({ endpoint, rule }: Notification) =>
    rule === 'silence' ? undefined : quietAt(endpoint === undefined ? undefined : byName.get(endpoint), silences, now)
  const held: Outgoing[] = []
  const freed: Outgoing[] = []
  for (const one of state.held ?? []) (quietOf(one.notification) ? held : freed).push({ ...one, since: now })
  const outbox = state.outbox.flatMap((item) => {
    const { notification } = item
    const { incident, reason } = notification
    const { claimed, free } = claimedAndFree(legsOf(item), now)
    const withoutFree = () => withLegs(item, claimed)
    if (reason === 'repeated' && state.acknowledged?.[incident]) return withoutFree()
    // It fired in a silence and ended before it could be told.
    if (reason === 'resolved' && owed.has(incident) && owed.get(incident) === undefined) return withoutFree()
    const quiet = quietOf(notification)
    if (!quiet) return [item]
    if (reason === 'resolved') held.push(...withLegs({ notification, since: now }, free))
    // It could not be delivered before the silence: it waits on, and is told late if it ends meanwhile.
    if (isFromBefore(notification, quiet.from))
      return withLegs({ ...item, since: now }, { ...claimed, ...later(free, now) })
    return withoutFree()
  })
  const { held: _, acknowledged: __, silences: ___, ...rest } = state
  const acknowledged = stillFiring(state)
  const lasting = silences.filter((silence) => silence.until > now || isOwing(silence, state, places))
  return {
    ...rest,
    outbox: [...outbox, ...freed],
    ...(lasting.length > 0 ? { silences: lasting } : {}),
    ...(held.length > 0 ? { held } : {}),
    ...(Object.keys(acknowledged).length > 0 ? { acknowledged } : {}),
  }
}

/** What another run is sending right now, and the rest. */
function claimedAndFree(legs: Legs, now: number): { claimed: Legs; free: Legs } {
  const isClaimed = ([, leg]: [string, Legs[string]]) => isAhead(leg.claim?.until, now)
  const all = Object.entries(legs)
  return {
    claimed: Object.fromEntries(all.filter(isClaimed)),
    free: Object.fromEntries(all.filter((leg) => !isClaimed(leg))),
  }
}

/** Not at this run. */
function later(legs: Legs, now: number): Legs {
  return Object.fromEntries(Object.entries(legs).map(([channel, leg]) => [channel, { ...leg, retryAt: now + 1 }]))
}

/** What waits in the outbox since before a silence. A reminder is made anew. */
function isFromBefore({ reason, at, firedAt }: Notification, from: number): boolean {
  if (reason === 'late') return firedAt < from
  return (reason === 'fired' || reason === 'worse') && at < from
}

/** The incidents that were due as told when they were: only a push changes that. */
function withTimesTold(state: State, owed: Owed): State {
  if (owed.size === 0) return state
  const endpoints = Object.entries(state.endpoints).map(([name, endpoint]) => [
    name,
    withIncidents(endpoint, (incident) => {
      if (!owed.has(incident.id) || incident.lastSentAt !== LONG_AGO) return incident
      const { lastSentAt: _, ...rest } = incident
      const before = owed.get(incident.id)
      return before === undefined ? rest : { ...rest, lastSentAt: before }
    }),
  ])
  return { ...state, endpoints: Object.fromEntries(endpoints) }
}

/** Something that fires in its place is still to be told. */
function isOwing(silence: Silence, { endpoints, acknowledged }: State, places: readonly Place[]): boolean {
  return places.some((place) => {
    const endpoint = Object.hasOwn(endpoints, place.name) ? endpoints[place.name] : undefined
    return endpoint && covers(silence, place) && untold(endpoint, silence.until, acknowledged).length > 0
  })
}

/** What was acknowledged and is over is forgotten. */
function stillFiring({ acknowledged = {}, endpoints }: State): NonNullable<State['acknowledged']> {
  if (Object.keys(acknowledged).length === 0) return {}
  const open = new Set(
    Object.values(endpoints).flatMap(({ incidents }) =>
      Object.values(incidents)
        .filter(isOpen)
        .map(({ id }) => id),
    ),
  )
  return Object.fromEntries(Object.entries(acknowledged).filter(([incident]) => open.has(incident)))
}
