import { defined } from '../model/defined.ts'
import {
  type CounterSignal,
  type DataFault,
  type HistogramSignal,
  type LabelSet,
  type Readings,
  SIGNALS,
  type Signal,
  type SignalKind,
} from '../model/signals.ts'
import { combine, type HistogramIncrease } from './combine.ts'
import type { BySignal, History } from './history.ts'
import { MEAN_AT_LEAST, QUANTILE_AT_LEAST } from './quantile.ts'
import { isAnotherProcess, isAsBeforeItsFirstRequest } from './restart.ts'
import {
  type Advanced,
  advanceCounter,
  advanceHistogram,
  type Before,
  type CounterPast,
  type HistogramPast,
  passOver,
  startMoved,
  thinCounter,
  thinHistogram,
} from './series.ts'
import { keep, windowStart } from './thinning.ts'

/**
 * Label sets kept of one signal, so that a page with thousands cannot fill the state; those known first stay. A counter takes
 * some hundred bytes of state for each; 64 engines with six reasons, or a gateway with hundreds of keys, are still whole.
 */
const COUNTERS_AT_MOST = 2_048
const HISTOGRAMS_AT_MOST = 256

export interface Remembered {
  history: History
  /** A counter or a bucket fell, a start time moved, bounds changed or another process counts since the last reading. */
  restarted: boolean
}

/**
 * Adds the readings of a good scrape. At most six readings stay inside the window, evenly spread; the one before
 * this always stays, however old. While the window holds too few observations, at most four older ones stay, up to an hour. After a restart only that one stays, so that a rate is not thinned by time in
 * which nothing could be counted; when the clock went back none does, and nothing is judged.
 * @param now epoch milliseconds. @param window milliseconds.
 */
export function remember(past: History | undefined, readings: Readings, now: number, window: number): Remembered {
  const before: Before = {
    kept: past?.times.length ?? 0,
    restarted:
      startMoved(past?.startedAt, readings.startedAt) ||
      isAsBeforeItsFirstRequest(past, readings) ||
      isAnotherProcess(past, readings),
  }
  const oldest = now - window
  const shared = { before, now, oldest, restartedAt: past?.restartedAt }
  const counters = advanceAll(past?.counters ?? {}, readings.counters, {
    ...shared,
    most: COUNTERS_AT_MOST,
    advance: advanceCounter,
  })
  const histograms = advanceAll(past?.histograms ?? {}, readings.histograms, {
    ...shared,
    most: HISTOGRAMS_AT_MOST,
    advance: advanceHistogram,
  })
  const restarted = before.restarted || counters.restarted || histograms.restarted
  const times = [...(past?.times ?? []), now]
  const kept = keep(times, window, restarted, (from) => isEnoughOfAll(histograms.series, from))
  const startedAt = readings.startedAt ?? (restarted ? undefined : past?.startedAt)
  const lastRestart = restarted ? now : past?.restartedAt
  const isInWindow = lastRestart !== undefined && lastRestart >= oldest && lastRestart <= now
  return {
    history: {
      times: kept.map((i) => times[i] ?? now),
      ...defined({ startedAt, restartedAt: isInWindow ? lastRestart : undefined }),
      counters: thinAll(counters.series, (series) => thinCounter(series, kept)),
      histograms: thinAll(histograms.series, (series) => thinHistogram(series, kept)),
    },
    restarted,
  }
}

/** Observations from which these say something: the window is widened until it holds so many. */
const WANTED = { queue_wait: MEAN_AT_LEAST, ttft: QUANTILE_AT_LEAST } as const satisfies Partial<
  Record<HistogramSignal, number>
>
type Widened = keyof typeof WANTED

function isEnoughOfAll(histograms: BySignal<HistogramPast>, from: number): boolean {
  return keysOf(WANTED).every((signal) => isEnough(signal, histograms, from))
}

function isEnough(signal: Widened, histograms: BySignal<HistogramPast>, from: number): boolean {
  const series = histograms[signal]
  return series === undefined || observedSince(series, from) >= WANTED[signal]
}

function observedSince(series: Record<LabelSet, HistogramPast>, from: number): number {
  let count = 0
  for (const { steps, gone } of Object.values(series))
    if (gone === undefined) for (let i = from; i < steps.length; i++) for (const n of steps[i] ?? []) count += n
  return count
}

/**
 * The increases over the window. Times in the queue and to the first token, of which it holds some but too few, are those of
 * a longer time, up to an hour: until it holds enough, or as far back as readings were kept.
 * @param notBefore epoch milliseconds: it is widened to readings after it alone.
 */
export function overWindow(
  history: History,
  window: number,
  notBefore = Number.NEGATIVE_INFINITY,
): Increases | undefined {
  const start = windowStart(history.times, window)
  const found = increases(history, start)
  if (!found) return undefined
  for (const signal of keysOf(WANTED)) {
    const series = history.histograms[signal]
    if (start === 0 || !series || isEnough(signal, history.histograms, start)) continue
    if (observedSince(series, start) === 0) continue
    let from = start
    while (isAfter(history.times[from - 1], notBefore) && !isEnough(signal, history.histograms, from)) from -= 1
    if (from === start) continue
    const widened = combine(signal, series, from, [])
    if (!widened) continue
    found.histograms[signal] = widened
    found.spans = { ...found.spans, [signal]: ((history.times.at(-1) ?? 0) - (history.times[from] ?? 0)) / 1_000 }
  }
  return found
}

