import type { GaugeSignal, Readings } from '../model/signals.ts'

/** Readings of an endpoint that has said nothing yet: every signal is unknown. */
export function emptyReadings(): Readings {
  return {
    gauges: {},
    counters: {},
    histograms: {},
    subjects: {},
    settings: {},
    sources: {},
    faults: [],
    malformed: 0,
    empty: false,
    foreign: false,
    modelFound: true,
  }
}

/** Readings that hold these gauges alone; an undefined value is unknown and left out. */
export function gaugeReadings(values: Partial<Record<GaugeSignal, number | undefined>>, model?: string): Readings {
  const readings = emptyReadings()
  for (const [signal, value] of Object.entries(values)) {
    if (value !== undefined) readings.gauges[signal as GaugeSignal] = { value }
  }
  return model === undefined ? readings : { ...readings, model }
}
