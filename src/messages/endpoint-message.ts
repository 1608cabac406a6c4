import type { Notification } from '../model/notification.ts'
import type { Catalogue } from './catalogue.ts'
import { afterwards, meanwhile, QUEUE } from './context-lines.ts'
import { type Draft, fitTitle, type Line } from './fit.ts'
import { isOver } from './group.ts'
import type { Facts } from './sanitize.ts'
import { detailOf, headlineOf, isCanary, isCanaryRule, lengthOf, nowOf, ofSubject, textsOf } from './sentence.ts'

/** A push this much after its facts says as of when they are. Milliseconds. */
const LATE = 3 * 60_000

/** The message of one endpoint, or of the watcher itself. Facts come worst first. */
export function ofOne(facts: Facts, catalogue: Catalogue, now: number): Draft {
  const [main, ...others] = facts.body
  const [named] = facts.title
  if (main === undefined || named === undefined) return { title: '', lines: [] }
  const first = isOver(main) ? overLines(main, catalogue, now) : nowLines(main, catalogue, now)
  const beside = others.map((note, index) => ({ text: besideLine(note, catalogue, now), rank: index < 3 ? 1 : 5 }))
  const rest = isOver(main) ? afterwards(main, catalogue) : meanwhile(facts.body, main, catalogue)
  const repeated = facts.body.some((note) => note.maybeSent === true)
  const maybe: Line[] = repeated ? [{ text: catalogue.line.maybeSent, rank: 2 }] : []
  return { title: titleOf(named, catalogue), lines: [...first, ...beside, ...rest, ...address(main), ...maybe] }
}

function titleOf(note: Notification, catalogue: Catalogue): string {
  const rule = textsOf(note.rule, catalogue)
  const headline = headlineOf(note, catalogue)
  // Of the watcher itself: which of its functions.
  const place = note.endpoint ?? note.context?.backend ?? (note.rule === 'gap' ? note.subject : undefined)
  const inBrackets = note.subject === undefined || place === note.subject ? note.context?.model : shortGpu(note.subject)
  const titled = (sign: string, text: string) => fitTitle(sign, text, place, inBrackets)
  switch (note.reason) {
    case 'fired':
    case 'worse':
    case 'told-once':
      return titled(rule.sign, headline)
    case 'repeated':
      return titled(
        rule.sign,
        catalogue.title.repeated(rule.still ?? headline, catalogue.numbers.lasted(note.at - note.firedAt)),
      )
    case 'late':
      return titled('🕓', catalogue.title.late(headline))
    case 'resolved':
      return titled(...endOf(note, catalogue))
    default:
      return note.reason satisfies never
  }
}

/** Sign and words of what is over: what ended by a restart, or was closed without traffic, is not said to be well. */
function endOf(note: Notification, catalogue: Catalogue): [sign: string, text: string] {
  const headline = headlineOf(note, catalogue)
  if (note.ended === 'restarted') return ['🔄', catalogue.title.restarted(headline)]
  if (note.ended === 'idle') return ['💤', catalogue.title.idle(headline)]
  return ['✅', textsOf(note.rule, catalogue).over]
}

/** `GPU-5fd4f087` of a UUID is enough for a title; the body has it whole. */
function shortGpu(subject: string): string {
  return subject.replace(/^((?:GPU|MIG)-[0-9a-f]{8})-[0-9a-f-]{27}/, '$1')
}

/** What is wrong, what it means for people, and the server's own words. */
function nowLines(note: Notification, catalogue: Catalogue, now: number): Line[] {
  const { line, numbers } = catalogue
  const since = note.reason === 'repeated' ? line.since(numbers.clock(note.firedAt, now)) : undefined
  const asOf = now - note.at >= LATE ? line.asOf(numbers.clock(note.at, now)) : undefined
  const text = [nowOf(note, catalogue), impact(note, catalogue), since, asOf]
    .filter((part) => part !== undefined)
    .join(' ')
  const words =
    note.failure?.detail ??
    note.beat?.failed?.body ??
    note.beat?.body ??
    (isCanaryRule(note) ? note.context?.canary?.detail : undefined)
  if (words === undefined) return [{ text, rank: 0 }]
  const said =
    note.failure?.kind === 'redirected' && !isCanary(note)
      ? line.pointsTo(words)
      : line.says(note.beat ? 'worker' : 'server', words)
  return [
    { text, rank: 0 },
    { text: said, rank: 3 },
  ]
}

function impact(note: Notification, catalogue: Catalogue): string | undefined {
  const { context, rule } = note
  const waiting = context?.numbers.waiting
  if (!context || !waiting || waiting < 1 || !(QUEUE.includes(rule) || rule === 'ttft' || rule === 'kv_cache'))
    return undefined
  const finishing = context.numbers.requests_per_second
  if (context.noProgress || finishing === 0) return catalogue.line.noneFinishes
  if (finishing === undefined || finishing < 0) return undefined
  const seconds = waiting / finishing
  return seconds >= 1 && seconds < 86_400 ? catalogue.line.newRequestWaits(seconds) : undefined
}

function overLines(note: Notification, catalogue: Catalogue, now: number): Line[] {
  const { line, numbers } = catalogue
  const detail = detailOf(note, catalogue)
  const ended = note.endedAt ?? note.at
  const lasted = lengthOf(note)
  const how = note.ended === undefined ? undefined : line.ended[note.ended]
  const byWhat: Line[] = how === undefined ? [] : [{ text: how, rank: 1 }]
  if (note.reason === 'late') {
    const [from, to] = [numbers.clock(note.firedAt, now), numbers.clock(ended, now)]
    const { times } = note
    if (times !== undefined) return [{ text: line.wasOften(times, from, to, detail), rank: 0 }]
    return [{ text: line.was(from, to, lasted, detail), rank: 0 }, ...byWhat]
  }
  const what = ofSubject(note, headlineOf(note, catalogue), catalogue)
  return [{ text: line.lasted(what, lasted, detail), rank: 0 }, ...byWhat]
}

/** Another rule of the same endpoint, in one line. */
export function besideLine(note: Notification, catalogue: Catalogue, now: number): string {
  const { line, numbers } = catalogue
  if (note.reason === 'resolved') {
    const [sign, text] = endOf(note, catalogue)
    return line.over(sign, ofSubject(note, text, catalogue), lengthOf(note))
  }
  if (note.reason === 'late') {
    const headline = ofSubject(note, headlineOf(note, catalogue), catalogue)
    const [from, to] = [note.firedAt, note.endedAt ?? note.at].map((time) => numbers.clock(time, now))
    return line.lateLine(headline, from ?? '', to ?? '', note.times)
  }
  return `${textsOf(note.rule, catalogue).sign} ${nowOf(note, catalogue)}`
}

/** A worker has no address: its name in the title is all there is. */
function address({ context }: Notification): Line[] {
  const shown = context?.url && context.backend !== 'heartbeat-check' ? context.url : undefined
  return shown === undefined ? [] : [{ text: shown, rank: 2 }]
}
