import { defined } from '../model/defined.ts'
import type { Cause } from '../model/explanation.ts'
import type { Notification, Symptom } from '../model/notification.ts'
import { ruleNamed, signOf } from '../rules/rules.ts'
import { contextLines, contextLinesAfter } from './context-lines.ts'
import { type Draft, fitTitle, type Line } from './fit.ts'
import { shortGpu } from './gpu-name.ts'
import { isOver } from './group.ts'
import { capital, inner } from './number-format.ts'
import type { Sanitized } from './sanitize.ts'
import {
  briefOf,
  detailOf,
  headlineOf,
  isCanary,
  isCanaryRule,
  lengthOf,
  nowOf,
  ofSubject,
  textsOf,
} from './sentence.ts'
import type { Catalogue } from './texts.ts'

/** A push this long after its notification says when it was true. Milliseconds. */
const LATE = 3 * 60_000

/** The message of one endpoint, or of the watcher itself. Expects the notifications worst first. */
export function endpointMessage(sanitized: Sanitized, catalogue: Catalogue, now: number): Draft {
  const [main, ...others] = sanitized.body
  const [named] = sanitized.title
  if (main === undefined || named === undefined) return { title: '', lines: [] }
  const first = isOver(main) ? overLines(main, catalogue, now) : nowLines(main, catalogue, now)
  const beside = [...(isOver(main) ? [] : symptomsOf(main)), ...others].map((notification, index) => ({
    text: besideLine(notification, catalogue, now),
    rank: index < 3 ? 1 : 5,
  }))
  const rest = isOver(main) ? contextLinesAfter(main, catalogue) : contextLines(sanitized.body, main, catalogue)
  const repeated = sanitized.body.some(({ maybeSent }) => maybeSent)
  const maybe: Line[] = repeated ? [{ text: catalogue.line.maybeSent, rank: 2 }] : []
  return {
    title: titleOf(named, catalogue),
    lines: [...first, ...beside, ...rest, ...address(main), ...maybe, ...uuids(sanitized.body)],
  }
}

/** What else fires of the incident, as notifications of their own would tell it. */
function symptomsOf(main: Notification): Notification[] {
  return (main.symptoms ?? []).filter(({ rule }) => ruleNamed(rule)).map((symptom) => ofSymptom(main, symptom))
}

function ofSymptom(main: Notification, symptom: Symptom): Notification {
  const { id, incident, endpoint, priority, at, firedAt, context } = main
  return { ...defined({ endpoint, context }), ...symptom, id, incident, reason: 'fired', priority, at, firedAt }
}

/** Of these, where they concern no endpoint, the subject stands in its place. */
const NAMED_BY_SUBJECT = ['gap', 'silence', 'tls_expiry']

/** What a message names first: the endpoint; for the watcher itself the function, or the channel. */
export function placeOf({ rule, endpoint, subject, context }: Notification): string | undefined {
  return endpoint ?? context?.backend ?? (NAMED_BY_SUBJECT.includes(rule) ? subject : undefined)
}

/** The place and the figure first: a phone shows 40 characters. */
function titleOf(notification: Notification, catalogue: Catalogue): string {
  const { rule, reason, subject, subjectName, at, firedAt, flaps } = notification
  const place = placeOf(notification)
  const gpu = shortGpu(subjectName) ?? (subject === undefined || place === subject ? undefined : shortUuid(subject))
  const brief = gpu === undefined ? briefOf(notification, catalogue) : `${gpu}: ${briefOf(notification, catalogue)}`
  // A name of somebody's choosing is left as it is.
  const spelt = (text: string) => (gpu !== undefined && text.startsWith(gpu) ? text : inner(text))
  const titled = (sign: string, text: string) =>
    fitTitle(sign, place === undefined ? capital(text) : spelt(text), place)
  const { title, format } = catalogue
  switch (reason) {
    case 'fired':
    case 'told-once':
      return titled(signOf(rule), flaps ? title.comesAndGoes(brief) : brief)
    case 'worse':
      return titled(signOf(rule), title.worse(brief))
    case 'repeated':
      return titled(signOf(rule), title.repeated(brief, format.lasted(at - firedAt)))
    case 'late':
      return titled('🕓', title.late(inner(headlineOf(notification, catalogue))))
    case 'resolved': {
      const [sign, text] = endOf(notification, catalogue)
      return titled(sign, gpu === undefined ? inner(text) : `${gpu}: ${inner(text)}`)
    }
    default:
      return reason satisfies never
  }
}

