import type { Signal } from './signals.ts'

/** What a rule's number is; how each is written and shown stands in `config/units.ts`. */
export type RuleUnit =
  | 'requests'
  | 'seconds'
  | 'share'
  | 'fall'
  | 'times'
  | 'per-second'
  | 'runs'
  | 'count'
  | '°C'
  | 'days'
  | 'switch'

/** What a rule reads of an answer. */
export interface Needs {
  signals: readonly Signal[]
  /** Any one of them will do. */
  oneIsEnough?: true
  /** A server that publishes `by` and not `of` is judged by that alone. */
  standIn?: { of: Signal; by: Signal }
  /** Published only once there was one, or not by every server: their absence is a 0. */
  absentUntilFirst?: readonly Signal[]
  /** Judged better with them, and without them on a version that does not publish them. */
  also?: readonly Signal[]
  /** Instead of `signals`: every series that the backend always has. */
  core?: true
}

/** A rule as it holds for one endpoint: its defaults after its variables. Times in milliseconds. */
export interface Rule {
  /** One of `RULE_IDS` in `rules/rules.ts`. */
  id: string
  needs: Needs
  unit: RuleUnit
  breach: 'above' | 'at-or-above' | 'below'
  limit: number
  /** Beyond it the trouble is told as critical, once. */
  critical?: number | undefined
  /** Nobody set the limit or the clear limit. */
  isDefault?: true
  clear: number | undefined
  /** So many runs in a row it must be a breach; absent: one. */
  runs?: number
  for: number
  repeat: number | undefined
  priority: number
  idles: boolean
}
