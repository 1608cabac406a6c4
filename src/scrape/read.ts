import type { Alias, BackendTable, SignalRow } from '../backends/backend.ts'
import {
  type CounterReading,
  type CounterSignal,
  type DataFault,
  type GaugeReading,
  type GaugeSignal,
  type HistogramSignal,
  type LabelSet,
  type Readings,
  SIGNALS,
  type Signal,
} from '../signals/signals.ts'
import { type FaultKind, type Outcome, readHistograms } from './histograms.ts'
import type { Page, Sample } from './page.ts'
import { createSelection, modelsOf, type ReadOptions, type Selection } from './select.ts'
import { readSubjects } from './subjects.ts'
import { createdName, START_TIME } from './wanted.ts'

/**
 * The signals that a page holds, by a backend's table. What is not there, not whole or not believable is absent, never 0;
 * what is not believable is also told as a fault.
 */
export function readPage(page: Page, table: BackendTable, options: ReadOptions): Readings {
  const selection = createSelection(table, options)
  const models = modelsOf(page, table)
  const model = options.model === undefined ? models[0] : models.find((name) => name === options.model)
  const startedAt = page.samples.get(START_TIME)?.at(-1)?.value
  const server = table.recognise.find(({ series }) => page.recognised.has(series) || page.samples.has(series))?.as
  const readings: Readings = {
    gauges: {},
    counters: {},
    histograms: {},
    subjects: {},
    ...(startedAt !== undefined && startedAt > 0 && Number.isFinite(startedAt) && { startedAt }),
    ...(model !== undefined && { model }),
    ...(server !== undefined && { server }),
    settings: settingsOf(page, table),
    sources: {},
    faults: [],
    malformed: page.malformed,
    empty: page.sampleCount === 0,
    modelFound: options.model === undefined || models.length === 0 || model !== undefined,
  }
  for (const [signal, row] of Object.entries(table.signals) as [Signal, SignalRow][])
    if (row.perSubject) readSubjects(signal as GaugeSignal, row, { page, table, selection, readings })
    else readSignal(signal, row, { page, table, selection, readings })
  return readings
}

export interface Reading {
  page: Page
  table: BackendTable
  selection: Selection
  readings: Readings
}

function readSignal(signal: Signal, row: SignalRow, reading: Reading): void {
  for (const alias of row.from) {
    const found = readAlias(signal, row, alias, reading)
    if (found) {
      note(reading.readings, signal, alias.name, found.fault)
      return
    }
  }
}

/** Reads a signal from one alias; `undefined`: it is not on the page. */
function readAlias(signal: Signal, row: SignalRow, alias: Alias, reading: Reading): Outcome<unknown> {
  const { page, selection, readings } = reading
  const { kind } = SIGNALS[signal]
  switch (kind) {
    case 'gauge': {
      const found = readGauge(signal, row, alias, reading)
      if (found?.value) readings.gauges[signal as GaugeSignal] = found.value
      return found
    }
    case 'counter': {
      const found = readCounter(alias, page, selection)
      if (found?.value) readings.counters[signal as CounterSignal] = found.value
      return found
    }
    case 'histogram': {
      const found = readHistograms(page, alias, selection)
      if (found?.value) readings.histograms[signal as HistogramSignal] = found.value
      return found
    }
    default:
      return kind satisfies never
  }
}

/** The first alias that is on the page feeds the signal, also if what it says is not believable. */
export function note(readings: Readings, signal: Signal, series: string, what: FaultKind | undefined): void {
  readings.sources[signal] = series
  const isKnown = (fault: DataFault) => fault.signal === signal && fault.series === series && fault.what === what
  if (what && !readings.faults.some(isKnown)) readings.faults.push({ signal, series, what })
}

/** The series of one name that belong to an alias; `undefined` where there are none. */
function chosen(name: string, alias: Alias, page: Page, selection: Selection): readonly Sample[] | undefined {
  const matching = page.samples.get(name)?.filter(({ labels }) => selection.matches(labels, alias)) ?? []
  return matching.length > 0 ? selection.withoutParts(matching) : undefined
}

function readGauge(signal: Signal, row: SignalRow, alias: Alias, { page, selection }: Reading): Outcome<GaugeReading> {
  const own = chosen(alias.name, alias, page, selection)
  if (!own) return undefined
  const parts = (alias.plus ?? []).flatMap((name) => chosen(name, alias, page, selection) ?? [])
  const bySet = [own, parts].map((samples) => largestBySet(samples, selection))
  const all = bySet.flatMap((sets) => [...sets.values()])
  const fault = page.overfull.has(alias.name) ? 'out-of-range' : gaugeFault(signal, alias, all, selection)
  if (fault || all.some(({ value }) => alias.off?.includes(value))) return fault ? { fault } : {}
  const scaled = all.map(({ value }) => value * (alias.scale ?? 1))
  if (row.combine !== 'max') return { value: { value: scaled.reduce((sum, value) => sum + value, 0) } }
  const value = Math.max(...scaled)
  const at = whereabouts(all, scaled.indexOf(value), selection)
  return { value: { value, ...(at !== undefined && { at }) } }
}

