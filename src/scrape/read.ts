import type { BackendTable } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { CounterSignal, GaugeSignal, HistogramSignal, Readings } from '../model/signals.ts'
import { type AliasReading, note, type Reading } from './alias-reading.ts'
import { readCounters } from './counters.ts'
import { readGauge } from './gauges.ts'
import { readHistograms } from './histograms.ts'
import { settingsOf } from './label-values.ts'
import type { Page } from './page.ts'
import { createSelection, modelsOf, type ReadOptions } from './select.ts'
import { readSubjects } from './subjects.ts'
import { type NamedAlias, planOf, START_TIME, type WantedSignal } from './wanted.ts'

/**
 * The signals that a page holds, by a backend's table. What is not there, not whole or not believable is absent, never 0;
 * what is not believable is also told as a fault.
 */
export function readPage(page: Page, table: BackendTable, options: ReadOptions): Readings {
  const models = modelsOf(page, table)
  let settings: Record<string, string> | undefined
  const readings: Readings = {
    gauges: {},
    counters: {},
    histograms: {},
    subjects: {},
    ...aboutServer(page, table),
    // A kilobyte of labels that few messages want: read when asked for.
    get settings() {
      settings ??= page.settings === undefined ? {} : settingsOf(page.settings)
      return settings
    },
    sources: {},
    faults: [],
    malformed: page.malformed,
    empty: page.sampleCount === 0,
    foreign: page.isForeign,
    modelFound: options.model === undefined || models.length === 0 || models.includes(options.model),
  }
  const model = readings.modelFound ? (options.model ?? models[0]) : undefined
  if (model !== undefined && models.length > 0) readings.model = model
  if (options.model === undefined && models.length > 1) readings.models = models
  if (table.digits !== undefined) readings.digits = table.digits
  const reading = { page, table, selection: createSelection(table, options), readings }
  for (const wanted of planOf(table).signals)
    if (wanted.row.perSubject) readSubjects(wanted, reading)
    else readSignal(wanted, reading)
  return readings
}

/** The first alias that is on the page feeds the signal, also if it is not believable; they are never added together. */
function readSignal(wanted: WantedSignal, reading: Reading): void {
  for (const alias of wanted.aliases) {
    const found = readAlias(wanted, alias, reading)
    if (!found) continue
    note(reading.readings, wanted.signal, alias.name, found.fault)
    if (alias.among) reading.readings.failedAmong = true
    return
  }
}

function readAlias({ signal, kind, row }: WantedSignal, alias: NamedAlias, reading: Reading): AliasReading<unknown> {
  const { page, selection, readings } = reading
  switch (kind) {
    case 'gauge': {
      const found = readGauge(signal, row, alias, page, selection)
      if (found?.value) readings.gauges[signal as GaugeSignal] = found.value
      return found
    }
    case 'counter': {
      const found = readCounters(row, alias, page, selection)
      if (found?.value) readings.counters[signal as CounterSignal] = found.value
      return found
    }
    case 'histogram': {
      const found = readHistograms(signal, page, alias, selection)
      if (found?.value) readings.histograms[signal as HistogramSignal] = found.value
      return found
    }
    default:
      return kind satisfies never
  }
}

function aboutServer(page: Page, table: BackendTable): Pick<Readings, 'startedAt' | 'server'> {
  // Several are several processes: one of them that restarts is told by its own series, not by this.
  const starts = page.samples.get(START_TIME) ?? []
  const startedAt = (starts.length === 1 ? starts[0]?.value : undefined) ?? Number.NaN
  const server = table.recognise.find(({ series }) => page.recognised.has(series) || page.samples.has(series))
  return defined({
    startedAt: startedAt > 0 && startedAt <= Number.MAX_SAFE_INTEGER ? startedAt : undefined,
    server: server?.as,
  })
}
