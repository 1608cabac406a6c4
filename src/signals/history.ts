import * as z from 'zod/mini'
import type { LabelSet } from '../model/signals.ts'
import { NUMBER_LIST } from './number-lists.ts'
import { COUNTER_PAST, type CounterPast, HISTOGRAM_PAST, type HistogramPast } from './series.ts'

export type BySignal<P> = Record<string, Record<LabelSet, P>>

/**
 * What the state keeps of one endpoint's counters and histograms: small, and complete for the increases since each
 * of the last readings. Read back from JSON it is checked; what fails the check is no past at all.
 */
export const HISTORY = z
  .object({
    /** Epoch milliseconds of the good readings kept, oldest first; the last one is the latest. */
    times: NUMBER_LIST.check(z.minLength(1)),
    /** Unix seconds, the process's start as it last said. */
    startedAt: z.optional(z.number()),
    /** Epoch milliseconds of the reading that showed a restart, while it is inside the window. */
    restartedAt: z.optional(z.number()),
    counters: z.record(z.string(), z.record(z.string(), COUNTER_PAST)),
    histograms: z.record(z.string(), z.record(z.string(), HISTOGRAM_PAST)),
  })
  .check(z.refine(isConsistent, 'the steps do not fit the times'))
export type History = z.infer<typeof HISTORY>

function isConsistent(history: {
  times: number[]
  counters: BySignal<CounterPast>
  histograms: BySignal<HistogramPast>
}): boolean {
  const steps = history.times.length - 1
  const ascending = history.times.every((time, i) => i === 0 || time > (history.times[i - 1] ?? time))
  const counters = Object.values(history.counters).flatMap((sets) => Object.values(sets))
  const histograms = Object.values(history.histograms).flatMap((sets) => Object.values(sets))
  return (
    ascending &&
    counters.every((past) => past.steps.length === steps) &&
    histograms.every((past) => past.steps.length === steps && past.sums.length === steps)
  )
}
