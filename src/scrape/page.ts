import type { LabelSet } from '../model/signals.ts'

/** One label set of a page: the same object for every sample that has it, in whatever order its labels were written. */
export interface Labels {
  set: LabelSet
  /** Without `le` and without empty values, which are the same as no label. */
  values: Readonly<Record<string, string>>
}

/** The last sample of one name and label set. */
export interface Sample {
  labels: Labels
  value: number
  /** The sample's own timestamp, epoch milliseconds, where it has one. */
  stamp: number | undefined
}

/** The `_bucket` samples of one name and label set, in the order of the page; a bound may come twice. */
export interface Buckets {
  labels: Labels
  /** Upper bounds (`le`), +Inf as Infinity. */
  bounds: number[]
  /** The value at each bound. */
  counts: number[]
  /** The oldest and newest of the samples' own timestamps, epoch milliseconds. */
  oldest: number | undefined
  newest: number | undefined
}

/** What a page says about the wanted series of one backend. */
export interface Page {
  /** By sample name: everything but `_bucket`. */
  samples: ReadonlyMap<string, readonly Sample[]>
  /** By sample name, as in `x_bucket`. */
  buckets: ReadonlyMap<string, readonly Buckets[]>
  /** The label sets of both, in the order of the page. */
  labelSets: readonly Labels[]
  /** What follows the name in the first line of the series whose labels are the server's settings: one character a byte. */
  settings: string | undefined
  /** Series that tell which server this is and feed no signal, and what is announced before the first sample. */
  recognised: ReadonlySet<string>
  /** There are samples, of another server alone, as far as names tell. */
  isForeign: boolean
  /** Names with more label sets than are kept, or with a bucket that could not be read: what is kept of them is not the whole truth. */
  incomplete: ReadonlySet<string>
  /** Lines that are not blank: comments, samples and malformed ones. */
  lines: number
  comments: number
  /** Well-formed samples, wanted or not. */
  sampleCount: number
  /** Lines that are neither a comment nor a sample. */
  malformed: number
  /** The first byte that is no blank: `<` is a web page, `{` is JSON. `undefined`: nothing came. */
  firstByte: number | undefined
  /** The last line has no line feed: where nothing else tells that the body is whole, it may have been cut there. */
  unterminated: boolean
}

/** Labels as text, sorted by name: equal label sets have equal texts. */
export function labelSet(values: Readonly<Record<string, string>>, without?: ReadonlySet<string>): LabelSet {
  const names = Object.keys(values).sort()
  const kept = without ? names.filter((name) => !without.has(name)) : names
  return kept.map((name) => `${name}="${escaped(values[name] ?? '')}"`).join(',')
}

function escaped(value: string): string {
  return /["\\\n]/.test(value) ? value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n') : value
}
