import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import type { BackendTable } from '../model/backend.ts'
import { type Buckets, type Labels, labelSet, type Page, type Sample } from './page.ts'
import { planOf, type Wanted } from './wanted.ts'

/** A longer line is skipped, so that a body without line feeds cannot fill the memory. */
export const MAX_LINE = 64 * 1024
/** Distinct label sets kept of a page. A server has some dozens for each engine; beyond this we cannot judge it. */
export const MAX_LABEL_SETS = 10_000
/** What is remembered to be fast; beyond it, lines are only slower to read. */
const MAX_SPELLINGS = 512
const MAX_TEXTS = 1_000
const LONGEST_TEXT = 256

export interface PageReader {
  /** The next bytes of the body; lines and characters may be cut anywhere between two calls. */
  push(chunk: Uint8Array): void
  /** What was read. A last line without a line feed counts. */
  end(): Page
}

/**
 * Reads a page of the text exposition format as a stream of bytes and keeps the samples that a backend's table asks for:
 * bytes → lines → sample lines of wanted names → labels → samples. Never throws: a line that cannot be read costs that
 * line, and is counted. TYPE and HELP lines are not needed.
 *
 * Bytes become latin1 text, one character each: that is exact, fast, and no UTF-8 character can be torn. A line is the
 * text between `from` and `to`, its name ends at `nameTo`; only lines that are new in some way are cut out and taken apart.
 */
export function createPageReader(table: BackendTable): PageReader {
  const { names } = planOf(table)
  const kept = createKeptSamples()
  const recognised = new Set<string>()
  const count = { comments: 0, sampleCount: 0, malformed: 0 }
  const linesSoFar = () => count.comments + count.sampleCount + count.malformed
  /** No name of the backend's own was seen yet. */
  let isForeign = table.ownNames !== undefined
  let settings: string | undefined
  let firstByte: number | undefined
  /** The beginning of a line whose end has not come. */
  let rest = ''
  let isOver = false
  /** The name of the last sample with the character behind it, since names come in runs, and what is done with that name. */
  let head = '\n'
  let wanted: Wanted | undefined

  function push(chunk: Uint8Array): void {
    if (isOver) return
    firstByte ??= chunk.find((byte) => byte > SPACE && !BYTE_ORDER_MARK.includes(String.fromCharCode(byte)))
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    let from = 0
    let to = text.indexOf('\n')
    while (to !== -1) {
      if (rest === '') readLine(text, from, to)
      else readRest(text.slice(from, to))
      from = to + 1
      to = text.indexOf('\n', from)
    }
    // Of a line that is too long already nothing more is needed.
    if (from < text.length && rest.length <= MAX_LINE) rest += ownText(text.slice(from))
  }

  function readRest(ending: string): void {
    const line = rest + ending
    rest = ''
    readLine(line, 0, line.length)
  }

  function readLine(text: string, from: number, to: number): void {
    if (isOver || from === to) return
    if (to - from > MAX_LINE) count.malformed++
    else if (text.charCodeAt(from) === HASH) readComment(text.slice(from, to))
    else {
      const nameTo = readName(text, from)
      if (nameTo === undefined) readOddLine(text.slice(from, to))
      else if (isSample(text, nameTo, to)) count.sampleCount++
      else count.malformed++
    }
  }

  /** A line that begins with blanks or a byte order mark, or is no sample. */
  function readOddLine(line: string): void {
    const start = linesSoFar() === 0 && line.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
    const text = line.slice(start).replace(/^[ \t\r]+/, '')
    if (text === line) count.malformed++
    else readLine(text, 0, text.length)
  }

  function readComment(comment: string): void {
    count.comments++
    // Before the first sample (or in place of it) the names tell which server this is.
    if (count.sampleCount === 0 || isForeign) {
      const name = /^# (?:HELP|TYPE) (\S+)/.exec(comment)?.[1] ?? ''
      if (count.sampleCount === 0 && names.has(name)) recognised.add(name)
      noteOwn(name)
    }
    // OpenMetrics ends here; what follows is no part of the page.
    if (comment.length < 8 && comment.trimEnd() === '# EOF') isOver = true
  }

  function noteOwn(name: string): void {
    if (isForeign) isForeign = !name.startsWith(table.ownNames ?? '')
  }

  /** @returns where the name ends; `undefined` where there is none, or neither labels nor a blank behind it. */
  function readName(text: string, from: number): number | undefined {
    if (isAt(head, text, from)) return from + head.length - 1
    HEAD.lastIndex = from
    if (!HEAD.test(text)) return undefined
    head = text.slice(from, HEAD.lastIndex)
    const name = head.slice(0, -1)
    noteOwn(name)
    wanted = names.get(name)
    if (wanted?.use === 'mark') recognised.add(wanted.name)
    return HEAD.lastIndex - 1
  }

  /** Keeps what is wanted. Anything else is looked at only as far as it tells whether the page is an exposition at all. */
  function isSample(text: string, nameTo: number, to: number): boolean {
    if (wanted?.use === 'bucket') return kept.keepBucket(wanted.name, text, nameTo, to)
    if (wanted?.use === 'sample') return kept.keepSample(wanted.name, text, nameTo, to)
    if (wanted?.use === 'settings') settings ??= ownText(text.slice(nameTo, to))
    const last = text.charCodeAt(to - 1) - ZERO
    if (last >= 0 && last <= 9 && text.charCodeAt(nameTo) === BRACE) return true
    return readTail(text, nameTo + blockOf(text.slice(nameTo, to)).length, to) !== undefined
  }

  function end(): Page {
    const unterminated = rest !== ''
    if (unterminated) readRest('')
    isOver = true
    const { sampleCount } = count
    return {
      ...kept.all(),
      settings,
      recognised,
      isForeign: isForeign && sampleCount > 0,
      ...count,
      lines: linesSoFar(),
      firstByte,
      unterminated,
    }
  }

  return { push, end }
}

