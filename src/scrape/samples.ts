import { readLabels, readNumber, readTail, scanLine } from './line.ts'
import { ownText } from './lines.ts'
import { type Buckets, type Labels, MAX_LABEL_SETS, type Page, type Sample } from './page.ts'
import { createSpellings } from './spellings.ts'

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
  kept(): Pick<Page, 'samples' | 'buckets' | 'overfull'>
}

const NO_LABELS: Labels = { text: '', values: {} }

/**
 * Lines of one family differ in `le` and value alone: a label block is compared with the spellings already known, and
 * only a new one is cut into parts. The labels in it are read once a page.
 */
export function createSampleKeeper(): SampleKeeper {
  const samples = new Map<string, Series<Sample>>()
  const buckets = new Map<string, Series<Buckets>>()
  const overfull = new Set<string>()
  const labelsByText = new Map<string, Labels | undefined>([['', NO_LABELS]])
  const bounds = new Map<string, number>()
  const plain = createSpellings()
  const withLe = createSpellings()

  function keepSample(series: Series<Sample>, text: string, from: number, nameTo: number, to: number): boolean {
    const known = plain.match(text, nameTo, to)
    if (known) return addSample(series, known.labels, text, nameTo + known.before.length, to)
    const line = text.slice(from, to)
    const scanned = scanLine(line)
    const labels = scanned && labelsOf(scanned.labels, scanned.labelCount)
    if (!scanned || !labels || scanned.le) return false
    const before = ownText(line.slice(nameTo - from, scanned.blockTo))
    if (labels !== NO_LABELS) plain.add({ before, after: '', labels })
    return addSample(series, labels, text, from + scanned.blockTo, to)
  }

  function addSample(series: Series<Sample>, labels: Labels, text: string, from: number, to: number): boolean {
    const whole = readWholeNumber(text, from, to)
    const tail = whole === undefined ? readTail(text.slice(from, to)) : { value: whole }
    if (!tail) return false
    const { byLabels } = series
    if (byLabels.size < MAX_LABEL_SETS || byLabels.has(labels)) byLabels.set(labels, { labels, ...tail })
    else overfull.add(series.name)
    return true
  }

  function keepBucket(series: Series<Buckets>, text: string, from: number, nameTo: number, to: number): boolean {
    const known = withLe.match(text, nameTo, to)
    if (known) {
      const bound = boundOf(text.slice(nameTo + known.before.length, withLe.leTo()))
      return addBucket(series, known.labels, bound, text, withLe.leTo() + known.after.length, to)
    }
    const line = text.slice(from, to)
    const scanned = scanLine(line)
    const labels = scanned && labelsOf(scanned.labels, scanned.labelCount)
    if (!scanned?.le || !labels) return false
    const before = ownText(line.slice(nameTo - from, scanned.le.from))
    withLe.add({ before, after: ownText(line.slice(scanned.le.to, scanned.blockTo)), labels })
    const bound = boundOf(line.slice(scanned.le.from, scanned.le.to))
    return addBucket(series, labels, bound, text, from + scanned.blockTo, to)
  }

  function addBucket(
    series: Series<Buckets>,
    labels: Labels,
    bound: number | undefined,
    text: string,
    from: number,
    to: number,
  ): boolean {
    const whole = readWholeNumber(text, from, to)
    const tail = whole === undefined ? readTail(text.slice(from, to)) : { value: whole, stamp: undefined }
    if (bound === undefined || !tail) return false
    const kept = series.last?.labels === labels ? series.last : labelSetOf(series, labels)
    if (!kept) return true
    kept.bounds.push(bound)
    kept.counts.push(tail.value)
    if (tail.stamp !== undefined) {
      kept.oldest = Math.min(kept.oldest ?? tail.stamp, tail.stamp)
      kept.newest = Math.max(kept.newest ?? tail.stamp, tail.stamp)
    }
    return true
  }

  function labelSetOf(series: Series<Buckets>, labels: Labels): Buckets | undefined {
    series.last = series.byLabels.get(labels)
    if (series.last) return series.last
    if (series.byLabels.size >= MAX_LABEL_SETS) {
      overfull.add(series.name)
      return undefined
    }
    series.last = { labels, bounds: [], counts: [] }
    series.byLabels.set(labels, series.last)
    return series.last
  }

  function labelsOf(text: string, count: number): Labels | undefined {
    const known = labelsByText.get(text)
    if (known || labelsByText.has(text)) return known
    const values = readLabels(text, count)
    const own = ownText(text)
    const labels = values && { text: own, values }
    labelsByText.set(own, labels)
    return labels
  }

  function boundOf(text: string): number | undefined {
    const known = bounds.get(text)
    if (known !== undefined) return known
    const bound = readNumber(text)
    if (bound !== undefined && bounds.size < MAX_LABEL_SETS) bounds.set(ownText(text), bound)
    return bound
  }

  return {
    samplesOf: (name) => seriesOf(samples, name),
    bucketsOf: (name) => seriesOf(buckets, name),
    keepSample,
    keepBucket,
    kept: () => ({ samples: listed(samples), buckets: listed(buckets), overfull }),
  }
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

/** The commonest spellings, `12` and `12.0` after one blank; `undefined`: look closer. */
function readWholeNumber(text: string, from: number, to: number): number | undefined {
  if (text.charCodeAt(from) !== 32 || to - from > 16) return undefined
  let value = 0
  let at = from + 1
  for (; at < to; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) break
    value = value * 10 + digit
  }
  if (at === from + 1) return undefined
  const isWhole = at === to || (at + 2 === to && text.charCodeAt(at) === 46 && text.charCodeAt(at + 1) === 48)
  return isWhole ? value : undefined
}
