import type { Readings } from './signals.ts'
import type { History } from './window.ts'

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
  return answers && !counts(readings) && hasCounted(history)
}

function counts({ counters, histograms }: Readings): boolean {
  return (
    Object.values(counters).some((sets) => Object.values(sets).some(({ value }) => value > 0)) ||
    Object.values(histograms).some((sets) => Object.values(sets).some((h) => (h.counts.at(-1) ?? 0) > 0))
  )
}

function hasCounted({ counters, histograms }: History): boolean {
  return (
    Object.values(counters).some((sets) => Object.values(sets).some(({ last }) => last > 0)) ||
    Object.values(histograms).some((sets) => Object.values(sets).some(({ last }) => last.length > 0))
  )
}
