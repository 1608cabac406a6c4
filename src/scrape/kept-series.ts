import type { Buckets, Labels, Sample } from './page.ts'
import type { Tail } from './sample-line.ts'
import type { Wanted } from './wanted.ts'

/** What is kept of one wanted name so far, and where its last sample went. */
export interface Series<T> {
  byLabels: Map<Labels, T>
  last: T | undefined
  /** Of buckets that are added up: which bucket of its series came last, and its bound. */
  at?: number
  bound?: number
}

export function seriesOf<T>(kept: Map<string, Series<T>>, name: string): Series<T> {
  const series = kept.get(name) ?? { byLabels: new Map(), last: undefined }
  if (series.byLabels.size === 0) kept.set(name, series)
  return series
}

export function listed<T>(kept: Map<string, Series<T>>): Map<string, readonly T[]> {
  const lists = new Map<string, readonly T[]>()
  for (const [name, { byLabels }] of kept) lists.set(name, [...byLabels.values()])
  return lists
}

const MERGED = { add: (a: number, b: number) => a + b, oldest: Math.min, largest: Math.max } as const

/** A label set that comes twice is one series, of which the last sample holds; where labels were dropped, it is several. */
export function addSample(
  { byLabels }: Series<Sample>,
  labels: Labels,
  { value, stamp }: Tail,
  merge: Wanted['merge'],
): void {
  const known = byLabels.get(labels)
  if (!known) {
    byLabels.set(labels, { labels, value, stamp })
    return
  }
  known.value = merge === undefined ? value : MERGED[merge](known.value, value)
  known.stamp = stamp
}

/**
 * Adds a bucket to that of the series before it with the same bound, in the order of the page: each series lists its bounds
 * from the lowest on. @returns `false`: the series do not have the same bounds, so that their buckets cannot be added up.
 */
export function mergeBucket(series: Series<Buckets>, labels: Labels, bound: number, { value, stamp }: Tail): boolean {
  const { last } = series
  const isNext = last?.labels === labels && bound > (series.bound ?? Number.POSITIVE_INFINITY)
  series.at = isNext ? (series.at ?? 0) + 1 : 0
  series.bound = bound
  const known = series.byLabels.get(labels)
  if (!known) series.byLabels.set(labels, { labels, bounds: [], counts: [], oldest: undefined, newest: undefined })
  const sum = known ?? (series.byLabels.get(labels) as Buckets)
  series.last = sum
  if (stamp !== undefined) {
    sum.oldest = Math.min(sum.oldest ?? stamp, stamp)
    sum.newest = Math.max(sum.newest ?? stamp, stamp)
  }
  if (series.at === sum.bounds.length && sum.bounds.at(-1) !== Number.POSITIVE_INFINITY) {
    sum.bounds.push(bound)
    sum.counts.push(value)
    return true
  }
  if (sum.bounds[series.at] !== bound) return false
  sum.counts[series.at] = (sum.counts[series.at] ?? 0) + value
  return true
}

export function addBucket(series: Series<Buckets>, labels: Labels, bound: number, { value, stamp }: Tail): void {
  if (series.last?.labels !== labels) {
    const empty = () => ({ labels, bounds: [], counts: [], oldest: undefined, newest: undefined })
    series.last = series.byLabels.get(labels) ?? empty()
    series.byLabels.set(labels, series.last)
  }
  const { last } = series
  last.bounds.push(bound)
  last.counts.push(value)
  if (stamp === undefined) return
  last.oldest = Math.min(last.oldest ?? stamp, stamp)
  last.newest = Math.max(last.newest ?? stamp, stamp)
}
