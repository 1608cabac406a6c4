import { lifeOf } from '../backends/lives.ts'
import { type Alias, type Backend, type BackendTable, prefixOf, type SignalRow } from '../model/backend.ts'
import type { Endpoint } from '../model/config.ts'
import type { Rule } from '../model/rule.ts'
import type { Readings, Signal } from '../model/signals.ts'
import { SIGNALS } from '../model/signals.ts'
import { isPresent } from './missing.ts'
import { specOf } from './rules.ts'

/** Whether a rule of an endpoint can see what it needs. */
export interface Finding {
  rule: Rule
  /**
   * `sees`: everything it needs is there. `waits`: some of it appears with the first request or event. `absent`: this
   * version or set-up does not have it, which is no fault. `blind`: something is missing or not believable. `undecidable`: the server's buckets cannot tell whether the limit is exceeded.
   */
  state: 'sees' | 'waits' | 'absent' | 'blind' | 'undecidable'
  /** One line a signal: where it comes from, or what is wrong and what to do. */
  notes: string[]
}

/** Looks in one good answer for everything that the endpoint's rules need. */
export function diagnose(readings: Readings, table: BackendTable, endpoint: Endpoint, backend: Backend): Finding[] {
  const prefix = prefixOn(readings, table)
  return endpoint.rules.flatMap((rule): Finding[] => {
    const signals = neededBy(rule, table)
    if (signals.length === 0) return []
    const looks = withStandIn(rule, signals, readings).map((signal) => look(signal, readings, table, prefix))
    const notes = [...looks.map((l) => l.note), ...alsoRead(rule, readings, table, prefix)]
    const limit = undecidable(rule, readings)
    if (limit) return [{ rule, state: 'undecidable', notes: [...notes, limit] }]
    const state = worst(
      looks.map((l) => l.state),
      isOneEnough(rule, table),
    )
    const off = `if this server cannot have it: ${prefixOf(backend)}_${rule.id.toUpperCase()}_LIMIT=off`
    return [{ rule, state, notes: state === 'blind' ? [...notes, off] : notes }]
  })
}

/** What a rule reads on this server; `blind` needs the core series, even those that no other rule needs. */
function neededBy({ needs }: Rule, table: BackendTable): Signal[] {
  if (!needs.core) return needs.signals.filter((signal) => table.signals[signal])
  return (Object.keys(table.signals) as Signal[]).filter((signal) => table.signals[signal]?.core)
}

/** What makes a rule better where it is there; a version that lacks it is no fault. */
function alsoRead({ needs }: Rule, readings: Readings, table: BackendTable, prefix: string): string[] {
  return (needs.also ?? []).flatMap((signal) => {
    const row = table.signals[signal]
    if (!row) return []
    const [newest] = namesUnder(prefix, row.from)
    if (isPresent(signal, readings)) return [`${signal}: ${readings.sources[signal] ?? ''}`]
    return [`${signal}: not on this version or not switched on (${withLife(newest, table)})`]
  })
}

interface Look {
  state: 'sees' | 'waits' | 'absent' | 'blind'
  note: string
}

/** A server that publishes its own hit share instead of token counters is judged by that share. */
function withStandIn({ needs: { standIn } }: Rule, signals: Signal[], readings: Readings): Signal[] {
  if (!standIn) return signals
  return isPresent(standIn.by, readings) && !isPresent(standIn.of, readings) ? [standIn.by] : signals
}

function look(signal: Signal, readings: Readings, table: BackendTable, prefix: string): Look {
  const row = table.signals[signal]
  const names = namesUnder(prefix, row?.from ?? [])
  const fault = readings.faults.find((f) => f.signal === signal)
  if (isPresent(signal, readings)) {
    const source = readings.sources[signal] ?? ''
    const older = row?.from.every((alias) => !alias.labels) && names.length > 0 && source !== names[0]
    const renamed = older && source !== '' ? `, the older name of ${names[0]}` : ''
    return { state: 'sees', note: `${signal}: ${source}${renamed}${fault ? ` (${fault.what})` : ''}` }
  }
  if (fault) {
    const hint = fault.what === 'not-seconds' ? ': are they milliseconds?' : ''
    return { state: 'blind', note: `${signal}: ${fault.series} is not believable (${fault.what}${hint})` }
  }
  const expected = names
    .slice(0, 2)
    .map((name) => withLife(name, table))
    .join(' or ')
  if (row?.zeroBeside && isPresent(row.zeroBeside, readings))
    return { state: 'sees', note: `${signal}: none so far (${expected})` }
  const { kind } = SIGNALS[signal]
  if ((kind !== 'gauge' || table.emptyIsHealthy) && !hadTraffic(readings)) {
    return { state: 'waits', note: `${signal}: not there yet, ${expected} appears with the first request` }
  }
  if (EVENTS.includes(signal))
    return { state: 'waits', note: `${signal}: none so far, ${expected} appears with the first one` }
  if (row?.optional) return { state: 'absent', note: `${signal}: not on this version or set-up (${expected})` }
  return { state: 'blind', note: `${signal}: missing, expected ${expected}` }
}

