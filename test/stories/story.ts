import type { Backend } from '../../src/model/backend.ts'
import type { RuleId } from '../../src/rules/rules.ts'

/** What one endpoint answers in one run: a page, a status with a body, or no connection. */
export type Served = string | { status: number; body?: string; type?: string } | 'refused'

/** A page a minute, and the pushes that must come of it: no more, no fewer. */
export interface Story {
  name: string
  backend: Backend
  /** Variables beside the endpoints. */
  env?: Record<string, string>
  /** Endpoint names; one named `a` unless said. */
  endpoints?: readonly string[]
  /** Runs at these minutes; several endpoints have an answer each. */
  runs: readonly { minute: number; served: Served | Record<string, Served> }[]
  /** Minute, reason, and the rule that gives the title. */
  pushes: readonly (readonly [
    minute: number,
    reason: 'fired' | 'worse' | 'resolved' | 'repeated' | 'told-once',
    rule: RuleId,
  ])[]
}

/** The same answer at each minute from the first to the last, both included. */
export function from(
  first: number,
  last: number,
  served: (minute: number) => Served | Record<string, Served>,
): Story['runs'] {
  return Array.from({ length: last - first + 1 }, (_, i) => ({ minute: first + i, served: served(first + i) }))
}

/** What a server that is asked by canaries does with a request, instead of a 404. */
export interface Reply {
  /** Milliseconds that pass on the story's clock before it answers; nothing really waits. */
  ms?: number
  /** Milliseconds that really pass: only where a real time-out is to be met. */
  realMs?: number
  status?: number
  type?: string
  body?: string
  /** `hang`: never answers. `park`: sends comment lines alone until the client goes. */
  instead?: 'hang' | 'park'
}

/** `POST /api/generate` → reply. */
export type Routes = Readonly<Record<string, Reply>>

/** What a worker sends in one run, in this order: `/indexer/fail`. */
export interface SentBeat {
  path: string
  body?: string
}

/** A story that is only told through the bundles: scripted servers, or workers that send to the receiver's bundle. */
export interface BundleStory extends Omit<Story, 'runs' | 'endpoints'> {
  runs: readonly { minute: number; routes?: Routes; beats?: readonly SentBeat[] }[]
  /** How many requests of a route the server must have seen over the whole story. */
  requests?: Readonly<Record<string, number>>
  /** Milliseconds that the platform gives each run; its own limit where absent. */
  remaining?: number
  /** Words of the first push. */
  says?: readonly string[]
}

/** The same routes, and the same beats, at each minute from the first to the last, both included. */
export function during(
  first: number,
  last: number,
  what: { routes?: Routes; beats?: readonly SentBeat[] },
): BundleStory['runs'] {
  return Array.from({ length: last - first + 1 }, (_, i) => ({ minute: first + i, ...what }))
}
