import type { RunResult } from '../model/result.ts'
import type { Evaluation } from '../rules/evaluate.ts'
import { kindOf } from '../rules/incidents.ts'
import { alertKey, ruleOf } from '../state/alert-key.ts'

/** One trouble of one endpoint, from its first firing rule to the end of its last. */
export interface Incident {
  endpoint: string
  /** In the order in which they began to fire. */
  rules: string[]
  /** Epoch milliseconds. */
  from: number
  /** Absent: still open at the end of the recording. */
  to?: number
  /** The highest number of the rule that opened it, in that rule's unit. */
  peak?: number
}

export interface IncidentBook {
  /** What one run says. */
  add(now: number, endpoints: RunResult['endpoints'], decisions: Evaluation['decisions']): void
  /** All of them, in the order of their beginning. */
  all(): Incident[]
}

/** Keeps the incidents of a replay, from the phases that each run's result shows. */
export function createIncidentBook(): IncidentBook {
  const past: Incident[] = []
  const open = new Map<string, Incident>()

  function note(key: string, endpoint: string, rules: readonly string[], now: number): void {
    const known = open.get(key)
    if (rules.length === 0) {
      if (known) known.to = now
      open.delete(key)
      return
    }
    const incident = known ?? { endpoint, rules: [], from: now }
    for (const rule of rules) if (!incident.rules.includes(rule)) incident.rules.push(rule)
    if (known) return
    open.set(key, incident)
    past.push(incident)
  }

  function measure(decisions: Evaluation['decisions']): void {
    for (const { endpoint, decision } of decisions) {
      const { rule, measured, after } = decision
      const incident = open.get(keyOf(endpoint, alertKey(rule.id, measured.subject)))
      const opener = incident?.rules[0]
      if (!incident || after !== 'firing' || measured.value === undefined || opener !== rule.id) continue
      incident.peak = Math.max(incident.peak ?? measured.value, measured.value)
    }
  }

  return {
    add(now, endpoints, decisions) {
      for (const { name, alerts, subjects } of endpoints) {
        const firing = Object.entries(alerts).flatMap(([rule, phase]) => {
          if (phase !== 'firing') return []
          const of = Object.entries(subjects?.[rule] ?? {}).filter(([, one]) => one === 'firing')
          return of.length > 0 ? of.map(([subject]) => alertKey(rule, subject)) : [rule]
        })
        const byKey = grouped(firing, (key) => keyOf(name, key))
        const known = [...open.keys()].filter((key) => key.startsWith(`${name}|`))
        for (const key of new Set([...known, ...byKey.keys()])) note(key, name, (byKey.get(key) ?? []).map(ruleOf), now)
      }
      measure(decisions)
    },
    all: () => past,
  }
}

/** An endpoint that is down and thereby leaves its group without a replica is one trouble, and told in one message. */
function keyOf(endpoint: string, alert: string): string {
  return `${endpoint}|${kindOf(alert === 'pool' ? 'down' : alert)}`
}

function grouped(alerts: readonly string[], key: (alert: string) => string): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const alert of alerts) groups.set(key(alert), [...(groups.get(key(alert)) ?? []), alert])
  return groups
}
