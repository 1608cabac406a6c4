import type { Failure } from '../model/failure.ts'

/** What is known of the replicas of one group in one run. */
export interface PoolView {
  of: number
  answering: number
  /** Names without the group, at most some of them. */
  gone: string[]
  /** Why the first of them is gone. */
  failure?: Failure
  /** Nothing is known of it: its name could not be asked for, or resolves to nothing for too few runs to be sure. */
  unsure: boolean
}
