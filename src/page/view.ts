import type { Backend } from '../model/backend.ts'
import type { Verdict } from '../model/explanation.ts'
import type { Failure } from '../model/failure.ts'
import type { DerivedSignal, Notification, Numbers } from '../model/notification.ts'
import type { Silence } from '../state/silence-schema.ts'
import type { Quiet } from '../state/silences.ts'

/**
 * What there is to show, whichever way it is shown: page, JSON, Prometheus text, badge, picture. Made from the states by
 * `view-of-state.ts` alone. Times are epoch milliseconds.
 */
export interface PageView {
  now: number
  functions: FunctionView[]
  /** State objects that could not be read, and why, in words. */
  broken: { function: string; why: string }[]
}

export interface FunctionView {
  /** `vllm`, or `vllm.2-of-8`. */
  name: string
  backend: Backend
  ranAt?: number
  /** It has not run for longer than three of its usual intervals. */
  isLate: boolean
  endpoints: EndpointView[]
  silences: Silence[]
  /** Notifications that no push server has taken yet. */
  waiting: number
}

export interface EndpointView {
  name: string
  group?: string
  model?: string
  /** `undefined`: not asked yet. */
  up: boolean | undefined
  failure?: Failure
  goodAt?: number
  /** Of the last run; empty where it gave no good answer. */
  numbers: Numbers
  atLeast: DerivedSignal[]
  /** The main signal first. */
  charts: Chart[]
  /** GPUs that were seen here, by their ids. */
  gpus: string[]
  fire?: Fire
  /** Rules that are in breach, and not yet for long enough. */
  pending: string[]
  quiet?: Quiet
}

/** A signal over the last runs. */
export interface Chart {
  signal: DerivedSignal
  /** Time and value, oldest first; null is unknown. */
  points: readonly (readonly [number, number | null])[]
  limit?: number
}

/** All that fires at one endpoint. */
export interface Fire {
  /** Worst first, each as a notification would tell it now. */
  alerts: Notification[]
  since: number
  verdict?: Verdict
  /** The chart that shows it. */
  chart?: Chart
  /** All of it was acknowledged; by whom, first. */
  acknowledged?: { at: number; by: string }
}

/** What fires, the worst first, with its endpoint and function. */
export function firesOf(view: PageView): { owner: FunctionView; endpoint: EndpointView; fire: Fire }[] {
  const all = view.functions.flatMap((owner) =>
    owner.endpoints.flatMap((endpoint) => (endpoint.fire ? [{ owner, endpoint, fire: endpoint.fire }] : [])),
  )
  // What somebody has taken, or nobody wants to hear of now, comes after what is nobody's.
  const rank = ({ endpoint, fire }: (typeof all)[number]) =>
    (endpoint.quiet || fire.acknowledged ? 0 : 100) + (fire.alerts[0]?.priority ?? 0)
  return all.sort((a, b) => rank(b) - rank(a) || a.fire.since - b.fire.since)
}
