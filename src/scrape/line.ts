import parsePrometheusTextFormat from 'parse-prometheus-text-format'

/** Where the parts of a sample line lie. The line is text of one character a byte (latin1). */
export interface ScannedLine {
  name: string
  /** The label pairs without blanks, a last comma and `le`: `engine="0",model_name="m"`. */
  labels: string
  labelCount: number
  /** Where the value of `le` begins and ends inside its quotes. */
  le: { from: number; to: number } | undefined
  /** Where the label block begins and what follows its closing brace. */
  blockFrom: number
  blockTo: number
}

/**
 * Cuts a sample line into its parts; `undefined` where it is none. Quotes and escapes are respected, so a label's value
 * may hold anything. Blanks between the parts, and a comma before the closing brace, are legal.
 */
export function scanLine(line: string): ScannedLine | undefined {
  const nameFrom = skipBlanks(line, 0)
  const nameTo = endOfName(line, nameFrom, line.length)
  if (nameTo === nameFrom) return undefined
  const name = line.slice(nameFrom, nameTo)
  const blockFrom = skipBlanks(line, nameTo)
  if (line[blockFrom] !== '{') {
    if (blockFrom === nameTo) return undefined
    return { name, labels: '', labelCount: 0, le: undefined, blockFrom, blockTo: blockFrom }
  }
  const block = scanLabels(line, blockFrom + 1)
  return block && { name, blockFrom, ...block }
}

type ScannedLabels = Pick<ScannedLine, 'labels' | 'labelCount' | 'le' | 'blockTo'>

function scanLabels(line: string, from: number): ScannedLabels | undefined {
  let at = skipBlanks(line, from)
  let le: ScannedLine['le']
  const pairs: string[] = []
  while (line[at] !== '}') {
    const nameTo = endOfLabelName(line, at)
    const quote = afterEquals(line, nameTo)
    if (nameTo === at || quote === undefined) return undefined
    const valueTo = closingQuote(line, quote + 1)
    if (valueTo === undefined) return undefined
    const name = line.slice(at, nameTo)
    if (name === 'le' && le === undefined) le = { from: quote + 1, to: valueTo }
    else pairs.push(`${name}=${line.slice(quote, valueTo + 1)}`)
    at = skipBlanks(line, valueTo + 1)
    if (line[at] === ',') at = skipBlanks(line, at + 1)
    else if (line[at] !== '}') return undefined
  }
  return { labels: pairs.join(','), labelCount: pairs.length, le, blockTo: at + 1 }
}

function afterEquals(line: string, nameTo: number): number | undefined {
  const equals = skipBlanks(line, nameTo)
  const quote = skipBlanks(line, equals + 1)
  return line[equals] === '=' && line[quote] === '"' ? quote : undefined
}

function closingQuote(line: string, from: number): number | undefined {
  for (let at = from; at < line.length; at++) {
    if (line[at] === '"') return at
    if (line[at] === '\\') at++
  }
  return undefined
}

/** Whether a whole line is a well-formed sample, without reading its labels. */
export function isSample(line: string): boolean {
  const scanned = scanLine(line)
  return scanned !== undefined && readTail(line.slice(scanned.blockTo)) !== undefined
}

function skipBlanks(line: string, from: number): number {
  let at = from
  while (line[at] === ' ' || line[at] === '\t') at++
  return at
}

/** Where the metric name that begins at `from` ends: letters, digits, `_` and `:`, not a digit first. */
export function endOfName(text: string, from: number, end: number): number {
  let at = from
  while (at < end) {
    const code = text.charCodeAt(at)
    const isLetter = (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 58
    if (!isLetter && (at === from || code < 48 || code > 57)) break
    at++
  }
  return at
}

function endOfLabelName(line: string, from: number): number {
  const to = endOfName(line, from, line.length)
  const colon = line.indexOf(':', from)
  return colon === -1 ? to : Math.min(to, colon)
}

/**
 * Label text → labels, escapes resolved, by the package: it gets one sample line ended by a line feed, and what it
 * returns is checked. `undefined` where a name comes twice or cannot be kept.
 * @param text the label pairs without blanks, one character a byte.
 */
export function readLabels(text: string, count: number): Record<string, string> | undefined {
  if (count === 0) return {}
  try {
    const [family, ...others] = parsePrometheusTextFormat(`x{${decodeUtf8(text)}} 1\n`)
    const [sample, ...more] = family?.metrics ?? []
    if (family?.name !== 'x' || others.length > 0 || more.length > 0 || sample?.value !== '1') return undefined
    const labels = sample.labels ?? {}
    return Object.keys(labels).length === count ? labels : undefined
  } catch {
    return undefined
  }
}

function decodeUtf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text
}

/** Value, own timestamp, and what may follow them: an exemplar (` # {…} 0.5`), a carriage return. */
const TAIL = /^[ \t]*([^ \t#\r]+)(?:[ \t]+([^ \t#\r]+))?[ \t]*(?:#.*)?\r?$/

/**
 * What follows the name and labels of a sample; `undefined` where it is no number. An exemplar is not looked at.
 * @returns `stamp` in epoch milliseconds, from milliseconds or from the seconds of OpenMetrics.
 */
export function readTail(tail: string): { value: number; stamp?: number } | undefined {
  const [, valueText, stampText] = TAIL.exec(tail) ?? []
  const value = valueText === undefined ? undefined : readNumber(valueText)
  if (value === undefined) return undefined
  if (stampText === undefined) return { value }
  const stamp = readNumber(stampText)
  if (stamp === undefined) return undefined
  // 1e11 is 1973 in milliseconds and the year 5138 in seconds.
  return { value, stamp: Math.abs(stamp) < 1e11 ? stamp * 1000 : stamp }
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** A number as expositions spell it; `undefined` for anything else: `Number` alone takes "" for 0 and "0x1F" for 31. */
export function readNumber(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text)
  if (/^[+-]?nan$/i.test(text)) return Number.NaN
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text)
  return infinite ? (infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY) : undefined
}
