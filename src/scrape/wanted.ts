import type { Alias, BackendTable, SignalRow } from '../model/backend.ts'
import { SIGNALS, type Signal, type SignalKind } from '../model/signals.ts'

/** A sample name that a table asks for, and what a reader does with it. */
export interface Wanted {
  name: string
  use: 'sample' | 'bucket' | 'mark' | 'settings'
  /** Where labels were dropped: what becomes of samples that then share a label set. Absent: the last one holds. */
  merge?: 'add' | 'oldest' | 'largest'
}

interface NamedSeries {
  name: string
  created: string
  mark: string
}

/** An alias with the sample names that belong to it. */
export interface NamedAlias extends Alias {
  /** For a histogram, its own name: that of a summary's quantiles. */
  bucket: string
  sum: string
  count: string
  /** A sum and a count that are counters by themselves. */
  isMean: boolean
  created: string
  /** With a mark in their label sets, so that a part of a counter is never taken for the main series. */
  parts: readonly NamedSeries[]
  /** The main series, which has no mark, and the parts. */
  whole: readonly NamedSeries[]
}

/** A row of a table, ready to be read. */
export interface WantedSignal {
  signal: Signal
  kind: SignalKind
  row: SignalRow
  aliases: readonly NamedAlias[]
}

/** The name of a sample with the character behind it, and what is done with it. */
export interface Head {
  text: string
  wanted?: Wanted | undefined
  /** Whether the next page finds it. */
  isKept: boolean
  /** What came after it the last time: a server lists its families in one order. */
  next?: Head
}

/** What a table asks for: worked out once, since it is the same for every page. */
export interface Plan {
  /** Of the pages so far. */
  heads: Map<string, Head>
  names: ReadonlyMap<string, Wanted>
  signals: readonly WantedSignal[]
}

/** Unix seconds; tells a restart. Python and Go clients publish it, whatever the server. */
export const START_TIME = 'process_start_time_seconds'

const plans = new WeakMap<BackendTable, Plan>()

export function planOf(table: BackendTable): Plan {
  const known = plans.get(table)
  if (known) return known
  const signals = (Object.entries(table.signals) as [Signal, SignalRow][]).map(([signal, row]) => {
    const { kind } = SIGNALS[signal]
    return { signal, kind, row, aliases: row.from.map((alias) => withNames(alias, kind)) }
  })
  const plan = { heads: new Map(), names: namesOf(table, signals), signals }
  plans.set(table, plan)
  return plan
}

function withNames(alias: Alias, kind: SignalKind): NamedAlias {
  const created = (name: string) => createdName(name, kind)
  const isMean = alias.count !== undefined
  const bucket = `${alias.name}_bucket`
  const [sum, count] = isMean ? [alias.name, alias.count ?? ''] : [`${alias.name}_sum`, `${alias.name}_count`]
  const parts = (alias.plus ?? []).map((name) => ({ name, created: created(name), mark: `__name__="${name}"` }))
  const main = { name: alias.name, created: created(alias.name), mark: '' }
  return { ...alias, bucket, sum, count, isMean, created: main.created, parts, whole: [main, ...parts] }
}

/** The counters `x_total`, `x_count`, `x_sum` and `x`, and the histogram `x`, have `x_created` for their start time. */
function createdName(name: string, kind: SignalKind): string {
  return `${kind === 'counter' ? name.replace(/_(?:total|count|sum)$/, '') : name}_created`
}

function namesOf(table: BackendTable, signals: readonly WantedSignal[]): ReadonlyMap<string, Wanted> {
  const names = new Map<string, Wanted>()
  const add = (use: Wanted['use'], wanted: readonly string[], merge: Wanted['merge'] = 'add') => {
    for (const name of wanted) names.set(name, { name, use, ...(table.keeps && { merge }) })
  }
  add(
    'mark',
    table.recognise.map(({ series }) => series),
  )
  add('sample', [START_TIME])
  add('settings', table.settings ?? [])
  for (const { kind, row, aliases } of signals)
    for (const { name, rest, less, of, isMean, parts, created, sum, count, bucket } of aliases) {
      const beside = [rest, less, of].filter((other) => other !== undefined)
      const merge = row.perSubject || row.combine === 'max' ? 'largest' : 'add'
      add('sample', [name, ...parts.map((part) => part.name), ...beside], merge)
      if (kind !== 'gauge') add('sample', [created, ...parts.map((part) => part.created)], 'oldest')
      if (kind !== 'histogram') continue
      add('sample', [sum, count])
      if (!isMean) add('bucket', [bucket])
    }
  return names
}