/** What is kept of one wanted name so far, and where its last sample went. */
interface Series<T> {
  byLabels: Map<Labels, T>
  last: T | undefined
}

function createKeptSamples() {
  const samples = new Map<string, Series<Sample>>()
  const buckets = new Map<string, Series<Buckets>>()
  const incomplete = new Set<string>()
  const labelSets = createLabelSets()
  const plain = createLabelCache(labelSets)
  const withLe = createLabelCache(labelSets)

  /** @returns `false`: the line is malformed. */
  function keepSample(name: string, text: string, nameTo: number, to: number): boolean {
    const { after, labels } = plain.find(text, nameTo, to) ?? plain.add(text, nameTo, to)
    const tail = readTail(text, plain.blockTo(), to)
    if (!labels || !tail) return false
    if (labels === 'too many') incomplete.add(name)
    else if (after === '') addSample(seriesOf(samples, name), labels, tail) // else a bucket under the name of another
    return true
  }

  /** Without one of its buckets a histogram would look like another one: its bounds changed, a restart. */
  function keepBucket(name: string, text: string, nameTo: number, to: number): boolean {
    const { before, after, labels } = withLe.find(text, nameTo, to) ?? withLe.add(text, nameTo, to)
    const blockTo = withLe.blockTo()
    const bound = after === '' ? undefined : readBound(text.slice(nameTo + before.length, blockTo - after.length))
    const tail = readTail(text, blockTo, to)
    const isBucket = labels !== undefined && bound !== undefined && tail !== undefined
    if (isBucket && labels !== 'too many') addBucket(seriesOf(buckets, name), labels, bound, tail)
    else incomplete.add(name)
    return isBucket
  }

  const all = () => ({ samples: listed(samples), buckets: listed(buckets), labelSets: labelSets.all(), incomplete })
  return { keepSample, keepBucket, all }
}

function seriesOf<T>(kept: Map<string, Series<T>>, name: string): Series<T> {
  let series = kept.get(name)
  if (!series) {
    series = { byLabels: new Map(), last: undefined }
    kept.set(name, series)
  }
  return series
}

function listed<T>(kept: Map<string, Series<T>>): Map<string, readonly T[]> {
  const lists = new Map<string, readonly T[]>()
  for (const [name, { byLabels }] of kept) lists.set(name, [...byLabels.values()])
  return lists
}

