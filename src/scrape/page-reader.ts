import type { BackendTable } from '../model/backend.ts'
import { addBucket, addSample, listed, mergeBucket, type Series, seriesOf } from './kept-series.ts'
import { valuesOf } from './label-values.ts'
import { type Buckets, type Labels, labelSet, type Page, type Sample } from './page.ts'
import {
  blockOf,
  HEAD,
  LONGEST_TEXT,
  MAX_TEXTS,
  ownText,
  pairsOf,
  plainBlock,
  readBound,
  readTail,
  takenApart,
} from './sample-line.ts'
import { type Head, planOf, type Wanted } from './wanted.ts'

/** A longer line is skipped, so that a body without line feeds cannot fill the memory. */
export const MAX_LINE = 64 * 1024
/** Distinct label sets kept of a page. A server has some dozens for each engine; beyond this we cannot judge it. */
export const MAX_LABEL_SETS = 10_000
/** What is remembered to be fast; beyond it, lines are only slower to read. */
const MAX_SPELLINGS = 4_096

const [SPACE, HASH, ZERO, BRACE] = [32, 35, 48, 123] as const
const BYTE_ORDER_MARK = '\xef\xbb\xbf'

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
  const { names, heads } = planOf(table)
  const kept = createKeptSamples(keepsOf(table))
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
  /** Of the last sample, since names come in runs. */
  let head: Head = { text: '\n', isKept: false }

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
    else if (text.charCodeAt(from) === HASH) readComment(text, from, to)
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

  function readComment(text: string, from: number, to: number): void {
    count.comments++
    // Before the first sample (or in place of it) the names tell which server this is.
    if (count.sampleCount === 0 || isForeign) {
      const name = /^# (?:HELP|TYPE) (\S+)/.exec(text.slice(from, to))?.[1] ?? ''
      if (count.sampleCount === 0 && names.has(name)) recognised.add(name)
      noteOwn(name)
    }
    // OpenMetrics ends here; what follows is no part of the page.
    if (to - from < 8 && text.slice(from, to).trimEnd() === '# EOF') isOver = true
  }

  function noteOwn(name: string): void {
    if (isForeign) isForeign = !name.startsWith(table.ownNames ?? '')
  }

  /** @returns where the name ends; `undefined` where there is none, or neither labels nor a blank behind it. */
  function readName(text: string, from: number): number | undefined {
    if (isAt(head.text, text, from)) return from + head.text.length - 1
    const next = head.next && isAt(head.next.text, text, from) ? head.next : newHead(text, from)
    if (!next) return undefined
    // What is not kept would hang on what is, however long a page of new names.
    if (head.isKept && next.isKept) head.next = next
    head = next
    noteOwn(next.text)
    if (next.wanted?.use === 'mark') recognised.add(next.wanted.name)
    return from + next.text.length - 1
  }

  function newHead(text: string, from: number): Head | undefined {
    HEAD.lastIndex = from
    if (!HEAD.test(text)) return undefined
    const head = text.slice(from, HEAD.lastIndex)
    const known = heads.get(head)
    if (known) return known
    const isKept = heads.size < MAX_TEXTS && head.length <= LONGEST_TEXT
    const found = { text: ownText(head), wanted: names.get(head.slice(0, -1)), isKept }
    if (isKept) heads.set(found.text, found)
    return found
  }

  /** Keeps what is wanted. Anything else is looked at only as far as it tells whether the page is an exposition at all. */
  function isSample(text: string, nameTo: number, to: number): boolean {
    const { wanted } = head
    if (wanted?.use === 'bucket') return kept.keepBucket(wanted, text, nameTo, to)
    if (wanted?.use === 'sample') return kept.keepSample(wanted, text, nameTo, to)
    if (wanted?.use === 'settings') settings ??= ownText(text.slice(nameTo, to))
    const last = text.charCodeAt(to - 1) - ZERO
    if (last >= 0 && last <= 9 && text.charCodeAt(nameTo) === BRACE) return true
    return readTail(text, nameTo + blockOf(text.slice(nameTo, to)).length, to) !== undefined
  }

  function end(): Page {
    const unterminated = rest !== ''
    if (unterminated) readRest('')
    isOver = true
    isForeign &&= count.sampleCount > 0
    return { ...kept.all(), settings, recognised, isForeign, ...count, lines: linesSoFar(), firstByte, unterminated }
  }

  return { push, end }
}

/** Whether a label is kept; `undefined`: all of them. */
type IsKept = ((name: string) => boolean) | undefined

function keepsOf({ keeps }: BackendTable): IsKept {
  if (!keeps) return undefined
  const names = new Set(keeps)
  const beginnings = keeps.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return (name) => names.has(name) || beginnings.some((beginning) => name.startsWith(beginning))
}

