import { NOTIFLY } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Notification } from '../model/notification.ts'
import { channelsToSpare, isAhead, legsOf, withLegs } from './legs.ts'
import type { Leg, Outgoing, State, Thread } from './schema.ts'
import { openIncident, type Threads, withThread } from './threads.ts'

/** What came of trying to deliver one notification on one channel. */
export interface Delivery {
  id: string
  /** `notifly` unless another is named. */
  channel?: string
  kind: 'delivered' | 'waiting' | 'unanswered' | 'refused'
  /** Epoch milliseconds: not before, as the servers asked. */
  retryAt?: number
  /** Epoch milliseconds: the channel not before, its fallback at any time. */
  firstAt?: number
  /** Answers of 429 in a row. */
  limits?: number
  /** What a channel is to remember of the incident; absent where there is only the channel `notifly`. */
  thread?: Thread
  /** The channel that took it, where that is the fallback. */
  by?: string
}

/** Incidents that are over and were posted once more on a channel that wants it so. */
export interface Reposted {
  channel: string
  incidents: readonly string[]
}

/** A notification that is to be sent on one channel now. */
export interface Due {
  channel: string
  notification: Notification
}

/**
 * Claims all that is due for this run, until its `end`: another run leaves it alone until then, so that a crash, a
 * failed try and an overlapping run all mean "due again later". What another run has claimed is not due, and nothing is
 * while a channel that answered 429 is to be left alone. Each channel goes its own way.
 */
export function claimDue(state: State, by: string, now: number, end: number): { state: State; due: Due[] } {
  const until = Math.floor(end)
  const due: Due[] = []
  const spared = channelsToSpare(state.outbox, now)
  const isFree = (channel: string, leg: Leg) => !spared.has(channel) && !isAhead(leg.claim?.until, now)
  // What is news of an incident takes along what waits for another try: alone, it would be news of what nobody was told.
  const news = new Set<string>()
  for (const item of state.outbox)
    for (const [channel, leg] of Object.entries(legsOf(item)))
      if (isFree(channel, leg) && !isAhead(leg.retryAt, now)) news.add(`${channel} ${item.notification.incident}`)
  const outbox = state.outbox.flatMap((item) => {
    const legs = legsOf(item)
    const claimed: Record<string, Leg> = {}
    for (const [channel, leg] of Object.entries(legs)) {
      if (!isFree(channel, leg) || !news.has(`${channel} ${item.notification.incident}`)) continue
      // A claim that ran out belongs to a run that died between sending and settling: it may have been sent.
      const maybeSent = leg.claim || leg.maybeSent ? (true as const) : undefined
      claimed[channel] = { ...leg, ...defined({ maybeSent }), claim: { by, until }, tries: leg.tries + 1 }
      const { maybeSent: _, ...notification } = item.notification
      due.push({ channel, notification: maybeSent ? { ...notification, maybeSent } : notification })
    }
    return Object.keys(claimed).length === 0 ? [item] : withLegs(item, { ...legs, ...claimed })
  })
  return { state: { ...state, outbox }, due }
}

/** After a second lost answer the server may be taking each message and only be slow to say so. Milliseconds. */
const LONGEST_PAUSE = 5 * 60_000
/** A schedule is not exact to the second: a pause ends a little before the run that is meant. */
const EARLY = 30_000

/**
 * Takes delivered and refused notifications out of the outbox, frees the others, and notes on each incident when it was
 * told. Works on whatever state is newest: another run may have written since the claim, and what that one has claimed
 * by now stays its own.
 * @param by the run that tried.
 */
export function settle(state: State, deliveries: readonly Delivery[], now: number, by: string): State {
  const byId = new Map<string, Delivery[]>()
  for (const one of deliveries) byId.set(one.id, [...(byId.get(one.id) ?? []), one])
  const first: Notification[] = []
  let threads = state.threads
  const outbox = state.outbox.flatMap((item): Outgoing[] => {
    const own = byId.get(item.notification.id)
    if (!own) return [item]
    const legs: Record<string, Leg> = { ...legsOf(item) }
    let told = item.told
    for (const delivery of own) {
      const channel = delivery.channel ?? NOTIFLY
      const leg = legs[channel]
      if (!leg) continue
      if (delivery.kind === 'delivered' && !told) first.push(item.notification)
      if (delivery.kind === 'delivered') {
        told = true
        threads = threadsAfter(threads, item.notification, delivery, state)
      }
      if (delivery.kind === 'delivered' || delivery.kind === 'refused') delete legs[channel]
      else legs[channel] = tried(leg, delivery, now, by)
    }
    return withLegs({ ...item, ...defined({ told }) }, legs)
  })
  const { threads: _, ...rest } = state
  return { ...rest, outbox, ...defined({ threads }), endpoints: endpointsTold(state, first, now) }
}