/** A label set that comes twice is one series: the last sample holds. */
function addSample({ byLabels }: Series<Sample>, labels: Labels, { value, stamp }: Tail): void {
  const known = byLabels.get(labels)
  if (known) {
    known.value = value
    known.stamp = stamp
  } else byLabels.set(labels, { labels, value, stamp })
}

function addBucket(series: Series<Buckets>, labels: Labels, bound: number, { value, stamp }: Tail): void {
  if (series.last?.labels !== labels) {
    series.last = series.byLabels.get(labels) ?? {
      labels,
      bounds: [],
      counts: [],
      oldest: undefined,
      newest: undefined,
    }
    series.byLabels.set(labels, series.last)
  }
  const { last } = series
  last.bounds.push(bound)
  last.counts.push(value)
  if (stamp === undefined) return
  last.oldest = Math.min(last.oldest ?? stamp, stamp)
  last.newest = Math.max(last.newest ?? stamp, stamp)
}

/** A label block as it was spelt: up to the value of `le` and from its end on, or all of it in `before`. */
interface Spelling {
  before: string
  after: string
  labels: Labels | 'too many' | undefined
  /** What came after it the last time. */
  next?: Spelling
}

/**
 * Remembers how label blocks were spelt, so that only a new one is taken apart: lines of one family differ in `le` and
 * value alone, and servers list the label sets of each family in one order.
 */
function createLabelCache(labelSets: LabelSets) {
  const known = new Map<string, Spelling>()
  let current: Spelling | undefined
  let blockTo = 0

  function fits(spelling: Spelling | undefined, text: string, at: number, to: number): boolean {
    if (!spelling || !isAt(spelling.before, text, at)) return false
    blockTo = at + spelling.before.length
    if (spelling.after === '') return true
    const leTo = text.indexOf('"', blockTo)
    blockTo = leTo + spelling.after.length
    return leTo !== -1 && leTo < to && isAt(spelling.after, text, leTo)
  }

  function find(text: string, at: number, to: number): Spelling | undefined {
    if (fits(current, text, at, to)) return current
    if (!fits(current?.next, text, at, to)) return undefined
    current = current?.next
    return current
  }

  function add(text: string, at: number, to: number): Spelling {
    const block = blockOf(text.slice(at, to))
    blockTo = at + block.length
    const spelling = known.get(block) ?? spellingOf(block)
    if (block === '' || (known.size >= MAX_SPELLINGS && !known.has(block))) return spelling
    if (current) current.next = spelling
    current = spelling
    return spelling
  }

  function spellingOf(block: string): Spelling {
    const { pairs, le } = pairsOf(block)
    const [before, after] = le ? [block.slice(0, le.from), block.slice(le.to)] : [block, '']
    const key = before + after
    const same = known.get(key)
    if (same) return same
    const spelling = { before: ownText(before), after: ownText(after), labels: labelSets.read(pairs) }
    if (known.size < MAX_SPELLINGS) known.set(ownText(key), spelling)
    return spelling
  }

  /** `blockTo` is where the block ended that was found or added last. */
  return { find, add, blockTo: () => blockTo }
}

type LabelSets = ReturnType<typeof createLabelSets>

/** The label sets of one page, each one object however often and in whatever order its labels are written. */
function createLabelSets() {
  const byText = new Map<string, Labels | undefined>([['', NO_LABELS]])
  const bySet = new Map<string, Labels>([['', NO_LABELS]])

  /** @returns `undefined` where the pairs cannot be read, or a name comes twice. */
  function read(pairs: readonly string[]): Labels | 'too many' | undefined {
    const text = pairs.join(',')
    if (byText.has(text)) return byText.get(text)
    if (byText.size > MAX_LABEL_SETS) return 'too many'
    const found = remembered.get(text) ?? labelsOf(pairs)
    const labels = found && (bySet.get(found.set) ?? found)
    if (labels) bySet.set(labels.set, labels)
    byText.set(ownText(text), labels)
    return labels
  }

  return { read, all: () => [...bySet.values()] }
}

const NO_LABELS: Labels = { set: '', values: {} }

/** By text: a server writes the same labels on every page. */
const remembered = new Map<string, Labels>()

function labelsOf(pairs: readonly string[]): Labels | undefined {
  const values = valuesOf(pairs)
  if (!values) return undefined
  const labels = { set: labelSet(values), values }
  const text = ownText(pairs.join(','))
  if (remembered.size < MAX_TEXTS && text.length <= LONGEST_TEXT) remembered.set(text, labels)
  return labels
}

