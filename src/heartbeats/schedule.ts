import { Cron } from 'croner'
import type { ReadSchedule } from '../model/config.ts'

/**
 * A calendar in cron's five fields, by the clock of a time zone. What falls into the hour that is left out in spring is due
 * at its end, what falls into the hour that comes twice in autumn is due once.
 */
export const readSchedule: ReadSchedule = (text, timezone) => {
  try {
    if (text.trim().split(/\s+/).length !== 5)
      return { ok: false, why: 'has five fields: minute, hour, day, month, weekday' }
    const cron = new Cron(text, { timezone, paused: true })
    if (cron.nextRun() === null) return { ok: false, why: 'names no time that ever comes' }
    const previous = (at: number) => cron.previousRuns(1, new Date(at + 1))[0]?.getTime()
    return { ok: true, schedule: { text, timezone, previous } }
  } catch (error) {
    return { ok: false, why: (error as Error).message.replace(/^\w+: /, '') }
  }
}
