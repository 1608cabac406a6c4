/**
 * The grammar of one sample line: `name{label="value",…} value timestamp # exemplar`, text of one character a byte.
 * https://github.com/prometheus/docs/blob/main/docs/instrumenting/exposition_formats.md
 */

/** What is remembered to be fast, and how long a text of it may be; beyond it, lines are only slower to read. */
export const MAX_TEXTS = 1_000
export const LONGEST_TEXT = 256
/** Bounds that are remembered; beyond it, lines are only slower to read. */
const MAX_BOUNDS = 1_000
const [SPACE, POINT, ZERO] = [32, 46, 48] as const

/** A metric's name and what tells that it is whole: the beginning of its labels, or a blank. */
export const HEAD = /[a-zA-Z_:][\w:]*[{ \t]/y
/** Quotes and escapes are respected, so a value may hold anything. Blanks, and a comma before the brace, are legal. */
const PAIR = /([a-zA-Z_]\w*)[ \t]*=[ \t]*("[^"\\]*(?:\\[\s\S][^"\\]*)*")[ \t]*(?:,[ \t]*|(?=\}))/g
const BLOCK = new RegExp(`^(?:[ \\t]*\\{[ \\t]*(?:${PAIR.source})*\\})?`)
/** Value, own timestamp, and what may follow them: an exemplar (` # {…} 0.5`), a carriage return. */
const TAIL = /^[ \t]*([^ \t#\r]+)(?:[ \t]+([^ \t#\r]+))?[ \t]*(?:#.*)?\r?$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** The label block that the text begins with, with blanks before it; empty where there is none. */
export function blockOf(text: string): string {
  return BLOCK.exec(text)?.[0] ?? ''
}

/**
 * The pairs without blanks and `le`, as in `engine="0"`, and where inside its quotes the value of `le` lies.
 * @param isKept names that are not kept go no further: they may be of persons.
 */
export function pairsOf(
  block: string,
  isKept?: (name: string) => boolean,
): { pairs: string[]; le: { from: number; to: number } | undefined } {
  const pairs: string[] = []
  let le: { from: number; to: number } | undefined
  for (const { 0: pair, 1: name = '', 2: quoted = '', index } of block.matchAll(PAIR)) {
    const from = index + pair.indexOf('"') + 1
    if (name === 'le' && !le) le = { from, to: from + quoted.length - 2 }
    else if (!isKept || isKept(name)) pairs.push(`${name}=${quoted}`)
  }
  return { pairs, le }
}

/** A label block with all its labels, in texts of its own. */
interface Block {
  /** Up to the value of `le`; the whole block where there is none. */
  before: string
  after: string
  /** Both. */
  key: string
  /** Joined by commas. */
  pairs: string
  count: number
}

/** A server writes the same blocks on every page. */
const blocks = new Map<string, Block>()

export function takenApart(block: string): Block {
  const known = blocks.get(block)
  if (known) return known
  const whole = ownText(block)
  const { pairs, le } = pairsOf(whole)
  const [before, after] = le ? [whole.slice(0, le.from), whole.slice(le.to)] : [whole, '']
  const found = { before, after, key: le ? before + after : whole, pairs: pairs.join(','), count: pairs.length }
  if (blocks.size < MAX_TEXTS && block.length <= LONGEST_TEXT) blocks.set(whole, found)
  return found
}

/** The names of labels that were found to be names; beyond it, blocks are only slower to read. */
const MAX_NAMES = 1_000
const names = new Set<string>()

function isName(text: string): boolean {
  if (names.has(text)) return true
  const found = /^[a-zA-Z_]\w*$/.test(text)
  if (found && names.size < MAX_NAMES) names.add(ownText(text))
  return found
}

/**
 * {@link blockOf} and {@link pairsOf} in one pass over a block without blanks and escapes, as nearly every server writes it.
 * @returns `undefined`: take the long way.
 */
export function plainBlock(
  line: string,
  isKept: (name: string) => boolean,
): { block: string; pairs: string[]; le: { from: number; to: number } | undefined } | undefined {
  if (!line.startsWith('{') || line.includes('\\')) return undefined
  const pairs: string[] = []
  let le: { from: number; to: number } | undefined
  for (let from = 1; ; ) {
    const equals = line.indexOf('=', from)
    const valueTo = line.indexOf('"', equals + 2)
    const name = line.slice(from, equals)
    if (equals === -1 || valueTo === -1 || line[equals + 1] !== '"' || !isName(name)) return undefined
    if (name === 'le' && !le) le = { from: equals + 2, to: valueTo }
    else if (isKept(name)) pairs.push(line.slice(from, valueTo + 1))
    const next = line[valueTo + 1]
    if (next === '}') return { block: line.slice(0, valueTo + 2), pairs, le }
    if (next !== ',') return undefined
    from = valueTo + 2
  }
}

/** What follows the labels of a sample. `stamp` is in epoch milliseconds, from these or from the seconds of OpenMetrics. */
export interface Tail {
  value: number
  stamp: number | undefined
}

/** @returns `undefined` where the rest of the line is no value. An exemplar is not looked at. */
export function readTail(text: string, from: number, to: number): Tail | undefined {
  const whole = readWholeNumber(text, from, to)
  if (whole >= 0) return { value: whole, stamp: undefined }
  const only = text.charCodeAt(from) === SPACE ? readNumber(text.slice(from + 1, to)) : undefined
  if (only !== undefined) return { value: only, stamp: undefined }
  const [, valueText = '', stampText] = TAIL.exec(text.slice(from, to)) ?? []
  const value = readNumber(valueText)
  const stamp = stampText === undefined ? undefined : readNumber(stampText)
  if (value === undefined || (stamp === undefined && stampText !== undefined)) return undefined
  // 1e11 is 1973 in milliseconds and the year 5138 in seconds.
  return { value, stamp: stamp !== undefined && Math.abs(stamp) < 1e11 ? stamp * 1000 : stamp }
}

/** The commonest spellings, `12` and `12.0` after one blank; -1: look closer. */
function readWholeNumber(text: string, from: number, to: number): number {
  if (text.charCodeAt(from) !== SPACE || to - from > 16) return -1
  let value = 0
  let at = from + 1
  for (; at < to; at++) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  if (at === from + 1) return -1
  const isWhole = at === to || (at + 2 === to && text.charCodeAt(at) === POINT && text.charCodeAt(at + 1) === ZERO)
  return isWhole ? value : -1
}

/** A number as expositions spell it; `undefined` for anything else: `Number` alone takes "" for 0 and "0x1F" for 31. */
function readNumber(text: string): number | undefined {
  if (DECIMAL.test(text)) return Number(text)
  if (/^[+-]?nan$/i.test(text)) return Number.NaN
  const [infinite, sign] = /^([+-]?)inf(?:inity)?$/i.exec(text) ?? []
  if (infinite === undefined) return undefined
  return sign === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}

/** Bounds are constants of a server's code, the same on every page. */
const bounds = new Map<string, number>()

export function readBound(text: string): number | undefined {
  const known = bounds.get(text)
  if (known !== undefined) return known
  const bound = readNumber(text)
  if (bound !== undefined && bounds.size < MAX_BOUNDS) bounds.set(ownText(text), bound)
  return bound
}

/** A copy of latin1 text: a slice would keep the whole chunk it was cut from in memory. Short slices are copies anyway. */
export function ownText(slice: string): string {
  return slice.length < 13 ? slice : Buffer.from(slice, 'latin1').toString('latin1')
}
