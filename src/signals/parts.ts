import type { BackendTable } from '../model/backend.ts'
import type { LabelSet, Part } from '../model/signals.ts'

/** The kinds of part by which a page may split its requests; no other label is looked at, since some name people or keys. */
export const KINDS = ['model', 'priority'] as const
export type PartKind = (typeof KINDS)[number]

export function partOf(kind: PartKind, name: string): Part {
  return `${kind} ${name}`
}

export function kindOf(part: Part): PartKind {
  return part.startsWith('priority ') ? 'priority' : 'model'
}

export function nameOf(part: Part): string {
  return part.slice(part.indexOf(' ') + 1)
}

/** The parts that the labels of one series name. */
export function partsIn(
  values: Readonly<Record<string, string>>,
  { modelLabels, classLabel }: Pick<BackendTable, 'modelLabels' | 'classLabel'>,
): Part[] {
  const model = modelLabels.map((name) => values[name]).find(Boolean)
  const priority = classLabel && values[classLabel]
  return [...(model ? [partOf('model', model)] : []), ...(priority ? [partOf('priority', priority)] : [])]
}

/** Adds up what label sets have by their parts. */
export function byParts(
  all: Readonly<Record<LabelSet, number>>,
  table: Pick<BackendTable, 'modelLabels' | 'classLabel'>,
): Record<Part, number> {
  const sums: Record<Part, number> = {}
  for (const [labels, value] of Object.entries(all))
    for (const part of partsIn(valuesOf(labels), table)) sums[part] = (sums[part] ?? 0) + value
  return sums
}

/** `engine="0",model_name="m"` as a record. */
function valuesOf(labels: LabelSet): Record<string, string> {
  const found = [...labels.matchAll(/(?:^|,)([^=,]+)="((?:[^"\\]|\\.)*)"/g)]
  const plain = (value: string) => value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped))
  return Object.fromEntries(found.map(([, name = '', value = '']) => [name, plain(value)]))
}