/** With the version from which, or up to which, the server has it. */
function withLife(name: string | undefined, table: BackendTable): string {
  const { since, until } = lifeOf(name ?? '', table) ?? {}
  const span = [since && `from ${since}`, until && `before ${until}`].filter(Boolean).join(', ')
  return span === '' ? (name ?? '') : `${name}, ${span}`
}

/** Counters that some servers publish only once it has happened. */
const EVENTS: readonly Signal[] = [
  'preemptions',
  'failed',
  'admission_rejected',
  'admission_parked',
  'engine_state_stale',
  'queue_full',
]

/** Steps of the engine count too: a server that has computed batches publishes everything that appears with a first request. */
function hadTraffic(readings: Readings): boolean {
  const { finished, generation_tokens, steps } = readings.counters
  const counters = [finished, generation_tokens, steps]
  return counters.some((counter) => Object.values(counter ?? {}).some(({ value }) => value > 0))
}

/** The prefix of this page's names, taken from the first known one; without any, the prefix of the newest server. */
function prefixOn(readings: Readings, table: BackendTable): string {
  const rows = Object.entries(table.signals) as [Signal, SignalRow][]
  for (const [signal, { from }] of rows) {
    const source = readings.sources[signal]
    if (source !== undefined) return prefixIn(source, from)
  }
  const newest = rows[0]?.[1].from
  return newest?.[0] ? prefixIn(newest[0].name, newest) : ''
}

/** What precedes the shortest alias that the name ends in. */
function prefixIn(name: string, aliases: readonly Alias[]): string {
  const bare = aliases.reduce(
    (least, alias) => Math.min(least, name.endsWith(alias.name) ? alias.name.length : least),
    name.length,
  )
  return name.slice(0, name.length - bare)
}

/** A signal's names with this page's prefix, newest first. */
function namesUnder(prefix: string, aliases: readonly Alias[]): string[] {
  const names = aliases.map((alias) => alias.name)
  const spelt = names.filter(
    (name) =>
      name.startsWith(prefix) && (prefix !== '' || !names.some((other) => other !== name && name.endsWith(other))),
  )
  return spelt.length > 0 ? spelt : names
}

/** Most rules need all of their signals, some only one of several. */
function isOneEnough({ needs }: Rule, table: BackendTable): boolean {
  return (needs.core ? table.oneCoreIsEnough : needs.oneIsEnough) === true
}

function worst(states: readonly Look['state'][], oneIsEnough: boolean): Look['state'] {
  if (oneIsEnough && states.includes('sees')) return 'sees'
  if (states.includes('blind')) return 'blind'
  if (states.includes('waits')) return 'waits'
  return states.includes('absent') ? 'absent' : 'sees'
}

/** Seconds. No server's first bucket for queue, first-token or per-token times is this wide. */
const COARSE = 1

/**
 * Why the limit can never be decided. A quantile beyond the last finite bound is only known to be at least that bound, so
 * a limit above it stays open. Times whose smallest bucket ends above the limit are probably not in seconds.
 */
function undecidable(rule: Rule, readings: Readings): string | undefined {
  const { decidedBy } = specOf(rule.id)
  if (!decidedBy) return undefined
  const { limit } = rule
  const sets = Object.values(readings.histograms[decidedBy.histogram] ?? {})
  const bounds = sets.flatMap((h) => h.bounds)
  if (bounds.length === 0)
    return sets.length > 0 && decidedBy.as !== 'mean' ? summaryOnly(rule, decidedBy.as) : undefined
  const [first, last] = [Math.min(...bounds), Math.max(...bounds)]
  if (first > COARSE && first > limit) {
    return `not believable as seconds: the smallest bucket ends at ${first}, above the limit of ${limit} s; are they milliseconds?`
  }
  if (decidedBy.as === 'mean') return sets.some(({ sum }) => sum !== undefined) ? undefined : sumless(rule)
  if (limit <= last) return undefined
  return `the limit ${limit} s is above the server's largest bucket (${last} s), so it can never be decided: set ${rule.id.toUpperCase()}_LIMIT to ${last}s or less`
}

function sumless({ id }: Rule): string {
  return `no sum is published that could be believed, so the mean can never be decided: set ${id.toUpperCase()}_LIMIT=off`
}

/** A summary's quantiles cover the server's own window, not ours, and cannot be added up. */
function summaryOnly({ id }: Rule, quantile: string): string {
  return `a summary has no buckets, so its ${quantile} can never be decided: set ${id.toUpperCase()}_LIMIT=off`
}