function createKeptSamples(isKept: IsKept) {
  const samples = new Map<string, Series<Sample>>()
  const buckets = new Map<string, Series<Buckets>>()
  const incomplete = new Set<string>()
  const labelSets = createLabelSets()
  const plain = createLabelCache(labelSets, isKept)
  const withLe = createLabelCache(labelSets, isKept)

  /** @returns `false`: the line is malformed. */
  function keepSample({ name, merge }: Wanted, text: string, nameTo: number, to: number): boolean {
    const { after, labels } = plain.find(text, nameTo, to) ?? plain.add(text, nameTo, to)
    const tail = readTail(text, plain.blockTo(), to)
    if (!labels || !tail) return false
    if (labels === 'too many') incomplete.add(name)
    else if (after === '') addSample(seriesOf(samples, name), labels, tail, merge) // else a bucket under the name of another
    return true
  }

  /** Without one of its buckets a histogram would look like another one: its bounds changed, a restart. */
  function keepBucket({ name, merge }: Wanted, text: string, nameTo: number, to: number): boolean {
    const { before, after, labels } = withLe.find(text, nameTo, to) ?? withLe.add(text, nameTo, to)
    const blockTo = withLe.blockTo()
    const bound = after === '' ? undefined : readBound(text.slice(nameTo + before.length, blockTo - after.length))
    const tail = readTail(text, blockTo, to)
    const isBucket = labels !== undefined && bound !== undefined && tail !== undefined
    if (!isBucket || labels === 'too many') incomplete.add(name)
    else if (!merge) addBucket(seriesOf(buckets, name), labels, bound, tail)
    else if (!mergeBucket(seriesOf(buckets, name), labels, bound, tail)) incomplete.add(name)
    return isBucket
  }

  const all = () => ({ samples: listed(samples), buckets: listed(buckets), labelSets: labelSets.all(), incomplete })
  return { keepSample, keepBucket, all }
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
function createLabelCache(labelSets: ReturnType<typeof createLabelSets>, isKept: IsKept) {
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
    return isKept ? addNew(text, at, to, isKept) : addKnown(text, at, to)
  }

  function follow(spelling: Spelling): Spelling {
    if (current) current.next = spelling
    current = spelling
    return spelling
  }

  /** Where labels are dropped there are thousands of blocks: to remember each costs more than to take it apart again. */
  function addNew(text: string, at: number, to: number, isKept: (name: string) => boolean): Spelling {
    const line = text.slice(at, to)
    const plain = plainBlock(line, isKept)
    const block = plain?.block ?? blockOf(line)
    blockTo = at + block.length
    const { pairs, le } = plain ?? pairsOf(block, isKept)
    const [before, after] = le ? [block.slice(0, le.from), block.slice(le.to)] : [block, '']
    // Parts of the chunk's text, which they keep alive until the next block comes.
    const spelling = { before, after, labels: labelSets.read(pairs.join(','), pairs.length) }
    return block === '' ? spelling : follow(spelling)
  }

  function addKnown(text: string, at: number, to: number): Spelling {
    const block = blockOf(text.slice(at, to))
    blockTo = at + block.length
    const spelling = known.get(block) ?? spellingOf(block)
    if (block === '' || (known.size >= MAX_SPELLINGS && !known.has(block))) return spelling
    return follow(spelling)
  }

  function spellingOf(block: string): Spelling {
    const { before, after, key, pairs, count } = takenApart(block)
    const same = known.get(key)
    if (same) return same
    const spelling = { before, after, labels: labelSets.read(pairs, count) }
    if (known.size < MAX_SPELLINGS) known.set(key, spelling)
    return spelling
  }

  /** `blockTo` is where the block ended that was found or added last. */
  return { find, add, blockTo: () => blockTo }
}

/** The label sets of one page, each one object however often and in whatever order its labels are written. */
function createLabelSets() {
  const byText = new Map<string, Labels | undefined>()
  const bySet = new Map<string, Labels>([['', { set: '', values: {} }]])

  /** @param pairs so many, joined by commas. @returns `undefined` where they cannot be read, or a name comes twice. */
  function read(pairs: string, count: number): Labels | 'too many' | undefined {
    if (byText.has(pairs)) return byText.get(pairs)
    if (byText.size >= MAX_LABEL_SETS && pairs !== '') return 'too many'
    const text = ownText(pairs)
    const found = remembered.get(text) ?? readLabels(text, count)
    const labels = found && (bySet.get(found.set) ?? found)
    if (labels) bySet.set(labels.set, labels)
    byText.set(text, labels)
    return labels
  }

  return { read, all: () => [...bySet.values()] }
}

/** By text: a server writes the same labels on every page. */
const remembered = new Map<string, Labels>()

function readLabels(text: string, count: number): Labels | undefined {
  const values = valuesOf(text, count)
  const labels = values && { set: labelSet(values), values }
  if (labels && remembered.size < MAX_TEXTS && text.length <= LONGEST_TEXT) remembered.set(text, labels)
  return labels
}

/** Whether `part` lies at `at`. Several times as fast as `startsWith`, which goes character by character. */
function isAt(part: string, text: string, at: number): boolean {
  const end = at + part.length
  return text.charCodeAt(end - 1) === part.charCodeAt(part.length - 1) && text.slice(at, end) === part
}
