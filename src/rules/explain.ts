import { wordsOf } from '../model/observation.ts'
import type { Rule } from '../model/rule.ts'
import type { Signal } from '../model/signals.ts'
import type { Decision } from './decision.ts'
import { isPresent } from './missing.ts'
import { specOf } from './rules.ts'
import type { Snapshot } from './snapshot.ts'
import { CLEAR_RUNS } from './step.ts'

/** What a decision's numbers do not say by themselves: why there is none, since when, until when. Times in UTC. */
export function explain(decision: Decision): string | undefined {
  const parts = [reasonOf(decision), compared(decision), measuredSince(decision), phaseOf(decision)].filter(
    (part) => part !== undefined,
  )
  return parts.length === 0 ? undefined : parts.join('; ')
}

function reasonOf({ rule, measured, judgement, heldBy, snapshot }: Decision): string | undefined {
  if (heldBy !== undefined) return `held back by ${heldBy}`
  return judgement === 'unknown' ? unknownReason(rule, snapshot, measured.subject) : undefined
}

/** Why a rule has no number for an endpoint, or for one subject of it. */
function unknownReason(rule: Rule, snapshot: Snapshot, subject: string | undefined): string | undefined {
  const { observation } = snapshot
  if (observation.up === undefined) return `not asked: canary ${wordsOf(observation.canary.status)}`
  if (observation.up === false) {
    const { kind, code, status } = observation.failure
    return ['no usable answer:', kind, status, code].filter((part) => part !== undefined).join(' ')
  }
  return absent(rule, snapshot) ?? specOf(rule.id).unknownReason?.(snapshot, subject)
}

/** What the rule needs and the page does not have; a rule that needs one of several lacks something only without any. */
function absent({ needs }: Rule, { readings, faults, modelMissing }: Snapshot): string | undefined {
  if (!readings) return undefined
  if (modelMissing !== undefined) return `model not there: ${modelMissing}`
  if (needs.standIn && isPresent(needs.standIn.by, readings)) return undefined
  const isNeeded = (signal: Signal) => !needs.absentUntilFirst?.includes(signal)
  const gone = needs.signals.filter((signal) => isNeeded(signal) && !isPresent(signal, readings))
  const [first] = gone
  if (first === undefined || (needs.oneIsEnough && gone.length < needs.signals.length)) return undefined
  const fault = faults.find((found) => found.signal === first)
  if (fault) return `${first} is not believable: ${fault.what}`
  return `not on the page: ${gone.join(needs.oneIsEnough ? ' or ' : ', ')}`
}

function compared({ rule, measured: { usual } }: Decision): string | undefined {
  return usual === undefined ? undefined : specOf(rule.id).compared?.(usual)
}

function measuredSince({ rule, measured, judgement, snapshot }: Decision): string | undefined {
  const { value, subject } = measured
  const since = value === undefined || judgement === 'unknown' ? undefined : specOf(rule.id).since?.(snapshot, subject)
  return since === undefined ? undefined : `measured since ${clock(since)}`
}

function phaseOf({ rule, alert, before, after, judgement }: Decision): string | undefined {
  if (after === 'ok') {
    if (before === 'firing') return 'over'
    return before === 'pending' ? 'ended before it fired' : undefined
  }
  if (!alert) return undefined
  if (after === 'pending') {
    const fires = judgement === 'breach' ? `, fires at ${clock(alert.activeAt + rule.for)}` : ''
    return `pending since ${clock(alert.activeAt)}${fires}`
  }
  if (before !== 'firing')
    return before === 'pending' ? `pending since ${clock(alert.activeAt)}, fires now` : 'fires now'
  const clears = judgement === 'clear' ? `, clear ${alert.clearRuns} of ${CLEAR_RUNS} runs` : ''
  return `firing since ${clock(alert.firedAt ?? alert.activeAt)}${clears}`
}

function clock(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)}Z`
}
