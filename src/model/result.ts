import type { Backend } from './backend.ts'
import type { VerdictKind } from './explanation.ts'
import type { Failure } from './failure.ts'
import type { DerivedSignal, Numbers } from './notification.ts'

export interface EndpointResult {
  name: string
  /** Without credentials. */
  url: string
  up: boolean
  model?: string
  /** A signal that is unknown is absent, never 0. */
  signals: Numbers
  /** Signals that are only known to be at least this. */
  atLeast?: DerivedSignal[]
  /** Phases that are not ok; the worst one where a rule has several subjects. */
  alerts: Partial<Record<string, 'pending' | 'firing'>>
  /** The same by subject (GPU, upstream, reason), where a rule has subjects. */
  subjects?: Partial<Record<string, Record<string, 'pending' | 'firing'>>>
  /** Rules whose incident somebody has acknowledged: no reminders of it. */
  acknowledged?: string[]
  /** Until when nothing of this endpoint is pushed: a silence or planned work. */
  silenced?: string
  verdict?: VerdictKind
  failure?: Failure
  /** What was odd in the answer: data faults, missing series, a canary that was not asked. */
  notes?: string[]
}

/** What one run did: the body of the handler's answer, and what `--json` prints. */
export interface RunResult {
  backend: Backend
  at: string
  outcome: 'completed' | 'duplicate' | 'superseded'
  endpoints: EndpointResult[]
  pushes: { delivered: number; waiting: number; refused: number }
}
