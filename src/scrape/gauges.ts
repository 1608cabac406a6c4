import type { SignalRow } from '../model/backend.ts'
import type { GaugeReading, LabelSet, Part, Signal } from '../model/signals.ts'
import { KINDS, kindOf, type PartKind } from '../signals/parts.ts'
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
  const whole = alias.whole.flatMap(({ name }) =>
    largestBySet(name === alias.name ? own : selection.choose(page.samples.get(name), alias), selection),
  )
  const samples = besideOthers(whole, alias, page, selection)
  if (samples.length === 0) return undefined
  const fault = page.incomplete.has(alias.name) ? 'out-of-range' : faultIn(samples, signal, alias, selection)
  if (fault) return { fault }
  if (samples.some(({ value }) => alias.off?.includes(value))) return {}
  const per = alias.per ?? 1
  const together = combined(combine)
  const value = samples.reduce((all: number | undefined, one) => together(all, one.value / per), undefined) ?? 0
  const fullest = combine === 'max' ? samples.find((one) => one.value / per === value) : undefined
  const at = fullest && whereabouts(fullest, samples, selection)
  const engines = samples.length > 1 ? byEngine(samples, per, together, selection) : undefined
  const isDemand = signal === 'waiting' || signal === 'running'
  const all = page.samples.get(alias.name) ?? []
  const split = isDemand && all.length > 1 ? byPart(samples, all, per, selection) : undefined
  return {
    value: {
      value,
      ...(at !== undefined && { at }),
      ...(engines && { byEngine: engines }),
      ...(split && { byPart: split }),
    },
  }
}

/** Models as they make the value; priority classes also where they are the parts of a total that was taken. */
function byPart(
  chosen: readonly Sample[],
  all: readonly Sample[],
  per: number,
  selection: Selection,
): Record<Part, number> | undefined {
  const sums: Record<Part, number> = {}
  const add = (samples: readonly Sample[], kind: PartKind) => {
    for (const { labels, value } of samples)
      for (const part of selection.partsOf(labels))
        if (kindOf(part) === kind) sums[part] = (sums[part] ?? 0) + value / per
  }
  add(chosen, 'model')
  add(largestBySet(all, selection), 'priority')
  const isSplit = KINDS.some((kind) => Object.keys(sums).filter((part) => kindOf(part) === kind).length > 1)
  return isSplit ? sums : undefined
}

function combined(how: SignalRow['combine']): (all: number | undefined, one: number) => number {
  if (how === 'max') return (all, one) => Math.max(all ?? one, one)
  if (how === 'min') return (all, one) => Math.min(all ?? one, one)
  return (all, one) => (all ?? 0) + one
}

/** @returns `undefined` where the labels do not tell two engines apart. */
function byEngine(
  samples: readonly Sample[],
  per: number,
  together: (all: number | undefined, one: number) => number,
  selection: Selection,
): Record<string, number> | undefined {
  const values: Record<string, number> = {}
  for (const { labels, value } of samples) {
    const engine = selection.engineOf(labels)
    if (engine !== undefined) values[engine] = together(values[engine], value / per)
  }
  return Object.keys(values).length > 1 ? values : undefined
}

/** This - that, or this / that, of each label set; both are published apart, so that a difference may dip below 0. */
function besideOthers(
  samples: readonly Sample[],
  { less, of }: NamedAlias,
  page: Page,
  selection: Selection,
): readonly Sample[] {
  const other = less ?? of
  if (other === undefined) return samples
  const others = largestBySet(page.samples.get(other) ?? [], selection)
  return samples.flatMap((sample) => {
    const beside = partnerOf(sample, others, selection)
    if (less !== undefined) return { ...sample, value: Math.max(0, sample.value - (beside ?? 0)) }
    return !beside ? [] : { ...sample, value: sample.value / beside }
  })
}

/** The value of the same label set; where sets differ, of the only sample whose labels do not contradict. */
function partnerOf(sample: Sample, others: readonly Sample[], selection: Selection): number | undefined {
  const set = selection.setOf(sample.labels)
  const same = others.find(({ labels }) => selection.setOf(labels) === set)
  if (same) return same.value
  const [fits, another] = others.filter(({ labels }) =>
    Object.entries(labels.values).every(([name, value]) => (sample.labels.values[name] ?? value) === value),
  )
  return another === undefined ? fits?.value : undefined
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
