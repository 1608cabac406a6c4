import { CATALOGUES } from '../messages/compose.ts'
import { sanitizeText } from '../messages/sanitize.ts'
import { type Reader, timeOf } from './document.ts'
import { isMoving, numberTexts } from './endpoint-row.ts'
import { figureOf } from './figure.ts'
import { escapeHtml } from './html.ts'
import { numbersOf, PAGE_WORDS, wordsOfAlert } from './texts.ts'
import type { EndpointView, Fire, firesOf } from './view.ts'

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
  const sentences = told.map(({ now, sign }, index) => `<p>${index === 0 ? '' : `${sign} `}${escapeHtml(now)}</p>`)
  const model = endpoint.model === undefined ? owner.name : `${owner.name}, ${sanitizeText(endpoint.model, 60)}`
  const verdict = verdictOf(fire, reader)
  const beside = numberTexts(endpoint, reader)
  const numbers = beside.length === 0 ? '' : `<p class="m">${beside.join(' · ')}</p>`
  const figure = fire.chart && isMoving(fire.chart) ? figureOf(fire.chart, reader) : ''
  return `<li class="f${quiet.length > 0 ? ' q' : ''}${figure === '' ? '' : ' w'}"><div><h3 class="bad">${title}</h3>${sentences.join('')}${verdict === undefined ? '' : `<p>${escapeHtml(verdict)}</p>`}<p class="m">${[...quiet, since, escapeHtml(model)].join(' · ')}</p>${numbers}</div>${figure}</li>`
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

function verdictOf({ verdict }: Fire, { language }: Reader): string | undefined {
  return verdict && CATALOGUES[language].verdicts[verdict.kind](verdict)
}
