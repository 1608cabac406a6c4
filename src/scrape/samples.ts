import { createSpellings } from './label-cache.ts'
import { createLabelBook, NO_LABELS } from './labels.ts'
import { readDecimal, readNumber, readTail, scanLine } from './line.ts'
import { ownText } from './lines.ts'
import type { Buckets, Labels, Page, Sample } from './page.ts'

/** Bounds that are remembered; others are only slower to read. */
const MAX_BOUNDS = 1_000

/** What was kept of one name so far, and where its last sample went. */
export interface Series<T> {
  name: string
  byLabels: Map<Labels, T>
  last: T | undefined
}

/** Keeps the samples of wanted lines. A line is the text between `from` and `to`; its name ends at `nameTo`. */
export interface SampleKeeper {
  samplesOf(name: string): Series<Sample>
  bucketsOf(name: string): Series<Buckets>
  /** `false`: the line is malformed. */
  keepSample(series: Series<Sample>, text: string, from: number, nameTo: number, to: number): boolean
  keepBucket(series: Series<Buckets>, text: string, from: number, nameTo: number, to: number): boolean
  kept(): Pick<Page, 'samples' | 'buckets' | 'labelSets' | 'incomplete'>
}

/**
 * Lines of one family differ in `le` and value alone: a label block is compared with the spellings already known, and
 * only a new one is cut into parts.
 */
export function createSampleKeeper(): SampleKeeper {
  const samples = new Map<string, Series<Sample>>()
  const buckets = new Map<string, Series<Buckets>>()
  const incomplete = new Set<string>()
  const labelBook = createLabelBook()
  const plain = createSpellings()
  const withLe = createSpellings()
  /** The timestamp beside the value that was read last. */
  let stamp: number | undefined

  function keepSample(series: Series<Sample>, text: string, from: number, nameTo: number, to: number): boolean {
    const known = plain.match(text, nameTo, to)
    if (known) return addSample(series, known.labels, readValue(text, nameTo + known.before.length, to))
    const line = text.slice(from, to)
    const scanned = scanLine(line)
    const labels = scanned && labelBook.read(scanned.labels, scanned.labelCount)
    const value = scanned && readValue(text, from + scanned.blockTo, to)
    if (!scanned || !labels || value === undefined) return false
    if (scanned.le) return true // a bucket under the name of another
    if (labels === 'full') return noteIncomplete(series)
    const before = ownText(line.slice(nameTo - from, scanned.blockTo))
    if (labels !== NO_LABELS) plain.add({ before, after: '', labels })
    return addSample(series, labels, value)
  }

  function addSample({ byLabels }: Series<Sample>, labels: Labels, value: number | undefined): boolean {
    if (value === undefined) return false
    const kept = byLabels.get(labels)
    if (kept) {
      kept.value = value // a label set that comes twice is one series: the last sample holds
      kept.stamp = stamp
    } else byLabels.set(labels, { labels, value, stamp })
    return true
  }

  function keepBucket(series: Series<Buckets>, text: string, from: number, nameTo: number, to: number): boolean {
    const isKept = readBucket(series, text, from, nameTo, to)
    // Without one of its buckets a histogram would look like another one: its bounds changed, a restart.
    if (!isKept) noteIncomplete(series)
    return isKept
  }

  function readBucket(series: Series<Buckets>, text: string, from: number, nameTo: number, to: number): boolean {
    const known = withLe.match(text, nameTo, to)
    if (known) {
      const bound = boundOf(text.slice(nameTo + known.before.length, withLe.leTo()))
      return addBucket(series, known.labels, bound, readValue(text, withLe.leTo() + known.after.length, to))
    }
    const line = text.slice(from, to)
    const scanned = scanLine(line)
    const labels = scanned && labelBook.read(scanned.labels, scanned.labelCount)
    if (!scanned?.le || !labels) return false
    if (labels === 'full') return noteIncomplete(series)
    const before = ownText(line.slice(nameTo - from, scanned.le.from))
    withLe.add({ before, after: ownText(line.slice(scanned.le.to, scanned.blockTo)), labels })
    const bound = boundOf(line.slice(scanned.le.from, scanned.le.to))
    return addBucket(series, labels, bound, readValue(text, from + scanned.blockTo, to))
  }

  function addBucket(
    series: Series<Buckets>,
    labels: Labels,
    bound: number | undefined,
    value: number | undefined,
  ): boolean {
    if (bound === undefined || value === undefined) return false
    const kept = series.last?.labels === labels ? series.last : bucketsWith(series, labels)
    kept.bounds.push(bound)
    kept.counts.push(value)
    if (stamp !== undefined) {
      kept.oldest = Math.min(kept.oldest ?? stamp, stamp)
      kept.newest = Math.max(kept.newest ?? stamp, stamp)
    }
    return true
  }

  function bucketsWith(series: Series<Buckets>, labels: Labels): Buckets {
    const known = series.byLabels.get(labels)
    series.last = known ?? { labels, bounds: [], counts: [], oldest: undefined, newest: undefined }
    if (!known) series.byLabels.set(labels, series.last)
    return series.last
  }

  function noteIncomplete({ name }: Series<unknown>): true {
    incomplete.add(name)
    return true
  }

  function readValue(text: string, from: number, to: number): number | undefined {
    stamp = undefined
    const whole = readWholeNumber(text, from, to)
    if (whole >= 0) return whole
    const decimal = readDecimal(text.slice(from + 1, to))
    if (!Number.isNaN(decimal) && text.charCodeAt(from) === 32) return decimal
    const tail = readTail(text.slice(from, to))
    stamp = tail?.stamp
    return tail?.value
  }

  return {
    samplesOf: (name) => seriesOf(samples, name),
    bucketsOf: (name) => seriesOf(buckets, name),
    keepSample,
    keepBucket,
    kept: () => ({ samples: listed(samples), buckets: listed(buckets), labelSets: labelBook.all(), incomplete }),
  }
}

/** Bounds are constants of a server's code, the same on every page. */
const bounds = new Map<string, number>()

function boundOf(text: string): number | undefined {
  const known = bounds.get(text)
  if (known !== undefined) return known
  const bound = readNumber(text)
  if (bound !== undefined && bounds.size < MAX_BOUNDS) bounds.set(ownText(text), bound)
  return bound
}

function seriesOf<T>(kept: Map<string, Series<T>>, name: string): Series<T> {
  let series = kept.get(name)
  if (!series) {
    series = { name, byLabels: new Map(), last: undefined }
    kept.set(name, series)
  }
  return series
}

function listed<T>(kept: Map<string, Series<T>>): Map<string, readonly T[]> {
  const lists = new Map<string, readonly T[]>()
  for (const { name, byLabels } of kept.values()) if (byLabels.size > 0) lists.set(name, [...byLabels.values()])
  return lists
}

/** The commonest spellings, `12` and `12.0` after one blank; -1: look closer. */
function readWholeNumber(text: string, from: number, to: number): number {
  if (text.charCodeAt(from) !== 32 || to - from > 16) return -1
  let value = 0
  let at = from + 1
  for (; at < to; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  if (at === from + 1) return -1
  const isWhole = at === to || (at + 2 === to && text.charCodeAt(at) === 46 && text.charCodeAt(at + 1) === 48)
  return isWhole ? value : -1
}
