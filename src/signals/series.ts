import * as z from 'zod/mini'
import type { CounterReading, HistogramReading } from '../model/signals.ts'
import { NUMBER_LIST, NUMBER_OR_NULL_LIST } from './number-lists.ts'

/** Two start times further apart than this, in seconds, are two starts. */
const SAME_START = 1
/** Relative noise of sums that several processes add up in changing order: no fall, no other bound. */
const NOISE = 1e-9

/**
 * The past of one label set of a counter. `steps` are the increases between the kept readings, oldest first,
 * so that dropping a reading is adding two numbers and a restart needs no second look.
 */
export const COUNTER_PAST = z.object({
  /** Value of the latest reading. */
  last: z.number(),
  steps: NUMBER_LIST,
  /** Unix seconds. */
  created: z.optional(z.number()),
  /** Epoch milliseconds of the first good reading without this label set. */
  gone: z.optional(z.number()),
})
export type CounterPast = z.infer<typeof COUNTER_PAST>

/**
 * The past of one label set of a histogram. Counts are per bucket (not cumulative), the last one is +Inf, and zeros
 * at the end are cut: `[]` is "nothing was observed". A step may hold a negative number where buckets were read
 * while they moved; it is lifted when it is judged.
 */
export const HISTOGRAM_PAST = z.object({
  bounds: NUMBER_LIST,
  last: NUMBER_LIST,
  steps: z.array(NUMBER_LIST),
  sum: z.optional(z.number()),
  /** Steps of the sum; null where it is not known. */
  sums: NUMBER_OR_NULL_LIST,
  created: z.optional(z.number()),
  gone: z.optional(z.number()),
})
export type HistogramPast = z.infer<typeof HISTOGRAM_PAST>

/** A series after one more reading; `restarted`: its new step is all that it counted since its start. */
export interface Advanced<P> {
  past: P
  restarted: boolean
}

/** How many readings were kept before this one, and whether the whole server is known to have restarted since. */
export interface Before {
  kept: number
  restarted: boolean
}

/** @returns `undefined` when the value cannot be judged: as if the label set were not there. */
export function advanceCounter(
  past: CounterPast | undefined,
  reading: CounterReading,
  before: Before,
): Advanced<CounterPast> | undefined {
  if (!Number.isFinite(reading.value)) return undefined
  const created = createdOf(reading)
  if (before.kept === 0) return { past: { last: reading.value, steps: [], ...created }, restarted: false }
  const earlier = past?.steps ?? zeros(before.kept - 1)
  const restarted =
    past !== undefined &&
    (before.restarted || startMoved(past.created, reading.created) || fell(past.last, reading.value))
  const step = past === undefined || restarted ? reading.value : Math.max(0, reading.value - past.last)
  return { past: { last: reading.value, steps: [...earlier, rounded(step)], ...created }, restarted }
}

/** @returns `undefined` when the buckets cannot be judged: as if the label set were not there. */
export function advanceHistogram(
  past: HistogramPast | undefined,
  reading: HistogramReading,
  before: Before,
): Advanced<HistogramPast> | undefined {
  if (reading.counts.length !== reading.bounds.length + 1 || !reading.counts.every(Number.isFinite)) return undefined
  const sum = Number.isFinite(reading.sum) ? { sum: reading.sum } : {}
  const last = trimmed(perBucket(reading.counts))
  const next = { bounds: [...reading.bounds], last, ...sum, ...createdOf(reading) }
  if (before.kept === 0) return { past: { ...next, steps: [], sums: [] }, restarted: false }
  const restarted =
    past !== undefined && (before.restarted || startMoved(past.created, reading.created) || replaced(past, reading))
  const from = restarted ? undefined : past
  const step = trimmed(reading.counts.map((_, i) => (last[i] ?? 0) - (from?.last[i] ?? 0)))
  const sums = [...(past?.sums ?? zeros(before.kept - 1)), sumStep(from, next.sum)]
  return { past: { ...next, steps: [...(past?.steps ?? empties(before.kept - 1)), step], sums }, restarted }
}

