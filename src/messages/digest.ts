import type { Notification } from '../model/notification.ts'
import { ruleNamed, signOf } from '../rules/rules.ts'
import { todosOf } from './context-lines.ts'
import { belowOf, endOf, placeOf } from './endpoint-message.ts'
import { cutText, type Draft, fitTitle, type Line, MAX_LINES } from './fit.ts'
import { shortGpu } from './gpu-name.ts'
import { isOver } from './group.ts'
import type { Sanitized } from './sanitize.ts'
import { headlineOf } from './sentence.ts'
import type { Catalogue } from './texts.ts'

/** Endpoints that a line names; the others are counted. */
const NAMED = 10
/** UTF-16 units of one line. */
const LINE = 380

/** Endpoints with one trouble for one cause. */
interface Lot {
  worst: Notification
  all: Notification[]
}

/** Many endpoints in one message: a line for each trouble and cause, the worst first, and what to do about the worst. Expects the notifications worst first. */
export function digest(sanitized: Sanitized, catalogue: Catalogue): Draft {
  const lots = lotsOf(sanitized.body)
  const [first] = lots
  const [titled] = lotsOf(sanitized.title)
  if (!first || !titled) return { title: '', lines: [] }
  const maybe: Line[] = sanitized.body.some(({ maybeSent }) => maybeSent)
    ? [{ text: catalogue.line.maybeSent, rank: 0 }]
    : []
  const advice = isOver(first.worst) ? [] : reasonOf(first.worst, catalogue).map((text) => ({ text, rank: 1 }))
  const room = MAX_LINES - maybe.length - advice.length
  const shown = lots.length > room ? lots.slice(0, room - 1) : lots
  const lines = shown.map((lot, index): Line => ({ text: cutText(lotText(lot, catalogue), LINE), rank: index + 2 }))
  const left = lots.slice(shown.length).reduce((sum, { all }) => sum + all.length, 0)
  const more: Line[] = left > 0 ? [{ text: catalogue.line.more(left), rank: 0 }] : []
  const title = titleOf(titled, catalogue)
  const [head, ...rest] = lines
  // What the title has whole is not said twice.
  const top = head && head.text !== title ? [head] : []
  return { title, lines: [...top, ...advice, ...rest, ...more, ...maybe] }
}

/** By rule and cause; inside a lot the highest value first. */
function lotsOf(notifications: readonly Notification[]): Lot[] {
  const lots = new Map<string, Notification[]>()
  for (const one of notifications) {
    const cause = isOver(one)
      ? (one.ended ?? '')
      : (one.failure?.kind ?? one.context?.verdict?.kind ?? one.value === undefined)
    const key = [isOver(one), one.rule, cause].join(' ')
    lots.set(key, [...(lots.get(key) ?? []), one])
  }
  return [...lots.values()].flatMap((all): Lot[] => {
    const sorted = [...all].sort((a, b) => figure(b) - figure(a))
    return sorted[0] ? [{ worst: sorted[0], all: sorted }] : []
  })
}

function figure({ value, peak, rule, reason }: Notification): number {
  const number = (isOver({ reason }) ? (peak ?? value) : value) ?? 0
  return ruleNamed(rule)?.breach === 'below' ? -number : number
}

/** `🐌 Queue at 12 of 30: c7 220, c4 190, …` */
function titleOf(lot: Lot, catalogue: Catalogue): string {
  return fitTitle(signOfLot(lot, catalogue), textOf(lot, catalogue, 5))
}

function lotText(lot: Lot, catalogue: Catalogue): string {
  return `${signOfLot(lot, catalogue)} ${textOf(lot, catalogue, NAMED)}`
}

function signOfLot({ worst }: Lot, catalogue: Catalogue): string {
  if (worst.reason === 'late') return '🕓'
  return isOver(worst) ? endOf(worst, catalogue)[0] : signOf(worst.rule)
}

function textOf({ worst, all }: Lot, catalogue: Catalogue, named: number): string {
  const places = [...new Set(all.map((one) => placeOf(one) ?? ''))]
  const what = isOver(worst) ? overText(worst, catalogue) : (catalogue.lots[worst.rule] ?? headlineOf(worst, catalogue))
  const names = places.slice(0, named).map((name) => {
    const one = all.find((other) => (placeOf(other) ?? '') === name)
    const shown = one && figureText(one, catalogue)
    return shown === undefined ? name : `${name} ${shown}`
  })
  const more = places.length > names.length ? ', …' : ''
  return catalogue.title.lot(what, places.length, worst.context?.of ?? 0, `${names.join(', ')}${more}`)
}

function overText(worst: Notification, catalogue: Catalogue): string {
  return worst.reason === 'late' ? catalogue.title.late(headlineOf(worst, catalogue)) : endOf(worst, catalogue)[1]
}

/** The number alone, in its unit. */
function figureText(one: Notification, { format }: Catalogue): string | undefined {
  const { value, subjectName, rule } = one
  const gpu = shortGpu(subjectName)
  const number = isOver(one) ? undefined : value
  const unit = ruleNamed(rule)?.unit
  const write = {
    requests: format.count,
    seconds: format.seconds,
    share: format.percent,
    times: format.count,
    'per-second': format.rate,
    '°C': format.count,
  }
  const known = unit !== undefined && unit in write ? write[unit as keyof typeof write] : undefined
  const text = number === undefined ? undefined : known?.(number)
  return [gpu, text].filter((part) => part !== undefined).join(' ') || undefined
}

/** Why, or else what to do. */
function reasonOf(worst: Notification, catalogue: Catalogue): string[] {
  // An engine that hangs is explained by that, as in a message of its own.
  const verdict = worst.rule === 'stalled' ? undefined : worst.context?.verdict
  const why = belowOf(worst, catalogue) ?? (verdict && catalogue.verdicts[verdict.kind](verdict))
  const [todo] = todosOf(worst, catalogue)
  const text = [why, todo].filter((part) => part !== undefined).join(' ')
  return text === '' ? [] : [text]
}
