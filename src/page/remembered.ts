import type { Backend } from '../model/backend.ts'
import type { Verdict } from '../model/explanation.ts'
import type { DerivedSignal, Numbers } from '../model/notification.ts'
import { type GaugeSignal, type Readings, SIGNALS, type Signal } from '../model/signals.ts'
import { mainSignal } from '../rules/snapshot.ts'
import { derive } from '../signals/derive.ts'
import { emptyReadings } from '../signals/readings.ts'
import { increases } from '../signals/window.ts'
import type { EndpointState } from '../state/schema.ts'

/** What the state still knows of an endpoint's last good answer. */
export interface Remembered {
  numbers: Numbers
  atLeast: DerivedSignal[]
  verdict?: Verdict
}

/**
 * The numbers of the last run, worked out again from what it left: a state holds what judging needs, not what was
 * judged, so that a run costs nothing more for a page that nobody may be looking at. Why work does not get through is
 * kept with its incident, so that page and messages say the same.
 * @param explains whether the verdict is wanted too.
 */
export function remember(state: EndpointState, backend: Backend, explains: boolean): Remembered {
  const last = state.recent.at(-1)
  if (last === undefined || last[0] !== state.goodAt) return { numbers: {}, atLeast: [] }
  const readings = readingsOf(state, backend)
  const window = state.history && increases(state.history)
  const { numbers, atLeast } = derive(readings, window)
  const { verdict, over } = state.incidents.work ?? {}
  return { numbers, atLeast, ...(explains && verdict && !over ? { verdict } : {}) }
}

function readingsOf(state: EndpointState, backend: Backend): Readings {
  const readings = emptyReadings()
  const [at, main, kvCache] = state.recent.at(-1) ?? [0, null, null]
  const inside = state.inside[at]
  const set = (signal: DerivedSignal, value: number | null | undefined) => {
    if (value !== null && value !== undefined && isGauge(signal)) readings.gauges[signal] = { value }
  }
  set('up', 1)
  set('kv_cache', kvCache)
  set(mainSignal(backend), main)
  if (mainSignal(backend) === 'waiting' && inside !== undefined) set('running', inside - (main ?? 0))
  for (const [signal, series] of Object.entries(state.history?.counters ?? {})) {
    const present = Object.entries(series).filter(([, past]) => past.gone === undefined)
    if (present.length === 0) continue
    readings.counters[signal as keyof Readings['counters']] = Object.fromEntries(
      present.map(([labels, { last }]) => [labels, { value: last }]),
    )
  }
  for (const signal of ['finished', 'failed'] satisfies Signal[]) {
    // Counted in one series, by its labels: the failed are among the finished.
    if (isCountedTogether(state)) readings.sources[signal] = 'one'
  }
  return readings
}

function isGauge(signal: string): signal is GaugeSignal {
  return Object.hasOwn(SIGNALS, signal) && SIGNALS[signal as Signal].kind === 'gauge'
}

/** Whether a label set of failed requests is one of finished requests too. */
function isCountedTogether(state: EndpointState): boolean {
  const { finished, failed } = state.history?.counters ?? {}
  const sets = Object.keys(failed ?? {})
  return sets.length > 0 && sets.every((labels) => finished !== undefined && Object.hasOwn(finished, labels))
}