/** What is wrong with a gauge's values; one wrong value makes the whole unknown, since the rest is not the whole. */
function gaugeFault(
  signal: Signal,
  alias: Alias,
  samples: readonly Sample[],
  selection: Selection,
): FaultKind | undefined {
  if (samples.some(({ stamp }) => selection.isStale(stamp))) return 'stale-sample'
  const faults = samples
    .filter(({ value }) => !alias.off?.includes(value))
    .map(({ value }) => faultOf(signal, value * (alias.scale ?? 1)))
  return faults.find((fault) => fault !== undefined)
}

export function faultOf(signal: Signal, value: number): FaultKind | undefined {
  const { min, max } = SIGNALS[signal]
  if (Number.isNaN(value)) return 'not-a-number'
  return value < min || value > max ? 'out-of-range' : undefined
}

/** One sample a label set: ranks and processes that repeat a gauge count once, with the largest. */
function largestBySet(samples: readonly Sample[], selection: Selection): Map<LabelSet, Sample> {
  const largest = new Map<LabelSet, Sample>()
  for (const sample of lastOfEqual(samples, selection)) {
    const set = selection.setOf(sample.labels, 'gauge')
    const before = largest.get(set)
    if (!before || !(sample.value <= before.value)) largest.set(set, sample)
  }
  return largest
}

/** A label set that comes twice, in whatever order of labels, is one series: the last sample holds. */
function lastOfEqual(samples: readonly Sample[], selection: Selection): Iterable<Sample> {
  return new Map(samples.map((sample) => [selection.identityOf(sample.labels), sample])).values()
}

/** Names the engine or rank of one sample by the labels that tell it from the others: `engine 1`. */
function whereabouts(samples: readonly Sample[], index: number, selection: Selection): string | undefined {
  const values = samples[index]?.labels.values
  if (!values || samples.length < 2) return undefined
  const telling = Object.keys(values).filter(
    (name) => selection.tells(name) && samples.some(({ labels }) => labels.values[name] !== values[name]),
  )
  return telling.length > 0 ? telling.map((name) => `${name} ${values[name]}`).join(', ') : undefined
}

function readCounter(alias: Alias, page: Page, selection: Selection): Outcome<Record<LabelSet, CounterReading>> {
  const own = chosen(alias.name, alias, page, selection)
  if (!own) return undefined
  if (page.overfull.has(alias.name)) return { fault: 'out-of-range' }
  const value: Record<LabelSet, CounterReading> = {}
  for (const name of [alias.name, ...(alias.plus ?? [])]) {
    const samples = [...lastOfEqual(chosen(name, alias, page, selection) ?? [], selection)]
    if (samples.some(({ stamp }) => selection.isStale(stamp))) return { fault: 'stale-sample' }
    if (samples.some((sample) => Number.isNaN(sample.value))) return { fault: 'not-a-number' }
    if (samples.some((sample) => sample.value < 0 || sample.value > Number.MAX_SAFE_INTEGER))
      return { fault: 'out-of-range' }
    const created = new Map(
      page.samples.get(createdName(name, 'counter'))?.map((one) => [selection.setOf(one.labels, 'total'), one.value]),
    )
    addCounters(value, name === alias.name ? '' : name, samples, created, selection)
  }
  return { value }
}

/** Parts have a label set of their own, so that a restart of one is not taken for a fall of another. */
function addCounters(
  counters: Record<LabelSet, CounterReading>,
  part: string,
  samples: readonly Sample[],
  created: ReadonlyMap<LabelSet, number>,
  selection: Selection,
): void {
  const largest = new Map<LabelSet, number>()
  for (const { labels, value } of samples) {
    const set = selection.setOf(labels, 'total')
    largest.set(set, Math.max(largest.get(set) ?? 0, value))
  }
  for (const [set, value] of largest) {
    const since = created.get(set)
    const key = part === '' ? set : [`__name__="${part}"`, ...(set === '' ? [] : [set])].join(',')
    counters[key] = { value, ...(since !== undefined && since > 0 && { created: since }) }
  }
}

function settingsOf(page: Page, { settings = [] }: BackendTable): Record<string, string> {
  for (const name of settings) {
    const series = page.samples.get(name)?.[0]
    if (series) return { ...series.labels.values }
  }
  return {}
}
