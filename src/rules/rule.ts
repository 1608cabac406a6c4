import { BACKENDS, TABLES } from '../backends/backends.ts'
import type { Backend, ScrapedBackend } from '../model/backend.ts'
import type { About, DerivedSignal, Notification } from '../model/notification.ts'
import type { Needs, Rule, RuleUnit } from '../model/rule.ts'
import type { HistogramSignal, Signal } from '../model/signals.ts'
import type { Advice } from '../verdict/advice-kinds.ts'
import type { Measured } from './measured.ts'
import type { Snapshot } from './snapshot.ts'

/** The means by which siblings are compared, of all endpoints of one group that know them, ascending. Seconds. */
export type Siblings = Readonly<Record<'itlMean' | 'e2eMean', readonly number[]>>

/** What a rule may look at beside its endpoint. */
export interface Surroundings {
  /** Of the endpoint's group, where it has one. */
  siblings: Siblings | undefined
  now: number
}

/**
 * Everything about one rule except its words, which stand under its id in `messages/<language>`. To add a rule, add its
 * object to the file of its subject and its words to each language; documentation, variables, `doctor` and messages
 * follow from them. Times in milliseconds.
 */
export interface RuleSpec {
  /** When it fires, in words, for `docs/rules.md`; the numbers stand beside. */
  firesWhen: string
  sign: string
  /** What it says something about; a message puts beside it what belongs to that. */
  about: 'queue' | 'engine' | 'hardware' | 'gateway' | 'canary' | 'reachability' | 'heartbeat' | 'watcher'

  unit: RuleUnit
  /** Which side of the limit is a breach: beyond it, already at it, or below it. */
  breach: 'above' | 'at-or-above' | 'below'
  /** `undefined`: off unless a limit is set. */
  limit: number | undefined
  /** The limit that `on` sets, of a rule that is off by default. */
  whenOn?: number
  /** `undefined`: clear as soon as it is not a breach. */
  clear?: number
  /** So many runs in a row it must be a breach, beside its time; absent: one. */
  runs?: number
  /** While one of these fires, one run is proof enough. */
  provenBy?: readonly string[]
  /** A second limit: beyond it a running incident is told once more, as critical. `undefined`: none unless it is set. */
  critical?: number
  for: number
  /** Between reminders while firing; `undefined`: none. */
  repeat: number | undefined
  priority: number
  /** The only backends that have it. Absent: every one whose table has what the rule needs. */
  backends?: readonly Backend[]
  /** Of those, the ones on which it would say nothing, or nothing new. */
  except?: readonly Backend[]
  /** A signal that the table must have too, although the rule's number is none of it. */
  with?: Signal

  needs?: Needs
  /** Its number for every subject of an endpoint. Absent: judged once for the whole run. */
  measure?: (snapshot: Snapshot, rule: Rule, beside: Surroundings) => Measured[]
  /** Why a good answer that has what the rule needs yields no number. */
  unknownReason?: (snapshot: Snapshot, subject: string | undefined) => string | undefined
  /** What the number was compared with, for `--why`. */
  compared?: (usual: number) => string
  /** Epoch milliseconds since when its number holds, for `--why`. */
  since?: (snapshot: Snapshot, subject: string | undefined) => number | undefined
  /** It is decided by this histogram's quantile or mean, which `doctor` checks against the server's buckets. */
  decidedBy?: { histogram: HistogramSignal; as: 'p95' | 'p99' | 'mean' }

  /** A sign that work does not get through: of one endpoint all that fire are one incident. */
  symptom?: true
  /** Closes as idle when no traffic came for 15 minutes. */
  idles?: true
  /** A restart of the process that is asked says nothing about its end. */
  outlivesRestart?: true
  /** While it fires, the numbers of these rules mean nothing. */
  holds?: 'all' | readonly string[]
  /** Compared with the endpoint's own past: what has lasted for a day is the new usual. */
  ownPast?: true
  /** Only in a group of at least this many endpoints. */
  groupOf?: number
  /** Of a group as a whole, not of each of its endpoints. */
  ofGroup?: true

  /** What a notification carries so that message and end can say what it was. */
  describe?: (snapshot: Snapshot, subject: string | undefined) => About
  /** Numbers that its sentence already has, so that they are not repeated beside it. */
  tells?: readonly DerivedSignal[]
  /** New requests wait because of it, and the message says how long. */
  delaysRequests?: true
  /** What to do where verdict or server decide it, best first; everything else is the `todo` of the rule's words. */
  advise?: (notification: Notification) => Advice[]
}

export const MINUTE = 60_000
export const CANARIES = ['ollama', 'openai'] as const
export const ALL = BACKENDS
export const SCRAPED = Object.keys(TABLES) as ScrapedBackend[]

export const base = { breach: 'above', for: 0, repeat: 4 * 60 * MINUTE } as const
/** A condition that holds or does not. */
export const condition = { ...base, unit: 'switch', breach: 'at-or-above', limit: 1 } as const

/** Keeps the ids of a file's rules in its type, so that each language must have words for each of them. */
export function ruleset<Id extends string>(rules: Record<Id, RuleSpec>): Record<Id, RuleSpec> {
  return rules
}

/** The measure of a rule that is one derived number. */
export function number(name: DerivedSignal): (snapshot: Snapshot) => Measured[] {
  return ({ derived }) => [{ value: derived.numbers[name] }]
}
