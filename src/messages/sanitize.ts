import type { Notification } from '../model/notification.ts'
import { addressOf, foreign } from './outside-text.ts'

/** The facts of one message in the two forms that it needs: the title is never rendered, the body may be. */
export interface Facts {
  title: Notification[]
  body: Notification[]
}

/** Characters that a text from outside may take, by field; others get the last number. */
const LENGTHS: Readonly<Record<string, number>> = {
  detail: 160,
  body: 1_000,
  code: 40,
  endpoint: 60,
  subject: 80,
  model: 60,
  modelMissing: 60,
  kvAt: 40,
  failedBy: 48,
  requestId: 64,
}
const OTHERWISE = 60

/** A deep copy whose texts are safe to print and whose numbers are finite; what cannot be printed is left out. */
export function clean(fact: Notification, markdown: boolean): Notification {
  return {
    ...(cleanValue('', fact, markdown) as Notification),
    id: fact.id,
    incident: fact.incident,
    rule: fact.rule,
    reason: fact.reason,
  }
}

function cleanValue(name: string, value: unknown, markdown: boolean): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value === 'string') return cleanText(name, value, markdown)
  if (Array.isArray(value)) {
    const items = value.map((item) => (item === null ? null : cleanValue(name, item, markdown)))
    return name === 'spark' ? items.map((item) => item ?? null) : items.filter((item) => item !== undefined)
  }
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).map(([key, item]) => [key, cleanValue(key, item, markdown)] as const)
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined))
}

function cleanText(name: string, value: string, markdown: boolean): string | undefined {
  if (name === 'kind' || name === 'backend' || name === 'status' || name === 'ended') return value
  if (name === 'url') return addressOf(value, markdown) || undefined
  return foreign(value, LENGTHS[name] ?? OTHERWISE, markdown) || undefined
}
