import type { HistogramIncrease } from './combine.ts'

/** Observations below which a quantile says more about chance than about the server. */
export const QUANTILE_AT_LEAST = 20
export const MEAN_AT_LEAST = 5

export interface Quantile {
  /** In the histogram's unit. */
  value: number
  /** The quantile lies in the +Inf bucket: it is at least `value`, the last finite bound. */
  atLeast: boolean
}

/**
 * Quantile of the observations between two readings, as Prometheus' `histogram_quantile` has it: linear inside a
 * bucket, whose lower end is 0 for the first one; in a first bucket at or below 0, that bound itself.
 * @param q 0..1, as in 0.99 for p99.
 * @returns `undefined` below `atLeast` observations, and without finite buckets (a summary).
 */
export function quantile(q: number, increase: HistogramIncrease, atLeast = QUANTILE_AT_LEAST): Quantile | undefined {
  const { bounds, counts } = increase
  const total = counts.at(-1) ?? 0
  const last = bounds.at(-1)
  if (last === undefined || total < Math.max(atLeast, Number.MIN_VALUE)) return undefined
  const bucket = bucketOf(q * total, counts)
  const upper = bounds[bucket]
  if (upper === undefined) return { value: last, atLeast: true }
  if (bucket === 0 && upper <= 0) return { value: upper, atLeast: false }
  const lower = bounds[bucket - 1] ?? 0
  const below = counts[bucket - 1] ?? 0
  const inside = (counts[bucket] ?? 0) - below
  return { value: inside === 0 ? lower : lower + (upper - lower) * ((q * total - below) / inside), atLeast: false }
}

export interface Mean {
  value: number
  /** The sum holds something that the buckets rule out; `value` is the p99. */
  outlier?: true
}

/** Seconds. No request takes longer; a timestamp that was never set shows up as the uptime of the host. */
const ABSURD = 3_600

/**
 * Mean of the observations between two readings. One above its own p99 (of however many observations) is replaced
 * by that p99: a single absurd observation can move the sum by any amount, but the buckets by one only. Among fewer than a
 * hundred observations it is the p99 itself; then that of the others is taken. A p99 that is only known as "at least"
 * rules nothing else out.
 * @returns `undefined` below `atLeast` observations or without a believable sum.
 */
export function mean(increase: HistogramIncrease, atLeast = MEAN_AT_LEAST): Mean | undefined {
  const count = increase.counts.at(-1) ?? 0
  if (increase.sum === undefined || count < Math.max(atLeast, Number.MIN_VALUE)) return undefined
  const value = increase.sum / count
  const p99 = quantile(0.99, increase, 0)
  if (p99 === undefined) return { value }
  if (p99.atLeast || value <= p99.value) {
    const others = withoutAbsurd(increase, increase.sum)
    const bound = others && quantile(0.99, others, 0)?.value
    return bound === undefined || value <= bound ? { value } : { value: bound, outlier: true }
  }
  // Interpolation alone puts the p99 below the mean when all observations sit at their bucket's upper end: no outlier.
  const end = increase.bounds[bucketOf(0.99 * count, increase.counts)] ?? p99.value
  return value > end ? { value: p99.value, outlier: true } : { value: p99.value }
}

/**
 * The other observations, where the few in the highest bucket must have been absurd: what the buckets allow the others
 * leaves more than {@link ABSURD} to each of them. `undefined` where that is not so, or where they are not few.
 */
function withoutAbsurd({ bounds, counts }: HistogramIncrease, sum: number): HistogramIncrease | undefined {
  const count = counts.at(-1) ?? 0
  const highest = counts.findIndex((c) => c >= count)
  const others = counts[highest - 1] ?? 0
  if (others <= count / 2) return undefined
  const inside = (i: number) => (counts[i] ?? 0) - (counts[i - 1] ?? 0)
  const most = bounds.slice(0, highest).reduce((total, bound, i) => total + bound * inside(i), 0)
  if (sum - most <= ABSURD * (count - others)) return undefined
  return { bounds, counts: counts.map((c) => Math.min(c, others)) }
}

/**
 * How many of the observations were at or below a limit: exact where the limit is a bucket's bound, else linear inside
 * its bucket. Beyond the last finite bound it is what is known to be within, which is the least that it can be.
 */
export function countWithin(limit: number, { bounds, counts }: HistogramIncrease): number {
  const above = bounds.findIndex((bound) => bound >= limit * (1 - SAME))
  if (above < 0) return counts[bounds.length - 1] ?? 0
  const [upper = 0, lower = 0] = [bounds[above], bounds[above - 1]]
  const [all = 0, below = 0] = [counts[above], counts[above - 1]]
  return upper <= limit * (1 + SAME) ? all : below + (all - below) * ((limit - lower) / (upper - lower))
}

/** Relative: a bound that is printed with another last digit is the same. */
const SAME = 1e-9

/**
 * Whether buckets or sum prove that each observation was above a value; none at all prove nothing. The sum does where
 * the others, each at the upper end of its bucket, leave more than the value for the smallest.
 */
export function allAbove(value: number, { bounds, counts, sum }: HistogramIncrease): boolean {
  const total = counts.at(-1) ?? 0
  if (total === 0) return false
  const above = bounds.findIndex((bound) => bound >= value)
  if (above >= 0 && (counts[above] ?? 0) === 0) return true
  const others = counts.map((count, i) => count - (counts[i - 1] ?? 0))
  const lowest = others.findIndex((count) => count > 0)
  others[lowest] = (others[lowest] ?? 0) - 1
  if (sum === undefined || (others.at(-1) ?? 0) > 0) return false
  const most = others.reduce((all, count, i) => all + (count === 0 ? 0 : count * (bounds[i] ?? 0)), 0)
  return sum - most > value
}

/** Index of the first bucket that reaches the rank; the last one is +Inf. */
function bucketOf(rank: number, counts: readonly number[]): number {
  const finite = counts.slice(0, -1).findIndex((count) => count >= rank)
  return finite === -1 ? counts.length - 1 : finite
}
