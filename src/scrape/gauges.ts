import type { SignalRow } from '../model/backend.ts'
import type { GaugeReading, LabelSet, Signal } from '../model/signals.ts'
import { type AliasReading, type FaultKind, faultOf } from './alias-reading.ts'
import type { Page, Sample } from './page.ts'
import type { Selection } from './select.ts'
import type { NamedAlias } from './wanted.ts'

/** Combines the series of a gauge over engines and models; one wrong value makes the whole unknown, the rest is not it. */
export function readGauge(
  signal: Signal,
  { combine }: SignalRow,
  alias: NamedAlias,
  page: Page,
  selection: Selection,
): AliasReading<GaugeReading> {
  const own = selection.choose(page.samples.get(alias.name), alias)
  if (own.length === 0) return undefined
  const parts = alias.parts.map(({ name }) => selection.choose(page.samples.get(name), alias))
  const samples = [own, ...parts].flatMap((series) => largestBySet(series, selection))
  const fault = page.incomplete.has(alias.name) ? 'out-of-range' : faultIn(samples, signal, alias, selection)
  if (fault) return { fault }
  if (samples.some(({ value }) => alias.off?.includes(value))) return {}
  const per = alias.per ?? 1
  if (combine !== 'max') return { value: { value: samples.reduce((sum, { value }) => sum + value / per, 0) } }
  const fullest = samples.reduce((a, b) => (b.value > a.value ? b : a))
  const at = whereabouts(fullest, samples, selection)
  return { value: { value: fullest.value / per, ...(at !== undefined && { at }) } }
}

function faultIn(
  samples: readonly Sample[],
  signal: Signal,
  { off, per = 1 }: NamedAlias,
  selection: Selection,
): FaultKind | undefined {
  for (const { value, stamp } of samples) {
    const fault = off?.includes(value) ? undefined : faultOf(signal, value / per)
    if (fault || selection.isStale(stamp)) return fault ?? 'stale-sample'
  }
  return undefined
}

/** One sample a label set: ranks and processes that repeat a gauge count once, with the largest. */
function largestBySet(samples: readonly Sample[], selection: Selection): readonly Sample[] {
  if (samples.length < 2) return samples
  const largest = new Map<LabelSet, Sample>()
  for (const sample of samples) {
    const set = selection.setOf(sample.labels)
    const before = largest.get(set)
    if (!before || !(sample.value <= before.value)) largest.set(set, sample)
  }
  return [...largest.values()]
}

/** Names the engine or rank of one sample by the labels that tell it from the others: `engine 1`. */
function whereabouts({ labels }: Sample, all: readonly Sample[], selection: Selection): string | undefined {
  if (all.length < 2) return undefined
  const telling = Object.entries(labels.values).filter(
    ([name, value]) => selection.tells(name) && all.some((other) => other.labels.values[name] !== value),
  )
  return telling.length === 0 ? undefined : telling.map(([name, value]) => `${name} ${value}`).join(', ')
}
