import type { Endpoint } from '../model/config.ts'
import type { Notification } from '../model/notification.ts'
import type { Incident } from './incident-schema.ts'
import { maintenanceAt } from './maintenance.ts'
import type { EndpointState, Outgoing, State } from './schema.ts'
import type { Silence } from './silence-schema.ts'

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

export function covers({ scope, name }: Silence, place: Place | undefined): boolean {
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

/** An incident whose end is not settled. */
export function isOpen({ over }: Incident): boolean {
  return !over
}

/** The open incident that an alert of an endpoint belongs to. @param key as in the state: `rule` or `rule@subject`. */
export function incidentOf({ incidents }: Pick<EndpointState, 'incidents'>, key: string): Incident | undefined {
  return Object.values(incidents).find((incident) => isOpen(incident) && Object.hasOwn(incident.symptoms, key))
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
  const isQueued = state.outbox.some((item) => item.notification.id === notification.id)
  const outbox = isQueued ? state.outbox : [...state.outbox, unaddressed(notification, from)]
  return { ...state, silences: [...others, silence], outbox }
}

/** Which channels there are only a run knows: the next one gives it to those that are to hear of it. */
function unaddressed(notification: Notification, since: number): Outgoing {
  return { notification, since, to: {}, tries: 0 }
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
