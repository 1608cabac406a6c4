import type { Snapshot } from './snapshot.ts'

/** The means by which siblings are compared, of all endpoints of one group that know them, ascending. Seconds. */
export type Siblings = Readonly<Record<'itlMean' | 'e2eMean', readonly number[]>>

/** Sorted once a group: to look at all others for each of a thousand siblings would be a million looks. */
export function siblingsByGroup(snapshots: readonly Snapshot[]): ReadonlyMap<string, Siblings> {
  const groups = new Map<string, { itlMean: number[]; e2eMean: number[] }>()
  for (const { endpoint, derived } of snapshots) {
    if (endpoint.group === undefined) continue
    const means = groups.get(endpoint.group) ?? { itlMean: [], e2eMean: [] }
    if (derived.itlMean !== undefined) means.itlMean.push(derived.itlMean)
    if (derived.e2eMean !== undefined) means.e2eMean.push(derived.e2eMean)
    groups.set(endpoint.group, means)
  }
  for (const means of groups.values()) {
    means.itlMean.sort((a, b) => a - b)
    means.e2eMean.sort((a, b) => a - b)
  }
  return groups
}

/**
 * The median without one of the values.
 * @param sorted ascending, `own` among them. @returns `undefined` when fewer than two others are known.
 */
export function medianOfOthers(sorted: readonly number[], own: number): number | undefined {
  const others = sorted.length - 1
  if (others < 2) return undefined
  const left = sorted.indexOf(own)
  const at = (i: number) => sorted[i < left ? i : i + 1] ?? 0
  return (at(Math.floor(others / 2 - 0.5)) + at(Math.floor(others / 2))) / 2
}
