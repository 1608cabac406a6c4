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

/** Of a title, what the name of an endpoint may take when both are long. UTF-16 units. */
const LONG_PLACE = 40

/** `🐌 chat/a: 42 waiting (limit 20)` within 80 UTF-16 units; when it is too long, the end of the place is cut, then that of the text. */
export function fitTitle(sign: string, text: string, place?: string): string {
  if (place === undefined) return cutText(`${sign} ${text}`, MAX_TITLE)
  const room = Math.max(LONG_PLACE, MAX_TITLE - sign.length - text.length - 3)
  return cutText(`${sign} ${cutText(place, room)}: ${text}`, MAX_TITLE)
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
