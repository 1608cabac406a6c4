import { mask } from '../log.ts'
import type { BackendTable } from '../model/backend.ts'
import type { GaugeSignal, Readings, Signal } from '../model/signals.ts'
import { type FaultKind, faultOf, note, type Reading } from './alias-reading.ts'
import type { Labels } from './page.ts'
import type { NamedAlias, WantedSignal } from './wanted.ts'

/**
 * Reads a gauge for each subject (GPU, MIG instance, upstream). Which alias feeds it is settled for each subject by
 * itself: a split GPU has other series than a whole one. A subject that is named at all is in the readings, since the
 * one that is gone is told by its absence.
 */
export function readSubjects({ signal, aliases }: WantedSignal, reading: Reading): void {
  const { readings } = reading
  const settled = new Set<string>()
  for (const alias of aliases) {
    const rests = alias.rest === undefined ? undefined : publishedOf(alias.rest, alias, signal, reading)
    for (const [subject, published] of publishedOf(alias.name, alias, signal, reading)) {
      const rest = rests?.get(subject)
      if (settled.has(subject) || (rests && !rest)) continue
      settled.add(subject)
      const { value, fault } = judge(signal, alias, published, rest)
      if (fault === undefined) keep(readings, subject, signal as GaugeSignal, value)
      note(readings, signal, alias.name, fault)
    }
  }
}

/** An upstream without any label: the gateway has only one, so what is said of it is said of the endpoint. */
const NAMELESS = ''

function keep({ gauges, subjects }: Readings, subject: string, signal: GaugeSignal, value: number): void {
  if (subject === NAMELESS) gauges[signal] = { value }
  else subjects[subject] = { ...subjects[subject], [signal]: value }
}

interface Published {
  value: number
  isStale: boolean
}

/**
 * What a name says of each subject. A GPU that several pods share is repeated for each of them and counts once; an
 * upstream that one of several series calls unhealthy is, unless the best of them counts.
 */
function publishedOf(name: string, alias: NamedAlias, signal: Signal, { page, table, selection, readings }: Reading) {
  const published = new Map<string, Published>()
  const samples = selection.choose(page.samples.get(name), alias)
  const worstCounts = table.subject?.kind === 'upstream' && table.signals[signal]?.combine !== 'max'
  const isOnly = samples.length === 1 && Object.keys(readings.subjects).every((known) => known === ONLY_GPU)
  for (const { labels, value, stamp } of samples) {
    const subject = subjectOf(labels, table, isOnly)
    if (subject === undefined) continue
    const before = published.get(subject)?.value ?? Number.NaN
    const state = alias.states ? stateOf(value, alias.states) : value
    const holds = worstCounts ? before <= state : before >= state
    if (!holds) published.set(subject, { value: state, isStale: selection.isStale(stamp) })
    if (subject !== NAMELESS) readings.subjects[subject] ??= {}
    const display = nameOf(labels, table)
    if (display !== undefined) readings.subjectNames = { ...readings.subjectNames, [subject]: display }
  }
  return published
}

/** Below every unit's least where the server has no such state. */
function stateOf(value: number, states: NonNullable<NamedAlias['states']>): number {
  return Number.isNaN(value) ? value : (states[String(value)] ?? states['*'] ?? -1)
}

/** 16 TiB: no GPU has so much, and all of DCGM's numbers for "not supported" are larger, whole or floating, 32 bits or 64. */
const LARGEST_MIB = 2 ** 24

/** The published value in the signal's unit, or its share of itself and the rest. */
function judge(
  signal: Signal,
  { per = 1 }: NamedAlias,
  published: Published,
  rest: Published | undefined,
): { value: number; fault: FaultKind | undefined } {
  if (published.isStale || rest?.isStale) return { value: Number.NaN, fault: 'stale-sample' }
  if (!rest) return { value: published.value / per, fault: faultOf(signal, published.value / per) }
  const value = published.value / (published.value + rest.value)
  const areBelievable = [published, rest].every((part) => part.value >= 0 && part.value < LARGEST_MIB)
  return { value, fault: areBelievable ? faultOf(signal, value) : 'out-of-range' }
}

/** `user:password@` and `?api-key=…` of the address of an upstream. */
const NO_OTHER_SECRETS: readonly string[] = []

/**
 * `GPU-…`, `GPU-…/mig 3`, or the upstream's name; `undefined` where the labels name no GPU. Where the name itself is
 * missing (labels are rewritten on the way), a GPU is its number, or the only one, and an upstream whatever its labels
 * say: one that is passed over would be unhealthy without a word.
 */
function subjectOf({ values }: Labels, { subject }: BackendTable, isOnly: boolean): string | undefined {
  if (!subject) return undefined
  const unnamed = () =>
    subject.kind === 'gpu' ? (numbered(values[subject.number]) ?? (isOnly ? ONLY_GPU : undefined)) : allOf(values)
  const named = idOf(values, subject.id) ?? unnamed()
  const id = subject.kind === 'upstream' && named !== undefined ? mask(named, NO_OTHER_SECRETS) : named
  if (id === undefined || id === '__proto__') return undefined // foreign text becomes a key
  const instance = subject.kind === 'gpu' ? values[subject.instance] : undefined
  return instance === undefined ? id : `${id}/mig ${instance}`
}

function idOf(values: Labels['values'], id: string | readonly string[]): string | undefined {
  if (typeof id === 'string') return values[id]
  const parts = id.flatMap((name) => (values[name] === 'None' ? [] : (values[name] ?? [])))
  return parts.length === 0 ? undefined : parts.join(' at ')
}

/** A GPU that has neither a UUID nor a number, on a page that has one alone. */
const ONLY_GPU = 'gpu'

function numbered(number: string | undefined): string | undefined {
  return number === undefined ? undefined : `gpu ${number}`
}

/** `backend a, zone b`. */
function allOf(values: Labels['values']): string {
  return Object.entries(values)
    .map((pair) => pair.join(' '))
    .join(', ')
}

/** For people, beside the subject: `gpu 0, Tesla T4`. */
function nameOf({ values }: Labels, { subject }: BackendTable): string | undefined {
  if (subject?.kind !== 'gpu') return undefined
  const number = values[subject.id] === undefined ? undefined : numbered(values[subject.number])
  const parts = [number, ...subject.name.map((label) => values[label])].filter((part) => part !== undefined)
  return parts.length > 0 ? parts.join(', ') : undefined
}
