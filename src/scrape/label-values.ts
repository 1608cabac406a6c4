import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import { blockOf, pairsOf } from './sample-line.ts'

/** What the label block of a settings line says. */
export function settingsOf(line: string): Record<string, string> {
  const { pairs } = pairsOf(blockOf(line))
  return valuesOf(pairs.join(','), pairs.length) ?? {}
}

/**
 * The package reads the pairs and resolves their escapes. It merges what it should refuse and throws at trifles, so it gets
 * one sample line, ended by a line feed, and what it returns is checked. Labels without a value are left out.
 */
export function valuesOf(latin1: string, count: number): Record<string, string> | undefined {
  try {
    const text = Buffer.from(latin1, 'latin1').toString('utf8')
    const families = parsePrometheusTextFormat(`x{${text}} 1\n`)
    const [family] = families
    const [sample] = family?.metrics ?? []
    if (families.length !== 1 || family?.name !== 'x' || sample?.value !== '1') return undefined
    const labels = Object.entries(sample.labels ?? {})
    if (family.metrics.length !== 1 || labels.length !== count) return undefined
    return Object.fromEntries(labels.filter(([, value]) => value !== ''))
  } catch {
    return undefined
  }
}
