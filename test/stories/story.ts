import type { Backend } from '../../src/backends/backend.ts'
import type { RuleId } from '../../src/rules/catalogue.ts'

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
  pushes: readonly (readonly [minute: number, reason: 'fired' | 'resolved' | 'repeated' | 'told-once', rule: RuleId])[]
}

/** The same answer at each minute from the first to the last, both included. */
export function from(
  first: number,
  last: number,
  served: (minute: number) => Served | Record<string, Served>,
): Story['runs'] {
  return Array.from({ length: last - first + 1 }, (_, i) => ({ minute: first + i, served: served(first + i) }))
}
