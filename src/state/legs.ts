import { NOTIFLY } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Leg, Outgoing } from './schema.ts'

export type Legs = Readonly<Record<string, Leg>>

/** What is still to be done with an item, by channel. */
export function legsOf(item: Outgoing): Legs {
  if (item.to) return item.to
  const { notification, claim, retryAt, firstAt, limits, tries } = item
  const maybeSent = notification.maybeSent ? (true as const) : undefined
  return { [NOTIFLY]: { tries, ...defined({ claim, retryAt, firstAt, limits, maybeSent }) } }
}

/**
 * The item with these legs; none when nothing is left to be done. With the channel `notifly` alone they stand flat, as
 * they did before there were others: a state with one push server is no larger for them.
 */
export function withLegs(item: Pick<Outgoing, 'notification' | 'since' | 'told'>, legs: Legs): Outgoing[] {
  const names = Object.keys(legs)
  if (names.length === 0) return []
  const { notification, since, told } = item
  const head = { notification, since, ...defined({ told }) }
  const only = names.length === 1 ? legs[NOTIFLY] : undefined
  if (!only) return [{ ...head, to: { ...legs }, tries: 0 }]
  const { maybeSent, ...leg } = only
  const { maybeSent: _, ...rest } = notification
  return [{ ...head, notification: maybeSent ? { ...rest, maybeSent } : rest, ...leg }]
}

/** Longer than any run, and than any server is given. Milliseconds. */
const FARTHEST = 2 * 60 * 60_000

/** Later than now, and not so much later that it was written by a clock that was wrong: it would be waited for for days. */
export function isAhead(time: number | undefined, now: number): boolean {
  return time !== undefined && time > now && time <= now + FARTHEST
}

/** Another run is trying this one right now, on whichever channel. */
export function isClaimed(item: Outgoing, now: number): boolean {
  return Object.values(legsOf(item)).some((leg) => isAhead(leg.claim?.until, now))
}

/** What a channel's answers of 429 ask for: whichever message they answered, they are about all. */
export interface Limits {
  /** Such answers in a row. */
  count: number
  /** Epoch milliseconds: it may be asked again. */
  until?: number
}

export function limitsOf(outbox: readonly Outgoing[], channel: string, now: number): Limits {
  const limited = outbox.flatMap((item) => legsOf(item)[channel] ?? []).filter(({ limits }) => limits !== undefined)
  const times = limited.flatMap(({ firstAt }) => (isAhead(firstAt, now) ? (firstAt ?? []) : []))
  const count = Math.max(0, ...limited.map(({ limits = 0 }) => limits))
  return times.length > 0 ? { count, until: Math.max(...times) } : { count }
}

/** Channels that answered 429 and are not to be asked yet, nor have a fallback that may be. */
export function channelsToSpare(outbox: readonly Outgoing[], now: number): Set<string> {
  const spared = new Set<string>()
  for (const item of outbox) {
    for (const [channel, { limits, retryAt }] of Object.entries(legsOf(item))) {
      if (limits !== undefined && isAhead(retryAt, now)) spared.add(channel)
    }
  }
  return spared
}

/** Epoch milliseconds before which a channel wants to be asked for none of these; `undefined`: it may be. */
export function firstAtOf(
  outbox: readonly Outgoing[],
  { channel, ids, now }: { channel: string; ids: ReadonlySet<string>; now: number },
): number | undefined {
  const items = outbox.filter(({ notification }) => ids.has(notification.id))
  const times = items.flatMap((item) => legsOf(item)[channel]?.firstAt ?? [])
  const ahead = times.filter((time) => isAhead(time, now))
  return ahead.length > 0 ? Math.max(...ahead) : undefined
}
