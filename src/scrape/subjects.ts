import type { Alias, BackendTable, SignalRow } from '../backends/backend.ts'
import type { GaugeSignal } from '../signals/signals.ts'
import type { FaultKind } from './histograms.ts'
import type { Labels, Page } from './page.ts'
import { faultOf, note, type Reading } from './read.ts'

/**
 * Reads a gauge for each subject (GPU, MIG instance, upstream). Which alias feeds it is settled for each subject by
 * itself: a split GPU has other series than a whole one. A subject that is named at all is in the readings, since the
 * one that is gone is told by its absence.
 */
export function readSubjects(signal: GaugeSignal, row: SignalRow, { page, table, selection, readings }: Reading): void {
  const settled = new Set<string>()
  for (const alias of row.from) {
    const rests = alias.rest === undefined ? undefined : valuesOf(alias.rest, alias, page, table)
    for (const [subject, { value, isStale }] of valuesOf(alias.name, alias, page, table)) {
      readings.subjects[subject] ??= {}
      const gauges = readings.subjects[subject]
      const rest = rests?.get(subject)
      if (settled.has(subject) || (rests && !rest)) continue
      settled.add(subject)
      const [number, fault] =
        isStale || rest?.isStale ? [Number.NaN, 'stale-sample' as const] : [share(value, rest, alias), undefined]
      const wrong: FaultKind | undefined = fault ?? faultOf(signal, number)
      if (wrong === undefined) gauges[signal] = number
      note(readings, signal, alias.name, wrong)
    }
  }
  function valuesOf(name: string, alias: Alias, from: Page, by: BackendTable): Map<string, Valued> {
    const values = new Map<string, Valued>()
    for (const { labels, value, stamp } of from.samples.get(name) ?? []) {
      const subject = subjectOf(labels, by)
      if (subject === undefined || !selection.matches(labels, alias)) continue
      const before = values.get(subject)
      // A GPU that several pods share is repeated for each of them.
      if (!before || !(value <= before.value)) values.set(subject, { value, isStale: selection.isStale(stamp) })
      const name = nameOf(labels, by)
      if (name !== undefined) readings.subjectNames = { [subject]: name, ...readings.subjectNames }
    }
    return values
  }
}

interface Valued {
  value: number
  isStale: boolean
}

/** The published value in the signal's unit, or its share of itself and the rest. */
function share(value: number, rest: Valued | undefined, { scale = 1 }: Alias): number {
  if (!rest) return value * scale
  const isBelievable = (n: number) => n >= 0 && n < Number.MAX_SAFE_INTEGER // 2^63 is "not supported"
  return isBelievable(value) && isBelievable(rest.value) ? value / (value + rest.value) : Number.NaN
}

/** `GPU-…`, `GPU-…/mig 3`, or the upstream's name; `undefined` where the labels name none. */
function subjectOf({ values }: Labels, { subject }: BackendTable): string | undefined {
  if (!subject || !values[subject.id]) return undefined
  const instance = subject.kind === 'gpu' ? values[subject.instance] : undefined
  return instance ? `${values[subject.id]}/mig ${instance}` : values[subject.id]
}

/** For people: `Tesla T4 0`. */
function nameOf({ values }: Labels, { subject }: BackendTable): string | undefined {
  if (subject?.kind !== 'gpu') return undefined
  const parts = subject.name.flatMap((name) => values[name] || [])
  return parts.length > 0 ? parts.join(' ') : undefined
}
