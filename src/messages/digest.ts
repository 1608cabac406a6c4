import type { Notification } from '../model/notification.ts'
import { besideLine } from './endpoint-message.ts'
import { cutText, type Draft, fitTitle, type Line, MAX_LINES } from './fit.ts'
import { isOver } from './group.ts'
import { inner } from './number-format.ts'
import type { Sanitized } from './sanitize.ts'
import type { Catalogue } from './texts.ts'

/** Characters of one endpoint's line. */
const LINE = 180

/**
 * Many endpoints in one message: a line for each, the worst first, followed by whatever else the endpoint has to tell as
 * long as there is room. Expects the notifications worst first.
 */
export function digest(sanitized: Sanitized, catalogue: Catalogue, now: number): Draft {
  const worst = new Map<string, Notification>()
  for (const notification of sanitized.body) {
    const name = notification.endpoint ?? ''
    if (!worst.has(name)) worst.set(name, notification)
  }
  const all = [...worst.entries()]
  const over = all.filter(([, notification]) => isOver(notification)).length
  const maybe: Line[] = sanitized.body.some(({ maybeSent }) => maybeSent)
    ? [{ text: catalogue.line.maybeSent, rank: 0 }]
    : []
  const room = MAX_LINES - maybe.length
  const shown = all.length > room ? all.slice(0, room - 1) : all
  const firsts = new Set(worst.values())
  const others = sanitized.body
    .filter((notification) => !firsts.has(notification))
    .slice(0, Math.max(0, room - all.length))
  const lines = shown.flatMap(([name, notification], index) => [
    { text: lineOf(name, notification, catalogue, now), rank: index + 1 },
    ...others
      .filter((other) => (other.endpoint ?? '') === name)
      .map((other) => ({ text: lineOf(name, other, catalogue, now), rank: room + index })),
  ])
  const more: Line[] =
    all.length > shown.length ? [{ text: catalogue.line.more(all.length - shown.length), rank: 0 }] : []
  const title =
    over === all.length
      ? fitTitle(signOf(all), catalogue.title.digestOver(over), undefined, undefined)
      : fitTitle('🚨', catalogue.title.digest(all.length - over, over), undefined, undefined)
  return { title, lines: [...lines, ...more, ...maybe] }
}

/** If only restarts or silence ended it, nothing is known to be well. */
function signOf(all: readonly (readonly [string, Notification])[]): string {
  const ends = all.map(([, { ended }]) => ended)
  if (ends.some((ended) => ended !== 'restarted' && ended !== 'idle')) return '✅'
  return ends.includes('restarted') ? '🔄' : '💤'
}

function lineOf(name: string, notification: Notification, catalogue: Catalogue, now: number): string {
  const text = besideLine(notification, catalogue, now)
  const signEnd = text.indexOf(' ')
  return cutText(`${text.slice(0, signEnd)} ${name}: ${inner(text.slice(signEnd + 1))}`, LINE)
}
