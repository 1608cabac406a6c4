import { escapeHtml } from './html.ts'
import type { PageView } from './view.ts'

const COLOURS = { ok: '#1a7340', bad: '#b3261e', unknown: '#57606a' }
/** Pixels that a character of Verdana 11 takes, roughly: the text is fitted to it. */
const CHARACTER = 6.6
const PADDING = 6

/**
 * One line for a README: `chat | ok`, `vllm | 2 of 10 firing`. English, as READMEs are.
 * @param name what it is of; `undefined` is all.
 */
export function badgeSvg(view: PageView, name: string | undefined): string {
  const { text, colour } = stateOf(view)
  const label = name ?? 'inference'
  const [left, right] = [label, text].map((one) => Math.round(one.length * CHARACTER + 2 * PADDING))
  const width = (left ?? 0) + (right ?? 0)
  const part = (x: number, of: number | undefined, words: string) =>
    `<text x="${x + (of ?? 0) / 2}" y="14" textLength="${Math.max(1, (of ?? 0) - 2 * PADDING)}">${escapeHtml(words)}</text>`
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" role="img" aria-label="${escapeHtml(`${label}: ${text}`)}"><title>${escapeHtml(`${label}: ${text}`)}</title><clipPath id="r"><rect width="${width}" height="20" rx="3"/></clipPath><g clip-path="url(#r)"><rect width="${left}" height="20" fill="#3a3f46"/><rect x="${left}" width="${right}" height="20" fill="${COLOURS[colour]}"/></g><g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">${part(0, left, label)}${part(left ?? 0, right, text)}</g></svg>\n`
}

function stateOf({ functions, broken }: PageView): { text: string; colour: keyof typeof COLOURS } {
  const endpoints = functions.flatMap((one) => one.endpoints)
  const firing = endpoints.filter(({ fire }) => fire !== undefined).length
  if (firing > 0)
    return { text: endpoints.length === 1 ? 'firing' : `${firing} of ${endpoints.length} firing`, colour: 'bad' }
  const isOld = functions.some(({ isLate }) => isLate)
  if (endpoints.length === 0 || broken.length > 0 || isOld) return { text: 'unknown', colour: 'unknown' }
  return { text: 'ok', colour: 'ok' }
}
