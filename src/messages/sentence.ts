import { defined } from '../model/defined.ts'
import type { Notification } from '../model/notification.ts'
import { ruleNamed } from '../rules/rules.ts'
import type { Catalogue, Fact, RuleTexts } from './catalogue.ts'

/** Names of missing signals that are told; the rest is counted. */
const NAMED = 6

/** What the catalogue's sentences are made from. The notification is clean. */
export function factOf(note: Notification, catalogue: Catalogue): Fact {
  const { context } = note
  const isOver = note.reason === 'resolved' || note.reason === 'late'
  return defined({
    value: isOver ? (note.peak ?? note.value) : note.value,
    atLeast: note.atLeast,
    limit: note.limit,
    usual: note.usual,
    at: context?.kvAt,
    failedBy: context?.failedBy,
    running: context?.numbers.running,
    waiting: context?.numbers.waiting,
    missing: note.modelMissing,
    signals: signalsOf(note.missing, catalogue),
    doubted: signalsOf(note.doubted, catalogue),
    sources: note.unread?.slice(0, 3).join(', '),
    beat: note.beat,
    gap: note.gap,
    failure: note.failure,
    backend: context?.backend,
  })
}

function signalsOf(missing: string[] | undefined, catalogue: Catalogue): string | undefined {
  if (!missing || missing.length === 0) return undefined
  const named = missing.slice(0, NAMED).map((name) => catalogue.signal(name))
  return missing.length > NAMED ? `${named.join(', ')} +${missing.length - NAMED}` : named.join(', ')
}

export function headlineOf(note: Notification, catalogue: Catalogue): string {
  return textsOf(note.rule, catalogue).headline(factOf(note, catalogue))
}

/** The sentence of now, with its subject (a GPU, an upstream) before it. */
export function nowOf(note: Notification, catalogue: Catalogue): string {
  return ofSubject(note, textsOf(note.rule, catalogue).now(factOf(note, catalogue)), catalogue)
}

export function ofSubject({ subject, subjectName }: Notification, sentence: string, catalogue: Catalogue): string {
  if (subject === undefined) return sentence
  return catalogue.line.subject(subjectName === undefined ? subject : `${subject} (${subjectName})`, sentence)
}

/** How high it got, or why it was away. */
export function detailOf(note: Notification, catalogue: Catalogue): string | undefined {
  if (note.failure) {
    return catalogue.line.cause(catalogue.failures[note.failure.kind].words(note.failure, isCanary(note)))
  }
  const peak = note.peak ?? note.value
  return peak === undefined ? undefined : textsOf(note.rule, catalogue).peak?.(peak, note.atLeast === true)
}

/** Milliseconds from the first sign to the end, or to this fact. */
export function lengthOf(note: Notification): number {
  return Math.max(0, (note.endedAt ?? note.at) - note.firedAt)
}

export function isCanary(note: Notification): boolean {
  return note.context?.backend === 'ollama' || note.context?.backend === 'openai'
}

/** Rules that say what our own request met. */
export function isCanaryRule(note: Notification): boolean {
  const about = ruleNamed(note.rule)?.about
  return about === 'canary' || about === 'reachability'
}

/** The outbox may hold what another version told: its rule is only known to be a rule. */
export function textsOf(rule: string, catalogue: Catalogue): RuleTexts {
  return catalogue.rules[rule as keyof Catalogue['rules']]
}