/** A label set that is missing from a good reading is kept for a while: after one lost line it must not look new. */
export function passOver<P extends CounterPast | HistogramPast>(past: P, now: number): P {
  const gone = past.gone ?? now
  return 'sums' in past
    ? { ...past, steps: [...past.steps, []], sums: [...past.sums, 0], gone }
    : { ...past, steps: [...past.steps, 0], gone }
}

/** The same past over fewer readings: `kept` are ascending indices of readings, steps between them are added. */
export function thinCounter(past: CounterPast, kept: readonly number[]): CounterPast {
  return { ...past, steps: between(past.steps, kept, (steps) => rounded(steps.reduce((a, b) => a + b, 0))) }
}

export function thinHistogram(past: HistogramPast, kept: readonly number[]): HistogramPast {
  return { ...past, steps: between(past.steps, kept, addBuckets), sums: between(past.sums, kept, addSums) }
}

/** Adds per-bucket counts whose zeros at the end may be cut. */
export function addBuckets(steps: readonly (readonly number[])[]): number[] {
  const total: number[] = []
  for (const step of steps)
    step.forEach((count, i) => {
      total[i] = (total[i] ?? 0) + count
    })
  return trimmed(total)
}

/** Adds the steps of a sum; an unknown one makes the total unknown. */
export function addSums(steps: readonly (number | null)[]): number | null {
  let total = 0
  for (const step of steps) {
    if (step === null) return null
    total += step
  }
  return rounded(total)
}

/** @param buckets per bucket, zeros at the end may be cut. @param length how many buckets there are, with +Inf. */
export function cumulative(buckets: readonly number[], length: number): number[] {
  const totals: number[] = []
  let total = 0
  for (let i = 0; i < length; i++) {
    total += buckets[i] ?? 0
    totals.push(total)
  }
  return totals
}

/** Bounds that different builds print with another last digit are the same bound. */
export function sameBound(a: number, b: number): boolean {
  return Math.abs(a - b) <= NOISE * Math.max(Math.abs(a), Math.abs(b))
}

function between<S>(steps: readonly S[], kept: readonly number[], add: (steps: readonly S[]) => S): S[] {
  return kept.slice(1).map((end, i) => {
    const between = steps.slice(kept[i], end)
    const [only] = between
    // Nearly always no reading was dropped between the two.
    return only !== undefined && between.length === 1 ? only : add(between)
  })
}

/** Other bounds, or a bucket that holds less than it did. */
function replaced(past: HistogramPast, reading: HistogramReading): boolean {
  const { bounds, counts } = reading
  if (bounds.length !== past.bounds.length || !bounds.every((bound, i) => sameBound(bound, past.bounds[i] ?? NaN))) {
    return true
  }
  return cumulative(past.last, counts.length).some((before, i) => fell(before, counts[i] ?? 0))
}

function sumStep(past: HistogramPast | undefined, sum: number | undefined): number | null {
  if (sum === undefined) return null
  if (past === undefined) return rounded(sum)
  if (past.sum === undefined || fell(past.sum, sum)) return null
  return rounded(Math.max(0, sum - past.sum))
}

/** @param before,now Unix seconds; one that is not known has not moved. */
export function startMoved(before: number | undefined, now: number | undefined): boolean {
  return before !== undefined && now !== undefined && Math.abs(now - before) > SAME_START
}

function fell(before: number, now: number): boolean {
  return now < before - NOISE * Math.abs(before)
}

function createdOf(reading: { created?: number }): { created?: number } {
  return Number.isFinite(reading.created) ? { created: Math.round((reading.created ?? 0) * 10) / 10 } : {}
}

function perBucket(counts: readonly number[]): number[] {
  return counts.map((count, i) => count - (counts[i - 1] ?? 0))
}

function trimmed(buckets: readonly number[]): number[] {
  return buckets.slice(0, buckets.findLastIndex((count) => count !== 0) + 1)
}

/** Ten significant digits are enough for a difference and keep the state small; whole numbers stay exact. */
function rounded(step: number): number {
  return Number.isInteger(step) ? step : Number(step.toPrecision(10))
}

function zeros(length: number): number[] {
  return new Array<number>(length).fill(0)
}

function empties(length: number): number[][] {
  return Array.from({ length }, () => [])
}
