import { openDispatcher } from './http/get.ts'
import { withFields } from './log.ts'
import { compose } from './messages/compose.ts'
import type { Config } from './model/config.ts'
import { defined } from './model/defined.ts'
import type { IO } from './model/io.ts'
import type { Message } from './model/message.ts'
import type { Notification } from './model/notification.ts'
import type { PushOutcome, push } from './push/push.ts'
import { type Delivery, firstAtOf, type Limits, limitsOf } from './state/outbox.ts'
import type { Outgoing } from './state/schema.ts'

export interface Sent {
  deliveries: Delivery[]
  /** Messages, as text, in the order they were tried. */
  messages: Message[]
  delivered: number
  refused: number
  /** Why the run must count as failed. */
  problems: string[]
}

interface DeliverOptions {
  /** As it was saved with the claims. */
  outbox: readonly Outgoing[]
  now: number
  deadline: number
  push: typeof push
}

const SHORT_BYTES = 1_024

/** Writes each group of notifications as one message and pushes it, in their order: `group` has the most urgent first. Without a push server it is printed. */
export async function deliver(
  groups: readonly Notification[][],
  config: Config,
  io: IO,
  options: DeliverOptions,
): Promise<Sent> {
  const sent: Sent = { deliveries: [], messages: [], delivered: 0, refused: 0, problems: [] }
  if (groups.length === 0) return sent
  const connections = openDispatcher()
  let limits: Limits = limitsOf(options.outbox, options.now)
  try {
    for (const group of groups) {
      const message = writeOrSay(group, config, options.now, (problem) => sent.problems.push(problem))
      const outcome = await send(group, message, config, io, { ...options, dispatcher: connections.dispatcher, limits })
      sent.messages.push(message)
      note(sent, group, message, outcome, io.now())
      limits = afterwards(limits, outcome, io.now())
    }
  } finally {
    await connections.close()
  }
  return sent
}

/** The messages that `deliver` would push. */
export function preview(groups: readonly Notification[][], config: Config, now: number): Message[] {
  return groups.map((group) => write(group, config, now))
}

/** A message that cannot be written, by a fault of ours, is told in bare words: it may not hold back itself and all others for ever. */
function writeOrSay(
  group: Notification[],
  config: Config,
  now: number,
  problem: (text: string) => void,
  maxBytes?: number,
): Message {
  try {
    return write(group, config, now, maxBytes)
  } catch (error) {
    problem(
      `a message could not be written (${error instanceof Error ? error.message : error}); its bare facts were sent`,
    )
    return bare(group, 8)
  }
}

/** What is to be told in letters that no server can object to. */
function bare(group: readonly Notification[], priority: number): Message {
  const lines = group.map(({ rule, endpoint, subject, reason, value, limit }) => {
    const number = value === undefined ? undefined : `${value}${limit === undefined ? '' : ` (limit ${limit})`}`
    return [endpoint, rule, subject, reason, number].filter(Boolean).join(', ')
  })
  const body = lines.join('\n').replace(/[^\n\x20-\x7e]/g, '?')
  return { title: 'Queuebell', body: body.slice(0, SHORT_BYTES), priority }
}

function write(group: Notification[], config: Config, now: number, maxBytes?: number): Message {
  return compose(group, config.language, {
    markdown: config.push?.markdown ?? false,
    link: (name) => {
      const endpoint = config.endpoints.find((e) => e.name === name)
      return endpoint?.runbookUrl ?? endpoint?.dashboardUrl
    },
    now,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  })
}

async function send(
  group: Notification[],
  message: Message,
  config: Config,
  io: IO,
  options: DeliverOptions & { dispatcher: unknown; limits: Limits },
): Promise<PushOutcome> {
  const log = withFields(io.log, about(group))
  if (!config.push) {
    io.print(`${message.title}\n${message.body}`)
    log.info('push printed', { title: message.title })
    return { kind: 'delivered', misconfigured: false }
  }
  return options.push(message, config.push, {
    io: { ...io, log },
    deadline: options.deadline,
    dispatcher: options.dispatcher,
    maybeSent: group.some((n) => n.maybeSent === true),
    about: group.map((n) => n.id),
    firstAt: later(firstAtOf(options.outbox, group, options.now), options.limits.until),
    limits: options.limits.count,
    shorter: () => writeOrSay(group, config, options.now, () => {}, SHORT_BYTES),
    bare: () => bare(group, message.priority),
  })
}

/** What a server that answers 429 is spared: within the run too, it is asked once. */
function afterwards(limits: Limits, { limits: count, retryAfter, firstAfter }: PushOutcome, now: number): Limits {
  if (count === undefined || count <= limits.count) return limits
  return { count: limits.count, until: now + (firstAfter ?? retryAfter ?? 0) }
}

function later(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)
}

/** What the log says a push is about. */
function about(group: readonly Notification[]): { endpoint?: string; endpoints?: string[] } {
  const endpoints = [...new Set(group.flatMap(({ endpoint }) => endpoint ?? []))]
  const [first, ...others] = endpoints
  if (first === undefined) return {}
  return others.length > 0 ? { endpoints } : { endpoint: first }
}

/** @param at epoch milliseconds of the answer: what a server asks for counts from there. */
function note(sent: Sent, group: readonly Notification[], message: Message, outcome: PushOutcome, at: number): void {
  if (outcome.kind === 'delivered') sent.delivered += 1
  const why = [outcome.status, outcome.reason].filter((part) => part !== undefined).join(' ')
  if (outcome.kind === 'refused') {
    sent.refused += 1
    sent.problems.push(`the push server refused a message for good (${why}), which is dropped untold: ${message.title}`)
  }
  if (outcome.misconfigured) {
    const advice = outcome.advice ?? 'check NOTIFLY_URL and NOTIFLY_TOKEN'
    sent.problems.push(`the push server did not take a message (${why}): ${advice}`)
  }
  const { kind, retryAfter, firstAfter, limits } = outcome
  const waits = defined({
    retryAt: retryAfter === undefined ? undefined : at + retryAfter,
    firstAt: firstAfter === undefined ? undefined : at + firstAfter,
    limits,
  })
  sent.deliveries.push(...group.map(({ id }) => ({ id, kind, ...waits })))
}
