import type { GrownPart } from '../model/explanation.ts'
import { kindOf } from '../signals/parts.ts'

/** Of the parts of one kind (model, priority class), each one's share 0..1. */
export type Shares = Readonly<Record<string, number>>

/** A share that rose by less may be chance. */
const ROSE = 0.2
/** Of all that came more, the part must make up this share. */
const MOST = 0.6

/**
 * The part whose share grew, and that makes up most of what came more; `undefined` where all grew alike, or where the
 * past does not say. A part that was not there before had a share of 0.
 * @param times what comes now / what usually comes, of all parts together.
 */
export function whoGrew(now: Shares, past: Shares, times: number | undefined): GrownPart | undefined {
  if (times === undefined) return undefined
  const kinds = new Set(Object.keys(past).map(kindOf))
  const parts = Object.entries(now).filter(([part]) => kinds.has(kindOf(part)))
  const grown = ({ share, usual }: GrownPart) => times * share - usual
  const [most] = parts
    .map(([part, share]) => ({ part, share, usual: past[part] ?? 0 }))
    .sort((a, b) => grown(b) - grown(a))
  if (most === undefined || most.share - most.usual < ROSE) return undefined
  return grown(most) >= MOST * (times - 1) ? most : undefined
}
