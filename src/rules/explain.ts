import type { Decision } from './decision.ts'

/** What a decision's numbers do not say by themselves: why there is none, since when, until when. Times in UTC. */
export function explain(decision: Decision): string | undefined {
  const parts = [
    decision.heldBy === undefined ? decision.why : `held back by ${decision.heldBy}`,
    compared(decision),
    phaseOf(decision),
  ].filter((part) => part !== undefined)
  return parts.length === 0 ? undefined : parts.join('; ')
}

function compared({ rule, measured: { usual } }: Decision): string | undefined {
  if (usual === undefined) return undefined
  if (rule.measure.kind === 'sibling') return `the median of its siblings is ${round(usual * 1000)} ms`
  if (rule.measure.kind !== 'fall') return undefined
  return rule.measure.of === 'prefix_hit_share' ? `usually ${round(usual * 100)} %` : `usually ${round(usual)} tok/s`
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
  if (before !== 'firing') return 'fires now'
  const clears = judgement === 'clear' ? `, clear ${alert.clearRuns} of 2 runs` : ''
  return `firing since ${clock(alert.firedAt ?? alert.activeAt)}${clears}`
}

function clock(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)}Z`
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}
