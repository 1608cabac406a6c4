/** Readings kept inside the window. */
const READINGS_AT_MOST = 6

/** @param times with the new reading as the last. @returns indices of the readings to keep, ascending. */
export function keep(times: readonly number[], window: number, restarted: boolean): number[] {
  const latest = times.length - 1
  const now = times[latest] ?? 0
  const at = (i: number) => times[i] ?? now
  if (latest > 0 && at(latest - 1) >= now) return [latest]
  const kept = times.map((_, i) => i).filter((i) => i >= latest - 1 || (!restarted && now - at(i) <= window))
  while (kept.length > READINGS_AT_MOST) {
    // The oldest sets the span, the last two are "since the last run": all others may go.
    const interior = kept.slice(1, -2).map((_, i) => i + 1)
    const gap = (i: number) => at(kept[i + 1] ?? latest) - at(kept[i - 1] ?? 0)
    kept.splice(
      interior.reduce((best, i) => (gap(i) < gap(best) ? i : best)),
      1,
    )
  }
  return kept
}
