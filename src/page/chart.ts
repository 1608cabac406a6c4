import { unitOf } from './texts.ts'
import type { Chart } from './view.ts'

/** A chart in a box: points are x and y from its upper left corner. */
export interface Drawing {
  /** Lines without a gap; a single point is a line of one. */
  lines: [x: number, y: number][][]
  /** Where the limit lies. */
  limit?: number
  /** The value at the upper edge. */
  top: number
}

/** Room above the highest value. */
const HEADROOM = 1.1

/**
 * Fits a chart into a box: time to the right, from zero up to the highest of its values and its limit, so that how far
 * it is from the limit can be seen. Where nothing is known there is a gap.
 */
export function draw({ points, limit, signal }: Chart, width: number, height: number): Drawing {
  const values = points.flatMap(([, value]) => value ?? [])
  const top = unitOf(signal) === 'share' ? 1 : Math.max(...values, limit ?? 0, Number.MIN_VALUE) * HEADROOM
  const start = points[0]?.[0] ?? 0
  const span = Math.max(1, (points.at(-1)?.[0] ?? 0) - start)
  const y = (value: number) => height - (Math.min(value, top) / top) * height
  const lines: Drawing['lines'] = []
  let open: Drawing['lines'][number] | undefined
  for (const [at, value] of points) {
    if (value === null) {
      open = undefined
      continue
    }
    if (open === undefined) {
      open = []
      lines.push(open)
    }
    open.push([((at - start) / span) * width, y(value)])
  }
  return { lines, top, ...(limit === undefined ? {} : { limit: y(limit) }) }
}
