/** Readings kept inside the window, and before it. */
const READINGS_AT_MOST = 6
const OLDER_AT_MOST = 4
/** How far back the window may be widened, in milliseconds. */
export const WIDEST = 3_600_000

/**
 * @param times with the new reading as the last.
 * @param isEnough whether the readings from this index on hold enough; older ones are kept until they do.
 * @returns indices of the readings to keep, ascending.
 */
export function keep(
  times: readonly number[],
  window: number,
  restarted: boolean,
  isEnough: (from: number) => boolean = () => true,
): number[] {
  const latest = times.length - 1
  const now = times[latest] ?? 0
  const at = (i: number) => times[i] ?? now
  if (latest > 0 && at(latest - 1) >= now) return [latest]
  const start = restarted ? Math.max(0, latest - 1) : windowStart(times, window)
  const inside = times.map((_, i) => i).slice(start)
  // The last two are "since the last run".
  const kept = thin(inside, READINGS_AT_MOST, 2, at)
  return restarted ? kept : [...older(start, now, at, isEnough), ...kept]
}

/** The index of the first reading inside the window; the one before the latest is always there. */
export function windowStart(times: readonly number[], window: number): number {
  const latest = times.length - 1
  const now = times[latest] ?? 0
  const first = times.findIndex((time) => now - time <= window)
  return Math.max(0, Math.min(first < 0 ? latest : first, latest - 1))
}

function older(start: number, now: number, at: (i: number) => number, isEnough: (from: number) => boolean): number[] {
  let from = start
  while (from > 0 && now - at(from - 1) <= WIDEST && !isEnough(from)) from -= 1
  const indices = Array.from({ length: start - from }, (_, i) => from + i)
  return thin(indices, OLDER_AT_MOST, 0, at)
}

/** Drops what leaves the smallest gap; the oldest, which sets the span, and so many of the last stay. */
function thin(indices: number[], most: number, last: number, at: (i: number) => number): number[] {
  const kept = [...indices]
  while (kept.length > most) {
    const interior = kept.slice(1, kept.length - last).map((_, i) => i + 1)
    const gap = (i: number) => at(kept[i + 1] ?? kept[i] ?? 0) - at(kept[i - 1] ?? 0)
    kept.splice(
      interior.reduce((best, i) => (gap(i) < gap(best) ? i : best)),
      1,
    )
  }
  return kept
}
