import type { Alias, BackendTable } from '../backends/backend.ts'
import { SIGNALS, type Signal, type SignalKind } from '../signals/signals.ts'

/** A sample name that a table asks for, and what a reader does with it. */
export interface Wanted {
  name: string
  use: 'sample' | 'bucket' | 'mark'
}

/** Unix seconds; tells a restart. Python and Go clients publish it, whatever the server. */
export const START_TIME = 'process_start_time_seconds'

const known = new WeakMap<BackendTable, ReadonlyMap<string, Wanted>>()

/** The sample names that a backend's table asks for. */
export function wantedNames(table: BackendTable): ReadonlyMap<string, Wanted> {
  const before = known.get(table)
  if (before) return before
  const names = new Map<string, Wanted>()
  const add = (name: string, use: Wanted['use']) => names.set(name, { name, use })
  for (const { series } of table.recognise) add(series, 'mark')
  for (const name of [START_TIME, ...(table.settings ?? [])]) add(name, 'sample')
  for (const signal of Object.keys(table.signals) as Signal[])
    for (const alias of table.signals[signal]?.from ?? []) addAlias(add, alias, SIGNALS[signal].kind)
  known.set(table, names)
  return names
}

function addAlias(add: (name: string, use: Wanted['use']) => void, alias: Alias, kind: SignalKind): void {
  for (const name of [alias.name, ...(alias.plus ?? []), ...(alias.rest === undefined ? [] : [alias.rest])]) {
    add(name, 'sample') // for a histogram: the quantiles of a summary
    if (kind === 'gauge') continue
    add(createdName(name, kind), 'sample')
    if (kind === 'counter') continue
    add(`${name}_bucket`, 'bucket')
    for (const suffix of ['_sum', '_count']) add(name + suffix, 'sample')
  }
}

/** The series with the start time of a counter or histogram: the counters `x_total`, `x_count`, `x_sum` and `x` have `x_created`. */
export function createdName(name: string, kind: SignalKind): string {
  return `${kind === 'counter' ? name.replace(/_(?:total|count|sum)$/, '') : name}_created`
}
