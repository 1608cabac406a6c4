import type { BackendTable } from '../model/backend.ts'
import { endOfName, isSample, readDecimal } from './line.ts'
import { createLineReader, isAt, ownText } from './lines.ts'
import type { Buckets, Page, Sample } from './page.ts'
import { createSampleKeeper, type Series } from './samples.ts'
import { planOf } from './wanted.ts'

export interface PageReader {
  /** The next bytes of the body; lines and characters may be cut anywhere between two calls. */
  push(chunk: Uint8Array): void
  /** What was read. A last line without a line feed counts. */
  end(): Page
}

const HASH = 35
const BRACE = 123
const LINE_FEED = 10
const BYTE_ORDER_MARK = '\xef\xbb\xbf'

/**
 * Reads a page of the text exposition format as a stream of bytes and keeps the samples that a backend's table asks for.
 * Never throws: a line that cannot be read costs that line, and is counted. TYPE and HELP lines are not needed.
 */
export function createPageReader(table: BackendTable): PageReader {
  const wanted = planOf(table).names
  const keeper = createSampleKeeper()
  const lines = createLineReader(readLine, () => count.malformed++)
  const recognised = new Set<string>()
  let hasOwnNames = false
  const count = { comments: 0, sampleCount: 0, malformed: 0 }
  let firstByte: number | undefined
  let lastByte: number | undefined
  let isFirstLine = true
  let isOver = false
  /** The name of the line before, since names come in runs, and what to do with it. At first one that no line has. */
  let name = '\u0100'
  let isWanted = false
  let samples: Series<Sample> | undefined
  let buckets: Series<Buckets> | undefined
  let isSettings = false
  let settings: string | undefined

  function readLine(text: string, from: number, to: number): void {
    if (isOver) return
    if (text.charCodeAt(from) === HASH) readComment(text, from, to)
    else if (isFirstLine) {
      isFirstLine = false
      readLine(text, text.startsWith(BYTE_ORDER_MARK, from) ? from + BYTE_ORDER_MARK.length : from, to)
    } else {
      const nameTo = endOfSameName(text, from) ?? endOfNewName(text, from)
      if (nameTo === undefined) readOddLine(text.slice(from, to))
      else if (isWanted) readWanted(text, from, nameTo, to)
      else tally(isUnwantedSample(text, from, nameTo, to))
    }
  }

  function endOfSameName(text: string, from: number): number | undefined {
    const nameTo = from + name.length
    return isEndOfName(text, nameTo) && isAt(name, text, from) ? nameTo : undefined
  }

  function endOfNewName(text: string, from: number): number | undefined {
    const nameTo = endOfName(text, from)
    if (nameTo === from || !isEndOfName(text, nameTo)) return undefined
    name = text.slice(from, nameTo)
    noteOwn(name)
    const found = wanted.get(name)
    isWanted = found !== undefined
    if (found === undefined) return nameTo
    isSettings = found.use === 'settings'
    if (found.use === 'mark') recognised.add(found.name)
    samples = found.use === 'sample' ? keeper.samplesOf(found.name) : undefined
    buckets = found.use === 'bucket' ? keeper.bucketsOf(found.name) : undefined
    return nameTo
  }

  function readWanted(text: string, from: number, nameTo: number, to: number): void {
    if (buckets) tally(keeper.keepBucket(buckets, text, from, nameTo, to))
    else if (samples) tally(keeper.keepSample(samples, text, from, nameTo, to))
    else {
      tally(isUnwantedSample(text, from, nameTo, to))
      if (isSettings) settings ??= ownText(text.slice(from, to))
    }
  }

  function tally(isRead: boolean): void {
    if (isRead) count.sampleCount++
    else count.malformed++
  }

  function readComment(text: string, from: number, to: number): void {
    count.comments++
    // Before the first sample (or in place of it) the names tell which server this is.
    if (count.sampleCount === 0) noteAnnounced(text.slice(from, to))
    if (!hasOwnNames && table.ownNames !== undefined) noteOwn(announcedBy(text.slice(from, to)))
    // OpenMetrics ends here; what follows is no part of the page.
    if (to - from <= 6 && text.slice(from, to).trimEnd() === '# EOF') isOver = true
  }

  function noteAnnounced(comment: string): void {
    const announced = wanted.get(announcedBy(comment))
    if (announced) recognised.add(announced.name)
  }

  function noteOwn(some: string): void {
    if (!hasOwnNames && table.ownNames !== undefined) hasOwnNames = some.startsWith(table.ownNames)
  }

  /** A line that is blank, begins with a blank, or is no sample. */
  function readOddLine(line: string): void {
    const text = line.replace(/^[ \t\r]+/, '')
    if (text === '') return
    if (text === line) count.malformed++
    else readLine(text, 0, text.length)
  }

  return {
    push(chunk) {
      if (isOver) return
      firstByte ??= firstByteOf(chunk)
      lastByte = chunk.at(-1) ?? lastByte
      lines.push(chunk)
    },
    end() {
      const unterminated = !isOver && lastByte !== LINE_FEED
      if (!isOver) lines.end()
      isOver = true
      const { comments, sampleCount, malformed } = count
      const isForeign = sampleCount > 0 && table.ownNames !== undefined && !hasOwnNames
      return {
        ...keeper.kept(),
        settings,
        recognised,
        isForeign,
        ...count,
        lines: comments + sampleCount + malformed,
        firstByte,
        unterminated,
      }
    },
  }
}

/** An unwanted line is looked at only as far as it tells whether the page is an exposition at all. */
function isUnwantedSample(text: string, from: number, nameTo: number, to: number): boolean {
  const last = text.charCodeAt(to - 1)
  const endsInDigit = last >= 48 && last <= 57
  if (endsInDigit && text.charCodeAt(nameTo) === BRACE) return true
  if (endsInDigit && !Number.isNaN(readDecimal(text.slice(nameTo + 1, to)))) return true
  return isSample(text.slice(from, to))
}

/** The name that a HELP or TYPE line is about, or nothing. */
function announcedBy(comment: string): string {
  return /^# (?:HELP|TYPE) (\S+)/.exec(comment)?.[1] ?? ''
}

/** A name is followed by its labels or a blank. */
function isEndOfName(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === BRACE || code === 32 || code === 9
}

function firstByteOf(chunk: Uint8Array): number | undefined {
  return chunk.find((byte) => byte > 32 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf)
}
