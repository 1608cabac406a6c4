import type { Rule } from '../model/rule.ts'
import { subjectOf } from '../state/alert-key.ts'
import type { Alert } from '../state/schema.ts'
import type { Measured } from './measured.ts'
import type { Snapshot } from './snapshot.ts'
import type { Judgement } from './step.ts'

/** What a rule made of one subject in one run, for `LOG_LEVEL=debug` and `--why`. */
export interface Decision {
  rule: Rule
  measured: Measured
  judgement: Judgement
  before: 'ok' | Alert['phase']
  after: 'ok' | Alert['phase']
  /** As it stands after this run; one that is over as it stood last. */
  alert: Alert | undefined
  /** A rule that fires for the same endpoint and makes this one's number meaningless. */
  heldBy: string | undefined
  /** What it was decided from: to find words for it is left to `explain`. */
  snapshot: Snapshot
}

/** Of alerts that this run has no number for: they stay as they are. */
export function notMeasured(
  rule: Rule,
  alerts: readonly (readonly [string, Alert])[],
  heldBy: string | undefined,
  snapshot: Snapshot,
): Decision[] {
  const same = { rule, judgement: 'unknown', heldBy, snapshot } as const
  if (alerts.length === 0) return [{ ...same, measured: {}, before: 'ok', after: 'ok', alert: undefined }]
  return alerts.map(([key, alert]) => {
    const subject = subjectOf(key)
    const measured = subject === undefined ? {} : { subject }
    return { ...same, measured, before: alert.phase, after: alert.phase, alert }
  })
}
