import { TABLES } from '../backends/backends.ts'
import type { Backend, BackendTable, ScrapedBackend } from '../model/backend.ts'
import type { Rule } from '../model/rule.ts'
import { type CounterSignal, type Readings, SIGNALS, type Signal } from '../model/signals.ts'

/**
 * Counters that every server publishes once a request has finished. On some servers the others (failures, preemptions,
 * rejections) appear only with their first event, so their absence after a restart means nothing.
 */
const STEADY = [
  'finished',
  'generation_tokens',
  'prompt_tokens',
  'prefix_queries',
  'prefix_hits',
] as const satisfies readonly CounterSignal[]

/**
 * The signals that a good answer should have and does not: core series of the backend, and series seen here before that
 * feed a rule. On some servers histograms and counters appear only with the first request, so they count as missing
 * only after one has finished.
 */
export function missingSignals(
  readings: Readings,
  backend: Backend,
  seen: readonly string[],
  rules: readonly Rule[],
): Signal[] {
  const table = tableOf(backend)
  if (!table) return []
  // Before its first request. A page of another server is a different case.
  if (table.emptyIsHealthy && Object.keys(readings.sources).length === 0 && !readings.foreign) return []
  const core = missingCore(table, readings)
  const fed = new Set(rules.flatMap((rule) => rule.needs.signals))
  const served = hasServed(readings, seen)
  const gone = signalsOf(table).filter((signal) => {
    if (!seen.includes(signal) || !fed.has(signal) || isPresent(signal, readings)) return false
    if (table.signals[signal]?.zeroBeside) return false
    const { kind } = SIGNALS[signal]
    return kind === 'gauge' || (served && (kind === 'histogram' || STEADY.some((one) => one === signal)))
  })
  return [...new Set([...core, ...gone])]
}

function missingCore(table: BackendTable, readings: Readings): Signal[] {
  const core = signalsOf(table).filter((signal) => table.signals[signal]?.core)
  const missing = core.filter((signal) => !isPresent(signal, readings))
  return table.oneCoreIsEnough && missing.length < core.length ? [] : missing
}

/**
 * Whether a request has finished since the server's start, by its counter or the histogram of whole requests. Where
 * neither was ever published, anything that was counted will do.
 */
function hasServed({ counters, histograms }: Readings, seen: readonly string[]): boolean {
  const saysWhen = seen.includes('finished') || seen.includes('e2e')
  const known = saysWhen ? [counters.finished] : [...STEADY, 'steps' as const].map((signal) => counters[signal])
  const observed = saysWhen ? [histograms.e2e] : Object.values(histograms)
  return (
    known.some((sets) => Object.values(sets ?? {}).some(({ value }) => value > 0)) ||
    observed.some((sets) => Object.values(sets ?? {}).some(({ counts }) => (counts.at(-1) ?? 0) > 0))
  )
}

/** The signals seen so far on this endpoint. */
export function seenSignals(before: readonly string[], readings: Readings): string[] {
  const present = (Object.keys(SIGNALS) as Signal[]).filter((signal) => isPresent(signal, readings))
  return [...new Set([...before, ...present])].sort()
}

function tableOf(backend: Backend): BackendTable | undefined {
  return TABLES[backend as ScrapedBackend]
}

function signalsOf(table: BackendTable): Signal[] {
  return Object.keys(table.signals) as Signal[]
}

export function isPresent(signal: Signal, readings: Readings): boolean {
  const found = (group: Record<string, unknown>) => group[signal] !== undefined
  if (found(readings.gauges) || found(readings.counters) || found(readings.histograms)) return true
  return Object.values(readings.subjects).some(found)
}