/** What is over was posted once more; after the last time it is forgotten. */
export function countReposted(state: State, reposted: readonly Reposted[]): State {
  let threads = state.threads ?? {}
  for (const { channel, incidents } of reposted) {
    for (const incident of incidents) {
      const thread = threads[incident]?.[channel]
      if (thread?.left === undefined) continue
      const left = thread.left - 1
      threads = withThread(threads, incident, channel, left > 0 ? { ...thread, left } : undefined)
    }
  }
  const { threads: _, ...rest } = state
  return Object.keys(threads).length === 0 ? rest : { ...rest, threads }
}

/** A leg that is still to be delivered, freed where it is still this run's. */
function tried(leg: Leg, delivery: Delivery, now: number, by: string): Leg {
  const maybeSent = delivery.kind === 'unanswered' || leg.maybeSent ? (true as const) : undefined
  if (leg.claim?.by !== by) return { ...leg, ...defined({ maybeSent }) }
  const { retryAt = pausedUntil(delivery, leg, now), firstAt, limits } = delivery
  return { tries: leg.tries, ...defined({ retryAt: whole(retryAt), firstAt: whole(firstAt), limits, maybeSent }) }
}

/** A server may ask for 1.5 s, and a stopwatch counts fractions: the state holds whole milliseconds alone. */
function whole(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.ceil(time)
}

/** Epoch milliseconds: after answers that were lost again and again, 2, 4, then 5 minutes, lest each run repeat a message that had arrived. */
function pausedUntil({ kind }: Delivery, { maybeSent, tries }: Leg, now: number): number | undefined {
  if (kind !== 'unanswered' || maybeSent !== true || tries < 2) return undefined
  return now + Math.min(2 ** (tries - 1) * 60_000, LONGEST_PAUSE) - EARLY
}

/** Who knows of the incident now. */
function threadsAfter(
  threads: Threads | undefined,
  notification: Notification,
  delivery: Delivery,
  { endpoints }: State,
): Threads | undefined {
  const { incident, endpoint, reason } = notification
  const { channel = NOTIFLY, by = channel, thread } = delivery
  const isKnown = threads !== undefined && Object.hasOwn(threads, incident)
  if (reason !== 'fired' && reason !== 'worse' && reason !== 'repeated') {
    if (!isKnown) return threads
    const left = withThread(threads, incident, by, thread?.left === undefined ? undefined : thread)
    return Object.keys(left).length === 0 ? undefined : left
  }
  if (!thread && !isKnown) return threads
  // Until now the channel `notifly` was the only one, and knew without this.
  const open = endpoint === undefined ? undefined : openIncident(endpoints, endpoint, incident)
  const wasTold = !isKnown && open?.lastSentAt !== undefined
  const before = wasTold ? withThread(threads ?? {}, incident, NOTIFLY, {}) : (threads ?? {})
  return withThread(before, incident, by, thread ?? {})
}

/** The endpoints, with `lastSentAt` set on the incidents that were delivered. Copied once: a thousand may be delivered at once. */
function endpointsTold(state: State, delivered: readonly Notification[], now: number): State['endpoints'] {
  if (delivered.length === 0) return state.endpoints
  const endpoints = { ...state.endpoints }
  for (const { endpoint, incident } of delivered) {
    if (endpoint === undefined || !Object.hasOwn(endpoints, endpoint)) continue
    const entry = endpoints[endpoint]
    const [kind, open] = Object.entries(entry?.incidents ?? {}).find(([, { id }]) => id === incident) ?? []
    if (!entry || kind === undefined || !open) continue
    endpoints[endpoint] = { ...entry, incidents: { ...entry.incidents, [kind]: { ...open, lastSentAt: now } } }
  }
  return endpoints
}
