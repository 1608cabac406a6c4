import { openDispatcher } from './http/connections.ts'
import { pushWays } from './http/ways.ts'
import { withFields } from './log.ts'
import { group } from './messages/group.ts'
import type { ChannelConfig, Config } from './model/config.ts'
import type { IO } from './model/io.ts'
import type { Message } from './model/message.ts'
import type { Notification } from './model/notification.ts'
import { alertThreads } from './push/alertmanager.ts'
import type { Push } from './push/channel.ts'
import { lessOf, newestOf, pushOf, type Telling } from './push/forms.ts'
import { concerning, deliveriesOf, problemsOf, type Told } from './push/outcome.ts'
import type { push } from './push/push.ts'
import type { PushOutcome } from './push/push-to.ts'
import { relight } from './push/relight.ts'
import { CHANNELS } from './push/services.ts'
import { textOf, writeOrSay } from './push/write.ts'
import { usualInterval } from './rules/watcher.ts'
import { firstAtOf, type Limits, limitsOf } from './state/legs.ts'
import type { Delivery, Due, Reposted } from './state/outbox.ts'
import type { State, Thread } from './state/schema.ts'

export interface Sent {
  deliveries: Delivery[]
  /** What was posted again beside the deliveries. */
  reposted: Reposted[]
  /** Messages, as text, in the order they were tried; one that several channels got alike stands once. */
  messages: Message[]
  delivered: number
  refused: number
  /** When the certificates of the channels end that were connected to by https, epoch milliseconds. */
  certificates: Map<string, number>
  /** Why the run must count as failed. */
  problems: string[]
}

interface DeliverOptions {
  /** As it was saved with the claims. */
  state: State
  now: number
  deadline: number
  push: typeof push
}

/** What one run knows while it delivers. */
interface Delivering extends DeliverOptions, Telling {
  io: IO
  dispatcher: unknown
  sent: Sent
  /** By fallback, the incidents that it was asked to take in this run: two channels may have the same one. */
  fallen: Map<string, Set<string>>
}

/** Of a schedule that is not known yet. Milliseconds. */
const INTERVAL = 100_000

/**
 * Writes what is due as messages and pushes them, channel beside channel, each in its own order: the most urgent first.
 * Without a push server they are printed.
 */
export async function deliver(due: readonly Due[], config: Config, io: IO, options: DeliverOptions): Promise<Sent> {
  const sent: Sent = {
    deliveries: [],
    reposted: [],
    messages: [],
    delivered: 0,
    refused: 0,
    certificates: new Map(),
    problems: [],
  }
  if (config.channels.length === 0) printAll(due, config, io, { sent, now: options.now })
  const channels = config.channels.filter(
    ({ name, service }) => due.some(({ channel }) => channel === name) || service === 'alertmanager',
  )
  if (channels.length === 0) return sent
  const noted = (origin: string, end: number) => {
    for (const name of channelsAt(origin, config)) sent.certificates.set(name, end)
  }
  const connections = openDispatcher({ ...pushWays(config), onCertificate: config.certificates && noted })
  const interval = config.interval ?? usualInterval(options.state.gaps) ?? INTERVAL
  const delivering: Delivering = {
    ...options,
    config,
    io,
    dispatcher: connections.dispatcher,
    interval,
    sent,
    fallen: new Map(),
  }
  try {
    await Promise.all(channels.map((channel) => deliverTo(channel, due, delivering)))
  } finally {
    await connections.close()
  }
  return sent
}

/** The channels, and their fallbacks, whose address is there. */
function channelsAt(origin: string, { channels }: Config): string[] {
  const all = channels.flatMap((channel) => [channel, ...(channel.fallback ? [channel.fallback] : [])])
  return all.filter(({ url }) => new URL(url).origin === origin).map(({ name }) => name)
}

/** The messages that `deliver` would push. */
export function preview(due: readonly Due[], config: Config, now: number): Message[] {
  const messages = dueByChannel(due).flatMap(([name, facts]) => {
    const channel = config.channels.find((one) => one.name === name)
    return group(facts).map((facts) => textOf(facts, config, channel, now))
  })
  return messages.filter((message, at) => messages.findIndex((other) => isAlike(message, other)) === at)
}

function dueByChannel(due: readonly Due[]): [string, Notification[]][] {
  const names = [...new Set(due.map(({ channel }) => channel))]
  return names.map((name) => [name, due.flatMap((one) => (one.channel === name ? [one.notification] : []))])
}

function printAll(due: readonly Due[], config: Config, io: IO, { sent, now }: { sent: Sent; now: number }): void {
  for (const facts of group(due.map(({ notification }) => notification))) {
    const message = writeOrSay(facts, config, undefined, now, (problem) => sent.problems.push(problem))
    io.print(`${message.title}\n${message.body}`)
    withFields(io.log, about(facts)).info('push printed', { title: message.title })
    note(sent, { facts, message }, { kind: 'delivered', misconfigured: false }, io.now(), config)
  }
}

