import type { Language } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Message } from '../model/message.ts'
import type { Notification } from '../model/notification.ts'
import { digest } from './digest.ts'
import { en } from './en.ts'
import { endpointMessage } from './endpoint-message.ts'
import { type Draft, fitBody, MAX_BYTES } from './fit.ts'
import { isOutage, isOver } from './group.ts'
import { clockIn } from './number-format.ts'
import { outageMessage } from './outage-message.ts'
import { ru } from './ru.ts'
import { sanitizeAll } from './sanitize.ts'
import type { Catalogue } from './texts.ts'

export interface ComposeOptions {
  /** The receiver renders markdown, so text from outside is escaped. */
  markdown: boolean
  /** Opened by a tap on the message, where there is something to open. */
  link(endpoint: string): string | undefined
  /** Epoch milliseconds: clock times of another day carry their date. */
  now: number
  /** Of clock times; UTC by default. */
  timezone?: string | undefined
  /** Most bytes of UTF-8 for the body; 4,096 by default and at most. */
  maxBytes?: number
}

export const CATALOGUES: Record<Language, Catalogue> = {
  en,
  // Read when it is asked for: bundles carry it packed.
  get ru() {
    return ru
  },
}
/** Priority of what is over. */
const OVER_PRIORITY = 4

/** Writes the message of one group (see `group`): a title of one line and at most 80 characters, a body of at most 12 lines and 4,096 bytes that is never empty. */
export function compose(group: readonly Notification[], language: Language, options: ComposeOptions): Message {
  const notifications = worstFirst(oneEach(group))
  const draft = draftOf(notifications, catalogueIn(language, options.timezone), options)
  const body = fitBody(draft.lines, Math.min(options.maxBytes ?? MAX_BYTES, MAX_BYTES), options.markdown)
  const [worst] = notifications
  const link = worst?.endpoint === undefined ? undefined : options.link(worst.endpoint)
  return defined({
    title: draft.title,
    body: body || draft.title,
    priority: Math.max(...notifications.map(priorityOf)),
    link,
    markdown: options.markdown || undefined,
  })
}

const LOCALES: Record<Language, string> = { en: 'en-GB', ru: 'ru-RU' }

/** A language's texts with its times in a zone. */
function catalogueIn(language: Language, zone = 'UTC'): Catalogue {
  const catalogue = CATALOGUES[language]
  if (zone === 'UTC') return catalogue
  return { ...catalogue, format: { ...catalogue.format, clock: clockIn(LOCALES[language], zone) } }
}

function draftOf(notifications: readonly Notification[], catalogue: Catalogue, options: ComposeOptions): Draft {
  // A group that is gone says so for its replicas; several that an outage took are told as that outage.
  const pools = notifications.filter(({ rule }) => rule === 'pool')
  const rest = notifications.filter(({ rule }) => rule !== 'pool')
  if (pools.length === 1 && rest.every(({ rule }) => rule === 'down'))
    return endpointMessage(sanitizeAll(pools, options.markdown), catalogue, options.now)
  const told = pools.length > 1 && isOutage(rest) ? rest : notifications
  const sanitized = sanitizeAll(told, options.markdown)
  if (isOutage(told)) return outageMessage(sanitized, catalogue, options.now)
  const endpoints = new Set(notifications.map(({ endpoint }) => endpoint)).size
  return endpoints > 1 ? digest(sanitized, catalogue) : endpointMessage(sanitized, catalogue, options.now)
}

/**
 * One notification per incident, the newest. What became worse before it was told is told as fired; if it fired and resolved before either was told, it is told as late. So is an
 * incident that ended while the next one of the same alert is already on: "short again" would contradict it.
 */
function oneEach(notifications: readonly Notification[]): Notification[] {
  const byIncident = new Map<string, Notification>()
  for (const notification of [...notifications].sort((a, b) => a.at - b.at)) {
    const before = byIncident.get(notification.incident)
    const untold = before?.reason === 'fired' && notification.reason === 'resolved' && before.maybeSent !== true
    const first = before?.reason === 'fired' && notification.reason === 'worse' && before.maybeSent !== true
    const told = untold ? { reason: 'late' as const } : first ? { reason: 'fired' as const } : {}
    byIncident.set(notification.incident, { ...notification, ...told })
  }
  const told = [...byIncident.values()]
  const lasting = told.filter((notification) => !isOver(notification))
  return told.map((notification) =>
    lasting.some((other) => isSameAlert(other, notification)) ? asPast(notification) : notification,
  )
}

function isSameAlert(a: Notification, b: Notification): boolean {
  return a.endpoint === b.endpoint && a.rule === b.rule && a.subject === b.subject
}

function asPast(notification: Notification): Notification {
  return notification.reason === 'resolved' ? { ...notification, reason: 'late' } : notification
}

/** What is still on before what is over, then by priority. */
function worstFirst(notifications: readonly Notification[]): Notification[] {
  const weight = ({ reason, priority }: Notification) =>
    (isOver({ reason }) ? 0 : 100) + (Number.isFinite(priority) ? priority : 0)
  return [...notifications].sort((a, b) => weight(b) - weight(a))
}

function priorityOf(notification: Notification): number {
  const { priority } = notification
  if (isOver(notification) || !Number.isFinite(priority)) return OVER_PRIORITY
  return Math.min(10, Math.max(0, Math.round(priority)))
}