function isAfter(time: number | undefined, notBefore: number): boolean {
  return time !== undefined && time > notBefore
}

export interface Increases {
  seconds: number
  /** Seconds that a histogram covers instead, where the window held too few observations. */
  spans?: Partial<Record<HistogramSignal, number>>
  counters: Partial<Record<CounterSignal, number>>
  byLabels: Partial<Record<CounterSignal, Record<LabelSet, number>>>
  histograms: Partial<Record<HistogramSignal, HistogramIncrease>>
  /** `series` is the label set; a signal whose buckets contradict each other is left out of `histograms`. */
  faults: DataFault[]
}

/**
 * What was counted between a kept reading and the latest: per label set, then added up.
 * @param from index into `history.times`; the oldest kept reading unless said.
 * @returns `undefined` when there is nothing to compare with: after the first reading.
 */
export function increases(history: History, from = 0): Increases | undefined {
  const start = history.times[from]
  const end = history.times.at(-1)
  if (start === undefined || end === undefined || start >= end) return undefined
  const found: Increases = { seconds: (end - start) / 1_000, counters: {}, byLabels: {}, histograms: {}, faults: [] }
  for (const [signal, series] of Object.entries(history.counters)) {
    if (!isSignal(signal, 'counter')) continue
    const present = Object.entries(series).filter(([, past]) => past.gone === undefined)
    if (present.length === 0) continue
    const byLabels = present.map(([labels, past]) => [labels, add(past.steps.slice(from))] as const)
    found.byLabels[signal] = Object.fromEntries(byLabels)
    found.counters[signal] = add(byLabels.map(([, increase]) => increase))
  }
  for (const [signal, series] of Object.entries(history.histograms)) {
    if (!isSignal(signal, 'histogram')) continue
    const combined = combine(signal, series, from, found.faults)
    if (combined) found.histograms[signal] = combined
  }
  return found
}

/** What was counted since the reading before the latest. */
export function sinceLast(history: History): Increases | undefined {
  return increases(history, history.times.length - 2)
}

interface Advance<P, R> {
  before: Before
  now: number
  /** Epoch milliseconds: a label set that is missing since before is forgotten. */
  oldest: number
  /** Epoch milliseconds of the last restart that is known. */
  restartedAt: number | undefined
  /** Label sets that are kept of one signal. */
  most: number
  advance: (past: P | undefined, reading: R, before: Before) => Advanced<P> | undefined
}

function advanceAll<P extends CounterPast | HistogramPast, R>(
  past: BySignal<P>,
  readings: Partial<Record<Signal, Record<LabelSet, R>>>,
  { before, now, oldest, restartedAt, most, advance }: Advance<P, R>,
): { series: BySignal<P>; restarted: boolean } {
  const series: BySignal<P> = {}
  let restarted = false
  for (const signal of Object.keys({ ...past, ...readings }) as Signal[]) {
    const known = past[signal] ?? {}
    const read = readings[signal] ?? {}
    const next: [LabelSet, P][] = []
    for (const labels of candidates(known, read, most)) {
      const reading = read[labels]
      const advanced = reading === undefined ? undefined : advance(known[labels], reading, before)
      if (advanced === undefined) continue
      next.push([labels, advanced.past])
      // Where series appear with their first event, some return long after the restart that removed them: it is the same restart.
      const isLate = (known[labels]?.gone ?? Number.POSITIVE_INFINITY) <= (restartedAt ?? Number.NEGATIVE_INFINITY)
      restarted ||= advanced.restarted && !isLate
    }
    const seen = new Set(next.map(([labels]) => labels))
    for (const [labels, missing] of Object.entries(known)) {
      if (seen.has(labels) || before.restarted || (missing.gone ?? now) < oldest) continue
      next.push([labels, passOver(missing, now)])
    }
    if (next.length > 0) series[signal] = Object.fromEntries(next.slice(0, most))
  }
  return { series, restarted }
}

/** Known ones come first, so that they stay. Beyond the limit, a new one cannot be told from one that was left out before. */
function candidates(known: Record<LabelSet, unknown>, read: Record<LabelSet, unknown>, most: number): LabelSet[] {
  const all = Object.keys(read)
  const old = all.filter((labels) => Object.hasOwn(known, labels))
  const isFull = old.length > 0 && all.length > most
  return isFull ? old : [...old, ...all.filter((labels) => !Object.hasOwn(known, labels))]
}

function thinAll<P>(series: BySignal<P>, thin: (past: P) => P): BySignal<P> {
  const thinned = ([labels, past]: [LabelSet, P]) => [labels, thin(past)] as const
  return Object.fromEntries(
    Object.entries(series).map(([signal, sets]) => [signal, Object.fromEntries(Object.entries(sets).map(thinned))]),
  )
}

function keysOf<K extends string>(record: Record<K, unknown>): K[] {
  return Object.keys(record) as K[]
}

function add(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function isSignal<K extends 'counter' | 'histogram'>(
  name: string,
  kind: K,
): name is K extends 'counter' ? CounterSignal : HistogramSignal {
  return Object.hasOwn(SIGNALS, name) && (SIGNALS as Record<string, { kind: SignalKind }>)[name]?.kind === kind
}
