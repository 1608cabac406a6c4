import type { DerivedSignal } from '../model/notification.ts'

/** The texts of the page itself; those of rules, verdicts and failures are the messages' own. Functions take raw numbers and texts that are safe to print. */
export interface PageWords {
  title: string
  skip: string
  /** `2 of 10 endpoints in trouble`; `taken`: somebody has each of them. */
  summary(trouble: number, endpoints: number, taken: number): string
  nothingYet: string
  asOf(clock: string): string
  fires: string
  moreFire(count: number): string
  endpoints: string
  /** Beside a group: how many it has, and how many of them stand above. */
  group(count: number, above: number): string
  since(clock: string, lasted: string): string
  acknowledged(by: string | undefined, clock: string): string
  silenced(clock: string): string
  maintenance(clock: string): string
  /** Who asked for a silence: a person's own words, or the link. */
  by(who: string): string
  pending: string
  notAsked: string
  unreachable: string
  watchers: string
  ran(clock: string, ago: string): string
  neverRan: string
  late: string
  waiting(count: number): string
  silences: string
  silenceOf(scope: 'endpoint' | 'group' | 'function', name: string): string
  broken: string
  badge: string
  signal: Partial<Record<DerivedSignal, string>>
  limit(value: string): string
  /** A chart in words: `3 → 42 in 15 min`. */
  course(first: string, last: string, span: string): string
  act: {
    heading: string
    over: string
    what: string
    acknowledge: string
    acknowledgeMeans: string
    silence(lasts: string): string
    silenceUntil(clock: string): string
    silenceMeans(endpoints: string): string
    end: string
    done: { acknowledged: string; silenced(clock: string): string; already(clock: string): string; ended: string }
    failed: string
    unknown: string
  }
}
