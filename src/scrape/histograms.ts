import type { HistogramReading, LabelSet, Signal } from '../model/signals.ts'
import type { AliasReading, FaultKind } from './alias-reading.ts'
import type { Buckets, Page, Sample } from './page.ts'
import type { Selection } from './select.ts'
import type { NamedAlias } from './wanted.ts'

type Histograms = Record<LabelSet, HistogramReading>

/**
 * Puts the buckets, sum and count of every label set together. A label set whose buckets are not whole makes the signal
 * unknown: a part of a histogram is not a smaller truth, and if it came back whole later, its whole past would look new.
 * Of buckets that are published without any sum or count only the mean is unknown, unless the page may have been cut in
 * the middle of a number.
 */
export function readHistograms(
  signal: Signal,
  page: Page,
  alias: NamedAlias,
  selection: Selection,
): AliasReading<Histograms> {
  const buckets = selection.choose(page.buckets.get(alias.bucket), alias)
  const sums = selection.choose(page.samples.get(alias.sum), alias)
  const counts = selection.choose(page.samples.get(alias.count), alias)
  const quantiles = buckets.length > 0 ? [] : selection.choose(page.samples.get(alias.name), alias)
  if (buckets.length + sums.length + counts.length + quantiles.length === 0) return undefined
  if (alias.isMean && (sums.length === 0 || counts.length === 0)) return undefined
  if (page.incomplete.has(alias.bucket)) return { fault: 'cut-histogram' }
  if ([...sums, ...counts].some(({ stamp }) => selection.isStale(stamp))) return { fault: 'stale-sample' }
  const parts: Parts = {
    sums: bySet(sums, selection, alias.per),
    counts: bySet(counts, selection),
    created: bySet(selection.choose(page.samples.get(alias.created), alias), selection),
  }
  if (alias.isMean) return fromCounters(parts)
  const isSummary = quantiles.some(({ labels }) => labels.values.quantile !== undefined)
  if (isSummary) return fromSummary(parts)
  const isBare = sums.length + counts.length === 0 && !page.unterminated
  const largestFirst = FIRST_OF_TOKENS[signal] ?? LARGEST_FIRST
  return fromBuckets(inUnit(buckets, alias.per), parts, selection, { isBare, largestFirst })
}

interface Parts {
  sums: ReadonlyMap<LabelSet, number>
  counts: ReadonlyMap<LabelSet, number>
  created: ReadonlyMap<LabelSet, number>
}

/** The largest of those that ranks repeat, in the signal's unit. */
function bySet(samples: readonly Sample[], selection: Selection, per = 1): Map<LabelSet, number> {
  const values = new Map<LabelSet, number>()
  for (const { labels, value } of samples) {
    const set = selection.setOf(labels)
    const before = values.get(set)
    values.set(set, before === undefined ? value / per : Math.max(before, value / per))
  }
  return values
}

/** Bounds in the signal's unit: seconds from milliseconds. */
function inUnit(buckets: readonly Buckets[], per = 1): readonly Buckets[] {
  if (per === 1) return buckets
  return buckets.map((one) => ({ ...one, bounds: one.bounds.map((bound) => bound / per) }))
}

/** Two counters that were never a histogram: a label set that only one of them has says nothing. */
function fromCounters({ sums, counts, created }: Parts): AliasReading<Histograms> {
  const value: Histograms = {}
  for (const [set, count] of counts) {
    const sum = sums.get(set)
    if (sum === undefined) continue
    if (!isCount(count) || !(sum >= 0)) return { fault: Number.isNaN(count + sum) ? 'not-a-number' : 'out-of-range' }
    value[set] = histogram([], [count], sum, created.get(set))
  }
  return Object.keys(value).length === 0 ? undefined : { value }
}

/** A summary's quantiles are the server's own and cannot be added up; its mean can be used like a histogram's. */
function fromSummary({ sums, counts, created }: Parts): AliasReading<Histograms> {
  const value: Histograms = {}
  for (const [set, count] of counts) {
    const sum = sums.get(set)
    if (sum === undefined) return { fault: 'cut-histogram' }
    if (!isCount(count)) return { fault: Number.isNaN(count) ? 'not-a-number' : 'out-of-range' }
    value[set] = histogram([], [count], sum, created.get(set))
  }
  return { value, fault: 'summary-not-histogram' }
}

