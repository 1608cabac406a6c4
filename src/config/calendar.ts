import type { ExpectedBeats, ReadSchedule } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { type Environment, find, namesFor, read, variableOf } from './environment.ts'
import { CALENDAR } from './receiver.ts'
import { GENERAL, PER_ENDPOINT } from './settings.ts'

/** The calendar of a worker that has one instead of an interval, and how long its runs may last. */
export function calendarOf(
  env: Environment,
  worker: string,
  { interval }: ExpectedBeats,
  readSchedule: ReadSchedule | undefined,
): Pick<ExpectedBeats, 'schedule' | 'runLimit'> {
  const first = <S extends 'SCHEDULE' | 'TIMEZONE' | 'RUN_LIMIT'>(setting: S) =>
    namesFor('heartbeat-check', [variableOf(worker)], setting)
  const runLimit = find(env, first('RUN_LIMIT'), PER_ENDPOINT.RUN_LIMIT.value)?.value
  const found = find(env, first('SCHEDULE'), PER_ENDPOINT.SCHEDULE.value)
  const own = `HEARTBEAT_${variableOf(worker)}_SCHEDULE`
  if (interval !== CALENDAR) {
    if (found?.name === own)
      env.problems.add(`${own}: ${worker} has an interval; declare it as ${worker}=cron+1h, or leave this out`)
    return defined({ runLimit })
  }
  if (found === undefined) {
    env.problems.add(`${own}: is not set; ${worker} has a calendar, such as 0 3 * * * for three at night`)
    return {}
  }
  const timezone =
    find(env, first('TIMEZONE'), PER_ENDPOINT.TIMEZONE.value)?.value ?? read(env, 'TIMEZONE', GENERAL.TIMEZONE)
  if (found.value === undefined || readSchedule === undefined) return defined({ runLimit })
  const reading = readSchedule(found.value, timezone)
  if (!reading.ok) env.problems.add(`${found.name} is ${found.value}: ${reading.why}`)
  return defined({ runLimit, schedule: reading.ok ? reading.schedule : undefined })
}
