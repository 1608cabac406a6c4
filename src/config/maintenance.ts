import type { MaintenanceWindow } from '../model/config.ts'
import type { Failed } from '../model/fallible.ts'
import { failed, isFailed, type Value, value } from './values.ts'

/** A window as it is written: without a zone of its own it goes by the function's. */
export type Window = Exclude<MaintenanceWindow, { kind: 'weekly' }> | (WeeklyWindow & { zone: string | undefined })
type WeeklyWindow = Omit<Extract<MaintenanceWindow, { kind: 'weekly' }>, 'zone'>

const EXAMPLE = 'Sat 02:00-04:00 Europe/Berlin, 2026-12-24T20:00+01:00/PT6H'
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']
const LONGEST = 31 * 86_400_000

/** An IANA name of a time zone that this machine knows. */
export const timezone: Value<string> = value('the name of a time zone, such as Europe/Berlin', (text) =>
  isZone(text) ? text : undefined,
)

/** Times of planned work, separated by commas. */
export const maintenance: Value<Window[]> = value(`times such as ${EXAMPLE}`, (text) => {
  const windows: Window[] = []
  for (const part of text.split(/[,;\n]/).map((one) => one.trim())) {
    if (part === '') continue
    const found = windowOf(part)
    if (isFailed(found)) return found
    windows.push(found)
  }
  return windows.length > 0 ? windows : undefined
})

function windowOf(text: string): Window | Failed {
  return text.includes('T') && /^\d/.test(text) ? onceOf(text) : weeklyOf(text)
}

/** `Sat 02:00-04:00`, `Mon-Fri 23:00-01:00 Europe/Berlin`, `daily 03:00-03:30`. */
function weeklyOf(text: string): Window | Failed {
  const [, days = '', from = '', to = '', zone] =
    /^([a-z-]+)\s+(\d{1,2}:\d{2})\s*-\s*(\d{1,2}:\d{2})(?:\s+(\S+))?$/i.exec(text) ?? []
  const found = daysOf(days.toLowerCase())
  const [begins, ends] = [minuteOf(from), minuteOf(to)]
  if (!found || begins === undefined || ends === undefined) {
    return failed(`may be times such as ${EXAMPLE}: one of them is not a day with a time from and to`)
  }
  if (zone !== undefined && !isZone(zone)) return failed('names a time zone that is not known')
  return { kind: 'weekly', days: found, from: begins % 1440, to: ends % 1440, zone }
}

function daysOf(text: string): number[] | undefined {
  if (text === 'daily') return [0, 1, 2, 3, 4, 5, 6]
  const [first, last, ...more] = text.split('-').map((day) => DAYS.indexOf(day.slice(0, 3)))
  if (first === undefined || first < 0 || last === -1 || more.length > 0) return undefined
  if (last === undefined) return [first]
  return Array.from({ length: ((last - first + 7) % 7) + 1 }, (_, i) => (first + i) % 7)
}

function minuteOf(text: string): number | undefined {
  const [hour = 99, minute = 99] = text.split(':').map(Number)
  return hour * 60 + minute <= 1440 && minute < 60 ? hour * 60 + minute : undefined
}

/** ISO 8601: `2026-12-24T20:00+01:00/PT6H`, or with its end in the place of the duration. */
function onceOf(text: string): Window | Failed {
  const [start = '', end = ''] = text.split('/')
  const from = instantOf(start)
  const lasts = durationOf(end)
  const to = from !== undefined && lasts !== undefined ? from + lasts : instantOf(end)
  if (from === undefined || to === undefined || to <= from || to - from > LONGEST) {
    return failed(`may be times such as ${EXAMPLE}: one of them is not a moment with its offset and how long it lasts`)
  }
  return { kind: 'once', from, to }
}

/** With its offset, or `Z`: a clock without a zone is nobody's. */
function instantOf(text: string): number | undefined {
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:?\d{2})$/i.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** `PT6H`, `PT90M`, `P1DT2H`. */
function durationOf(text: string): number | undefined {
  const match = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?$/i.exec(text)
  if (!match) return undefined
  const [days, hours, minutes] = match.slice(1).map((part) => Number(part ?? 0))
  const ms = (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60_000
  return ms > 0 ? ms : undefined
}

/** Intl also takes offsets; a name follows summer time. */
function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return /^[A-Za-z]/.test(name)
  } catch {
    return false
  }
}
