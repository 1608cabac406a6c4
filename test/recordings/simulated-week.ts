import type { Failure } from '../../src/model/failure.ts'
import { createEngine } from '../../tools/simulator/engine.ts'
import { DEFAULT_KNOBS } from '../../tools/simulator/machine.ts'
import { vllmPage } from '../../tools/simulator/page.ts'

const MINUTE = 60_000
const HOUR = 60
const DAY = 24 * HOUR

/** A Sunday. */
export const WEEK_START = Date.UTC(2026, 10, 1)
export const WEEK_MINUTES = 7 * DAY

/** What really happened, in minutes of the week. */
export const HAPPENED = [
  { from: 2 * DAY + 10 * HOUR, minutes: 25, what: 'a campaign: more requests than the GPU can do' },
  { from: 3 * DAY + 15 * HOUR, minutes: 20, what: 'the process died and took 20 minutes to start' },
  { from: 4 * DAY + 3 * HOUR, minutes: 15, what: 'the engine hung' },
  { from: 5 * DAY + 18 * HOUR, minutes: 30, what: 'the GPU was slowed to a third' },
] as const

/** What a good watcher says nothing of. */
export const NEARLY = [
  { from: 1 * DAY + 12 * HOUR, minutes: 3, what: 'a burst that the queue took in' },
  { from: 6 * DAY + 14 * HOUR, minutes: 2, what: 'two scrapes failed' },
] as const

export type Answered = { page: string } | { failure: Failure }

/** One answer a minute of a simulated vLLM server, by day and by night, with four incidents and two near misses. */
export function* simulatedWeek(): Generator<{ at: number; answered: Answered }> {
  const engine = createEngine(WEEK_START, { seed: 11 }, { arrivals: 0.5, outputTokens: 120 })
  const [campaign, death, hang, slow] = HAPPENED
  const [burst, lost] = NEARLY
  const within = (minute: number, { from, minutes }: { from: number; minutes: number }) =>
    minute >= from && minute < from + minutes
  for (let minute = 1; minute <= WEEK_MINUTES; minute += 1) {
    const at = WEEK_START + minute * MINUTE
    engine.advance(at)
    if (minute === death.from) engine.restart(death.minutes * MINUTE)
    engine.change({
      arrivals: within(minute, campaign) ? 7 : within(minute, burst) ? 5.6 : byDay(minute),
      hung: within(minute, hang),
      slowdown: within(minute, slow) ? 12 : DEFAULT_KNOBS.slowdown,
    })
    const refused = !engine.listening()
    const answered: Answered = refused
      ? { failure: { kind: 'refused', code: 'ECONNREFUSED' } }
      : within(minute, lost)
        ? { failure: { kind: 'timeout' } }
        : { page: vllmPage(engine) }
    yield { at, answered }
  }
}

/** Requests a second: few at night, more at noon. */
function byDay(minute: number): number {
  return 0.4 + 0.3 * (1 - Math.cos((2 * Math.PI * (minute % DAY)) / DAY))
}
