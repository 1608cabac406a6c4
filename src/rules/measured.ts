import type { Rule } from '../model/rule.ts'
import type { Judgement } from './step.ts'

/** A rule's number for one subject in one run. */
export interface Measured {
  /** A GPU, an upstream or a reason, where the rule has subjects. */
  subject?: string | undefined
  /** In the rule's unit. Absent: unknown. */
  value?: number | undefined
  /** Only known to be at least `value`. */
  atLeast?: boolean | undefined
  /** What `value` was compared with: the endpoint's own past, or the siblings' median. */
  usual?: number | undefined
  /** Where the number alone does not decide. */
  judgement?: Judgement
  /** What told of it is gone without a word: where that is its end, it is not known to be over. */
  forgotten?: true
  /** The number is a time, half of the limit has passed, and nothing but more of it is wanting. */
  halfway?: boolean
  /** Of a subject with traffic of its own: it has none. */
  quiet?: boolean
  /** The condition changed into another one (a new XID): a new incident. */
  renewed?: boolean
}

export const UNKNOWN: Measured = { judgement: 'unknown' }

/** Compares a number with a rule's limits. "At least 10" breaches a limit at or below 10 and cannot be judged by one above. */
export function judge(measured: Measured, rule: Rule): Judgement {
  if (measured.judgement) return measured.judgement
  const { value } = measured
  if (value === undefined) return 'unknown'
  if (measured.atLeast) return value >= rule.limit ? 'breach' : 'unknown'
  const past = (limit: number) => isPast(value, limit, rule.breach)
  if (past(rule.limit)) return 'breach'
  return rule.clear !== undefined && past(rule.clear) ? 'between' : 'clear'
}

function isPast(value: number, limit: number, breach: Rule['breach']): boolean {
  switch (breach) {
    case 'above':
      return value > limit
    case 'at-or-above':
      return value >= limit
    case 'below':
      return value < limit
    default:
      return breach satisfies never
  }
}

/** Beyond the rule's second limit, where it has one. */
export function isCritical(value: number | undefined, { critical, breach }: Rule): boolean {
  if (critical === undefined || value === undefined) return false
  return breach === 'below' ? value < critical : value > critical
}

/** Runs in a row: fewer than the limit are neither a breach nor clear. */
export function inARow(runs: number, rule: Rule): Measured {
  return { value: runs, judgement: runs >= rule.limit ? 'breach' : runs > 0 ? 'between' : 'clear' }
}

/** A condition that holds, or does not, or is unknown. */
export function flagged(bad: boolean | undefined, subject?: string): Measured {
  if (bad === undefined) return { subject, judgement: 'unknown' }
  return { subject, value: bad ? 1 : 0, judgement: bad ? 'breach' : 'clear' }
}

/** How far a value fell below its usual, as a share of that; a rise is a fall of 0. */
export function fall(value: number | undefined, usual: number | undefined): Measured {
  if (value === undefined || usual === undefined || usual === 0) return UNKNOWN
  return { value: Math.max(0, (usual - value) / usual), usual }
}
