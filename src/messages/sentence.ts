import { prefixOf } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { Notification } from '../model/notification.ts'
import { ruleNamed } from '../rules/rules.ts'
import { shortGpu } from './gpu-name.ts'
import { isOver } from './group.ts'
import { inner } from './number-format.ts'
import type { Catalogue, Fact, RuleTexts } from './texts.ts'

/** So many missing signals are named; the rest are counted. */
const NAMED = 6

/** What the catalogue's sentences are made from. The notification is sanitized. */
export function factOf(notification: Notification, catalogue: Catalogue): Fact {
  const { context, held } = notification
  return defined({
    value: isOver(notification) ? (notification.peak ?? notification.value) : notification.value,
    atLeast: notification.atLeast,
    limit: notification.limit,
    usual: notification.usual,
    at: context?.kvAt,
    failedBy: context?.failedBy,
    running: held?.running ?? context?.numbers.running,
    waiting: held?.waiting ?? context?.numbers.waiting,
    deferred: context?.numbers.waiting_deferred,
    heldBy: held?.by,
    span: notification.span,
    within: notification.within,
    missing: notification.modelMissing,
    signals: signalsOf(notification.missing, catalogue),
    doubted: signalsOf(notification.doubted, catalogue),
    sources: notification.unread?.slice(0, 3).join(', '),
    beat: notification.beat,
    run: notification.run,
    answeredBy: notification.answeredBy,
    answer: notification.answer,
    quota: notification.quota,
    ends: endsOf(notification, catalogue),
    gap: notification.gap,
    ...(notification.gap ? spanOf(notification, catalogue) : {}),
    ...(notification.silence
      ? { to: catalogue.format.clock(notification.silence.until, notification.silence.from) }
      : {}),
    variables: variablesOf(notification),
    refusal: notification.refusal,
    silence: notification.silence,
    alternates: notification.alternates,
    pool: notification.pool,
    failure: notification.failure,
    backend: context?.backend,
  })
}

function endsOf({ certificateEnds, at }: Notification, { format }: Catalogue): string | undefined {
  return certificateEnds === undefined ? undefined : format.clock(certificateEnds, at)
}

function spanOf({ at, firedAt, endedAt = at }: Notification, { format }: Catalogue): Pick<Fact, 'from' | 'to'> {
  return { from: format.clock(firedAt, at), to: format.clock(endedAt, at) }
}

/** As the variables of an endpoint begin; of the watcher itself there are none. */
function variablesOf({ endpoint, context }: Notification): string | undefined {
  if (context === undefined) return undefined
  const own = endpoint?.replace(/\\/g, '').toUpperCase().replace(/[/-]/g, '_')
  return own === undefined ? prefixOf(context.backend) : `${prefixOf(context.backend)}_${own}`
}

function signalsOf(missing: string[] | undefined, catalogue: Catalogue): string | undefined {
  if (!missing || missing.length === 0) return undefined
  const named = missing.slice(0, NAMED).map((name) => catalogue.signal(name))
  return missing.length > NAMED ? `${named.join(', ')} +${missing.length - NAMED}` : named.join(', ')
}

export function headlineOf(notification: Notification, catalogue: Catalogue): string {
  return textsOf(notification.rule, catalogue).headline(factOf(notification, catalogue))
}

/** What stands in the title behind the endpoint: the figure where there is one, else what happened. */
export function briefOf(notification: Notification, catalogue: Catalogue): string {
  const { rule } = notification
  const brief = catalogue.briefs[rule as keyof Catalogue['briefs']]?.(factOf(notification, catalogue))
  return brief || inner(headlineOf(notification, catalogue))
}

/** How it is now, as a sentence, with its subject (a GPU, an upstream) in front. */
export function nowOf(notification: Notification, catalogue: Catalogue): string {
  return ofSubject(notification, textsOf(notification.rule, catalogue).now(factOf(notification, catalogue)), catalogue)
}

export function ofSubject({ subject, subjectName }: Notification, sentence: string, catalogue: Catalogue): string {
  if (subject === undefined) return sentence
  const named = subjectName === undefined ? subject : `${subject} (${subjectName})`
  return catalogue.line.subject(shortGpu(subjectName) ?? named, sentence)
}

/** How high it got, or why there was no answer. */
export function detailOf(notification: Notification, catalogue: Catalogue): string | undefined {
  const { failure, rule, value, peak = value, atLeast } = notification
  if (failure) return catalogue.line.cause(catalogue.failures[failure.kind].words(failure, isCanary(notification)))
  return peak === undefined ? undefined : textsOf(rule, catalogue).peak?.(peak, atLeast === true)
}

/** Milliseconds from the first sign to the end, or to this notification. */
export function lengthOf({ at, firedAt, endedAt = at }: Notification): number {
  return Math.max(0, endedAt - firedAt)
}

export function isCanary({ context }: Notification): boolean {
  return context?.backend === 'ollama' || context?.backend === 'openai'
}

/** Rules about what became of our own request. */
export function isCanaryRule({ rule }: Notification): boolean {
  const about = ruleNamed(rule)?.about
  return about === 'canary' || about === 'reachability'
}

/** @param rule of the outbox, where another version may have put one that this catalogue does not have. */
export function textsOf(rule: string, catalogue: Catalogue): RuleTexts {
  return catalogue.rules[rule as keyof Catalogue['rules']]
}
