import { sanitizeText } from '../messages/sanitize.ts'
import { documentOf, type Reader, timeOf } from './document.ts'
import { fireCard } from './fire-card.ts'
import { escapeHtml } from './html.ts'
import { numbersOf, PAGE_WORDS } from './texts.ts'
import { firesOf, type PageView } from './view.ts'

/** What a press may ask for. */
export const CHOICES = ['acknowledge', 'silence-1h', 'silence-4h', 'silence-9am', 'end'] as const
export type Choice = (typeof CHOICES)[number]

/** What came of a press. */
export type Done =
  | { kind: 'acknowledged' | 'ended' | 'failed' | 'unknown' }
  | { kind: 'silenced' | 'already'; until: number }

/**
 * What can be done about some incidents.
 * @param view their endpoints alone. @param names of these. @param about.morning when 9:00 is next, epoch milliseconds.
 * @param about.lasts one of the incidents still fires.
 */
export function actPage(
  view: PageView,
  names: readonly string[],
  { morning, lasts, done }: { morning: number; lasts: boolean; done?: Done },
  reader: Reader,
): string {
  const words = PAGE_WORDS[reader.language]
  const fires = firesOf(view)
  const isOpen = lasts && fires.some(({ fire }) => !fire.acknowledged)
  const silenced = view.functions.some(({ silences }) =>
    silences.some(({ scope, name = '' }) => scope === 'endpoint' && names.includes(name)),
  )
  const cards = fires.map((one) => fireCard(one, reader, 'card')).join('')
  const over = !lasts ? `<p>${words.act.over}</p>` : ''
  const listed = escapeHtml(names.join(', '))
  const hours = (count: number) => words.act.silence(numbersOf(reader.language).lasted(count * 3_600_000))
  const button = (choice: Choice, text: string, main = false) =>
    `<button name="do" value="${choice}"${main ? ' class="p"' : ''}>${text}</button>`
  const buttons = [
    ...(isOpen
      ? [button('acknowledge', words.act.acknowledge, true), `<p class="m">${words.act.acknowledgeMeans}</p>`]
      : []),
    button('silence-1h', hours(1)),
    button('silence-4h', hours(4)),
    button('silence-9am', words.act.silenceUntil(timeOf(morning, reader))),
    ...(silenced ? [button('end', words.act.end)] : []),
    `<p class="m">${words.act.silenceMeans(listed)}</p>`,
  ]
  const body = `<div class="n"><header><h1>🔔 ${words.title}</h1><p>${listed}</p><p class="at">${words.asOf(timeOf(view.now, reader))} ${escapeHtml(reader.timezone)}</p></header><main>${done ? said(done, reader) : holding(view, names, reader)}<ol>${cards}</ol>${over}<h2 id="w">${words.act.heading}</h2><form method="post" aria-labelledby="w">${buttons.join('')}</form><p class="m">${words.act.what}</p></main></div>`
  return documentOf(`${names.join(', ')} · ${words.title}`, body, reader)
}

/** What somebody has done already, whoever it was. */
function holding(view: PageView, names: readonly string[], reader: Reader): string {
  const words = PAGE_WORDS[reader.language]
  const taken = firesOf(view).flatMap(({ fire }) => fire.acknowledged ?? [])
  const silences = view.functions.flatMap((one) =>
    one.silences.filter(({ scope, name = '' }) => scope === 'endpoint' && names.includes(name)),
  )
  const last = silences.sort((a, b) => b.until - a.until)[0]
  const lines = [
    ...taken.slice(0, 1).map(({ at, by }) => words.acknowledged(byWhom(by, reader), timeOf(at, reader))),
    ...(last ? [`${words.silenced(timeOf(last.until, reader))} ${byWhom(last.by, reader)}`] : []),
  ]
  return lines.map((line) => `<p class="say" role="status">${line}</p>`).join('')
}

function byWhom(by: string, { language }: Reader): string {
  return escapeHtml(PAGE_WORDS[language].by(sanitizeText(by, 60)))
}

function said(done: Done, reader: Reader): string {
  const { act } = PAGE_WORDS[reader.language]
  const bad = done.kind === 'failed' || done.kind === 'unknown'
  return `<p class="say${bad ? ' bad' : ''}" role="status">${textOf(done, act, reader)}</p>`
}

function textOf(done: Done, act: (typeof PAGE_WORDS)['en']['act'], reader: Reader): string {
  switch (done.kind) {
    case 'acknowledged':
      return act.done.acknowledged
    case 'silenced':
      return act.done.silenced(timeOf(done.until, reader))
    case 'already':
      return act.done.already(timeOf(done.until, reader))
    case 'ended':
      return act.done.ended
    case 'failed':
      return act.failed
    case 'unknown':
      return act.unknown
    default:
      return done satisfies never
  }
}
