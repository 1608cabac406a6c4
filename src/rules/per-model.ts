import { alertKey } from '../state/alert-key.ts'
import type { Measured } from './measured.ts'
import type { RuleSpec } from './rule.ts'
import type { Snapshot } from './snapshot.ts'

/** The snapshot as one of its models alone has it; the whole where the subject is none. */
export function ofModel(snapshot: Snapshot, model: string | undefined): Snapshot {
  const own = model === undefined ? undefined : snapshot.models?.[model]
  return own ? { ...snapshot, ...own } : snapshot
}

/**
 * A measure that is taken of each model where several share the server.
 * @param whole the whole server is judged beside them; otherwise only where no model has enough requests.
 */
export function ofEachModel(
  rule: string,
  measure: (snapshot: Snapshot) => Measured,
  { whole }: { whole: boolean },
): NonNullable<RuleSpec['measure']> {
  return (snapshot) => {
    if (!snapshot.models) return [measure(snapshot)]
    const each = Object.keys(snapshot.models).map((subject) => {
      const own = ofModel(snapshot, subject)
      return { ...measure(own), subject, quiet: isQuiet(own) }
    })
    const isKnown = each.some(({ value }) => value !== undefined)
    const isTold = snapshot.before.alerts[alertKey(rule, undefined)] !== undefined
    return whole || isTold || !isKnown ? [measure(snapshot), ...each] : each
  }
}

function isQuiet({ window }: Snapshot): boolean {
  const observed = Object.values(window?.histograms ?? {}).map(({ counts }) => counts.at(-1) ?? 0)
  return [...Object.values(window?.counters ?? {}), ...observed].every((count) => count === 0)
}
