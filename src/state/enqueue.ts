import { defined } from '../model/defined.ts'
import type { Notification } from '../model/notification.ts'
import type { Incident } from './incident-schema.ts'
import { type Legs, legsOf, withLegs } from './legs.ts'
import { namesIn, type Routes, recipientsOf } from './recipients.ts'
import type { Leg, Outgoing } from './schema.ts'
import { channelsTold, type Threads, waitsFor } from './threads.ts'

/** What the outbox becomes in one run, before anything is sent. */
export interface Queueing {
  /** As the last run left it, without what is no longer configured. */
  outbox: readonly Outgoing[]
  notifications: readonly Notification[]
  /** Incidents whose waiting notifications are told as something else, and the incident whose notification tells them. */
  overtaken: ReadonlyMap<string, string>
  threads: Threads | undefined
  routes: Routes
  /** What was known of its incident before this run. */
  openBefore(notification: Notification): Pick<Incident, 'lastSentAt'> | undefined
  /** Incidents that a silence held back and that are told now, as reminders are, with when they were last told. */
  owed?: ReadonlyMap<string, number | undefined> | undefined
  now: number
}

/** Puts notifications that are not there yet at the end of the outbox, each for the channels that are to hear of it. */
export function enqueue(queueing: Queueing): Outgoing[] {
  const { outbox, notifications, overtaken, now } = queueing
  const known = new Set(outbox.map(({ notification }) => notification.id))
  const kept = outbox.filter(({ notification }) => !overtaken.has(notification.incident))
  const replaced = outbox.filter(({ notification }) => overtaken.has(notification.incident))
  const fresh = notifications.filter(({ id }) => !known.has(id))
  return [
    ...kept,
    ...fresh.flatMap((notification) => {
      const before = replaced.filter((item) => overtaken.get(item.notification.incident) === notification.incident)
      const since = Math.min(now, ...before.map((item) => item.since))
      return withLegs({ notification, since }, legsFor(notification, before, kept, queueing))
    }),
  ]
}

/** @param before what waits and is told by this notification instead. */
function legsFor(
  notification: Notification,
  before: readonly Outgoing[],
  kept: readonly Outgoing[],
  { threads, routes, openBefore, owed }: Queueing,
): Legs {
  const { incident, reason } = notification
  const isOwed = owed?.has(incident) === true
  const open = isOwed ? defined({ lastSentAt: owed.get(incident) }) : openBefore(notification)
  const told = channelsTold(threads, incident, open)
  const names =
    reason === 'late' && before.length > 0
      ? before.flatMap((item) => untold(item, item.notification.incident === incident ? told : []))
      : // It may be the first that is told of it, as what became worse is.
        recipientsOf(
          isOwed && reason === 'repeated' ? { ...notification, reason: 'worse' } : notification,
          routes,
          told,
        )
  const free = reason === 'repeated' ? names.filter((name) => !waitsFor(kept, name, incident)) : names
  return Object.fromEntries(free.map((name) => [name, newLeg(name, before, notification)]))
}

/** Channels for which the beginning of an incident waits. */
function untold(item: Outgoing, told: readonly string[]): string[] {
  const { reason } = item.notification
  if (reason !== 'fired' && reason !== 'worse' && reason !== 'late') return []
  return Object.keys(legsOf(item)).filter((name) => !told.includes(name))
}

/** It waits as the server asked. A pause after lost answers was for the message that may have arrived, and ends with it. */
function newLeg(channel: string, before: readonly Outgoing[], { maybeSent, reason }: Notification): Leg {
  const legs = before.flatMap((item) => legsOf(item)[channel] ?? [])
  const asked = legs.filter((leg) => !leg.maybeSent)
  const latest = (times: readonly (number | undefined)[]) => {
    const known = times.filter((time) => time !== undefined)
    return known.length > 0 ? Math.max(...known) : undefined
  }
  const wasSent = reason === 'late' ? legs.some((leg) => leg.claim || leg.maybeSent) : maybeSent === true
  return {
    tries: 0,
    ...defined({
      retryAt: latest(asked.map(({ retryAt }) => retryAt)),
      firstAt: latest(legs.map(({ firstAt }) => firstAt)),
      limits: latest(legs.map(({ limits }) => limits)),
      maybeSent: wasSent ? (true as const) : undefined,
    }),
  }
}

/**
 * What waits for channels that are no longer there goes to those that are, so that nothing is dropped untold; so does
 * what was put there when the channels were not known.
 */
export function readdressed(outbox: readonly Outgoing[], routes: Routes): Outgoing[] {
  const names = new Set(namesIn(routes))
  return outbox.flatMap((item): Outgoing[] => {
    const legs = legsOf(item)
    const there = Object.entries(legs).filter(([name]) => names.has(name))
    if (there.length > 0 && there.length === Object.keys(legs).length) return [item]
    if (there.length > 0) return withLegs(item, Object.fromEntries(there))
    if (item.told || item.notification.reason === 'repeated' || item.notification.reason === 'resolved') return []
    const fresh = recipientsOf(item.notification, routes, [])
    return withLegs(item, Object.fromEntries(fresh.map((name) => [name, { tries: 0 }])))
  })
}
