import type { VerdictKind } from '../model/explanation.ts'
import type { PastWorkload, Workload } from './verdict.ts'

/** Fewer finished requests measure nothing. */
export const RULED_BY = 20

/** Requests a second. */
export interface Ruler {
  /** What one replica manages. */
  manages: number
  /** What comes, to all of the replicas together. */
  comes: number
  replicas: number
  needed: number
}

/** Less than this above what they manage is chance. */
const MARGIN = 1.05

/**
 * What one replica manages, from its own ceiling of tokens a second at the usual length of answers. Only of one that works
 * at its ceiling: the most that an idle one ever did is not what it can. Where requests became heavier, or tokens are
 * unknown (embeddings), it manages what finishes while others wait.
 * @returns `undefined` too where what comes is no more than they manage.
 * @param beside what comes to each of the other replicas of its group; `undefined` where one of them does not say.
 */
export function rulerOf(
  now: Workload,
  past: PastWorkload,
  kind: VerdictKind | undefined,
  beside: readonly number[] | undefined,
): Ruler | undefined {
  const { finished = 0, arrivalsPerSecond, seconds, tokensPerSecond = 0 } = now
  if (kind !== 'load-grew' && kind !== 'heavier') return undefined
  if (finished < RULED_BY || arrivalsPerSecond === undefined || beside === undefined) return undefined
  const length = past.outputTokensPerRequest
  const atCeiling = length ? Math.max(past.ceiling ?? 0, tokensPerSecond) / length : 0
  const manages = kind === 'load-grew' && atCeiling > 0 ? atCeiling : finished / seconds
  const comes = beside.reduce((sum, one) => sum + one, arrivalsPerSecond)
  const replicas = beside.length + 1
  if (!(manages > 0) || comes <= MARGIN * manages * replicas) return undefined
  return { manages, comes, replicas, needed: Math.ceil(comes / manages) }
}
