import { draw } from './chart.ts'
import type { Chart } from './view.ts'

/** A small line without words, for a row: its numbers stand beside it. */
export function spark(chart: Chart): string {
  const { lines } = draw(chart, 60, 16)
  return `<svg class="s" viewBox="0 -1 60 18" preserveAspectRatio="none" aria-hidden="true"><path d="${pathOf(lines)}"/></svg>`
}

/**
 * A chart with its limit, as wide as there is room.
 * @param label what it shows, in words: safe to print.
 */
export function chartSvg(chart: Chart, label: string): string {
  const width = 300
  const height = 60
  const { lines, limit } = draw(chart, width, height)
  const line = pathOf(lines)
  const areas = lines.filter((one) => one.length > 1).map((one) => areaOf(one, height))
  const at = limit === undefined ? '' : `<path class="l" d="M0 ${round(limit)}H${width}"/>`
  return `<svg class="c" viewBox="0 -2 ${width} ${height + 4}" preserveAspectRatio="none" role="img" aria-label="${label}"><path class="a" d="${areas.join('')}"/>${at}<path d="${line}"/></svg>`
}

function pathOf(lines: readonly (readonly (readonly [number, number])[])[]): string {
  // A point alone is drawn as a short line, or it would not be seen.
  return lines
    .map((line) => `M${line.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}${line.length === 1 ? 'h1' : ''}`)
    .join('')
}

function areaOf(line: readonly (readonly [number, number])[], height: number): string {
  const first = line[0]?.[0] ?? 0
  const last = line.at(-1)?.[0] ?? 0
  return `M${round(first)} ${height}L${line.map(([x, y]) => `${round(x)} ${round(y)}`).join('L')}L${round(last)} ${height}Z`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
