const SPACE = 32
const TAB = 9
const BACKSLASH = 92

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
  const nameTo = endOfName(line, nameFrom)
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
    const nameTo = endOf(LABEL_NAME, line, at)
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

/** A quote closes unless an odd number of backslashes stands before it. */
function closingQuote(line: string, from: number): number | undefined {
  for (let at = line.indexOf('"', from); at !== -1; at = line.indexOf('"', at + 1)) {
    let backslash = at
    while (backslash > from && line.charCodeAt(backslash - 1) === BACKSLASH) backslash--
    if ((at - backslash) % 2 === 0) return at
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
  while (line.charCodeAt(at) === SPACE || line.charCodeAt(at) === TAB) at++
  return at
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y
const LABEL_NAME = /[a-zA-Z_][a-zA-Z0-9_]*/y

/** Where the metric name that begins at `from` ends; `from` itself where none begins. */
export function endOfName(text: string, from: number): number {
  return endOf(NAME, text, from)
}

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return pattern.test(text) ? pattern.lastIndex : from
}

/** Value, own timestamp, and what may follow them: an exemplar (` # {…} 0.5`), a carriage return. */
const TAIL = /^[ \t]*([^ \t#\r]+)(?:[ \t]+([^ \t#\r]+))?[ \t]*(?:#.*)?\r?$/

/**
 * What follows the name and labels of a sample; `undefined` where it is no number. An exemplar is not looked at.
 * @returns `stamp` in epoch milliseconds, from milliseconds or from the seconds of OpenMetrics.
 */
export function readTail(tail: string): { value: number; stamp: number | undefined } | undefined {
  const [, valueText, stampText] = TAIL.exec(tail) ?? []
  const value = valueText === undefined ? undefined : readNumber(valueText)
  const stamp = stampText === undefined ? undefined : readNumber(stampText)
  if (value === undefined || (stamp === undefined && stampText !== undefined)) return undefined
  // 1e11 is 1973 in milliseconds and the year 5138 in seconds.
  return { value, stamp: stamp !== undefined && Math.abs(stamp) < 1e11 ? stamp * 1000 : stamp }
}

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** A plain number as expositions spell it; NaN for anything else. */
export function readDecimal(text: string): number {
  return DECIMAL.test(text) ? Number(text) : Number.NaN
}

/** A number as expositions spell it; `undefined` for anything else: `Number` alone takes "" for 0 and "0x1F" for 31. */
export function readNumber(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text)
  if (/^[+-]?nan$/i.test(text)) return Number.NaN
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text)
  return infinite ? (infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY) : undefined
}
