import type { Notification } from '../model/notification.ts'
import { shownUrl } from '../secrets/names.ts'
import { cutText } from './fit.ts'

/** The notifications of one message twice: for the title, which is never rendered as markdown, and for the body, which may be. */
export interface Sanitized {
  title: Notification[]
  body: Notification[]
}

/** Characters that a text from outside may take, by field. */
const LENGTHS: Readonly<Record<string, number>> = {
  detail: 160,
  body: 1_000,
  code: 40,
  endpoint: 60,
  subject: 80,
  model: 60,
  modelMissing: 60,
  kvAt: 40,
  partlyOut: 120,
  failedBy: 48,
  requestId: 64,
  text: 200,
  expected: 60,
}
/** The same for fields that are not named above. */
const OTHERWISE = 60
/** Words of our own, which are looked up and not printed. */
const OURS: ReadonlySet<string> = new Set(['kind', 'backend', 'status', 'ended', 'rule', 'turn'])
/** Characters of an address. */
const ADDRESS = 200

export function sanitizeAll(notifications: readonly Notification[], markdown: boolean): Sanitized {
  return {
    title: notifications.map((notification) => sanitize(notification, false)),
    body: notifications.map((notification) => sanitize(notification, markdown)),
  }
}

/** A deep copy whose texts are safe to print and whose numbers are finite; what cannot be printed is left out. */
function sanitize(notification: Notification, markdown: boolean): Notification {
  return {
    ...(sanitizeValue('', notification, markdown) as Notification),
    id: notification.id,
    incident: notification.incident,
    rule: notification.rule,
    reason: notification.reason,
  }
}

function sanitizeValue(name: string, value: unknown, markdown: boolean): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'string') return sanitizeField(name, value, markdown)
  if (Array.isArray(value)) {
    const items = value.map((item) => (item === null ? null : sanitizeValue(name, item, markdown)))
    return name === 'spark' ? items.map((item) => item ?? null) : items.filter((item) => item !== undefined)
  }
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(([key, item]) => [key, sanitizeValue(key, item, markdown)] as const)
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined))
}

function sanitizeField(name: string, value: string, markdown: boolean): string | undefined {
  if (OURS.has(name)) return value
  if (name === 'url') return sanitizeUrl(value, markdown) || undefined
  return sanitizeText(value, LENGTHS[name] ?? OTHERWISE, markdown) || undefined
}

/**
 * Text from outside (model names, labels, error bodies, answers of servers) made safe inside a line of ours: it
 * cannot break the line, reverse its direction, hide in it or format it, and is at most `max` UTF-16 units before escaping.
 * @param markdown the message is rendered: markup is escaped, so that it makes no link, picture or heading.
 * @returns `''` when nothing visible is left.
 */
export function sanitizeText(text: string, max: number, markdown = false): string {
  const visible = text
    .slice(0, max * 8) // the rest is cut anyway
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}\p{Co}]/gu, '') // direction marks, zero-width characters, lone surrogates
    .replace(/(\p{M}{3})\p{M}+/gu, '$1') // stacked marks grow over the lines above and below
    .replace(/ {2,}/g, ' ')
    .trim()
  const short = cutText(visible, max)
  return markdown ? escapeMarkdown(short) : short
}

/**
 * An address for display: without user, password and the values of parameters that look like keys.
 * @param markdown written as an autolink, inside which nothing is markup.
 */
export function sanitizeUrl(url: string, markdown = false): string {
  if (!URL.canParse(url)) return sanitizeText(url.replace(/\/\/[^/@\s]*@/g, '//'), ADDRESS, markdown)
  const address = new URL(shownUrl(url))
  address.username = ''
  address.password = ''
  address.hash = ''
  const isBare = address.href.endsWith('/') && !url.endsWith('/') // the URL class adds a slash to a bare origin
  const text = isBare ? address.href.slice(0, -1) : address.href
  if (!markdown) return sanitizeText(text, ADDRESS)
  return /^https?:[^\s<>]+$/.test(text) ? `<${sanitizeText(text, ADDRESS)}>` : sanitizeText(text, ADDRESS, true)
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#+\-.!|~&:@^=$"']/g, '\\$&')
}
