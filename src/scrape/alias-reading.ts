import type { BackendTable } from '../model/backend.ts'
import { type DataFault, type Readings, SIGNALS, type Signal } from '../model/signals.ts'
import type { Page } from './page.ts'
import type { Selection } from './select.ts'

export type FaultKind = DataFault['what']

/** What one alias of a signal yields; `undefined`: it is not on the page. Without a value the signal is unknown. */
export type AliasReading<T> = { value?: T; fault?: FaultKind } | undefined

/** A page while its readings are worked out. */
export interface Reading {
  page: Page
  table: BackendTable
  selection: Selection
  readings: Readings
}

/** Why a value cannot be. */
export function faultOf(signal: Signal, value: number): FaultKind | undefined {
  const { min, max } = SIGNALS[signal]
  if (Number.isNaN(value)) return 'not-a-number'
  return value < min || value > max ? 'out-of-range' : undefined
}

/** Tells which series feeds a signal, also where what it says is not believable, and what is wrong with it, once. */
export function note(readings: Readings, signal: Signal, series: string, what: FaultKind | undefined): void {
  readings.sources[signal] = series
  if (what === undefined) return
  const isKnown = readings.faults.some((f) => f.signal === signal && f.series === series && f.what === what)
  if (!isKnown) readings.faults.push({ signal, series, what })
}
