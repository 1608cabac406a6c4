import { shownUrl } from '../secrets/names.ts'

/**
 * Text from outside (model names, labels, error bodies, answers of servers) made safe to stand inside a line of ours:
 * it cannot end the line, turn its direction, hide in it or mark it up, and it is no longer than `max` characters.
 * @param markdown the message is rendered: every mark is escaped, so that no link, picture or heading comes of it.
 * @returns `''` when nothing visible is left.
 */
export function foreign(text: string, max: number, markdown = false): string {
  const visible = text
    .slice(0, max * 8) // no need to clean what is cut anyway
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Zs}]+/gu, ' ')
    .replace(/[\p{Cf}\p{Cs}\p{Co}]/gu, '') // direction marks, zero-width characters, lone surrogates
    .replace(/(\p{M}{3})\p{M}+/gu, '$1') // stacked marks grow over the lines above and below
    .replace(/ {2,}/g, ' ')
    .trim()
  const short = cutText(visible, max)
  return markdown ? escapeMarkdown(short) : short
}

/** At most `max` UTF-16 units, cut between graphemes, with `…` in the place of what was cut. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  if (max < 1) return ''
  let kept = ''
  for (const { segment } of graphemes(text.slice(0, max * 2))) {
    if (kept.length + segment.length > max - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** At most `max` bytes of UTF-8, cut between graphemes, with `…` in the place of what was cut. */
export function cutBytes(text: string, max: number): string {
  if (bytesOf(text) <= max) return text
  const room = max - bytesOf('…')
  if (room < 0) return ''
  let kept = ''
  let bytes = 0
  for (const { segment } of graphemes(text.slice(0, max))) {
    bytes += bytesOf(segment)
    if (bytes > room) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

export function bytesOf(text: string): number {
  return encoder.encode(text).length
}

/**
 * An address for display: without user, password and the values of parameters that look like keys.
 * @param markdown written as an autolink, inside which nothing is markup.
 */
export function addressOf(url: string, markdown = false): string {
  if (!URL.canParse(url)) return foreign(url.replace(/\/\/[^/@\s]*@/g, '//'), ADDRESS, markdown)
  const address = new URL(shownUrl(url))
  address.username = ''
  address.password = ''
  address.hash = ''
  const isBare = address.href.endsWith('/') && !url.endsWith('/') // the URL class adds a slash to a bare origin
  const text = isBare ? address.href.slice(0, -1) : address.href
  if (!markdown) return foreign(text, ADDRESS)
  return /^https?:[^\s<>]+$/.test(text) ? `<${foreign(text, ADDRESS)}>` : foreign(text, ADDRESS, true)
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}[\]()<>#+\-.!|~&:@^=$"']/g, '\\$&')
}

const ADDRESS = 200
const encoder = new TextEncoder()

/** Made for the first text that is too long: it takes 4 ms, which most runs have no use for. */
let segmenter: Intl.Segmenter | undefined
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}
