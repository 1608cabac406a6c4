import { chartSvg } from './chart-svg.ts'
import type { Reader } from './document.ts'
import { escapeHtml } from './html.ts'
import { numbersOf, PAGE_WORDS, valueText } from './texts.ts'
import type { Chart } from './view.ts'

/** A chart with its words below it. */
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
