import type { BackendTable } from '../backends/backend.ts'
import type { Endpoint } from '../config/config.ts'
import type { HistogramSignal, Readings, Signal } from '../signals/signals.ts'
import { SIGNALS } from '../signals/signals.ts'
import type { Rule } from './catalogue.ts'
import { isPresent, signalsFor } from './missing.ts'

/** What an active rule of an endpoint has to judge by. */
export interface Finding {
  rule: Rule
  /**
   * `sees`: all that it needs is there. `waits`: some of it appears with the first request or event. `blind`: something
   * is missing or not believable. `undecidable`: the limit lies beyond what the server's buckets can tell.
   */
  state: 'sees' | 'waits' | 'blind' | 'undecidable'
  /** One line a signal: where it comes from, or what is wrong and what to do. */
  notes: string[]
}

/** Looks for everything that the active rules of an endpoint need in one good answer. */
export function examine(readings: Readings, table: BackendTable, endpoint: Endpoint): Finding[] {
  const fresh = !Object.values(readings.counters.finished ?? {}).some((counter) => counter.value > 0)
  return endpoint.rules.flatMap((rule): Finding[] => {
    const signals = signalsFor(rule.measure).filter((signal) => table.signals[signal])
    if (signals.length === 0) return []
    const looks = signals.map((signal) => look(signal, readings, table, fresh))
    const states = looks.map((l) => l.state)
    const notes = looks.map((l) => l.note)
    const limit = undecidable(rule, readings)
    if (limit) return [{ rule, state: 'undecidable', notes: [...notes, limit] }]
    return [{ rule, state: worst(rule, states), notes }]
  })
}

interface Look {
  state: 'sees' | 'waits' | 'blind'
  note: string
}

function look(signal: Signal, readings: Readings, table: BackendTable, fresh: boolean): Look {
  const row = table.signals[signal]
  const fault = readings.faults.find((f) => f.signal === signal && f.what !== 'restarted')
  if (isPresent(signal, readings)) {
    const source = readings.sources[signal] ?? ''
    const newest = row?.from.find((alias) => alias.name.replace(/^.*[:_]/, '') === source.replace(/^.*[:_]/, ''))
    const renamed = newest === undefined && source !== '' ? ', an older name' : ''
    return { state: 'sees', note: `${signal}: ${source}${renamed}${fault ? ` (${fault.what})` : ''}` }
  }
  if (fault) return { state: 'blind', note: `${signal}: ${fault.series} is not believable (${fault.what})` }
  const names = (row?.from ?? [])
    .slice(0, 2)
    .map((alias) => alias.name)
    .join(' or ')
  const lazy = SIGNALS[signal].kind !== 'gauge' || table.emptyIsHealthy === true
  if (lazy && fresh)
    return { state: 'waits', note: `${signal}: not there yet; ${names} appears with the first request` }
  if (row?.zeroBeside || !row?.core) {
    const eventful = SIGNALS[signal].kind === 'counter'
    if (eventful) return { state: 'waits', note: `${signal}: not there yet; ${names} appears with its first event` }
  }
  return { state: 'blind', note: `${signal}: missing; expected ${names}` }
}

/** A rule that needs one of several signals sees with one; all others need all. */
function worst(rule: Rule, states: readonly Look['state'][]): Look['state'] {
  const either = rule.measure.kind === 'sibling' || rule.measure.kind === 'stalled' || rule.measure.kind === 'inflight'
  if (either && states.includes('sees')) return 'sees'
  if (states.includes('blind')) return 'blind'
  return states.includes('waits') ? 'waits' : 'sees'
}

/** A quantile beyond the last finite bound is only known to be at least that bound: a limit above it is never decided. */
function undecidable(rule: Rule, readings: Readings): string | undefined {
  if (rule.measure.kind !== 'quantile') return undefined
  const bounds = Object.values(readings.histograms[rule.measure.signal as HistogramSignal] ?? {}).flatMap(
    (h) => h.bounds,
  )
  if (bounds.length === 0) return undefined
  const last = Math.max(...bounds)
  if (rule.limit <= last) return undefined
  return `the limit ${rule.limit} s is above the server's largest bucket (${last} s), so it can never be decided: set ${rule.id.toUpperCase()}_LIMIT to ${last}s or less`
}
