/** A line of a body. When room is short, the highest rank is dropped first; rank 0 is what the message is about. */
export interface Line {
  text: string
  rank: number
}

/** A message before its body is cut to size. */
export interface Draft {
  title: string
  lines: Line[]
}

export const MAX_LINES = 12
export const MAX_BYTES = 4096
export const MAX_TITLE = 80

/** Joins the lines that fit, in order; never empty unless every line is. */
export function fitBody(lines: readonly Line[], maxBytes: number, markdown: boolean): string {
  const lineEnd = markdown ? '  \n' : '\n' // two spaces keep the line break when markdown is rendered
  let kept = lines.filter((line) => line.text !== '')
  const join = () => kept.map((line) => line.text).join(lineEnd)
  while (kept.length > 1 && (kept.length > MAX_LINES || bytesOf(join()) > maxBytes)) {
    const highest = Math.max(...kept.map((line) => line.rank))
    const last = kept.findLastIndex((line) => line.rank === highest)
    kept = kept.filter((_, index) => index !== last)
  }
  return cutBytes(join(), maxBytes)
}

/**
 * `🐌 Queue is growing: chat/a (llama-3.1-8b)` within 80 UTF-16 units. When it is too long, the model gives way first:
 * its part after the last slash, cut, left out; then the place is cut, then the headline.
 */
export function fitTitle(sign: string, headline: string, place: string | undefined, model: string | undefined): string {
  const start = `${sign} ${headline}`
  if (place === undefined) return cutText(start, MAX_TITLE)
  const roomForPlace = Math.max(MAX_TITLE - start.length - 2, 20)
  const end = `: ${cutText(place, roomForPlace)}`
  const base = cutText(start, MAX_TITLE - end.length) + end
  return base + fitModel(model, MAX_TITLE - base.length - 3)
}

function fitModel(model: string | undefined, room: number): string {
  if (model === undefined) return ''
  const short = model.slice(model.lastIndexOf('/') + 1) || model
  if (model.length <= room) return ` (${model})`
  if (short.length <= room) return ` (${short})`
  return room >= 8 ? ` (${cutText(short, room)})` : ''
}

/** Cuts to at most `max` UTF-16 units, between graphemes; `…` stands for what was cut. */
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

/** Cuts to at most `max` bytes of UTF-8, between graphemes; `…` stands for what was cut. */
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

const encoder = new TextEncoder()

/** Made when the first text is too long: it takes 4 ms, which most runs can do without. */
let segmenter: Intl.Segmenter | undefined
function graphemes(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return segmenter.segment(text)
}
