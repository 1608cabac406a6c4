import type { DataFault, HistogramReading, HistogramSignal, LabelSet } from '../model/signals.ts'
import { addBuckets, addSums, cumulative, type HistogramPast, sameBound } from './series.ts'

/** Observations of one histogram between two readings, as {@link HistogramReading} has them: cumulative, never falling. */
export interface HistogramIncrease {
  bounds: readonly number[]
  counts: readonly number[]
  /** Absent when the server published none, or one that cannot be right. */
  sum?: number
}

/**
 * Adds the label sets of one histogram. Where they have different bounds (two versions behind one page), only the
 * bounds that all share are kept: at those the cumulative counts are exact. A label set without observations says nothing.
 */
export function combine(
  signal: HistogramSignal,
  series: Record<LabelSet, HistogramPast>,
  from: number,
  faults: DataFault[],
): HistogramIncrease | undefined {
  const present = Object.entries(series).filter(([, past]) => past.gone === undefined)
  const moving: { bounds: number[]; counts: number[]; sum: number | null }[] = []
  for (const [labels, past] of present) {
    const counts = cumulative(addBuckets(past.steps.slice(from)), past.bounds.length + 1)
    if (counts.every((count) => count === 0)) continue
    if (contradicts(counts)) {
      faults.push({ signal, series: labels, what: 'buckets-fall' })
      return undefined
    }
    const sum = addSums(past.sums.slice(from))
    if (sum === null && past.sum !== undefined) faults.push({ signal, series: labels, what: 'falling-sum' })
    moving.push({ bounds: past.bounds, counts, sum })
  }
  const first = moving[0]
  if (!first) return present[0] && quiet(present[0][1].bounds)
  if (moving.length === 1) return { bounds: first.bounds, counts: lifted(first.counts), ...sumOf(first.sum) }
  const bounds = first.bounds.filter((bound) => moving.every((other) => other.bounds.some((b) => sameBound(b, bound))))
  const at = (counts: number[], of: number[], bound: number) => counts[of.findIndex((b) => sameBound(b, bound))] ?? 0
  const counts = bounds.map((bound) => add(moving.map((one) => at(one.counts, one.bounds, bound))))
  counts.push(add(moving.map((one) => one.counts.at(-1) ?? 0)))
  const sum = addSums(moving.map((one) => one.sum))
  return { bounds, counts: lifted(counts), ...sumOf(sum) }
}

function sumOf(sum: number | null): { sum?: number } {
  return sum === null ? {} : { sum }
}

function quiet(bounds: readonly number[]): HistogramIncrease {
  return { bounds, counts: [...bounds.map(() => 0), 0], sum: 0 }
}

/** Buckets read while they moved dip a little; a dip by more than a third of all observations is another kind of data. */
function contradicts(counts: readonly number[]): boolean {
  let top = 0
  let dip = 0
  for (const count of counts) {
    top = Math.max(top, count)
    dip = Math.max(dip, top - count)
  }
  return dip > Math.max(3, top / 3)
}

function lifted(counts: readonly number[]): number[] {
  let top = 0
  return counts.map((count) => {
    top = Math.max(top, count)
    return top
  })
}

function add(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
