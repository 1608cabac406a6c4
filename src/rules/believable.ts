import type { HistogramSignal } from '../model/signals.ts'
import { mean } from '../signals/quantile.ts'
import type { Increases } from '../signals/window.ts'

/** Times that a request spends inside the server. */
const TIMES = ['queue_wait', 'ttft', 'e2e'] as const satisfies readonly HistogramSignal[]
/** So many times longer than requests can have been inside: what milliseconds look like, and no trouble does. */
const TOO_LONG = 50
/** Of what was seen inside: gauges lag, and some count one of several engines alone. */
const MARGIN = 6
/** Readings below which the number inside is not known. */
const READINGS = 2
const SECOND = 1_000

/**
 * Times that cannot be seconds, whatever their name says: by Little's law (inside = rate × time) requests that took so
 * long would have been seen inside. Judged only of times that are longer than the pause between two readings, since a
 * request that takes so long is inside at one of them.
 * @param times epoch milliseconds of the kept readings of the window, ascending. @param inside requests at each of them.
 */
export function notSeconds(
  over: Increases | undefined,
  times: readonly number[],
  inside: Readonly<Record<number, number>>,
): HistogramSignal[] {
  const counts = times.flatMap((at) => inside[at] ?? [])
  if (!over || counts.length < READINGS || counts.length < times.length) return []
  const pause = Math.max(...times.slice(1).map((at, i) => at - (times[i] ?? at))) / SECOND
  const stayed = Math.max(1, counts.reduce((sum, count) => sum + count, 0) / counts.length) * over.seconds
  return TIMES.filter((signal) => {
    const increase = over.spans?.[signal] === undefined ? over.histograms[signal] : undefined
    const ended = increase?.counts.at(-1) ?? 0
    if (!increase || ended === 0 || (increase.sum ?? 0) / ended < pause) return false
    const took = mean(increase)?.value ?? 0
    const claimed = (ended * Math.min(took, over.seconds)) / 2
    return took >= pause && claimed > MARGIN * stayed && took * ended > TOO_LONG * stayed
  })
}

export function withoutTimes<T extends Increases | undefined>(over: T, signals: readonly HistogramSignal[]): T {
  if (!over || signals.length === 0) return over
  const histograms = Object.entries(over.histograms).filter(([signal]) => !signals.some((one) => one === signal))
  return { ...over, histograms: Object.fromEntries(histograms) }
}
