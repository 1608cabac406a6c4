import type { Notification } from '../model/notification.ts'
import { isClaimed } from '../state/legs.ts'
import type { Outgoing } from '../state/schema.ts'

/** Late notices of one alert that wait separately. */
const APART = 3

/**
 * While the push server is away for long, an alert that comes and goes again and again becomes one notice: separate ones
 * would make the state grow without end and the message no more useful.
 * @param late an alert came and went before it could be told.
 * @returns the notice, perhaps joined with the last one that waits, and the incident whose notification it replaces.
 */
export function joinLateNotices(
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
