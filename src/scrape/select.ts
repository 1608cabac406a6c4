import type { Alias, BackendTable } from '../model/backend.ts'
import type { LabelSet, Part } from '../model/signals.ts'
import { partsIn } from '../signals/parts.ts'
import { type Labels, labelSet, type Page } from './page.ts'

/** Samples with an own timestamp further from the scrape than this say nothing about now. */
const STALE = 5 * 60_000

export interface ReadOptions {
  /** Only the series of this model; those without a model label are the whole server's and stay. */
  model: string | undefined
  /** Epoch milliseconds of the scrape. */
  now: number
}

/** Python's client in multiprocess mode marks each process's part with it: parts add up, and name nothing that a person knows. */
const PROCESS = 'pid'

/** How the label sets of one page are chosen and named. */
export interface Selection {
  /** The series that belong to an alias, without the parts of a total that is there itself. */
  choose<T extends { labels: Labels }>(series: readonly T[] | undefined, alias: Alias): readonly T[]
  /** The label set without what only repeats a series. */
  setOf(labels: Labels): LabelSet
  /** Whether a label tells engines or ranks apart. */
  tells(label: string): boolean
  /** `engine 1`: the engine or rank that a label set names. */
  engineOf(labels: Labels): string | undefined
  isStale(stamp: number | undefined): boolean
  /** The models that samples name, and the priority classes of those that a total contains. */
  partsOf(labels: Labels): Part[]
}

export function createSelection(table: BackendTable, { model, now }: ReadOptions): Selection {
  const { totalLabel } = table
  const without = new Set([...table.repeats, ...table.ignored])
  const sets = new Map<Labels, LabelSet>()

  function matches(labels: Labels, { labels: only, oneOf, not }: Alias): boolean {
    if (model !== undefined && (modelOf(labels, table) ?? model) !== model) return false
    if (oneOf && !oneOf.some((one) => hasAll(labels, one))) return false
    return (!only || hasAll(labels, only)) && !(not && hasAny(labels, not))
  }

  function choose<T extends { labels: Labels }>(series: readonly T[] | undefined, alias: Alias): readonly T[] {
    if (!series) return []
    const isAll = model === undefined && !alias.labels && !alias.oneOf && !alias.not
    const chosen = isAll ? series : series.filter(({ labels }) => matches(labels, alias))
    return totalLabel === undefined ? chosen : withoutParts(chosen, totalLabel)
  }

  function withoutParts<T extends { labels: Labels }>(series: readonly T[], label: string): readonly T[] {
    const isTotal = ({ labels }: T) => labels.values[label] === undefined
    if (series.every(isTotal)) return series
    const rest = new Set([...without, label])
    const totals = new Set(series.filter(isTotal).map(({ labels }) => labelSet(labels.values, rest)))
    return series.filter((one) => isTotal(one) || !totals.has(labelSet(one.labels.values, rest)))
  }

  function setOf(labels: Labels): LabelSet {
    let set = sets.get(labels)
    if (set === undefined) {
      set = without.size === 0 ? labels.set : labelSet(labels.values, without)
      sets.set(labels, set)
    }
    return set
  }

  return {
    choose,
    setOf,
    tells: (label) => label !== PROCESS && !without.has(label) && !table.modelLabels.includes(label),
    engineOf: ({ values }) => engineNamed(table.engineLabel, values[table.engineLabel ?? '']),
    partsOf: ({ values }) => partsIn(values, table),
    isStale: (stamp) => stamp !== undefined && Math.abs(now - stamp) > STALE,
  }
}

function engineNamed(label: string | undefined, value: string | undefined): string | undefined {
  return label === undefined || value === undefined ? undefined : `${label} ${value}`
}

function hasAll({ values }: Labels, wanted: NonNullable<Alias['labels']>): boolean {
  return Object.entries(wanted).every(([name, patterns]) => isOneOf(values[name], patterns))
}

function hasAny({ values }: Labels, unwanted: NonNullable<Alias['not']>): boolean {
  return Object.entries(unwanted).some(([name, patterns]) => isOneOf(values[name], patterns))
}

/** `5*` is all that begins with 5, `*Timeout` all that ends so; a label that is not there is an empty one. */
function isOneOf(value = '', patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (pattern.endsWith('*')) return value.startsWith(pattern.slice(0, -1))
    return pattern.startsWith('*') ? value.endsWith(pattern.slice(1)) : value === pattern
  })
}

/** The model that a label set names. */
function modelOf({ values }: Labels, { modelLabels }: BackendTable): string | undefined {
  for (const name of modelLabels) if (values[name]) return values[name]
  return undefined
}

/** The models that the page names, in the order of the page. */
export function modelsOf({ labelSets }: Page, table: BackendTable): string[] {
  const models = new Set<string>()
  for (const labels of labelSets) {
    const model = modelOf(labels, table)
    if (model !== undefined) models.add(model)
  }
  return [...models]
}