/** Sign and words for what is over. Ended by a restart, or closed for lack of traffic, it is not known to be well. */
export function endOf(notification: Notification, catalogue: Catalogue): [sign: string, text: string] {
  const headline = headlineOf(notification, catalogue)
  if (notification.flaps) return ['✅', catalogue.title.cameAndWent(headline, notification.flaps.times)]
  if (notification.ended === 'restarted') return ['🔄', catalogue.title.restarted(headline)]
  if (notification.ended === 'forgotten') return ['❔', catalogue.title.forgotten(headline)]
  if (notification.ended === 'limit-changed') return ['🎚️', catalogue.title.limitChanged(headline)]
  if (notification.ended === 'idle') return ['💤', catalogue.title.idle(headline)]
  return ['✅', textsOf(notification.rule, catalogue).over]
}

/** `GPU-5fd4f087`: the start of a UUID is enough for a title; the body has all of it. */
function shortUuid(subject: string): string {
  return subject.replace(/^((?:GPU|MIG)-[0-9a-f]{8})-[0-9a-f-]{27}/, '$1')
}

/** What is wrong, what it means for users, and the server's own words. */
function nowLines(notification: Notification, catalogue: Catalogue, now: number): Line[] {
  const { line, format } = catalogue
  const { reason, at, firedAt, failure, beat, context, flaps } = notification
  const often = flaps && line.comesAndGoes(flaps.times, format.clock(flaps.since, now), reason === 'repeated')
  const since = reason === 'repeated' ? line.since(format.clock(firedAt, now)) : undefined
  const asOf = now - at >= LATE ? line.asOf(format.clock(at, now)) : undefined
  const below = belowOf(notification, catalogue)
  const text = [below, often, nowOf(notification, catalogue), impact(notification, catalogue), since, asOf]
    .filter((part) => part !== undefined)
    .join(' ')
  const words =
    failure?.detail ??
    beat?.failed?.body ??
    beat?.body ??
    (isCanaryRule(notification) ? context?.canary?.detail : undefined)
  if (words === undefined) return [{ text, rank: 0 }]
  const said =
    failure?.kind === 'redirected' && !isCanary(notification)
      ? line.pointsTo(words)
      : line.says(beat ? 'worker' : 'server', words)
  return [
    { text, rank: 0 },
    { text: said, rank: 3 },
  ]
}

/** What lies below the symptom comes before it. */
export function belowOf({ context, rule }: Notification, { line, verdicts }: Catalogue): string | undefined {
  const { cause, verdict } = context ?? {}
  if (cause?.gpu) return line.gpuBelow(named(cause.gpu))
  if (cause?.upstreams !== undefined) return line.upstreamsBelow(cause.upstreams)
  const isOfWork = ruleNamed(rule)?.symptom === true
  return isOfWork && verdict?.kind === 'restarted' ? verdicts.restarted(verdict) : undefined
}

function named(gpu: NonNullable<Cause['gpu']>): NonNullable<Cause['gpu']> {
  return { ...gpu, name: shortGpu(gpu.name) ?? gpu.name }
}

function impact(notification: Notification, catalogue: Catalogue): string | undefined {
  const { context, rule } = notification
  const waiting = context?.numbers.waiting
  if (!context || !waiting || waiting < 1 || !ruleNamed(rule)?.delaysRequests) return undefined
  const finishing = context.numbers.requests_per_second
  if (context.noProgress || finishing === 0) return catalogue.line.noneFinishes
  if (finishing === undefined || finishing < 0) return undefined
  const seconds = waiting / finishing
  return seconds >= 1 && seconds < 86_400 ? catalogue.line.newRequestWaits(seconds) : undefined
}

