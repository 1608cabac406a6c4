import type { SignalRow } from '../model/backend.ts'
import type { CounterReading, LabelSet } from '../model/signals.ts'
import type { AliasReading, FaultKind } from './alias-reading.ts'
import type { Page, Sample } from './page.ts'
import type { Selection } from './select.ts'
import type { NamedAlias } from './wanted.ts'

type Counters = Record<LabelSet, CounterReading>

/**
 * A counter by label set. One wrong value makes it unknown: left out alone, its whole past would look new when it is back.
 * It is not there without its main series, except where main series and parts appear each with its own first event.
 */
export function readCounters(
  { zeroBeside }: SignalRow,
  alias: NamedAlias,
  page: Page,
  selection: Selection,
): AliasReading<Counters> {
  const samplesOf = (name: string) => selection.choose(page.samples.get(name), alias)
  const isMissing = ({ name }: { name: string }) => samplesOf(name).length === 0
  if (isMissing(alias) && (zeroBeside === undefined || alias.parts.every(isMissing))) return undefined
  const value: Counters = {}
  for (const { name, created, mark } of alias.whole) {
    const samples = samplesOf(name)
    if (samples.length > 0 && page.incomplete.has(name)) return { fault: 'out-of-range' }
    const fault = add(value, { mark, per: alias.per ?? 1 }, samples, samplesOf(created), selection)
    if (fault) return { fault }
  }
  return { value }
}

function add(
  counters: Counters,
  { mark, per }: { mark: string; per: number },
  samples: readonly Sample[],
  created: readonly Sample[],
  selection: Selection,
): FaultKind | undefined {
  for (const { labels, value, stamp } of samples) {
    if (Number.isNaN(value)) return 'not-a-number'
    if (value < 0 || value > Number.MAX_SAFE_INTEGER) return 'out-of-range'
    if (selection.isStale(stamp)) return 'stale-sample'
    const set = setOf(labels, mark, selection)
    const before = counters[set]
    counters[set] = { value: before === undefined ? value / per : Math.max(before.value, value / per) }
  }
  for (const { labels, value } of created) {
    const counter = counters[setOf(labels, mark, selection)]
    if (counter && value > 0) counter.created = value
  }
  return undefined
}

function setOf(labels: Sample['labels'], mark: string, selection: Selection): LabelSet {
  const set = selection.setOf(labels)
  return mark === '' || set === '' ? mark + set : `${mark},${set}`
}
