import type { Alias, BackendTable } from '../backends/backend.ts'
import type { LabelSet } from '../signals/signals.ts'
import type { Labels, Page } from './page.ts'

/** Samples with an own timestamp further from the scrape than this say nothing about now. */
const STALE = 5 * 60_000

export interface ReadOptions {
  /** Only the series of this model; those without a model label are the whole server's and stay. */
  model: string | undefined
  /** Epoch milliseconds of the scrape. */
  now: number
}

/** How the label sets of one page are chosen and named. */
export interface Selection {
  matches(labels: Labels, alias: Alias): boolean
  /** The label set without what only repeats a series; `gauge` leaves out more than the others. */
  setOf(labels: Labels, kind: 'gauge' | 'total'): LabelSet
  /** The whole label set but for labels that never make a series of its own. */
  identityOf(labels: Labels): LabelSet
  /** Whether a label tells engines or ranks apart. */
  tells(label: string): boolean
  /** Leaves out the parts of a total that is there itself. */
  withoutParts<T extends { labels: Labels }>(series: readonly T[]): readonly T[]
  isStale(stamp: number | undefined): boolean
}

export function createSelection(table: BackendTable, { model, now }: ReadOptions): Selection {
  const dropped = {
    total: new Set(['le', ...table.repeats, ...table.ignored]),
    gauge: new Set(['le', ...table.repeats, ...(table.gaugeRepeats ?? []), ...table.ignored]),
  }
  const ignored = new Set(table.ignored)
  const sets = { total: new Map<Labels, LabelSet>(), gauge: new Map<Labels, LabelSet>() }

  function matches(labels: Labels, { labels: only, not }: Alias): boolean {
    const ofModel = modelOf(labels, table)
    if (model !== undefined && ofModel !== undefined && ofModel !== model) return false
    return hasAll(labels, only) && !(not && hasAny(labels, not))
  }

  function setOf(labels: Labels, kind: 'gauge' | 'total'): LabelSet {
    let set = sets[kind].get(labels)
    if (set === undefined) {
      set = labelSet(labels, dropped[kind])
      sets[kind].set(labels, set)
    }
    return set
  }

  function withoutParts<T extends { labels: Labels }>(series: readonly T[]): readonly T[] {
    const { totalLabel } = table
    if (totalLabel === undefined || !series.some(({ labels }) => labels.values[totalLabel])) return series
    const rest = new Set([...dropped.gauge, totalLabel])
    const isTotal = ({ labels }: T) => !labels.values[totalLabel]
    const totals = new Set(series.filter(isTotal).map(({ labels }) => labelSet(labels, rest)))
    return series.filter((one) => isTotal(one) || !totals.has(labelSet(one.labels, rest)))
  }

  return {
    matches,
    setOf,
    identityOf: (labels) => labelSet(labels, ignored),
    tells: (label) => !dropped.gauge.has(label) && !table.modelLabels.includes(label),
    withoutParts,
    isStale: (stamp) => stamp !== undefined && Math.abs(now - stamp) > STALE,
  }
}

/** Sorted by name; an empty value is the same as no label. */
function labelSet({ values }: Labels, dropped: ReadonlySet<string>): LabelSet {
  return Object.keys(values)
    .filter((name) => values[name] !== '' && !dropped.has(name))
    .sort()
    .map((name) => `${name}="${escaped(values[name] ?? '')}"`)
    .join(',')
}

function escaped(value: string): string {
  return value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')
}

function hasAll({ values }: Labels, wanted: Alias['labels'] = {}): boolean {
  return Object.entries(wanted).every(([name, patterns]) => isOneOf(values[name], patterns))
}

function hasAny({ values }: Labels, unwanted: NonNullable<Alias['not']>): boolean {
  return Object.entries(unwanted).some(([name, patterns]) => isOneOf(values[name], patterns))
}

/** `5*` is all that begins with 5. */
function isOneOf(value: string | undefined, patterns: readonly string[]): boolean {
  if (value === undefined) return false
  return patterns.some((pattern) =>
    pattern.endsWith('*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern,
  )
}

/** The model that a label set names. */
function modelOf({ values }: Labels, { modelLabels }: BackendTable): string | undefined {
  for (const name of modelLabels) if (values[name]) return values[name]
  return undefined
}

/** The models that the page names, in the order of the page. */
export function modelsOf(page: Page, table: BackendTable): string[] {
  const models = new Set<string>()
  for (const series of [...page.samples.values(), ...page.buckets.values()])
    for (const { labels } of series) {
      const model = modelOf(labels, table)
      if (model !== undefined) models.add(model)
    }
  return [...models]
}
