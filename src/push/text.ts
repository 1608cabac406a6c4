/**
 * As many characters of a text as a measure allows, escaped one by one, so that no cut goes through an escape or a
 * character; `…` in the place of what was cut.
 * @param write how one character (a code point) is written for the service.
 * @param size how much it takes, after or before escaping as the service counts.
 */
export function fitEscaped(
  text: string,
  most: number,
  write: (character: string) => string,
  size: (character: string, escaped: string) => number,
): string {
  const pieces: { escaped: string; size: number }[] = []
  let total = 0
  for (const character of wellFormed(text)) {
    const escaped = write(character)
    const own = size(character, escaped)
    total += own
    pieces.push({ escaped, size: own })
    // Enough to know that it does not fit.
    if (total > most) break
  }
  if (total <= most) return pieces.map((piece) => piece.escaped).join('')
  const room = most - size('…', '…')
  while (total > room && pieces.length > 0) total -= pieces.pop()?.size ?? 0
  return `${pieces.map((piece) => piece.escaped).join('')}…`
}

/** Half a character becomes the sign for one that cannot be shown. */
function wellFormed(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8')
}

/** UTF-16 units before escaping: what the reader sees. */
export const seen = (character: string) => character.length
/** UTF-16 units after escaping: what is sent. */
export const sent = (_: string, escaped: string) => escaped.length
/** Bytes of UTF-8. */
export const bytes = (character: string) => Buffer.byteLength(character, 'utf8')

export const asItIs = (character: string) => character

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** Telegram's HTML and Slack's text need these three, and only these. */
export const asEntity = (character: string) => ENTITIES[character] ?? character

/** Title and body as one text. */
export function joined({ title, body }: { title: string; body: string }): string {
  return title.trim() === '' || title === body ? body : `${title}\n${body}`
}
