import { defined } from '../model/defined.ts'
import type { Notification } from '../model/notification.ts'
import type { Outgoing, State } from './schema.ts'

/** What came of trying to deliver one notification. */
export interface Delivery {
  id: string
  kind: 'delivered' | 'waiting' | 'unanswered' | 'refused'
  /** Epoch milliseconds: not before, as the servers asked. */
  retryAt?: number
  /** Epoch milliseconds: the first server not before, the fallback at any time. */
  firstAt?: number
}

/**
 * Puts notifications that are not there yet at the end of the outbox.
 * @param overtaken items that some of them replace: the incident keeps their waiting time and what the servers asked for.
 */
export function enqueue(
  outbox: readonly Outgoing[],
  notifications: readonly Notification[],
  now: number,
  overtaken: readonly Outgoing[] = [],
): Outgoing[] {
  const known = new Set(outbox.map((o) => o.notification.id))
  const before = new Map(overtaken.map((item) => [item.notification.incident, item]))
  const fresh = notifications.filter((n) => !known.has(n.id))
  return [
    ...outbox,
    ...fresh.map((notification) => ({ notification, ...waitOf(before.get(notification.incident), now), tries: 0 })),
  ]
}

/** A pause after lost answers was for the message that may have arrived, and ends with it. */
function waitOf(before: Outgoing | undefined, now: number): Pick<Outgoing, 'since' | 'retryAt' | 'firstAt'> {
  if (before === undefined) return { since: now }
  const { since, retryAt, firstAt, notification } = before
  return { since, ...defined({ retryAt: notification.maybeSent ? undefined : retryAt, firstAt }) }
}

/**
 * Claims all that is due for this run, until its `end`: another run leaves it alone until then, so that a crash, a
 * failed try and an overlapping run all mean "due again later". What another run has claimed is not due.
 */
export function claimDue(state: State, by: string, now: number, end: number): { state: State; due: Notification[] } {
  const until = Math.floor(end)
  const due: Notification[] = []
  const outbox = state.outbox.map((item) => {
    if (isClaimed(item, now) || isAhead(item.retryAt, now)) return item
    // A claim that ran out belongs to a run that died between sending and settling: it may have been sent.
    const notification = item.claim ? { ...item.notification, maybeSent: true } : item.notification
    due.push(notification)
    return { ...item, notification, claim: { by, until }, tries: item.tries + 1 }
  })
  return { state: { ...state, outbox }, due }
}

/** Epoch milliseconds before which the first push server wants to be asked for none of these; `undefined`: it may be. */
export function firstAtOf(outbox: readonly Outgoing[], due: readonly Notification[], now: number): number | undefined {
  const ids = new Set(due.map(({ id }) => id))
  const times = outbox.flatMap(({ notification, firstAt }) => (ids.has(notification.id) ? (firstAt ?? []) : []))
  const ahead = times.filter((time) => isAhead(time, now))
  return ahead.length > 0 ? Math.max(...ahead) : undefined
}

/** Another run is trying this one right now. */
export function isClaimed(item: Outgoing, now: number): boolean {
  return isAhead(item.claim?.until, now)
}

/** Longer than any run, and than any server is given. Milliseconds. */
const FARTHEST = 2 * 60 * 60_000

/** Later than now, and not so much later that it was written by a clock that was wrong: waiting for it could take days. */
function isAhead(time: number | undefined, now: number): boolean {
  return time !== undefined && time > now && time <= now + FARTHEST
}

/** After a second lost answer the server may be taking each message and only be slow to say so. Milliseconds. */
const LONGEST_PAUSE = 5 * 60_000
/** A schedule is not exact to the second: a pause ends a little before the run that is meant. */
const EARLY = 30_000

/**
 * Takes delivered and refused notifications out of the outbox, frees the others, and notes on each incident when it was
 * told. Works on whatever state is newest: another run may have written since the claim, and what that one has claimed
 * by now stays its own.
 * @param by the run that tried.
 */
export function settle(state: State, deliveries: readonly Delivery[], now: number, by: string): State {
  const byId = new Map(deliveries.map((d) => [d.id, d]))
  const settled: Notification[] = []
  const outbox = state.outbox.flatMap((item): Outgoing[] => {
    const delivery = byId.get(item.notification.id)
    if (!delivery) return [item]
    if (delivery.kind === 'delivered') settled.push(item.notification)
    if (delivery.kind === 'delivered' || delivery.kind === 'refused') return []
    const notification = delivery.kind === 'unanswered' ? { ...item.notification, maybeSent: true } : item.notification
    if (item.claim?.by !== by) return [{ ...item, notification }]
    const { claim: _, retryAt: __, firstAt: ___, ...rest } = item
    const { retryAt = pausedUntil(delivery, item, now), firstAt } = delivery
    return [{ ...rest, notification, ...defined({ retryAt: whole(retryAt), firstAt: whole(firstAt) }) }]
  })
  return { ...state, outbox, endpoints: toldOf(state, settled, now) }
}

/** A server may ask for 1.5 s, and a stopwatch counts fractions: the state holds whole milliseconds alone. */
function whole(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.ceil(time)
}

/** Epoch milliseconds: after answers that were lost again and again, 2, 4, then 5 minutes, lest each run repeat a message that had arrived. */
function pausedUntil({ kind }: Delivery, { notification, tries }: Outgoing, now: number): number | undefined {
  if (kind !== 'unanswered' || notification.maybeSent !== true || tries < 2) return undefined
  return now + Math.min(2 ** (tries - 1) * 60_000, LONGEST_PAUSE) - EARLY
}

/** The endpoints, with `lastSentAt` set on the incidents that were delivered. Copied once: a thousand may be delivered at once. */
function toldOf(state: State, delivered: readonly Notification[], now: number): State['endpoints'] {
  if (delivered.length === 0) return state.endpoints
  const endpoints = { ...state.endpoints }
  for (const { endpoint, incident } of delivered) {
    if (endpoint === undefined || !Object.hasOwn(endpoints, endpoint)) continue
    const entry = endpoints[endpoint]
    const [kind, open] = Object.entries(entry?.incidents ?? {}).find(([, { id }]) => id === incident) ?? []
    if (!entry || kind === undefined || !open) continue
    endpoints[endpoint] = { ...entry, incidents: { ...entry.incidents, [kind]: { ...open, lastSentAt: now } } }
  }
  return endpoints
}
