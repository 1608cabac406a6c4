import type { DerivedSignal, Numbers } from '../model/notification.ts'
import type { CounterSignal, DataFault, GaugeSignal, HistogramSignal, Readings } from '../model/signals.ts'
import type { HistogramIncrease } from './combine.ts'
import { isRough } from './digits.ts'
import { mean, quantile } from './quantile.ts'
import type { Increases } from './window.ts'

/** Tokens looked up in the window, below which a hit share says nothing. */
export const TOKENS_AT_LEAST = 1_000
/** Requests in the window, below which a failed share says nothing. */
export const REQUESTS_AT_LEAST = 20

/** Gauges that are shown as they are. */
const GAUGES = [
  'waiting',
  'running',
  'waiting_deferred',
  'paused',
  'asleep',
  'kv_cache',
  'canary_total',
  'canary_wait',
  'canary_load',
  'canary_prefill',
  'canary_decode',
  'canary_ttft',
  'canary_rate',
  'quota_left',
  'vram_share',
  'beat_age',
  'observer_degraded',
] as const satisfies readonly (GaugeSignal & DerivedSignal)[]

/** Gauges of GPUs and upstreams, with what the worst of several is. */
const OF_SUBJECTS = {
  gpu_memory: Math.max,
  gpu_utilisation: Math.max,
  gpu_temperature: Math.max,
  gpu_xid: Math.max,
  upstream_health: Math.min,
} as const satisfies Partial<Record<GaugeSignal & DerivedSignal, (...values: number[]) => number>>

/** Totals since the server's start, shown as they stand. */
const TOTALS = [
  'finished',
  'failed',
  'http_failed',
  'corrupted',
  'transfer_failed',
  'preemptions',
  'prompt_tokens',
  'generation_tokens',
  'prefix_queries',
  'prefix_hits',
  'admission_rejected',
  'admission_parked',
  'engine_state_stale',
  'queue_full',
] as const satisfies readonly (CounterSignal & DerivedSignal)[]

const RATES = {
  tokens_per_second: 'generation_tokens',
  requests_per_second: 'finished',
  preemptions_per_second: 'preemptions',
} as const satisfies Partial<Record<DerivedSignal, CounterSignal>>

const QUANTILES = ['ttft', 'itl', 'e2e'] as const
const PERCENTS = [50, 90, 99] as const
/** The tail of the queue; its middle is told by the mean. */
const QUEUE_PERCENT = 95

export interface Derived {
  /** What is known; the rest is absent. */
  numbers: Numbers
  /** Those of the numbers that are only known to be at least this. */
  atLeast: DerivedSignal[]
  /** What was odd in the window; the faults of the readings themselves are not repeated. */
  faults: DataFault[]
  /** Mean time per output token, seconds. */
  itlMean?: number
  /** Mean time of a whole request, seconds. */
  e2eMean?: number
  /** Tokens were looked up, but the hits never moved since the server's start: not a share of 0, but no share. */
  hitsAlwaysZero?: true
}

/**
 * All numbers that one endpoint's good answer yields, alone and against its own window.
 * @param window `undefined` after the first reading: only what needs no increase is known.
 */
export function derive(readings: Readings, window: Increases | undefined): Derived {
  const derived: Derived = { numbers: { up: readings.gauges.up?.value ?? 1 }, atLeast: [], faults: [] }
  addGauges(derived.numbers, readings)
  addTotals(derived.numbers, readings)
  if (window) {
    derived.faults.push(...window.faults.map((fault) => named(fault, readings)))
    addRates(derived.numbers, readings, window)
    addMeans(derived, readings, window)
    addQuantiles(derived, window)
    set(derived.numbers, 'failed_share', failedShare(readings, window))
  }
  addHitShare(derived, readings, window)
  return derived
}

function addGauges(numbers: Numbers, readings: Readings): void {
  for (const signal of GAUGES) set(numbers, signal, readings.gauges[signal]?.value)
  for (const signal of keysOf(OF_SUBJECTS)) {
    const values = [readings.gauges[signal]?.value, ...Object.values(readings.subjects).map((of) => of[signal])]
    const known = values.filter((value) => value !== undefined)
    if (known.length > 0) set(numbers, signal, OF_SUBJECTS[signal](...known))
  }
}

function addTotals(numbers: Numbers, readings: Readings): void {
  for (const signal of TOTALS) set(numbers, signal, total(readings, signal))
}

