import { NOTIFLY } from '../model/config.ts'
import type { Incident } from './incident-schema.ts'
import type { Outgoing, State, Thread } from './schema.ts'

export type Threads = NonNullable<State['threads']>

/**
 * The channels that were told of an incident. With the channel `notifly` alone nothing is written down for it: that it
 * was told stands on the incident itself.
 */
export function channelsTold(
  threads: Threads | undefined,
  incident: string,
  open: Pick<Incident, 'lastSentAt'> | undefined,
): string[] {
  const known = threads && Object.hasOwn(threads, incident) ? threads[incident] : undefined
  if (known) return Object.keys(known).filter((channel) => known[channel]?.left === undefined)
  return open?.lastSentAt === undefined ? [] : [NOTIFLY]
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

/** What the state knows of an incident of an endpoint. */
export function openIncident(endpoints: State['endpoints'], endpoint: string, id: string): Incident | undefined {
  if (!Object.hasOwn(endpoints, endpoint)) return undefined
  return Object.values(endpoints[endpoint]?.incidents ?? {}).find((incident) => incident.id === id)
}

/** The ids of all that lasts. */
function openIncidents({ endpoints }: Pick<State, 'endpoints'>): Set<string> {
  const all = Object.values(endpoints).flatMap(({ incidents }) => Object.values(incidents))
  return new Set(all.flatMap(({ id, over }) => (over ? [] : [id])))
}

/** The threads without those whose endpoint or rule is gone: their incident neither lasts nor waits to be told, nor is it still posted as over. */
export function threadsLeft(state: State): { threads?: Threads } {
  const { threads, outbox, held = [] } = state
  if (!threads) return {}
  const open = openIncidents(state)
  const waiting = new Set([...outbox, ...held].map(({ notification }) => notification.incident))
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
