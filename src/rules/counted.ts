import type { Rule } from '../model/rule.ts'
import { ruleOf, subjectOf } from '../state/alert-key.ts'
import type { Measured } from './measured.ts'
import { base, type RuleSpec } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { untilTwoReadings } from './unknown.ts'

type Counted =
  | 'admission_rejected'
  | 'engine_state_stale'
  | 'queue_full'
  | 'admission_parked'
  | 'corrupted'
  | 'transfer_failed'

/** What the rules that count events since the last run share. */
export function counted(signal: Counted) {
  return {
    ...base,
    unit: 'requests',
    limit: 0,
    needs: { signals: [signal] },
    measure: (snapshot, rule) => increased(snapshot, rule, signal),
    unknownReason: untilTwoReadings,
  } as const satisfies Partial<RuleSpec>
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
    const subject = /(?:^|,)(?:reason|upstream|outcome)="((?:[^"\\]|\\.)*)"/.exec(labels)?.[1]
    bySubject.set(subject, (bySubject.get(subject) ?? 0) + n)
  }
  return [...bySubject].map(([subject, value]) => ({ subject, value }))
}
