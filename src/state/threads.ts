import { NOTIFLY } from '../model/config.ts'
import { ruleOf, subjectOf } from './alert-key.ts'
import type { Alert, Outgoing, State, Thread } from './schema.ts'

export type Threads = NonNullable<State['threads']>

/** The name of the span from fired to resolved of an endpoint's alert. */
export function incidentOf(endpoint: string, rule: string, subject: string | undefined, firedAt = 0): string {
  return `${endpoint}|${rule}|${subject ?? ''}@${firedAt}`
}

/**
 * The channels that were told of an incident. With the channel `notifly` alone nothing is written down for it: that it
 * was told stands on the alert.
 */
export function channelsTold(
  threads: Threads | undefined,
  incident: string,
  alert: Pick<Alert, 'lastSentAt'> | undefined,
): string[] {
  const known = threads && Object.hasOwn(threads, incident) ? threads[incident] : undefined
  if (known) return Object.keys(known).filter((channel) => known[channel]?.left === undefined)
  return alert?.lastSentAt === undefined ? [] : [NOTIFLY]
}

export function threadOf(threads: Threads | undefined, incident: string, channel: string): Thread | undefined {
  return threads && Object.hasOwn(threads, incident) ? threads[incident]?.[channel] : undefined
}

/** The threads with one changed, or taken out. */
export function withThread(threads: Threads, incident: string, channel: string, thread: Thread | undefined): Threads {
  const { [incident]: before = {}, ...others } = threads
  const { [channel]: _, ...rest } = before
  const own = thread === undefined ? rest : { ...rest, [channel]: thread }
  return Object.keys(own).length === 0 ? others : { ...others, [incident]: own }
}

/** Incidents that last: one for each alert that has one. */
export function openIncidents({ endpoints }: Pick<State, 'endpoints'>): Set<string> {
  const open = new Set<string>()
  for (const [name, { alerts }] of Object.entries(endpoints)) {
    for (const [key, { firedAt }] of Object.entries(alerts))
      open.add(incidentOf(name, ruleOf(key), subjectOf(key), firedAt))
  }
  return open
}

/** The threads without those whose endpoint or rule is gone: their incident neither lasts nor waits to be told, nor is it still posted as over. */
export function threadsLeft(state: State): { threads?: Threads } {
  const { threads, outbox } = state
  if (!threads) return {}
  const open = openIncidents(state)
  const waiting = new Set(outbox.map(({ notification }) => notification.incident))
  const kept = Object.entries(threads).filter(
    ([incident, channels]) =>
      open.has(incident) || waiting.has(incident) || Object.values(channels).some(({ left }) => left !== undefined),
  )
  return kept.length === 0 ? {} : { threads: Object.fromEntries(kept) }
}

/** Whether something of an incident waits for a channel already. */
export function waitsFor(queued: readonly Outgoing[], channel: string, incident: string): boolean {
  return queued.some(
    ({ notification, to }) =>
      notification.incident === incident && (to ? Object.hasOwn(to, channel) : channel === NOTIFLY),
  )
}
