import type { CanaryRequest } from '../model/config.ts'
import type { CanaryFacts, CanaryMemory } from '../model/observation.ts'

const MINUTE = 60_000
const DAY = 86_400_000

/**
 * Milliseconds from one canary to the next after so many in a row that were over their limit: a few may be chance,
 * from the fourth on we would add to a queue that is known.
 */
const PAUSES = [0, 0, 0, 0, 2 * MINUTE, 3 * MINUTE, 5 * MINUTE]

/** However much is left late in the day, requests come no closer than this share of an even spread. */
const CLOSEST = 2 / 3

/** Runs come some milliseconds early or late. */
const EARLY = 1_000

/**
 * Whether the canary is to be left out in this run, and why.
 * A budget is spread over what is left of the day, so that none of it has to be asked for twice as often in the evening.
 */
export function heldBack(
  memory: CanaryMemory | undefined,
  { budget }: Pick<CanaryRequest, 'budget'>,
  { now, backsOff }: { now: number; backsOff: boolean },
): 'over-budget' | 'backing-off' | undefined {
  if (memory === undefined || memory.askedAt > now) return undefined
  const since = now - memory.askedAt + EARLY
  if (backsOff && since < (PAUSES[memory.overLimit] ?? Math.max(...PAUSES))) return 'backing-off'
  if (budget === undefined) return undefined
  const day = dayOf(now)
  const left = budget - (memory.day === day ? memory.requests : 0)
  if (left <= 0) return 'over-budget'
  const spread = Math.max((day + DAY - now) / left, (CLOSEST * DAY) / budget)
  return since < spread ? 'over-budget' : undefined
}

/**
 * Whether nobody but us has used the model: the server shows the end that our own request set, and it is still ahead. One
 * that is a day ahead is a model that is to stay, so that there is nothing to let go.
 */
export function isUnused(memory: CanaryMemory | undefined, leavesAt: number | undefined, now: number): boolean {
  if (leavesAt === undefined || memory?.leavesAt === undefined) return false
  return leavesAt === memory.leavesAt && leavesAt > now && leavesAt - now < DAY
}

/** What the next canary must know. @param isOverLimit this one waited for longer than its limit. */
export function remember(
  before: CanaryMemory | undefined,
  facts: CanaryFacts,
  isOverLimit: boolean,
  now: number,
): CanaryMemory | undefined {
  const sent = facts.requests ?? 0
  if (sent === 0) return before
  const day = dayOf(now)
  const earlier = before?.day === day ? before.requests : 0
  return {
    askedAt: now,
    day,
    requests: earlier + sent,
    overLimit: isOverLimit ? (before?.overLimit ?? 0) + 1 : 0,
    ...(facts.leavesAt === undefined ? {} : { leavesAt: facts.leavesAt }),
  }
}

function dayOf(now: number): number {
  return now - (now % DAY)
}
