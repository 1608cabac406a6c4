import type { Rule } from '../model/rule.ts'
import { ruleOf, subjectOf } from '../state/alert-key.ts'
import { flagged, type Measured } from './measured.ts'
import { base, condition, number, type RuleSpec, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { untilTwoReadings, withoutSubjects } from './unknown.ts'

type Counted = 'admission_rejected' | 'engine_state_stale' | 'queue_full' | 'admission_parked'

const gateway = { about: 'gateway', priority: 8, backends: ['gateway'] } as const

export const gatewayRules = ruleset({
  observer: {
    ...condition,
    ...gateway,
    firesWhen: "the gateway's view of its engine is degraded",
    sign: '👁️',
    needs: { signals: ['observer_degraded'] },
    measure: number('observer_degraded'),
  },
  upstream: {
    ...condition,
    ...gateway,
    firesWhen: 'the gateway considers an upstream unhealthy',
    sign: '🔌',
    needs: { signals: ['upstream_health'] },
    measure: upstreams,
    unknownReason: withoutSubjects,
  },
  rejected: {
    ...counted('admission_rejected'),
    firesWhen: 'the gateway refused more requests at admission since the last run than the limit, by reason',
    sign: '⛔',
  },
  stale: {
    ...counted('engine_state_stale'),
    firesWhen: 'the gateway judged by an old engine state more often since the last run than the limit',
    sign: '🕰️',
  },
  queue_full: {
    ...counted('queue_full'),
    firesWhen: 'the gateway refused more requests for a full queue since the last run than the limit',
    sign: '🚧',
  },
  parked: {
    ...counted('admission_parked'),
    firesWhen: 'the gateway parked more requests since the last run than the limit',
    sign: '🅿️',
    limit: undefined,
  },
})

/** What the rules that count events since the last run share. */
function counted(signal: Counted) {
  return {
    ...base,
    ...gateway,
    unit: 'requests',
    limit: 0,
    needs: { signals: [signal] },
    measure: (snapshot, rule) => increased(snapshot, rule, signal),
    unknownReason: untilTwoReadings,
  } as const satisfies Partial<RuleSpec>
}

/** Unhealthy at 0, each upstream by itself; one that the gateway does not name is the endpoint's. */
function upstreams({ readings }: Snapshot): Measured[] {
  const only = readings?.gauges.upstream_health
  const named = Object.entries(readings?.subjects ?? {}).map(([subject, { upstream_health: health }]) =>
    flagged(health === undefined ? undefined : health === 0, subject),
  )
  return only ? [flagged(only.value === 0), ...named] : named
}

/** Counts since the last run, by reason or upstream where the series says so. */
function increased(snapshot: Snapshot, rule: Rule, signal: Counted): Measured[] {
  // A counter that is there but cannot be believed did not stand still.
  if (!snapshot.last || snapshot.readings?.faults.some((fault) => fault.signal === signal)) return []
  const bySubject = new Map<string | undefined, number>()
  for (const key of Object.keys(snapshot.before.alerts)) {
    if (ruleOf(key) === rule.id) bySubject.set(subjectOf(key), 0)
  }
  for (const [labels, n] of Object.entries(snapshot.last.byLabels[signal] ?? {})) {
    const subject = /(?:^|,)(?:reason|upstream)="((?:[^"\\]|\\.)*)"/.exec(labels)?.[1]
    bySubject.set(subject, (bySubject.get(subject) ?? 0) + n)
  }
  return [...bySubject].map(([subject, value]) => ({ subject, value }))
}