function fromBuckets(
  buckets: readonly Buckets[],
  parts: Parts,
  selection: Selection,
  { isBare, largestFirst }: { isBare: boolean; largestFirst: number },
): AliasReading<Histograms> {
  const value: Histograms = {}
  let fault: FaultKind | undefined
  for (const one of buckets) {
    if (selection.isStale(one.oldest) || selection.isStale(one.newest)) return { fault: 'stale-sample' }
    const set = selection.setOf(one.labels)
    const sum = parts.sums.get(set)
    const { bounds, counts } = inOrder(one)
    const isCut = bounds.at(-1) !== Number.POSITIVE_INFINITY || (sum === undefined && !isBare)
    if (isCut) return { fault: 'cut-histogram' }
    if (areMilliseconds(bounds, largestFirst)) return { fault: 'not-seconds' }
    if (!counts.every(isCount)) return { fault: counts.some(Number.isNaN) ? 'not-a-number' : 'out-of-range' }
    if (!Number.isFinite(sum)) fault = sum === undefined ? 'cut-histogram' : 'not-a-number'
    value[set] = largest(value[set], histogram(bounds.slice(0, -1), counts, sum, parts.created.get(set)))
  }
  for (const sets of [parts.sums, parts.counts])
    for (const set of sets.keys()) if (value[set] === undefined) return { fault: 'cut-histogram' }
  return { value, ...(fault && { fault }) }
}

/** Seconds. All times that we read have their first bound far below the one and their last below the other. */
const LARGEST_FIRST = 10
const LARGEST_LAST = 24 * 3_600
/** Of single tokens no server has a first bound of seconds beside one of a quarter of an hour: 5, 10 … 10,000 is what clients have for milliseconds. */
const FIRST_OF_TOKENS: Partial<Record<Signal, number>> = { ttft: 2, itl: 2 }

/** Times in another unit than the name says: 250, 500 … 240,000 are no seconds. One bucket alone tells nothing. */
function areMilliseconds(bounds: readonly number[], largestFirst: number): boolean {
  const finite = bounds.filter((bound) => bound > 0 && Number.isFinite(bound))
  const [first, last] = [finite[0], finite.at(-1)]
  if (first === undefined || last === undefined || finite.length < 2) return false
  return (first > largestFirst && last >= 100 * LARGEST_FIRST) || last > LARGEST_LAST
}

/** Bounds in order, each once. Servers write them so; whoever adds up pages may not. */
function inOrder({ bounds, counts }: Buckets): { bounds: readonly number[]; counts: readonly number[] } {
  if (bounds.every((bound, i) => i === 0 || bound > (bounds[i - 1] ?? bound))) return { bounds, counts }
  const byBound = new Map(bounds.map((bound, i) => [bound, counts[i] ?? Number.NaN]))
  const sorted = [...byBound.keys()].sort((a, b) => a - b)
  return { bounds: sorted, counts: sorted.map((bound) => byBound.get(bound) ?? Number.NaN) }
}

/** A sum that is no number is unknown, and so is a start that is no time. */
function histogram(
  bounds: readonly number[],
  counts: readonly number[],
  sum: number | undefined,
  created: number | undefined,
): HistogramReading {
  const reading: HistogramReading = { bounds, counts }
  if (sum !== undefined && Number.isFinite(sum)) reading.sum = sum
  if (created !== undefined && created > 0) reading.created = created
  return reading
}

/**
 * Ranks repeat a histogram, each a moment ahead of the other or behind, and with its own clock. The largest of each bucket
 * never falls, while the buckets of now one rank and now the other would: that is no restart.
 */
function largest(a: HistogramReading | undefined, b: HistogramReading): HistogramReading {
  if (!a) return b
  const areSame = a.bounds.length === b.bounds.length && a.bounds.every((bound, i) => bound === b.bounds[i])
  if (!areSame) return (a.counts.at(-1) ?? 0) > (b.counts.at(-1) ?? 0) ? a : b
  return { ...b, counts: b.counts.map((count, i) => Math.max(count, a.counts[i] ?? count)) }
}

function isCount(count: number): boolean {
  return count >= 0 && count <= Number.MAX_SAFE_INTEGER
}
