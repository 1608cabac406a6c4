import { withoutRefusals } from '../signals/derive.ts'
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
 * A measure that is taken of each model where several share the server, and of the whole where no model has enough
 * requests.
 */
export function ofEachModel(rule: string, measure: (snapshot: Snapshot) => Measured): NonNullable<RuleSpec['measure']> {
  return (snapshot) => {
    if (!snapshot.models) return [measure(snapshot)]
    const each = measuredEach(snapshot, measure)
    const isKnown = each.some(({ value }) => value !== undefined)
    return isBefore(snapshot, rule) || !isKnown ? [measure(snapshot), ...each] : each
  }
}

/**
 * The share of requests that failed, of each model where several share the server and of the whole beside them: not each
 * failure has a model. One failure is told once: the whole is judged without those of models that are past the limit, and
 * where the whole was told first, no model is told beside it.
 */
export function failuresOfEachModel(
  rule: string,
  measure: (snapshot: Snapshot) => Measured,
): NonNullable<RuleSpec['measure']> {
  return (snapshot) => {
    if (!snapshot.models) return [measure(snapshot)]
    const limit = snapshot.endpoint.rules.find(({ id }) => id === rule)?.limit ?? Number.POSITIVE_INFINITY
    const each = measuredEach(snapshot, measure)
    const told = each.filter(({ subject }) => isBefore(snapshot, rule, subject))
    const whole = measure(snapshot)
    if (isBefore(snapshot, rule)) return [whole, ...told]
    const failing = each.filter((one) => told.includes(one) || (one.value ?? 0) > limit)
    const share = failing.length === 0 ? 0 : failedBy(failing, snapshot)
    return [whole.value === undefined ? whole : { ...whole, value: whole.value * (1 - share) }, ...each]
  }
}

function measuredEach(snapshot: Snapshot, measure: (snapshot: Snapshot) => Measured) {
  return Object.keys(snapshot.models ?? {}).map((subject) => {
    const own = ofModel(snapshot, subject)
    return { ...measure(own), subject, quiet: isQuiet(own) }
  })
}

function isBefore({ before }: Snapshot, rule: string, subject?: string): boolean {
  return before.alerts[alertKey(rule, subject)] !== undefined
}

/** The part of all failures in the window that is of these models. */
function failedBy(models: readonly { subject: string }[], snapshot: Snapshot): number {
  const counters = snapshot.window?.counters ?? {}
  const all = (counters.failed ?? 0) + withoutRefusals(counters)
  const own = models.map(({ subject }) => snapshot.models?.[subject]?.window?.counters.failed ?? 0)
  const sum = own.reduce((total, one) => total + one, 0)
  return all === 0 ? 0 : Math.min(1, sum / all)
}

function isQuiet({ window }: Snapshot): boolean {
  const observed = Object.values(window?.histograms ?? {}).map(({ counts }) => counts.at(-1) ?? 0)
  return [...Object.values(window?.counters ?? {}), ...observed].every((count) => count === 0)
}
