import { causeOf } from '../model/failure.ts'
import type { Notification } from '../model/notification.ts'

/** Up to this many endpoints get a message each; more share a digest. */
const APART = 3

/**
 * Which notifications become one message: one for all endpoints of a function that went (or came back) at once with one
 * cause; otherwise one per endpoint, or one digest for more than three. What concerns the watcher itself stands alone.
 * The most urgent group comes first; every notification is in exactly one group.
 */
export function group(notifications: readonly Notification[]): Notification[][] {
  const watcher = notifications.filter(({ endpoint }) => endpoint === undefined)
  const ofEndpoints = notifications.filter(({ endpoint }) => endpoint !== undefined)
  const outages = by(ofEndpoints, momentOf).filter(isOutage)
  const pools = poolsIn(ofEndpoints, outages)
  const together = [
    ...pools,
    ...outages.filter((outage) => !pools.some((pool) => pool.includes(outage[0] as Notification))),
  ]
  const rest = ofEndpoints.filter((notification) => !together.some((one) => one.includes(notification)))
  const apart = by(rest, ({ endpoint }) => endpoint)
  const messages = apart.length > APART ? [rest] : apart
  return [...watcher.map((notification) => [notification]), ...together, ...messages].sort(
    (a, b) => urgency(b) - urgency(a),
  )
}

/**
 * A group that is gone, or back, with the replicas that went or came with it in that run: told once, as the group. Where
 * an outage took several groups at once, all of them are in its message.
 */
function poolsIn(notifications: readonly Notification[], outages: readonly Notification[][]): Notification[][] {
  const pools = notifications.filter(({ rule }) => rule === 'pool')
  const all =
    pools.length > 1
      ? outages.find((outage) => outage.every((one) => pools.some((pool) => isWith(pool, one))))
      : undefined
  if (all) return [[...pools, ...all]]
  return pools.map((pool) => [pool, ...notifications.filter((one) => isWith(pool, one))])
}

function isWith(pool: Notification, { rule, reason, at, endpoint }: Notification): boolean {
  return (
    rule === 'down' && reason === pool.reason && at === pool.at && endpoint?.startsWith(`${pool.endpoint}/`) === true
  )
}

/**
 * Whether all endpoints of the function went or came back with one cause, at least two of them in one run: the watcher's
 * own network may be at fault. One that was told as down before counts as gone with them if it fails for the same reason.
 */
export function isOutage(notifications: readonly Notification[]): boolean {
  const [first] = notifications
  const endpoints = new Set(notifications.map(({ endpoint }) => endpoint)).size
  if (first?.context === undefined || endpoints < 2 || endpoints + downBefore(first) !== first.context.of) return false
  const moment = momentOf(first)
  return moment !== undefined && notifications.every((notification) => momentOf(notification) === moment)
}

/** Endpoints that belong to the outage though there is nothing new to tell about them. */
export function downBefore({ reason, context }: Pick<Notification, 'reason' | 'context'>): number {
  return reason === 'resolved' ? 0 : (context?.downBefore ?? 0)
}

/** What all notifications of an outage have in common; `undefined` for what is never part of one. */
function momentOf({ rule, reason, at, failure }: Notification): string | undefined {
  if (rule !== 'down' || !['fired', 'repeated', 'resolved'].includes(reason)) return undefined
  // What was told together is over together, whatever each of them said last.
  const cause = reason === 'resolved' || !failure ? '' : causeOf(failure)
  return [reason, at, cause].join(' ')
}

function by(
  notifications: readonly Notification[],
  keyOf: (notification: Notification) => string | undefined,
): Notification[][] {
  const groups = new Map<string, Notification[]>()
  for (const notification of notifications) {
    const key = keyOf(notification)
    if (key === undefined) continue
    groups.set(key, [...(groups.get(key) ?? []), notification])
  }
  return [...groups.values()]
}

function urgency(notifications: readonly Notification[]): number {
  return Math.max(...notifications.map((notification) => (isOver(notification) ? 0 : notification.priority)))
}

export function isOver({ reason }: Pick<Notification, 'reason'>): boolean {
  return reason === 'resolved' || reason === 'late'
}
