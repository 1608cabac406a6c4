const BARS = '▁▂▃▄▅▆▇█'
const UNKNOWN = '·'
/** With fewer known values there is no line. */
const AT_LEAST = 3

/**
 * Draws values, oldest first, as bars from 0 to their largest; an unknown value is a dot.
 * @returns the line with its first, last and largest known value, or `undefined` with fewer than three known values.
 */
export function sparkline(
  values: readonly (number | null)[],
): { bars: string; first: number; last: number; top: number } | undefined {
  const trimmed = values.slice(-15)
  const known = trimmed.filter((value): value is number => value !== null && Number.isFinite(value) && value >= 0)
  const [first] = known
  const last = known.at(-1)
  if (known.length < AT_LEAST || first === undefined || last === undefined) return undefined
  const top = Math.max(...known)
  const bars = trimmed.map((value) => bar(value, top)).join('')
  return { bars, first, last, top }
}

function bar(value: number | null, top: number): string {
  if (value === null || !Number.isFinite(value) || value < 0) return UNKNOWN
  if (top === 0) return BARS.charAt(0)
  return BARS.charAt(Math.min(BARS.length - 1, Math.round((value / top) * (BARS.length - 1))))
}
