import type { Language } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import type { Notification } from '../model/notification.ts'
import type { Catalogue } from './catalogue.ts'
import { digest } from './digest.ts'
import { en } from './en.ts'
import { ofOne } from './endpoint-message.ts'
import { type Draft, fitBody, MAX_BYTES } from './fit.ts'
import { isOver, isTogether } from './group.ts'
import { together } from './outage-message.ts'
import { ru } from './ru.ts'
import { clean } from './sanitize.ts'

export interface ComposeOptions {
  /** The push is rendered as markdown: texts from outside are escaped. */
  markdown: boolean
  /** What a tap on the message opens, where it is known. */
  link(endpoint: string): string | undefined
  /** Epoch milliseconds: clock times of another day carry their date. */
  now: number
  /** Bytes of UTF-8 that the body may take, 4,096 unless less is asked for. */
  maxBytes?: number
}

export const CATALOGUES: Record<Language, Catalogue> = { en, ru }
/** Priority of what is over. */
const OVER_PRIORITY = 4

/** Writes the message of one group (see `group`): title of one line and 80 characters, body of at most 12 lines and 4,096 bytes, never empty. */
export function compose(group: readonly Notification[], language: Language, options: ComposeOptions): Message {
  const facts = worstFirst(oneEach(group))
  const draft = draftOf(facts, CATALOGUES[language], options)
  const body = fitBody(draft.lines, Math.min(options.maxBytes ?? MAX_BYTES, MAX_BYTES), options.markdown)
  const [worst] = facts
  const link = worst?.endpoint === undefined ? undefined : options.link(worst.endpoint)
  return {
    title: draft.title,
    body: body || draft.title,
    priority: Math.max(...facts.map(priorityOf)),
    ...(link === undefined ? {} : { link }),
    ...(options.markdown ? { markdown: true } : {}),
  }
}

function draftOf(facts: readonly Notification[], catalogue: Catalogue, options: ComposeOptions): Draft {
  const forms = {
    title: facts.map((fact) => clean(fact, false)),
    body: facts.map((fact) => clean(fact, options.markdown)),
  }
  if (isTogether(facts)) return together(forms, catalogue, options.now)
  const endpoints = new Set(facts.map((fact) => fact.endpoint)).size
  return endpoints > 1 ? digest(forms, catalogue, options.now) : ofOne(forms, catalogue, options.now)
}

/**
 * One fact an incident: what fired and resolved before either could be told is told as late; else the newest counts. The
 * end of one incident beside the next one of the same alert is told as late too: "short again" would deny what lasts.
 */
function oneEach(facts: readonly Notification[]): Notification[] {
  const byIncident = new Map<string, Notification>()
  for (const fact of [...facts].sort((a, b) => a.at - b.at)) {
    const before = byIncident.get(fact.incident)
    const untold = before?.reason === 'fired' && fact.reason === 'resolved' && before.maybeSent !== true
    byIncident.set(fact.incident, untold ? { ...fact, reason: 'late' } : fact)
  }
  const told = [...byIncident.values()]
  const lasting = told.filter((fact) => !isOver(fact))
  return told.map((fact) => (lasting.some((other) => isSameAlert(other, fact)) ? asPast(fact) : fact))
}

function isSameAlert(a: Notification, b: Notification): boolean {
  return a.endpoint === b.endpoint && a.rule === b.rule && a.subject === b.subject
}

function asPast(fact: Notification): Notification {
  return fact.reason === 'resolved' ? { ...fact, reason: 'late' } : fact
}

/** What still lasts before what is over, the higher priority first. */
function worstFirst(facts: readonly Notification[]): Notification[] {
  const weight = (fact: Notification) => (isOver(fact) ? 0 : 100) + (Number.isFinite(fact.priority) ? fact.priority : 0)
  return [...facts].sort((a, b) => weight(b) - weight(a))
}

function priorityOf(fact: Notification): number {
  if (isOver(fact) || !Number.isFinite(fact.priority)) return OVER_PRIORITY
  return Math.min(10, Math.max(0, Math.round(fact.priority)))
}
