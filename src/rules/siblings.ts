import { MEAN_AT_LEAST } from '../signals/quantile.ts'
import { ofEngine, takeOut } from '../verdict/advice.ts'
import { type Measured, UNKNOWN } from './measured.ts'
import { isPresent } from './missing.ts'
import { base, MINUTE, ruleset, type Siblings } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { tooFewObserved } from './unknown.ts'

/** A median of the others needs two others. */
const LEAST_OTHERS = 2

export const siblingRules = ruleset({
  sibling: {
    ...base,
    firesWhen: 'this replica is slower than the median of the others in its group of three or more, by the limit',
    sign: '🦥',
    about: 'engine',
    unit: 'times',
    breach: 'at-or-above',
    limit: 1.5,
    clear: 1.2,
    for: 10 * MINUTE,
    priority: 6,
    except: ['gateway'],
    needs: { signals: ['itl', 'e2e'], oneIsEnough: true },
    measure: (snapshot, _, { siblings }) => [comparedWithOthers(snapshot, siblings)],
    unknownReason: noMedian,
    compared: (usual) => `the median of its siblings is ${Number((usual * 1000).toPrecision(3))} ms`,
    idles: true,
    groupOf: LEAST_OTHERS + 1,
    advise: ofEngine(takeOut),
  },
})

/** By time per token where that is known, else by whole requests. */
function comparedWithOthers(snapshot: Snapshot, siblings: Siblings | undefined): Measured {
  for (const mean of ['itlMean', 'e2eMean'] as const) {
    const own = snapshot.derived[mean]
    const median = own === undefined || !siblings ? undefined : medianOfOthers(siblings[mean], own)
    if (own !== undefined && median !== undefined && median > 0) return { value: own / median, usual: median }
  }
  return UNKNOWN
}

function noMedian(snapshot: Snapshot): string {
  const { derived, readings } = snapshot
  if (derived.itlMean !== undefined || derived.e2eMean !== undefined) return 'fewer than two siblings have a known time'
  return tooFewObserved(readings && isPresent('itl', readings) ? 'itl' : 'e2e', MEAN_AT_LEAST, snapshot)
}

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
 * @param sorted ascending, `own` among them. @returns `undefined` when too few others are known.
 */
function medianOfOthers(sorted: readonly number[], own: number): number | undefined {
  const others = sorted.length - 1
  if (others < LEAST_OTHERS) return undefined
  const left = sorted.indexOf(own)
  const at = (i: number) => sorted[i < left ? i : i + 1] ?? 0
  return (at(Math.floor(others / 2 - 0.5)) + at(Math.floor(others / 2))) / 2
}
