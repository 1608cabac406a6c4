import type { HistogramIncrease } from './combine.ts'
import { countWithin } from './quantile.ts'

/** Requests that began in a slot of time, and those of them whose first token came in time: start (epoch milliseconds), in time, all. */
export type SloSlot = [start: number, within: number, all: number]

const SLOT = 5 * 60_000
const HOUR = 12 * SLOT
/** Requests below which a share says nothing. */
export const SLO_AT_LEAST = 20

/** Adds what came since the last answer; slots that ended over an hour ago are dropped. @param limit seconds. */
export function addToSlo(
  slots: readonly SloSlot[],
  increase: HistogramIncrease | undefined,
  limit: number,
  now: number,
): SloSlot[] {
  const kept = slots.filter(([start]) => start > now - HOUR - SLOT && start <= now)
  const all = increase?.counts.at(-1) ?? 0
  if (!increase || all === 0) return [...kept]
  const within = rounded(countWithin(limit, increase))
  const start = Math.floor(now / SLOT) * SLOT
  const last = kept.at(-1)
  if (last?.[0] !== start) return [...kept, [start, within, all]]
  return [...kept.slice(0, -1), [start, rounded(last[1] + within), last[2] + all]]
}

/** Between two bounds it is an estimate. */
function rounded(requests: number): number {
  return Number(requests.toPrecision(6))
}

/** The share in time over the last hour. */
export function sloShare(slots: readonly SloSlot[], now: number): number | undefined {
  const { within, all } = sum(slots.filter(([start]) => start > now - HOUR))
  return all < SLO_AT_LEAST ? undefined : within / all
}

function sum(slots: readonly SloSlot[]): { within: number; all: number } {
  return slots.reduce((to, [, within, all]) => ({ within: to.within + within, all: to.all + all }), {
    within: 0,
    all: 0,
  })
}
