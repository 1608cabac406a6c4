import { type ChannelConfig, type Config, NOTIFLY } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Message } from '../model/message.ts'
import type { Notification } from '../model/notification.ts'
import type { Delivery } from '../state/outbox.ts'
import { recipientsOf } from '../state/recipients.ts'
import type { Thread } from '../state/schema.ts'
import { type Threads, threadOf } from '../state/threads.ts'
import { alertThreads } from './alertmanager.ts'
import type { Push } from './channel.ts'
import type { PushOutcome } from './push-to.ts'

/** One message, and where it went; without a channel it was printed. */
export interface Told {
  facts: readonly Notification[]
  message: Message
  channel?: ChannelConfig
  what?: Push
  /** Ids of those that the channel's fallback was asked to take. */
  taken?: ReadonlySet<string>
}

/**
 * What a fallback is told for a channel: all, where it is the same channel's second server; else what begins or becomes
 * worse, if it is not told that anyway, as whoever was told of its beginning is, nor has a least priority above it.
 */
export function concerning(
  facts: readonly Notification[],
  fallback: ChannelConfig,
  config: Config,
  threads: Threads | undefined,
): Notification[] {
  if (fallback.isSpare) return [...facts]
  return facts.filter((fact) => {
    const isBeginning = fact.reason !== 'resolved' && fact.reason !== 'repeated'
    const isUrgent = fact.priority >= fallback.minPriority
    const isTold =
      threadOf(threads, fact.incident, fallback.name) !== undefined ||
      recipientsOf(fact, config, []).includes(fallback.name)
    return isBeginning && isUrgent && !isTold
  })
}

/**
 * What is written down of each notification that a message told.
 * @param at epoch milliseconds of the answer: what a server asks for counts from there.
 */
export function deliveriesOf(told: Told, outcome: PushOutcome, at: number, config: Config): Delivery[] {
  const { facts, channel, taken } = told
  const { kind, retryAfter, firstAfter, limits } = outcome
  const after = (wait: number | undefined) => (wait === undefined ? undefined : at + wait)
  const waits = defined({ retryAt: after(retryAfter), firstAt: after(firstAfter), limits })
  const fallback = outcome.by === 'fallback' && !channel?.fallback?.isSpare ? channel?.fallback : undefined
  const threadOf = threadsOf(told, outcome, fallback ?? channel, config)
  return facts.map(({ id, incident }): Delivery => {
    const name = channel?.name ?? NOTIFLY
    if (fallback && !taken?.has(id)) return { id, channel: name, kind: 'waiting', ...waits }
    if (kind !== 'delivered') return { id, channel: name, kind, ...waits }
    return { id, channel: name, kind, ...defined({ thread: threadOf(incident), by: fallback?.name }) }
  })
}

/** What the channel that took it is to remember; nothing where there is only the channel `notifly`. */
function threadsOf(
  { what }: Told,
  { thread }: PushOutcome,
  to: ChannelConfig | undefined,
  { channels }: Config,
): (incident: string) => Thread | undefined {
  const isPlain = channels.every(({ name }) => name === NOTIFLY)
  if (isPlain && thread === undefined) return () => undefined
  if (to?.service !== 'alertmanager' || !what) return () => thread ?? {}
  const alerts = alertThreads(what)
  return (incident) => alerts.get(incident) ?? {}
}

/** Why the run must count as failed. */
export function problemsOf(outcome: PushOutcome, { message, channel }: Told): string[] {
  const why = [outcome.status, outcome.reason].filter((part) => part !== undefined).join(' ')
  const server = channel === undefined || channel.name === NOTIFLY ? 'the push server' : `the channel ${channel.name}`
  if (outcome.misconfigured) {
    const advice = outcome.advice ?? 'check NOTIFLY_URL and NOTIFLY_TOKEN'
    return [`${server} did not take a message (${why}): ${advice}`]
  }
  if (outcome.kind !== 'refused') return []
  return [`${server} refused a message for good (${why}), which is dropped untold: ${message.title}`]
}