/** What the label block of a settings line says. */
export function settingsOf(line: string): Record<string, string> {
  return valuesOf(pairsOf(blockOf(line)).pairs) ?? {}
}

/**
 * The package reads the pairs and resolves their escapes. It merges what it should refuse and throws at trifles, so it gets
 * one sample line, ended by a line feed, and what it returns is checked. Labels without a value are left out.
 */
function valuesOf(pairs: readonly string[]): Record<string, string> | undefined {
  try {
    const text = Buffer.from(pairs.join(','), 'latin1').toString('utf8')
    const families = parsePrometheusTextFormat(`x{${text}} 1\n`)
    const [family] = families
    const [sample] = family?.metrics ?? []
    if (families.length !== 1 || family?.name !== 'x' || sample?.value !== '1') return undefined
    const labels = Object.entries(sample.labels ?? {})
    if (family.metrics.length !== 1 || labels.length !== pairs.length) return undefined
    return Object.fromEntries(labels.filter(([, value]) => value !== ''))
  } catch {
    return undefined
  }
}

const [SPACE, HASH, POINT, ZERO, BRACE] = [32, 35, 46, 48, 123] as const
const BYTE_ORDER_MARK = '\xef\xbb\xbf'
/** A metric's name and what tells that it is whole: the beginning of its labels, or a blank. */
const HEAD = /[a-zA-Z_:][\w:]*[{ \t]/y
/** Quotes and escapes are respected, so a value may hold anything. Blanks, and a comma before the brace, are legal. */
const PAIR = /([a-zA-Z_]\w*)[ \t]*=[ \t]*("[^"\\]*(?:\\[\s\S][^"\\]*)*")[ \t]*(?:,[ \t]*|(?=\}))/g
const BLOCK = new RegExp(`^(?:[ \\t]*\\{[ \\t]*(?:${PAIR.source})*\\})?`)
/** Value, own timestamp, and what may follow them: an exemplar (` # {…} 0.5`), a carriage return. */
const TAIL = /^[ \t]*([^ \t#\r]+)(?:[ \t]+([^ \t#\r]+))?[ \t]*(?:#.*)?\r?$/
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** The label block that the text begins with, with blanks before it; empty where there is none. */
function blockOf(text: string): string {
  return BLOCK.exec(text)?.[0] ?? ''
}

/** The pairs without blanks and `le`, as in `engine="0"`, and where inside its quotes the value of `le` lies. */
function pairsOf(block: string): { pairs: string[]; le: { from: number; to: number } | undefined } {
  const pairs: string[] = []
  let le: { from: number; to: number } | undefined
  for (const { 0: pair, 1: name, 2: quoted = '', index } of block.matchAll(PAIR)) {
    const from = index + pair.indexOf('"') + 1
    if (name === 'le' && !le) le = { from, to: from + quoted.length - 2 }
    else pairs.push(`${name}=${quoted}`)
  }
  return { pairs, le }
}

/** What follows the labels of a sample. `stamp` is in epoch milliseconds, from these or from the seconds of OpenMetrics. */
type Tail = Pick<Sample, 'value' | 'stamp'>

/** @returns `undefined` where the rest of the line is no value. An exemplar is not looked at. */
function readTail(text: string, from: number, to: number): Tail | undefined {
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

function readBound(text: string): number | undefined {
  const known = bounds.get(text)
  if (known !== undefined) return known
  const bound = readNumber(text)
  if (bound !== undefined && bounds.size < MAX_TEXTS) bounds.set(ownText(text), bound)
  return bound
}

/** A copy of latin1 text: a slice would keep the whole chunk it was cut from in memory. Short slices are copies anyway. */
function ownText(slice: string): string {
  return slice.length < 13 ? slice : Buffer.from(slice, 'latin1').toString('latin1')
}

/** Whether `part` lies at `at`. Several times as fast as `startsWith`, which goes character by character. */
function isAt(part: string, text: string, at: number): boolean {
  const end = at + part.length
  return text.charCodeAt(end - 1) === part.charCodeAt(part.length - 1) && text.slice(at, end) === part
}
