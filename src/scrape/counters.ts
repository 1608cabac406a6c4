import type { CounterReading, LabelSet } from '../signals/signals.ts'
import type { FaultKind, Outcome } from './outcome.ts'
import type { Page, Sample } from './page.ts'
import type { Selection } from './select.ts'
import type { NamedAlias } from './wanted.ts'

type Counters = Record<LabelSet, CounterReading>

/** A counter by label set. One wrong value makes it unknown: left out alone, its whole past would look new when it is back. */
export function readCounters(page: Page, alias: NamedAlias, selection: Selection): Outcome<Counters> {
  const own = selection.choose(page.samples.get(alias.name), alias)
  if (own.length === 0) return undefined
  if (page.overfull.has(alias.name)) return { fault: 'out-of-range' }
  const value: Counters = {}
  const created = (name: string) => selection.choose(page.samples.get(name), alias)
  const fault = add(value, '', own, created(alias.created), selection)
  if (fault) return { fault }
  for (const part of alias.parts) {
    const samples = selection.choose(page.samples.get(part.name), alias)
    // A part has label sets of its own, so that it is never taken for the main series.
    const partFault = add(value, `__name__="${part.name}"`, samples, created(part.created), selection)
    if (partFault) return { fault: partFault }
  }
  return { value }
}

function add(
  counters: Counters,
  part: string,
  samples: readonly Sample[],
  created: readonly Sample[],
  selection: Selection,
): FaultKind | undefined {
  for (const { labels, value, stamp } of samples) {
    if (Number.isNaN(value)) return 'not-a-number'
    if (value < 0 || value > Number.MAX_SAFE_INTEGER) return 'out-of-range'
    if (selection.isStale(stamp)) return 'stale-sample'
    const set = setOf(labels, part, selection)
    const before = counters[set]
    counters[set] = { value: before === undefined ? value : Math.max(before.value, value) }
  }
  for (const { labels, value } of created) {
    const counter = counters[setOf(labels, part, selection)]
    if (counter && value > 0) counter.created = value
  }
  return undefined
}

function setOf(labels: Sample['labels'], part: string, selection: Selection): LabelSet {
  const set = selection.setOf(labels)
  return part === '' || set === '' ? part + set : `${part},${set}`
}
