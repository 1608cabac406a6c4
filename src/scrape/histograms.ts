import type { Alias } from '../backends/backend.ts'
import type { DataFault, HistogramReading, LabelSet } from '../signals/signals.ts'
import type { Buckets, Page, Sample } from './page.ts'
import type { Selection } from './select.ts'
import { createdName } from './wanted.ts'

export type FaultKind = DataFault['what']
/** What one alias of a signal yields; `undefined`: it is not on the page. No value beside a fault: unknown. */
export type Outcome<T> = { value?: T; fault?: FaultKind } | undefined

/**
 * Puts the buckets, sum and count of every label set together. A label set that is not whole makes the signal unknown: a
 * part of a histogram is not a smaller truth, and if it came back whole later, its whole past would look new.
 */
export function readHistograms(
  page: Page,
  alias: Alias,
  selection: Selection,
): Outcome<Record<LabelSet, HistogramReading>> {
  const chosen = <T extends Sample | Buckets>(series: readonly T[] = []) =>
    selection.withoutParts(series.filter(({ labels }) => selection.matches(labels, alias)))
  const samples = (name: string) => chosen(page.samples.get(name))
  const buckets = chosen(page.buckets.get(`${alias.name}_bucket`))
  const [sums, counts, quantiles] = [samples(`${alias.name}_sum`), samples(`${alias.name}_count`), samples(alias.name)]
  if (buckets.length + sums.length + counts.length + quantiles.length === 0) return undefined
  if (page.overfull.has(`${alias.name}_bucket`)) return { fault: 'cut-histogram' }
  const stamps = [
    ...buckets.flatMap(({ oldest, newest }) => [oldest, newest]),
    ...[...sums, ...counts].map((s) => s.stamp),
  ]
  if (stamps.some(selection.isStale)) return { fault: 'stale-sample' }
  const parts: Parts = {
    sums: bySet(sums, selection),
    counts: bySet(counts, selection),
    created: bySet(samples(createdName(alias.name, 'histogram')), selection),
  }
  const isSummary = buckets.length === 0 && quantiles.some(({ labels }) => labels.values.quantile !== undefined)
  return isSummary ? fromSummary(parts) : fromBuckets(buckets, parts, selection)
}

interface Parts {
  sums: ReadonlyMap<LabelSet, number>
  counts: ReadonlyMap<LabelSet, number>
  created: ReadonlyMap<LabelSet, number>
}

/** The last of equal label sets; the largest of those that ranks repeat. */
function bySet(samples: readonly Sample[], selection: Selection): Map<LabelSet, number> {
  const values = new Map<LabelSet, number>()
  for (const { labels, value } of samples) {
    const set = selection.setOf(labels, 'total')
    values.set(set, Math.max(values.get(set) ?? value, value))
  }
  return values
}

/** A summary's quantiles are the server's own and cannot be added up; its mean can be used like a histogram's. */
function fromSummary({ sums, counts, created }: Parts): Outcome<Record<LabelSet, HistogramReading>> {
  const value: Record<LabelSet, HistogramReading> = {}
  for (const [set, count] of counts) {
    const sum = sums.get(set)
    if (!isCount(count) || sum === undefined) return { fault: 'not-a-number' }
    value[set] = { bounds: [], counts: [count], ...optional(sum, created.get(set)) }
  }
  return { value, fault: 'summary-not-histogram' }
}

function fromBuckets(
  buckets: readonly Buckets[],
  { sums, counts, created }: Parts,
  selection: Selection,
): Outcome<Record<LabelSet, HistogramReading>> {
  const value: Record<LabelSet, HistogramReading> = {}
  let fault: FaultKind | undefined
  for (const one of buckets) {
    const set = selection.setOf(one.labels, 'total')
    const sum = sums.get(set)
    const whole = inOrder(one)
    if (!whole || sum === undefined) return { fault: 'cut-histogram' }
    if (!whole.counts.every(isCount))
      return { fault: whole.counts.some(Number.isNaN) ? 'not-a-number' : 'out-of-range' }
    if (!Number.isFinite(sum)) fault = 'not-a-number'
    value[set] = larger(value[set], { ...whole, ...optional(sum, created.get(set)) })
  }
  const isCut = [...sums.keys(), ...counts.keys()].some((set) => value[set] === undefined)
  if (isCut) return { fault: 'cut-histogram' }
  return { value, ...(fault && { fault }) }
}

/** Bounds in order, each once; `undefined` without +Inf. */
function inOrder({ bounds, counts }: Buckets): { bounds: number[]; counts: number[] } | undefined {
  const byBound = new Map(bounds.map((bound, i) => [bound, counts[i] ?? Number.NaN]))
  const sorted = [...byBound.keys()].sort((a, b) => a - b)
  if (sorted.pop() !== Number.POSITIVE_INFINITY) return undefined
  return { bounds: sorted, counts: [...sorted, Number.POSITIVE_INFINITY].map((bound) => byBound.get(bound) ?? 0) }
}

function larger(a: HistogramReading | undefined, b: HistogramReading): HistogramReading {
  return a && (a.counts.at(-1) ?? 0) > (b.counts.at(-1) ?? 0) ? a : b
}

/** A sum that is no number is unknown, and so is a start that is no time. */
function optional(sum: number, created: number | undefined): Pick<HistogramReading, 'sum' | 'created'> {
  return { ...(Number.isFinite(sum) && { sum }), ...(created !== undefined && created > 0 && { created }) }
}

function isCount(count: number): boolean {
  return count >= 0 && count <= Number.MAX_SAFE_INTEGER
}