/** All that is due on one channel, one message after the other. */
async function deliverTo(channel: ChannelConfig, due: readonly Due[], delivering: Delivering): Promise<void> {
  const { state, config, now, io, sent } = delivering
  const facts = due.flatMap((one) => (one.channel === channel.name ? [one.notification] : []))
  let limits = limitsOf(state.outbox, channel.name, now)
  const posted = new Map<string, Thread>()
  let isAway = false
  for (const group of groupsFor(channel, facts)) {
    const { what, taken, outcome } = await send(group, channel, { ...delivering, limits })
    note(sent, { facts: group, message: what.message, channel, what, taken }, outcome, io.now(), config)
    if (outcome.kind !== 'delivered' || outcome.by === 'fallback') isAway = true
    else if (channel.service === 'alertmanager') for (const [id, thread] of alertThreads(what)) posted.set(id, thread)
    limits = afterwards(limits, outcome, io.now())
  }
  if (channel.service === 'alertmanager' && !isAway) await relight(channel, posted, delivering)
}

function groupsFor({ service }: ChannelConfig, facts: readonly Notification[]): Notification[][] {
  switch (CHANNELS[service].together) {
    case 'message':
      return group(facts)
    case 'incident':
      return newestOf(facts).map(({ incident }) => facts.filter((fact) => fact.incident === incident))
    case 'all':
      return facts.length === 0 ? [] : [[...facts]]
    default:
      return CHANNELS[service].together satisfies never
  }
}

async function send(
  facts: readonly Notification[],
  channel: ChannelConfig,
  options: Delivering & { limits: Limits },
): Promise<{ what: Push; taken: ReadonlySet<string>; outcome: PushOutcome }> {
  const { state, config, io, now, deadline, dispatcher, limits } = options
  const what = pushOf(facts, channel, options, (problem) => options.sent.problems.push(problem))
  const ids = new Set(facts.map(({ id }) => id))
  const taken = new Set<string>()
  const forFallback = (fallback: ChannelConfig) => {
    const told = takenBy(fallback, facts, options)
    for (const { id } of told) taken.add(id)
    if (told.length === 0) return undefined
    return { push: pushOf(told, fallback, options), inForm: lessOf(told, fallback, options) }
  }
  const outcome = await options.push(what, channel, {
    io: { ...io, log: withFields(io.log, about(facts)) },
    deadline,
    dispatcher,
    secrets: config.secrets,
    maybeSent: facts.some((fact) => fact.maybeSent === true),
    about: facts.map(({ id }) => id),
    firstAt: later(firstAtOf(state.outbox, { channel: channel.name, ids, now }), limits.until),
    limits: limits.count,
    inForm: lessOf(facts, channel, options),
    forFallback,
  })
  return { what, taken, outcome }
}

/** What a fallback is told, each incident by one channel alone. */
function takenBy(
  fallback: ChannelConfig,
  facts: readonly Notification[],
  { state, config, fallen }: Delivering,
): Notification[] {
  const told = concerning(facts, fallback, config, state.threads)
  if (fallback.isSpare) return told
  const known = fallen.get(fallback.name) ?? new Set()
  const fresh = told.filter(({ incident }) => !known.has(incident))
  fallen.set(fallback.name, new Set([...known, ...fresh.map(({ incident }) => incident)]))
  return fresh
}

/** What a channel that answers 429 is spared: within the run too, it is asked once. */
function afterwards(limits: Limits, { limits: count, retryAfter, firstAfter }: PushOutcome, now: number): Limits {
  if (count === undefined || count <= limits.count) return limits
  return { count: limits.count, until: now + (firstAfter ?? retryAfter ?? 0) }
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
}

/** What the log says a push is about. */
function about(facts: readonly Notification[]): { endpoint?: string; endpoints?: string[] } {
  const endpoints = [...new Set(facts.flatMap(({ endpoint }) => endpoint ?? []))]
  const [first, ...others] = endpoints
  if (first === undefined) return {}
  return others.length > 0 ? { endpoints } : { endpoint: first }
}

/** @param at epoch milliseconds of the answer. */
function note(sent: Sent, told: Told, outcome: PushOutcome, at: number, config: Config): void {
  for (const message of messagesIn(told))
    if (!sent.messages.some((other) => isAlike(message, other))) sent.messages.push(message)
  if (outcome.kind === 'delivered') sent.delivered += 1
  if (outcome.kind === 'refused') sent.refused += 1
  sent.problems.push(...problemsOf(outcome, told))
  sent.deliveries.push(...deliveriesOf(told, outcome, at, config))
}

/** What is read of it: where all that is due is one request, each incident by itself. */
function messagesIn({ message, channel, what }: Told): Message[] {
  const isApart = what && channel && CHANNELS[channel.service].together === 'all'
  return isApart ? what.facts.map(what.tell) : [message]
}

function isAlike(a: Message, b: Message): boolean {
  return a.title === b.title && a.body === b.body
}
