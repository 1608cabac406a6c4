import type { Config } from '../model/config.ts'
import { NOTIFLY } from '../model/config.ts'
import type { Notification } from '../model/notification.ts'

/** What is known of the channels when something is to be told. */
export type Routes = Pick<Config, 'channels' | 'heard' | 'endpoints'>

/**
 * Channels that are to hear of a notification. The least priority of a channel judges what begins and what becomes
 * worse; reminders and the end go to whoever was told, and to nobody else.
 * @param told the channels that were told of the incident.
 */
export function recipientsOf(notification: Notification, routes: Routes, told: readonly string[]): string[] {
  const names = namesIn(routes)
  const stillThere = told.filter((name) => names.includes(name))
  switch (notification.reason) {
    case 'repeated':
    case 'resolved':
      return stillThere
    case 'worse':
      return [...new Set([...stillThere, ...heardOf(notification, routes)])]
    case 'fired':
    case 'late':
    case 'told-once':
      return heardOf(notification, routes)
    default:
      return notification.reason satisfies never
  }
}

/** All that can be sent to; where nothing is configured, pushes are printed in the place of `notifly`. */
export function namesIn({ channels }: Pick<Config, 'channels'>): string[] {
  return channels.length === 0 ? [NOTIFLY] : channels.map(({ name }) => name)
}

function heardOf(notification: Notification, { channels, heard, endpoints }: Routes): string[] {
  if (channels.length === 0) return [NOTIFLY]
  const { rule, priority, subject } = notification
  // Whoever hears of an endpoint hears of its silence.
  const about = rule === 'silence' ? subject : notification.endpoint
  const names = endpoints.find(({ name }) => name === about)?.channels ?? heard
  const least = new Map(channels.map(({ name, minPriority }) => [name, minPriority]))
  const hearing = names.filter((name) => priority >= (least.get(name) ?? Number.POSITIVE_INFINITY))
  // A silence that nobody was told of could hide what matters: it is told to somebody.
  return rule === 'silence' && hearing.length === 0 ? names.filter((name) => least.has(name)) : hearing
}
