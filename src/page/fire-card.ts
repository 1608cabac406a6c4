import { CATALOGUES } from '../messages/compose.ts'
import { sanitizeText } from '../messages/sanitize.ts'
import { chartSvg } from './chart-svg.ts'
import { type Reader, timeOf } from './document.ts'
import { escapeHtml } from './html.ts'
import { numbersOf, PAGE_WORDS, valueText, wordsOfAlert } from './texts.ts'
import type { Chart, EndpointView, Fire, firesOf } from './view.ts'

/** What fires at one endpoint: with its chart and its verdict as a card, in two lines as a row. */
export function fireCard(
  { owner, endpoint, fire }: ReturnType<typeof firesOf>[number],
  reader: Reader,
  form: 'card' | 'row',
): string {
  const words = PAGE_WORDS[reader.language]
  const told = fire.alerts.map((alert) => wordsOfAlert(alert, reader.language))
  const lasted = numbersOf(reader.language).lasted(Math.max(0, reader.now - fire.since))
  const since = words.since(timeOf(fire.since, reader), lasted)
  const name = `<b>${escapeHtml(endpoint.name)}</b>`
  const title = `${told[0]?.sign ?? '🔔'} ${name}: ${escapeHtml(told[0]?.headline ?? '')}`
  const quiet = heldBy(endpoint, fire, reader)
  if (form === 'row') {
    const beside = [...quiet, since, ...told.map(({ now }) => escapeHtml(now))].join(' · ')
    return `<li class="r x"><h3>${title}</h3><span class="m">${beside}</span></li>`
  }
  const sentences = told.map(({ now, sign }, index) => `${index === 0 ? '' : `${sign} `}${escapeHtml(now)}`)
  const model = endpoint.model === undefined ? owner.name : `${owner.name}, ${sanitizeText(endpoint.model, 60)}`
  const verdict = verdictOf(fire, reader)
  const figure = fire.chart && isKnown(fire.chart) ? figureOf(fire.chart, reader) : ''
  return `<li class="f${quiet.length > 0 ? ' q' : ''}${figure === '' ? '' : ' w'}"><div><h3 class="bad">${title}</h3><p>${sentences.join(' ')}</p>${verdict === undefined ? '' : `<p>${escapeHtml(verdict)}</p>`}<p class="m">${[...quiet, since, escapeHtml(model)].join(' · ')}</p></div>${figure}</li>`
}

function heldBy({ quiet }: EndpointView, { acknowledged }: Fire, reader: Reader): string[] {
  const words = PAGE_WORDS[reader.language]
  const who = (by: string) => escapeHtml(words.by(sanitizeText(by, 60)))
  const lines = [
    ...(acknowledged ? [words.acknowledged(who(acknowledged.by), timeOf(acknowledged.at, reader))] : []),
    ...(quiet?.kind === 'maintenance' ? [words.maintenance(timeOf(quiet.until, reader))] : []),
    ...(quiet?.kind === 'silence'
      ? [`${words.silenced(timeOf(quiet.until, reader))}${quiet.by === undefined ? '' : ` ${who(quiet.by)}`}`]
      : []),
  ]
  return lines.map((line) => `<span class="warn">${line}</span>`)
}

function verdictOf({ verdict, restarted }: Fire, { language }: Reader): string | undefined {
  return verdict && CATALOGUES[language].verdicts[verdict.kind](verdict, { restarted })
}

function isKnown({ points }: Chart): boolean {
  return points.filter(([, value]) => value !== null).length > 1
}

export function figureOf(chart: Chart, reader: Reader): string {
  const caption = captionOf(chart, reader)
  return `<figure>${chartSvg(chart, escapeHtml(caption))}<figcaption aria-hidden="true">${escapeHtml(caption)}</figcaption></figure>`
}

/** `waiting 3 → 42 in 15 min, limit 20`. */
function captionOf({ signal, points, limit }: Chart, { language }: Reader): string {
  const words = PAGE_WORDS[language]
  const values = points.flatMap(([, value]) => value ?? [])
  const text = (value: number | undefined) => valueText(signal, value ?? 0, language)
  const span = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0)
  const course = words.course(text(values[0]), text(values.at(-1)), numbersOf(language).lasted(span))
  const end = limit === undefined ? '' : `, ${words.limit(text(limit))}`
  return `${words.signal[signal] ?? signal} ${course}${end}`
}
