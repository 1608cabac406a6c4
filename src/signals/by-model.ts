import type { LabelSet, Readings, Signal } from '../model/signals.ts'
import { type Derived, derive } from './derive.ts'
import type { BySignal, History } from './history.ts'
import { type Increases, overWindow } from './window.ts'

/** What is judged by model. Each costs another look at the window, so a page of thousands of models is judged as one. */
const SIGNALS = ['finished', 'failed', 'queue_wait', 'ttft'] as const
const MODELS_AT_MOST = 32

/** The numbers of one model, as the endpoint has them. */
export type ByModel = Readonly<Record<string, { window: Increases | undefined; derived: Derived }>>

/**
 * The numbers of each model where several share a server; `undefined` where there is one.
 * @param without signals that are not to be believed.
 */
export function byModel(
  readings: Readings,
  history: History,
  window: number,
  without: readonly Signal[] = [],
): ByModel | undefined {
  const { models } = readings
  if (!models || models.length > MODELS_AT_MOST) return undefined
  return Object.fromEntries(
    models.map((model) => {
      const own = overWindow(only(history, model, without), window)
      return [model, { window: own, derived: derive(readings, own) }]
    }),
  )
}

/** The past of the series whose labels have this value. */
function only(history: History, model: string, without: readonly Signal[]): History {
  const value = `="${model.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
  const isOwn = (labels: LabelSet) => labels.endsWith(value) || labels.includes(`${value},`)
  const narrowed = <P>(all: BySignal<P>): BySignal<P> =>
    Object.fromEntries(
      SIGNALS.filter((signal) => !without.includes(signal)).flatMap((signal) => {
        const own = Object.entries(all[signal] ?? {}).filter(([labels]) => isOwn(labels))
        return own.length === 0 ? [] : [[signal, Object.fromEntries(own)]]
      }),
    )
  return { ...history, counters: narrowed(history.counters), histograms: narrowed(history.histograms) }
}
