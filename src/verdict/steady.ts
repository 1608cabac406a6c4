import type { Verdict, VerdictKind } from '../model/explanation.ts'

/** Why one incident is there, as it was found last; `other` is another kind that the last run found for the first time. */
export interface Steady {
  verdict?: Verdict
  other?: VerdictKind
}

/** What is the case or not at this moment, and no explanation of what came before. */
const OF_THE_MOMENT: readonly VerdictKind[] = ['stalled', 'asleep']

/**
 * Keeps a verdict from coming and going with single runs. One that was found stays until the incident ends, or until two
 * runs in a row find another; a run that finds none changes nothing. What is the case now is believed at once, and
 * dropped at once.
 */
export function steady(before: Steady, found: Verdict | undefined): Steady {
  const { verdict } = before
  const known = verdict && (!OF_THE_MOMENT.includes(verdict.kind) || verdict.kind === found?.kind) ? verdict : undefined
  if (!found) return known ? { verdict: known } : {}
  const isSure = !known || known.kind === found.kind || before.other === found.kind
  if (isSure || OF_THE_MOMENT.includes(found.kind) || found.kind === 'restarted') return { verdict: found }
  return { verdict: known, other: found.kind }
}
