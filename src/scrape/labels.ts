import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import { ownText } from './lines.ts'
import { type Labels, labelSet } from './page.ts'

/** The label sets of one page, each one object however often and in whatever order its labels are written. */
export interface LabelBook {
  /**
   * @param text the label pairs without blanks and without `le`, one character a byte.
   * @param count how many pairs there are.
   * @returns `undefined` where they cannot be read, or a name comes twice.
   */
  read(text: string, count: number): Labels | undefined
  all(): Labels[]
}

export const NO_LABELS: Labels = { set: '', values: {} }

/** Each distinct text is read once a page. */
export function createLabelBook(): LabelBook {
  const byText = new Map<string, Labels | undefined>([['', NO_LABELS]])
  const bySet = new Map<string, Labels>([['', NO_LABELS]])

  function read(text: string, count: number): Labels | undefined {
    const known = byText.get(text)
    if (known || byText.has(text)) return known
    const values = readLabels(text, count)
    const labels = values && theOne({ set: labelSet(values), values })
    byText.set(ownText(text), labels)
    return labels
  }

  function theOne(labels: Labels): Labels {
    const known = bySet.get(labels.set)
    if (!known) bySet.set(labels.set, labels)
    return known ?? labels
  }

  return { read, all: () => [...bySet.values()] }
}

/**
 * The package reads the pairs and resolves their escapes. It merges what it should refuse and throws at trifles, so it gets
 * one sample line, ended by a line feed, and what it returns is checked.
 */
function readLabels(text: string, count: number): Record<string, string> | undefined {
  try {
    const [family, ...others] = parsePrometheusTextFormat(`x{${decodeUtf8(text)}} 1\n`)
    const [sample, ...more] = family?.metrics ?? []
    if (family?.name !== 'x' || others.length > 0 || more.length > 0 || sample?.value !== '1') return undefined
    const pairs = Object.entries(sample.labels ?? {})
    return pairs.length === count ? Object.fromEntries(pairs.filter(([, value]) => value !== '')) : undefined
  } catch {
    return undefined
  }
}

function decodeUtf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text
}