function overLines(notification: Notification, catalogue: Catalogue, now: number): Line[] {
  const { line, format } = catalogue
  const { reason, at, firedAt, endedAt, ended, times, flaps, began, context } = notification
  const detail = detailOf(notification, catalogue)
  const lasted = lengthOf(notification)
  const how = ended === undefined ? undefined : line.ended[ended]
  const byWhat: Line[] = how === undefined ? [] : [{ text: how, rank: 1 }]
  const { gpu, ...cause } = context?.cause ?? {}
  const isCaused = gpu !== undefined || cause.upstreams !== undefined
  const first = (text: string): Line => ({
    text: isCaused ? `${text} ${line.cameFrom({ ...cause, ...(gpu && { gpu: named(gpu) }) })}` : text,
    rank: 0,
  })
  if (reason === 'late') {
    const [from, to] = [format.clock(firedAt, now), format.clock(endedAt ?? at, now)]
    if (times !== undefined) return [first(line.wasOften(times, from, to, detail))]
    return [first(line.was(from, to, lasted, detail)), ...byWhat]
  }
  const also = alsoLines(notification, catalogue)
  if (flaps) {
    const text = line.cameAndWent(flaps.times, format.clock(flaps.since, now), flaps.bad, detail)
    return [first(text), ...also, ...byWhat]
  }
  const what = ofSubject(notification, headlineOf(notification, catalogue), catalogue)
  const often: Line[] = began === undefined ? [] : [{ text: line.began(began), rank: 1 }]
  return [first(line.lasted(what, lasted, detail)), ...also, ...often, ...byWhat]
}

/** What else took part, with how bad it got. */
function alsoLines(main: Notification, catalogue: Catalogue): Line[] {
  const parts = symptomsOf(main).map((symptom) => {
    const headline = inner(headlineOf(symptom, catalogue))
    const detail = detailOf(symptom, catalogue)
    return detail === undefined ? headline : `${headline} (${detail})`
  })
  return parts.length === 0 ? [] : [{ text: catalogue.line.also(parts), rank: 1 }]
}

/** Another rule of the same endpoint, in one line. */
export function besideLine(notification: Notification, catalogue: Catalogue, now: number): string {
  const { line, format } = catalogue
  if (notification.reason === 'resolved') {
    const [sign, text] = endOf(notification, catalogue)
    return line.over(sign, ofSubject(notification, text, catalogue), lengthOf(notification))
  }
  if (notification.reason === 'late') {
    const headline = ofSubject(notification, headlineOf(notification, catalogue), catalogue)
    const { at, firedAt, endedAt, times } = notification
    return line.lateLine(headline, format.clock(firedAt, now), format.clock(endedAt ?? at, now), times)
  }
  return `${signOf(notification.rule)} ${nowOf(notification, catalogue)}`
}

/** The model and the address; a worker has neither: its name in the title is all there is. */
function address({ context }: Notification): Line[] {
  if (!context || context.backend === 'heartbeat-check') return []
  const model: Line[] = context.model && context.backend !== 'dcgm' ? [{ text: context.model, rank: 5 }] : []
  return [...model, ...(context.url ? [{ text: context.url, rank: 2 }] : [])]
}

/** The whole UUIDs of the GPUs that the message names by their numbers. */
function uuids(notifications: readonly Notification[]): Line[] {
  const named = notifications.filter(({ subject, subjectName }) => subject !== undefined && shortGpu(subjectName))
  const texts = named.map(({ subject, subjectName }) => `${subjectName}: ${subject}`)
  return texts.length === 0 ? [] : [{ text: [...new Set(texts)].join('; '), rank: 3 }]
}
