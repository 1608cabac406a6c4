import { causeOf } from '../model/failure.ts'
import type { Notification } from '../model/notification.ts'

/** Up to this many endpoints have a message each; more are told together. */
const APART = 3

/**
 * Which notifications become one message: all endpoints of a function gone (or back) at once with one cause; else one
 * message an endpoint; of more than three endpoints, one digest. What concerns the watcher itself stands alone.
 * The most urgent group comes first; every notification is in exactly one group.
 */
export function group(notifications: readonly Notification[]): Notification[][] {
  const watcher = notifications.filter((fact) => fact.endpoint === undefined)
  const ofEndpoints = notifications.filter((fact) => fact.endpoint !== undefined)
  const together = by(ofEndpoints, momentOf).filter(isTogether)
  const rest = ofEndpoints.filter((fact) => !together.some((facts) => facts.includes(fact)))
  const apart = by(rest, (fact) => fact.endpoint)
  const messages = apart.length > APART ? [rest] : apart
  return [...watcher.map((fact) => [fact]), ...together, ...messages].sort((a, b) => urgency(b) - urgency(a))
}

/**
 * All endpoints of the function left or came back with one cause, at least two of them in one run: the watcher's own
 * network may be the fault. One that was told as down before has gone with them where it fails alike.
 */
export function isTogether(facts: readonly Notification[]): boolean {
  const [first] = facts
  const endpoints = new Set(facts.map((fact) => fact.endpoint)).size
  if (first?.context === undefined || endpoints < 2 || endpoints + downBefore(first) !== first.context.of) return false
  const moment = momentOf(first)
  return moment !== undefined && facts.every((fact) => momentOf(fact) === moment)
}

/** Endpoints that are told with these, though nothing new is told of them. */
export function downBefore({ reason, context }: Pick<Notification, 'reason' | 'context'>): number {
  return reason === 'resolved' ? 0 : (context?.downBefore ?? 0)
}

/** What has to be the same in all of them; `undefined` for what is never told together. */
function momentOf(fact: Notification): string | undefined {
  if (fact.rule !== 'down' || !['fired', 'repeated', 'resolved'].includes(fact.reason)) return undefined
  // What was told as one is over as one, whatever each of them said last.
  const cause = fact.reason === 'resolved' || !fact.failure ? '' : causeOf(fact.failure)
  return [fact.reason, fact.at, cause].join(' ')
}

function by(facts: readonly Notification[], keyOf: (fact: Notification) => string | undefined): Notification[][] {
  const groups = new Map<string, Notification[]>()
  for (const fact of facts) {
    const key = keyOf(fact)
    if (key === undefined) continue
    groups.set(key, [...(groups.get(key) ?? []), fact])
  }
  return [...groups.values()]
}

function urgency(facts: readonly Notification[]): number {
  return Math.max(...facts.map((fact) => (isOver(fact) ? 0 : fact.priority)))
}

export function isOver(fact: Notification): boolean {
  return fact.reason === 'resolved' || fact.reason === 'late'
}
