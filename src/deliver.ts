import { openDispatcher } from './http/connections.ts'
import { pushWays } from './http/ways.ts'
import { withFields } from './log.ts'
import { compose } from './messages/compose.ts'
import { type Config, functionName } from './model/config.ts'
import { defined } from './model/defined.ts'
import type { IO } from './model/io.ts'
import type { Message } from './model/message.ts'
import type { Notification } from './model/notification.ts'
import { withPageLinks } from './page/push-links.ts'
import type { PushOutcome, push } from './push/push.ts'
import { type Delivery, firstAtOf } from './state/outbox.ts'
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

/** Writes each group of notifications as one message and pushes it, in the given order: `group` puts the most urgent first. Without a push server it is printed. */
export async function deliver(
  groups: readonly Notification[][],
  config: Config,
  io: IO,
  options: DeliverOptions,
): Promise<Sent> {
  const sent: Sent = { deliveries: [], messages: [], delivered: 0, refused: 0, problems: [] }
  if (groups.length === 0) return sent
  const connections = openDispatcher(pushWays(config, [config.push, config.push?.fallback]))
  try {
    for (const group of groups) {
      const message = writeOrSay(group, config, options.now, (problem) => sent.problems.push(problem))
      const outcome = await send(group, message, config, io, { ...options, dispatcher: connections.dispatcher })
      sent.messages.push(message)
      note(sent, group, outcome, io.now())
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

/** A message that cannot be written, through a bug of ours, is replaced by its bare facts: it must not block itself and all others. */
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
    const lines = group.map(({ rule, endpoint, subject, reason }) =>
      [endpoint, rule, subject, reason].filter(Boolean).join(', '),
    )
    return { title: 'Queuebell', body: lines.join('\n').slice(0, SHORT_BYTES), priority: 8 }
  }
}

function write(group: Notification[], config: Config, now: number, maxBytes?: number): Message {
  const message = compose(group, config.language, {
    markdown: config.push?.markdown ?? false,
    link: (name) => {
      const endpoint = config.endpoints.find((e) => e.name === name)
      return endpoint?.runbookUrl ?? endpoint?.dashboardUrl
    },
    now,
    ...defined({ maxBytes }),
  })
  const { page, language } = config
  return page ? withPageLinks(message, group, page, { name: functionName(config), language, now }) : message
}

async function send(
  group: Notification[],
  message: Message,
  config: Config,
  io: IO,
  options: DeliverOptions & { dispatcher: unknown },
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
    firstAt: firstAtOf(options.outbox, group, options.now),
    shorter: () => writeOrSay(group, config, options.now, () => {}, SHORT_BYTES),
  })
}

/** What the log says a push is about. */
function about(group: readonly Notification[]): { endpoint?: string; endpoints?: string[] } {
  const endpoints = [...new Set(group.flatMap(({ endpoint }) => endpoint ?? []))]
  const [first, ...others] = endpoints
  if (first === undefined) return {}
  return others.length > 0 ? { endpoints } : { endpoint: first }
}

/** @param at epoch milliseconds of the answer: waits that a server asks for count from there. */
function note(sent: Sent, group: readonly Notification[], outcome: PushOutcome, at: number): void {
  if (outcome.kind === 'delivered') sent.delivered += 1
  if (outcome.kind === 'refused') sent.refused += 1
  if (outcome.misconfigured) {
    const why =
      outcome.status === undefined ? (outcome.reason ?? '') : `${outcome.status} ${outcome.reason ?? ''}`.trim()
    const advice = outcome.advice ?? 'check NOTIFLY_URL and NOTIFLY_TOKEN'
    sent.problems.push(`the push server did not take a message (${why}): ${advice}`)
  }
  const { kind, retryAfter, firstAfter } = outcome
  const after = (wait: number | undefined) => (wait === undefined ? undefined : at + wait)
  const waits = defined({ retryAt: after(retryAfter), firstAt: after(firstAfter) })
  sent.deliveries.push(...group.map(({ id }) => ({ id, kind, ...waits })))
}
