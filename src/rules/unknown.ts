import type { HistogramSignal, Signal } from '../model/signals.ts'
import { MEAN_AT_LEAST } from '../signals/quantile.ts'
import type { Snapshot } from './snapshot.ts'

/** Reasons for an unknown number that several rules share, as a person reads them behind `--why`. */
export const FIRST_READING = 'first reading: an increase needs two'
export const NO_TRAFFIC = 'no traffic in the window'
export const SHORT_PAST = 'its own past is too short: it needs an hour and 10 values'
const NO_SUBJECTS = 'the page names none'

/** Of a rule that counts events: only the first reading yields none. */
export function untilTwoReadings({ window }: Snapshot): string | undefined {
  return window ? undefined : FIRST_READING
}

export function withoutSubjects({ readings }: Snapshot): string | undefined {
  return Object.keys(readings?.subjects ?? {}).length === 0 ? NO_SUBJECTS : undefined
}

/** Others have one: a split GPU, or one whose driver does not say. */
export function notOfSubject(signal: Signal, subject: string | undefined, { readings, faults }: Snapshot): string {
  if (subject === undefined) return NO_SUBJECTS
  const fault = faults.find((found) => found.signal === signal)
  if (fault) return `${signal} is not believable: ${fault.what}`
  const isThere = readings?.subjects[subject] !== undefined
  return isThere ? `not on the page for ${subject}: ${signal}` : `not on the page: ${subject}`
}

export function tooFewObserved(signal: HistogramSignal, enough: number, { window, readings, after }: Snapshot): string {
  if (!window) return FIRST_READING
  if (after.asleepAt !== undefined && !window.histograms[signal] && readings?.histograms[signal])
    return 'the engine slept in this time'
  const found = window.histograms[signal]
  if (found && found.counts.at(-1) !== 0 && found.sum === undefined && enough === MEAN_AT_LEAST)
    return `${signal} has no sum that can be believed`
  return tooFew(found?.counts.at(-1) ?? 0, enough, signal === 'itl' ? 'tokens' : 'requests')
}

export function tooFew(n: number, enough: number, what = 'requests'): string {
  if (n === 0) return NO_TRAFFIC
  return n < enough ? `too few ${what}: ${Math.round(n)} of ${enough}` : 'no believable buckets'
}

/** Epoch milliseconds since when a histogram is judged. */
export function judgedSince({ window, after }: Snapshot, signal: HistogramSignal): number | undefined {
  const seconds = window?.spans?.[signal] ?? window?.seconds
  return seconds === undefined || after.goodAt === undefined ? undefined : after.goodAt - seconds * 1_000
}

/** Over how long, where that is not the window. */
export function widenedTo({ window }: Snapshot, signal: HistogramSignal): { span?: number } {
  const seconds = window?.spans?.[signal]
  return seconds === undefined ? {} : { span: seconds * 1_000 }
}
