import { scaledClear } from '../config/limits.ts'
import type { Rule } from '../model/rule.ts'
import { judge, type Measured } from '../rules/measured.ts'
import { specOf } from '../rules/rules.ts'
import { step } from '../rules/step.ts'
import type { RunReport } from '../run.ts'
import type { Alert } from '../state/schema.ts'

/** What a rule saw of one subject, run by run. */
interface Track {
  endpoint: string
  subject: string | undefined
  runs: { at: number; measured: Measured; isHeld: boolean }[]
}

/** A time in which a rule was firing. Epoch milliseconds; open at the end: the recording's end. */
export interface Firing {
  endpoint: string
  subject: string | undefined
  from: number
  to: number
}

/** One rule over a whole recording. */
export interface Surveyed {
  rule: Rule
  tracks: Map<string, Track>
  /** As the replay itself had it, with the limit of the configuration. */
  fired: Firing[]
}

export interface Survey {
  add(report: RunReport, at: number): void
  rules(): Surveyed[]
}

/** Keeps each rule's numbers of a replay, so that other limits can be tried without replaying. */
export function createSurvey(): Survey {
  const rules = new Map<string, Surveyed>()
  const open = new Map<string, Firing>()
  return {
    add({ decisions }, at) {
      for (const { endpoint, decision } of decisions) {
        const { rule, measured, heldBy, after } = decision
        const known = rules.get(rule.id) ?? { rule, tracks: new Map<string, Track>(), fired: [] }
        rules.set(rule.id, known)
        const { subject } = measured
        const key = `${endpoint}|${subject ?? ''}`
        const track = known.tracks.get(key) ?? { endpoint, subject, runs: [] }
        known.tracks.set(key, track)
        track.runs.push({ at, measured, isHeld: heldBy !== undefined })
        noteFiring(`${rule.id}|${key}`, { endpoint, subject, from: at, to: at }, after === 'firing', known.fired, open)
      }
    },
    rules: () => [...rules.values()],
  }
}

function noteFiring(key: string, now: Firing, isFiring: boolean, fired: Firing[], open: Map<string, Firing>): void {
  const known = open.get(key)
  if (known) known.to = now.to
  if (isFiring && !known) {
    open.set(key, now)
    fired.push(now)
  }
  if (!isFiring) open.delete(key)
}

/** When a rule would have fired with another limit: the same numbers, the same life of an alert. */
export function firingsAt({ rule, tracks }: Surveyed, limit: number): Firing[] {
  const clear = scaledClear(specOf(rule.id), limit)
  const tried: Rule = { ...rule, limit, clear }
  return [...tracks.values()].flatMap(({ endpoint, subject, runs }) => {
    const fired: Firing[] = []
    let alert: Alert | undefined
    let before: number | undefined
    for (const { at, measured, isHeld } of runs) {
      const judgement = isHeld ? 'unknown' : judge(measured, tried)
      const interval = before === undefined ? undefined : at - before
      before = at
      const stepped = step(alert, judgement, tried, { now: at, value: measured.value, interval })
      if (stepped.reason === 'fired') fired.push({ endpoint, subject, from: at, to: at })
      const current = fired.at(-1)
      if (current && alert?.phase === 'firing') current.to = at
      alert = stepped.reason === 'resolved' ? undefined : stepped.alert
    }
    return fired
  })
}

/** How a rule's number was spread, over all endpoints and subjects; what was not known is left out. */
export interface Spread {
  known: number
  p50: number
  p90: number
  p95: number
  p99: number
  highest: number
}

export function spreadOf({ tracks }: Surveyed): Spread | undefined {
  const values = [...tracks.values()]
    .flatMap(({ runs }) => runs.flatMap(({ measured, isHeld }) => (isHeld ? [] : (measured.value ?? []))))
    .sort((a, b) => a - b)
  const at = (q: number) => values[Math.min(values.length - 1, Math.ceil(q * values.length) - 1)] ?? 0
  const highest = values.at(-1)
  if (highest === undefined) return undefined
  return { known: values.length, p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), highest }
}

/** The longest time without a break in which the number was beyond a limit. Milliseconds. */
export function longestStay({ rule, tracks }: Surveyed, limit: number): number {
  let longest = 0
  for (const { runs } of tracks.values()) {
    let since: number | undefined
    for (const { at, measured } of runs) {
      if (measured.value === undefined) continue
      const isBeyond = rule.breach === 'above' ? measured.value > limit : measured.value >= limit
      since = isBeyond ? (since ?? at) : undefined
      if (since !== undefined) longest = Math.max(longest, at - since)
    }
  }
  return longest
}
