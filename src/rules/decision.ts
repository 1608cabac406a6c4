import type { Rule } from '../model/rule.ts'
import type { Alert } from '../state/schema.ts'
import type { Measured } from './measured.ts'
import type { Snapshot } from './snapshot.ts'
import type { Judgement } from './step.ts'
import { unknownReason } from './unknown-reason.ts'

/** What a rule made of one subject in one run, for `LOG_LEVEL=debug` and `--why`. */
export interface Decision {
  rule: Rule
  measured: Measured
  judgement: Judgement
  before: 'ok' | Alert['phase']
  after: 'ok' | Alert['phase']
  /** As it stands after this run; one that is over as it stood last. */
  alert?: Alert
  /** A firing alert of the same endpoint that makes this rule's number meaningless. */
  heldBy?: HoldingRule
  /** Of an unknown number, in words. */
  why?: string
}

export type HoldingRule = 'down' | 'stalled'

export function decision(
  facts: Pick<Decision, 'rule' | 'measured' | 'judgement' | 'before' | 'after'>,
  alert: Alert | undefined,
  heldBy: HoldingRule | undefined,
  snapshot: Snapshot,
): Decision {
  const why =
    facts.judgement === 'unknown' && !heldBy ? unknownReason(facts.rule, snapshot, facts.measured.subject) : undefined
  return { ...facts, ...(alert && { alert }), ...(heldBy && { heldBy }), ...(why !== undefined && { why }) }
}

/** A rule that found nothing to measure: its alerts stay as they are. */
export function notMeasured(
  rule: Rule,
  alerts: Readonly<Record<string, Alert>>,
  heldBy: HoldingRule | undefined,
  snapshot: Snapshot,
): Decision[] {
  const kept = Object.entries(alerts).map(([key, alert]) => {
    const subject = key.slice(rule.id.length + 1)
    const facts = { rule, judgement: 'unknown', before: alert.phase, after: alert.phase } as const
    return decision({ ...facts, measured: subject === '' ? {} : { subject } }, alert, heldBy, snapshot)
  })
  if (kept.length > 0 || rule.measure.kind === 'gap') return kept
  const nothing = { rule, measured: {}, judgement: 'unknown', before: 'ok', after: 'ok' } as const
  return [decision(nothing, undefined, heldBy, snapshot)]
}
