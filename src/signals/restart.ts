import type { LabelSet, Readings } from '../model/signals.ts'
import type { History } from './history.ts'

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

/**
 * Not one label set of a counter is still there, others of the same names have counted less: they are another process's,
 * whose labels name it (`pid`, a worker). No single counter fell, so that no other sign is left. A server that tells when
 * it started is judged by that alone.
 */
export function isAnotherProcess(history: History | undefined, readings: Readings): boolean {
  if (history === undefined || (history.startedAt !== undefined && readings.startedAt !== undefined)) return false
  const both = Object.entries(readings.counters).flatMap(([signal, read]) => {
    const known = Object.entries(history.counters[signal] ?? {}).filter(([, { gone }]) => gone === undefined)
    return known.length > 0 && Object.keys(read).length > 0 ? [{ known: Object.fromEntries(known), read }] : []
  })
  return (
    both.every(({ known, read }) => areOthersOfTheSameNames(Object.keys(known), Object.keys(read))) &&
    both.some(({ known, read }) => total(read, ({ value }) => value) < total(known, ({ last }) => last))
  )
}

function areOthersOfTheSameNames(known: readonly LabelSet[], read: readonly LabelSet[]): boolean {
  if (read.some((labels) => known.includes(labels))) return false
  const names = new Set(known.map(namesIn))
  return read.every((labels) => names.has(namesIn(labels)))
}

/** Another alias of the signal has other labels: that is no other process. */
function namesIn(labels: LabelSet): string {
  return labels.replace(/="(?:[^"\\]|\\.)*"/g, '')
}

function total<V>(sets: Record<LabelSet, V>, of: (one: V) => number): number {
  return Object.values(sets).reduce((sum, one) => sum + of(one), 0)
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
