import type { Readings } from '../signals/signals.ts'
import type { History } from '../signals/window.ts'

/**
 * The server answers as before its first request, although it had counted: its process is a new one. Where counters
 * appear with their first event, that is how a restart shows before any of them is there to have fallen. A server that
 * tells when it started is judged by that alone.
 */
export function isAsBeforeItsFirstRequest(history: History | undefined, readings: Readings): boolean {
  if (history === undefined || readings.faults.length > 0) return false
  if (history.startedAt !== undefined && readings.startedAt !== undefined) return false
  const { waiting, running } = readings.gauges
  const answers = readings.empty || waiting !== undefined || running !== undefined
  return answers && hasCounted(history) && !counts(readings)
}

function hasCounted({ counters, histograms }: History): boolean {
  const totals = Object.values(counters).flatMap((sets) => Object.values(sets).map(({ last }) => last))
  const buckets = Object.values(histograms).flatMap((sets) => Object.values(sets).map(({ last }) => last.length))
  return [...totals, ...buckets].some((count) => count > 0)
}

function counts({ counters, histograms }: Readings): boolean {
  const totals = Object.values(counters).flatMap((sets) => Object.values(sets).map(({ value }) => value))
  const observed = Object.values(histograms).flatMap((sets) => Object.values(sets).map((h) => h.counts.at(-1) ?? 0))
  return [...totals, ...observed].some((count) => count > 0)
}
