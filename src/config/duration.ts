const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/**
 * Reads a span of time written with its unit: `1500ms`, `90s`, `5m`, `4h`, `1.5h`.
 * @returns milliseconds, or `undefined` when the text is not such a span: a bare number has no unit.
 */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text.trim())
  if (!match) return undefined
  return Math.round(Number(match[1]) * UNITS[match[2] as keyof typeof UNITS])
}

/** Writes milliseconds as the shortest exact span that {@link parseDuration} reads back: 300000 → `5m`, 1500 → `1500ms`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms >= UNITS[unit] && ms % UNITS[unit] === 0) return `${ms / UNITS[unit]}${unit}`
  }
  return ms === 0 ? '0s' : `${ms}ms`
}