function addRates(numbers: Numbers, readings: Readings, window: Increases): void {
  for (const rate of keysOf(RATES)) {
    const increase = window.counters[RATES[rate]]
    if (increase !== undefined && !isRough(RATES[rate], increase, readings))
      set(numbers, rate, increase / window.seconds)
  }
}

function addMeans(derived: Derived, readings: Readings, window: Increases): void {
  const meanOf = (signal: HistogramSignal): number | undefined => {
    const increase = window.histograms[signal]
    const found = increase && mean(increase)
    if (found?.outlier) derived.faults.push({ signal, series: sourceOf(readings, signal), what: 'outlier-in-sum' })
    return found?.value
  }
  set(derived.numbers, 'queue_wait', meanOf('queue_wait'))
  const itlMean = meanOf('itl')
  const e2eMean = meanOf('e2e')
  if (itlMean !== undefined) derived.itlMean = itlMean
  if (e2eMean !== undefined) derived.e2eMean = e2eMean
}

function addQuantiles(derived: Derived, window: Increases): void {
  const add = (name: DerivedSignal, percent: number, increase: HistogramIncrease | undefined) => {
    const found = increase && quantile(percent / 100, increase)
    if (!found) return
    derived.numbers[name] = found.value
    if (found.atLeast) derived.atLeast.push(name)
  }
  for (const signal of QUANTILES)
    for (const percent of PERCENTS) add(`${signal}_p${percent}`, percent, window.histograms[signal])
  add(`queue_wait_p${QUEUE_PERCENT}`, QUEUE_PERCENT, window.histograms.queue_wait)
}

/**
 * Failed requests among those that ended in the window. Where both are read from one series by its labels, or the server
 * counts a failed one as finished too, the failed ones are among the finished; else they come on top. What the server's HTTP layer answered with 5xx (a dead engine)
 * never reached the engine's own counters. A server that counts failures only once there are any has none before.
 */
function failedShare(readings: Readings, window: Increases): number | undefined {
  const { finished, failed = 0 } = window.counters
  const refused = withoutRefusals(window.counters)
  if (finished === undefined) return undefined
  const { failed: source, finished: other } = readings.sources
  const among = readings.failedAmong || (source !== undefined && source === other)
  const ended = (among ? finished : finished + failed) + refused
  return ended < REQUESTS_AT_LEAST ? undefined : Math.min(1, (failed + refused) / ended)
}

/**
 * Answers with 5xx that are faults: vLLM answers 503 to what its own cap on the queue turns away, and counts that apart.
 * The cap works then as its owner set it.
 */
export function withoutRefusals({ http_failed = 0, admission_rejected = 0 }: Increases['counters']): number {
  return Math.max(0, http_failed - admission_rejected)
}

function addHitShare(derived: Derived, readings: Readings, window: Increases | undefined): void {
  const { prefix_queries: queries, prefix_hits: hits } = window?.counters ?? {}
  if (queries !== undefined && hits !== undefined) {
    if (queries < TOKENS_AT_LEAST || isRough('prefix_queries', queries, readings)) return
    // Some platforms publish the hits and never count them: that is no fall to zero.
    if (total(readings, 'prefix_hits') === 0) derived.hitsAlwaysZero = true
    else derived.numbers.prefix_hit_share = Math.min(1, hits / queries)
    return
  }
  // Some count what they look up, but not what they find.
  const { prefix_queries, prefix_hits, prompt_tokens } = readings.counters
  if (prefix_queries && prefix_hits) return
  // The server's own share is of its last batch and stays when nothing comes.
  if (prompt_tokens && (window?.counters.prompt_tokens ?? 0) < TOKENS_AT_LEAST) return
  set(derived.numbers, 'prefix_hit_share', readings.gauges.hit_share?.value)
}

function total(readings: Readings, signal: CounterSignal): number | undefined {
  const series = readings.counters[signal]
  return series && Object.values(series).reduce((sum, { value }) => sum + value, 0)
}

/** A fault of the window knows its label set; here it gets the server's own name for the series. */
function named(fault: DataFault, readings: Readings): DataFault {
  return fault.signal ? { ...fault, series: `${sourceOf(readings, fault.signal)}{${fault.series}}` } : fault
}

function sourceOf(readings: Readings, signal: HistogramSignal | CounterSignal | GaugeSignal): string {
  return readings.sources[signal] ?? signal
}

function set(numbers: Numbers, signal: DerivedSignal, value: number | undefined): void {
  if (value !== undefined && Number.isFinite(value)) numbers[signal] = value
}

function keysOf<K extends string>(record: Record<K, unknown>): K[] {
  return Object.keys(record) as K[]
}
