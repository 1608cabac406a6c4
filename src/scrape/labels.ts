import parsePrometheusTextFormat from 'parse-prometheus-text-format'
import { scanLine } from './line.ts'
import { ownText } from './lines.ts'
import { type Labels, labelSet, MAX_LABEL_SETS } from './page.ts'

/** The label sets of one page, each one object however often and in whatever order its labels are written. */
export interface LabelBook {
  /**
   * @param text the label pairs without blanks and without `le`, one character a byte.
   * @param count how many pairs there are.
   * @returns `undefined` where they cannot be read, or a name comes twice; `full` where there are too many already.
   */
  read(text: string, count: number): Labels | 'full' | undefined
  all(): Labels[]
}

export const NO_LABELS: Labels = { set: '', values: {} }

/** Each distinct text is looked up once a page. */
export function createLabelBook(): LabelBook {
  const byText = new Map<string, Labels | undefined>([['', NO_LABELS]])
  const bySet = new Map<string, Labels>([['', NO_LABELS]])

  function read(text: string, count: number): Labels | 'full' | undefined {
    const known = byText.get(text)
    if (known || byText.has(text)) return known
    if (byText.size > MAX_LABEL_SETS) return 'full'
    const own = ownText(text)
    const read = labelsOf(own, count)
    const labels = read && (bySet.get(read.set) ?? read)
    if (labels) bySet.set(labels.set, labels)
    byText.set(own, labels)
    return labels
  }

  return { read, all: () => [...bySet.values()] }
}

/** Texts that are remembered, and how long they may be; others are only slower to read. */
const MAX_TEXTS = 1_000
const LONGEST_TEXT = 256

/** A server writes the same labels on every page. */
const remembered = new Map<string, Labels>()

function labelsOf(text: string, count: number): Labels | undefined {
  const known = remembered.get(text)
  if (known) return known
  const values = readLabels(text, count)
  if (!values) return undefined
  const labels = { set: isCanonical(text, values) ? text : labelSet(values), values }
  if (remembered.size < MAX_TEXTS && text.length <= LONGEST_TEXT) remembered.set(text, labels)
  return labels
}

/** Most servers write label sets as we do: sorted, nothing empty, nothing escaped. */
function isCanonical(text: string, values: Record<string, string>): boolean {
  if (/[\\\x80-\xff]|=""/.test(text)) return false
  let before = ''
  for (const name in values) {
    if (name < before) return false
    before = name
  }
  return true
}

/** The labels of one line, by itself. */
export function labelsOfLine(line: string): Record<string, string> {
  const scanned = scanLine(line)
  return (scanned && readLabels(scanned.labels, scanned.labelCount)) ?? {}
}

/**
 * The package reads the pairs and resolves their escapes. It merges what it should refuse and throws at trifles, so it gets
 * one sample line, ended by a line feed, and what it returns is checked. Labels without a value are left out.
 */
function readLabels(text: string, count: number): Record<string, string> | undefined {
  try {
    const families = parsePrometheusTextFormat(`x{${decodeUtf8(text)}} 1\n`)
    const [family] = families
    const sample = family?.metrics[0]
    if (families.length !== 1 || family?.name !== 'x' || sample?.value !== '1') return undefined
    const labels = sample.labels ?? {}
    const names = Object.keys(labels)
    for (const name of names) if (labels[name] === '') delete labels[name]
    return family.metrics.length === 1 && names.length === count ? labels : undefined
  } catch {
    return undefined
  }
}

function decodeUtf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text
}
