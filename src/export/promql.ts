import type { Alias, BackendTable, SignalRow } from '../model/backend.ts'
import type { CounterSignal, GaugeSignal, HistogramSignal, Signal } from '../model/signals.ts'

/** Engines and ranks of one endpoint, where its series tell them apart. */
export const BY_ENGINE = 'job, instance, engine, dp_rank'
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
  const up = `sum_over_time(up${dialect.match === '' ? '' : `{${dialect.match}}`}[${span}])`
  const grown = (selected: string) => `increase(${selected}[${span}])`
  // A counter that appears with its first event began at 0: it is in fewer of the good scrapes than there were.
  const born = (selected: string) =>
    `(${selected} and (count_over_time(${selected}[${span}]) < on (${BY}) group_left () ${up}))`
  const isBorn = dialect.table.signals[signal]?.zeroBeside !== undefined
  return counter(signal, dialect, (selected) =>
    isBorn ? `(${born(selected)} or ${grown(selected)})` : grown(selected),
  )
}

/** A counter's total, to see whether it moves; a histogram's count does as well. */
export function total(signal: CounterSignal, dialect: Dialect, by = BY): string | undefined {
  return counter(signal, dialect, (selected) => selected, by)
}

function counter(
  signal: CounterSignal,
  dialect: Dialect,
  read: (selected: string) => string,
  by = BY,
): string | undefined {
  const row = dialect.table.signals[signal]
  const ofAlias = (alias: Alias) =>
    allOf([alias.name, ...(alias.plus ?? [])].map((name) => anyOf(alias, (one) => read(selector(one, name, dialect)))))
  return row && either(row.from.map((alias) => `sum by (${by}) (${ofAlias(alias)})`))
}

/** A sample that several of its choices would keep counts once: label sets that are alike are one in `or`. */
function anyOf(alias: Alias, read: (alias: Alias) => string): string {
  const choices = (alias.oneOf ?? [{}]).map((labels) => read({ ...alias, labels: { ...alias.labels, ...labels } }))
  return choices.length === 1 ? (choices[0] ?? '') : `(${choices.join(' or ')})`
}

/** The mean of what a histogram observed in the window, where it observed enough. */
export function mean(signal: HistogramSignal, dialect: Dialect, atLeast: number): string | undefined {
  return either(
    rows(signal, dialect).map((alias) => {
      const of = (name: string) => `sum by (${BY}) (increase(${selector(alias, name, dialect)}[${dialect.window}]))`
      const [sum, count] =
        alias.count === undefined ? [`${alias.name}_sum`, `${alias.name}_count`] : [alias.name, alias.count]
      return scaled(`${of(sum)} / (${of(count)} >= ${atLeast})`, alias)
    }),
  )
}

/** A quantile of what a histogram observed in the window, where it observed enough. */
export function quantile(q: number, signal: HistogramSignal, dialect: Dialect, atLeast: number): string | undefined {
  // Two series in place of a histogram have a mean and no quantiles.
  const histograms = rows(signal, dialect).filter(({ count }) => count === undefined)
  return either(
    histograms.map((alias) => {
      const buckets = selector(alias, `${alias.name}_bucket`, dialect)
      const count = selector(alias, `${alias.name}_count`, dialect)
      const { window } = dialect
      const value = scaled(`histogram_quantile(${q}, sum by (${BY}, le) (increase(${buckets}[${window}])))`, alias)
      return `${value} and on (${BY}) sum by (${BY}) (increase(${count}[${window}])) >= ${atLeast}`
    }),
  )
}

function rows(signal: Signal, { table }: Dialect): readonly Alias[] {
  return table.signals[signal]?.from ?? []
}

/** Ranks repeat the same number: one of them counts. A value that says "not measured" is none. */
function gaugeOf(alias: Alias, { perSubject }: SignalRow, dialect: Dialect): string {
  const { repeats } = dialect.table
  const once = (expression: string) =>
    repeats.length > 0 && !perSubject ? `max without (${repeats.join(', ')}) (${expression})` : expression
  const parts = [alias.name, ...(alias.plus ?? [])].map((name) => {
    const selected = selector(alias, name, dialect)
    const known = (alias.off ?? []).reduce((expression, value) => `${expression} != ${value}`, selected)
    return once(besideOthers(inState(known, alias), alias, dialect))
  })
  return allOf(parts)
}

/** This as a share of a whole, without a part of it, or as part of another series: what the alias says. */
function besideOthers(known: string, { rest, less, of }: Alias, dialect: Dialect): string {
  const other = (name: string) => selector({}, name, dialect)
  if (rest !== undefined) return `${known} / (${known} + ${other(rest)})`
  // Where the other is not there, nothing is to be taken off.
  if (less !== undefined) return `clamp_min(${known} - ${other(less)} or ${known}, 0)`
  if (of === undefined) return known
  // Of the same label set; where sets differ, of the only one that there is.
  const whole = `(${other(of)} > 0)`
  const only = `(${whole} and on (${BY}) count by (${BY}) (${whole}) == 1)`
  return `(${known} / ${whole} or ${known} / on (${BY}) group_left () ${only})`
}

/** What a published value means: each of those that are named, and `*` for any other. */
function inState(known: string, { states }: Alias): string {
  if (!states) return known
  const named = Object.entries(states).filter(([value]) => value !== '*')
  const any = states['*']
  const others =
    any === undefined ? [] : [`0 * (${named.reduce((left, [value]) => `${left} != ${value}`, known)}) + ${any}`]
  return `(${[...named.map(([value, means]) => `0 * (${known} == ${value}) + ${means}`), ...others].join(' or ')})`
}

/** Parts that add up where they are there: told apart by a label, so that none takes another's place. */
export function allOf(parts: readonly string[]): string {
  if (parts.length === 1) return parts[0] ?? ''
  return parts.map((expression, i) => `label_replace(${expression}, "part", "${i}", "", "")`).join(' or ')
}

function scaled(expression: string, { per }: Alias): string {
  return per === undefined ? expression : `${expression} / ${per}`
}

function selector({ labels, not }: Pick<Alias, 'labels' | 'not'>, name: string, { match }: Dialect): string {
  const matchers = [
    ...Object.entries(labels ?? {}).map(([label, values]) => `${label}=~"${values.map(pattern).join('|')}"`),
    ...Object.entries(not ?? {}).map(([label, values]) => `${label}!~"${values.map(pattern).join('|')}"`),
    ...(match === '' ? [] : [match]),
  ]
  return matchers.length === 0 ? name : `${name}{${matchers.join(', ')}}`
}

/** `5*` is all that begins with 5, `*Timeout` all that ends so. */
function pattern(value: string): string {
  return value
    .split('*')
    .map((part) => part.replace(/[.+*?^$()[\]{}|\\]/g, '\\\\$&'))
    .join('.*')
}

function either(expressions: readonly string[]): string | undefined {
  return expressions.length === 0 ? undefined : expressions.join('\nor ')
}
