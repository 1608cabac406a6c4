import type { Judgement } from './step.ts'

/** A rule's number for one subject in one run. */
export interface Measured {
  /** A GPU, an upstream or a reason, where the rule has subjects. */
  subject?: string | undefined
  /** In the rule's unit. Absent: unknown. */
  value?: number | undefined
  /** Only known to be at least `value`. */
  atLeast?: boolean | undefined
  /** What `value` was compared with: the own past, or the siblings' median. */
  usual?: number | undefined
  /** Where the number alone does not decide. */
  judgement?: Judgement
  /** The condition changed into another one (a new XID): a new incident. */
  renewed?: boolean
}
