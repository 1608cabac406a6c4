import type { Rule } from '../model/rule.ts'
import type { Alert } from '../state/schema.ts'

/** A rule's judgement of one subject in one run. Between: past `clear` but not past `limit`. */
export type Judgement = 'breach' | 'between' | 'clear' | 'unknown'

export interface Step {
  /** Absent: ok. */
  alert: Alert | undefined
  reason?: 'fired' | 'resolved'
}

/** A pending alert that had no data for longer than this starts again. Milliseconds. */
const PENDING_GAP = 3 * 60_000
export const CLEAR_RUNS = 2
/** Two clear runs lie at least this far apart, or half an interval where runs come more often. Milliseconds. */
const CLEAR_APART = 10_000
/** Of a peak: more than any message shows. */
const DIGITS = 6

/**
 * The life of an alert, the table of `docs/rules.md`.
 * @param value the rule's number, for the peak; a higher one is worse, or a lower one where the breach is below.
 * @param interval milliseconds between runs as far as known: an alert must also get past pending where runs come less often than the gap.
 */
export function step(
  alert: Alert | undefined,
  judgement: Judgement,
  rule: Pick<Rule, 'for' | 'runs'> & Partial<Pick<Rule, 'breach'>>,
  at: { now: number; value?: number | undefined; interval?: number | undefined },
): Step {
  if (judgement === 'unknown') return { alert }
  const { now } = at
  const seen = (from: Alert): Alert => ({ ...from, seenAt: now, ...peakOf(from, at.value, rule.breach) })
  if (alert?.phase !== 'firing') {
    if (judgement !== 'breach') return { alert: undefined }
    const gap = Math.max(PENDING_GAP, 2 * (at.interval ?? 0))
    const activeAt = alert && now - alert.seenAt <= gap ? alert.activeAt : now
    const runs = activeAt === now ? 1 : (alert?.breachRuns ?? 1) + 1
    const counted = rule.runs === undefined ? {} : { breachRuns: runs }
    const begun = { ...(activeAt === now ? {} : alert), ...counted }
    const pending = seen({ ...begun, phase: 'pending', activeAt, seenAt: now, clearRuns: 0 })
    if (now - activeAt < rule.for || runs < (rule.runs ?? 1)) return { alert: pending }
    return { alert: { ...pending, phase: 'firing', firedAt: now }, reason: 'fired' }
  }
  if (judgement === 'clear') {
    // Two copies of the watcher may look within one moment: that is one look.
    const apart = Math.min(CLEAR_APART, (at.interval ?? CLEAR_APART) / 2)
    if (alert.clearRuns > 0 && now >= alert.seenAt && now - alert.seenAt < apart) return { alert }
    const clearRuns = alert.clearRuns + 1
    if (clearRuns < CLEAR_RUNS) return { alert: { ...alert, seenAt: now, clearRuns } }
    return { alert: { ...alert, seenAt: now, clearRuns }, reason: 'resolved' }
  }
  return { alert: { ...seen(alert), clearRuns: 0 } }
}

function peakOf(alert: Alert, value: number | undefined, breach: Rule['breach'] | undefined): { peak?: number } {
  if (value === undefined) return {}
  const worst = breach === 'below' ? Math.min : Math.max
  return { peak: Number(worst(alert.peak ?? value, value).toPrecision(DIGITS)) }
}
