import type { Alias, BackendTable, SignalRow } from '../model/backend.ts'
import type { CounterSignal, GaugeSignal, HistogramSignal, Signal } from '../model/signals.ts'

/** What tells endpoints apart in Prometheus. */
export const BY = 'job, instance'

/** How the expressions of one backend are written. */
export interface Dialect {
  table: BackendTable
  /** Matchers that every selector gets, as in `job="vllm"`; empty: none. */
  match: string
  /** The span over which counters and histograms are judged: `5m`. */
  window: string
}

/** A gauge over the whole endpoint, in the signal's own unit: whichever of the server's names is there, newest first. */
export function gauge(signal: GaugeSignal, dialect: Dialect, by = BY): string | undefined {
  const row = dialect.table.signals[signal]
  if (!row) return undefined
  const combine = row.perSubject ? 'max' : (row.combine ?? 'sum')
  return either(row.from.map((alias) => scaled(`${combine} by (${by}) (${gaugeOf(alias, row, dialect)})`, alias)))
}

/** A counter's increase over a span, the window unless told. */
export function increase(signal: CounterSignal, dialect: Dialect, span = dialect.window): string | undefined {
  const row = dialect.table.signals[signal]
  if (!row) return undefined
  return either(row.from.map((alias) => `sum by (${BY}) (increase(${selector(alias, alias.name, dialect)}[${span}]))`))
}

/** A counter's total, to see whether it moves; a histogram's count does as well. */
export function total(signal: CounterSignal, dialect: Dialect): string | undefined {
  const row = dialect.table.signals[signal]
  return row && either(row.from.map((alias) => `sum by (${BY}) (${selector(alias, alias.name, dialect)})`))
}

/** The mean of what a histogram observed in the window. */
export function mean(signal: HistogramSignal, dialect: Dialect): string | undefined {
  return either(
    rows(signal, dialect).map((alias) => {
      const of = (part: string) =>
        `sum by (${BY}) (increase(${selector(alias, alias.name + part, dialect)}[${dialect.window}]))`
      return `${of('_sum')} / (${of('_count')} > 0)`
    }),
  )
}

/** A quantile of what a histogram observed in the window, where it observed enough. */
export function quantile(q: number, signal: HistogramSignal, dialect: Dialect, atLeast: number): string | undefined {
  return either(
    rows(signal, dialect).map((alias) => {
      const buckets = selector(alias, `${alias.name}_bucket`, dialect)
      const count = selector(alias, `${alias.name}_count`, dialect)
      const { window } = dialect
      return (
        `histogram_quantile(${q}, sum by (${BY}, le) (increase(${buckets}[${window}])))` +
        ` and on (${BY}) sum by (${BY}) (increase(${count}[${window}])) >= ${atLeast}`
      )
    }),
  )
}

function rows(signal: Signal, { table }: Dialect): readonly Alias[] {
  return table.signals[signal]?.from ?? []
}

/** Ranks repeat the same number: one of them counts. A value that says "not measured" is none. */
function gaugeOf(alias: Alias, { perSubject }: SignalRow, dialect: Dialect): string {
  const selected = selector(alias, alias.name, dialect)
  const known = (alias.off ?? []).reduce((expression, value) => `${expression} != ${value}`, selected)
  const { repeats } = dialect.table
  const whole = alias.rest === undefined ? known : `${known} / (${known} + ${selector({}, alias.rest, dialect)})`
  return repeats.length > 0 && !perSubject ? `max without (${repeats.join(', ')}) (${whole})` : whole
}

function scaled(expression: string, { per }: Alias): string {
  return per === undefined ? expression : `${expression} / ${per}`
}

/** Names that hold a colon twice or begin oddly are written as a matcher; parts that add up are one. */
function selector(
  { labels, not, plus }: Pick<Alias, 'labels' | 'not' | 'plus'>,
  name: string,
  { match }: Dialect,
): string {
  const names = [name, ...(plus ?? [])]
  const matchers = [
    ...(names.length > 1 ? [`__name__=~"${names.join('|')}"`] : []),
    ...Object.entries(labels ?? {}).map(([label, values]) => `${label}=~"${values.map(pattern).join('|')}"`),
    ...Object.entries(not ?? {}).map(([label, values]) => `${label}!~"${values.map(pattern).join('|')}"`),
    ...(match === '' ? [] : [match]),
  ]
  const inside = matchers.length === 0 ? '' : `{${matchers.join(', ')}}`
  return names.length > 1 ? inside : `${name}${inside}`
}

/** `5*` is all that begins with 5. */
function pattern(value: string): string {
  const [, start = value, star] = /^(.*?)(\*?)$/.exec(value) ?? []
  return start.replace(/[.+*?^$()[\]{}|\\]/g, '\\\\$&') + (star ? '.*' : '')
}

function either(expressions: readonly string[]): string | undefined {
  return expressions.length === 0 ? undefined : expressions.join('\nor ')
}
