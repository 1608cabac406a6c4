import type { Notification } from '../model/notification.ts'
import { isClaimed } from '../state/legs.ts'
import type { Outgoing } from '../state/schema.ts'

/** Late notifications of one alert that wait each by itself. */
const APART = 3

/**
 * While the push server is away for long, what comes and goes again and again is told as one: the state would grow
 * without an end, and the message would be of no more use for it.
 * @param late to be told: one alert came and went before it could be.
 * @returns it, perhaps as one with the last that waits, and the incident whose notification it replaces.
 */
export function joinLates(
  late: Notification,
  outbox: readonly Outgoing[],
  now: number,
): { late: Notification; replaced?: string } {
  const waiting = outbox.filter((item) => isSameAlert(item.notification, late) && !isClaimed(item, now))
  const last = waiting.at(-1)?.notification
  if (last === undefined || waiting.length <= APART) return { late }
  const peaks = [last.peak, late.peak].filter((peak) => peak !== undefined)
  const joined: Notification = {
    ...late,
    firedAt: last.firedAt,
    times: (last.times ?? 1) + 1,
    ...(peaks.length > 0 ? { peak: Math.max(...peaks) } : {}),
  }
  return { late: joined, replaced: last.incident }
}

function isSameAlert({ reason, endpoint, rule, subject }: Notification, late: Notification): boolean {
  return reason === 'late' && endpoint === late.endpoint && rule === late.rule && subject === late.subject
}
