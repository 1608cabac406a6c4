/** Buckets since the start of a simulated server, as it publishes them. */
export interface Histogram {
  /** Ascending, without +Inf. */
  readonly bounds: readonly number[]
  /** Observations at or below each bound; one more entry than `bounds`, the last is +Inf and so the count. */
  readonly counts: number[]
  sum: number
}

export function createHistogram(bounds: readonly number[]): Histogram {
  return { bounds, counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 }
}

export function observe(histogram: Histogram, value: number): void {
  const { bounds, counts } = histogram
  histogram.sum += value
  for (let index = bounds.length; index >= 0; index -= 1) {
    const bound = bounds[index] ?? Number.POSITIVE_INFINITY
    if (value > bound) break
    counts[index] = (counts[index] ?? 0) + 1
  }
}
