import * as z from 'zod/mini'
import { NUMBER_LIST } from './number-lists.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** One value at most in this time: a ring of twenty then spans an hour of runs, however often they come. */
const PACE = 3 * MINUTE
const RING = 20
const DIGITS = 3
/** Values below which nothing is usual yet. */
const VALUES_AT_LEAST = 10

/** A number's own recent past, small enough to store one for every bin of every endpoint. */
export const BASELINE = z.object({
  /** Epoch milliseconds of the first value ever learned. */
  since: z.number(),
  /** Epoch milliseconds of the latest value. */
  at: z.number(),
  /** Oldest first, three significant digits. */
  values: NUMBER_LIST.check(z.maxLength(RING)),
})
export type Baseline = z.infer<typeof BASELINE>

/** Adds a value that was judged normal. One that is not finite changes nothing, except that the first one sets the start. */
export function learn(baseline: Baseline | undefined, value: number, now: number): Baseline {
  if (!Number.isFinite(value)) return baseline ?? { since: now, at: now, values: [] }
  const rounded = Number(value.toPrecision(DIGITS))
  if (baseline === undefined || isForgotten(baseline, now)) return { since: now, at: now, values: [rounded] }
  // A clock that went back must not stop the learning until it has caught up.
  if (now >= baseline.at && now - baseline.at < PACE && baseline.values.length > 0) return baseline
  return { since: Math.min(baseline.since, now), at: now, values: [...baseline.values, rounded].slice(-RING) }
}

/** The usual value: the median. @returns `undefined` before an hour has passed or with too few values. */
export function usual(baseline: Baseline | undefined, now: number): number | undefined {
  const sorted = settled(baseline, now)
  if (sorted === undefined) return undefined
  const middle = sorted.length / 2
  const upper = sorted[Math.floor(middle)]
  const lower = sorted[Math.ceil(middle) - 1]
  return upper === undefined || lower === undefined ? undefined : (upper + lower) / 2
}

/** The highest value that was reached more than once, so that one spike sets no ceiling. Known when {@link usual} is. */
export function ceiling(baseline: Baseline | undefined, now: number): number | undefined {
  const sorted = settled(baseline, now)
  return sorted?.at(-2) ?? sorted?.at(-1)
}

/** Bins of running requests that double: 0, 1, 2–3, 4–7, 8–15, … as 0, 1, 2, 3, 4, … */
export function bin(running: number): number {
  return running >= 1 ? Math.floor(Math.log2(running)) + 1 : 0
}

function settled(baseline: Baseline | undefined, now: number): number[] | undefined {
  if (baseline === undefined || isForgotten(baseline, now)) return undefined
  if (now - baseline.since < HOUR || baseline.values.length < VALUES_AT_LEAST) return undefined
  return [...baseline.values].sort((a, b) => a - b)
}

/** After a day without a value the baseline describes another time. */
function isForgotten(baseline: Baseline, now: number): boolean {
  return now - baseline.at > DAY
}
