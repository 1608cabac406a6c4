import type { MaintenanceWindow } from '../model/config.ts'

const MINUTE = 60_000
const DAY = 24 * 60
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']

/**
 * Whether planned work is going on. A weekly window goes by the clock on the wall: on the day when clocks change it is
 * an hour longer or shorter, as the night is.
 * @param at epoch milliseconds.
 * @returns when it ends, epoch milliseconds; `undefined` outside of all windows.
 */
export function maintenanceAt(windows: readonly MaintenanceWindow[], at: number): number | undefined {
  const ends = windows.flatMap((window) => endOf(window, at) ?? [])
  return ends.length > 0 ? Math.max(...ends) : undefined
}

function endOf(window: MaintenanceWindow, at: number): number | undefined {
  switch (window.kind) {
    case 'once':
      return at >= window.from && at < window.to ? window.to : undefined
    case 'weekly': {
      const { day, minute } = wallClock(at, window.zone)
      const overnight = window.to <= window.from
      const today = window.days.includes(day) && minute >= window.from && (overnight || minute < window.to)
      const yesterday = overnight && window.days.includes((day + 6) % 7) && minute < window.to
      if (!today && !yesterday) return undefined
      const left = (window.to - minute + DAY) % DAY || DAY
      return Math.floor(at / MINUTE) * MINUTE + left * MINUTE
    }
    default:
      return window satisfies never
  }
}

/** Made once a zone: it takes longer than all else here. */
const clocks = new Map<string, Intl.DateTimeFormat>()

function wallClock(at: number, zone: string): { day: number; minute: number } {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat('en-GB', {
      weekday: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: zone,
    })
  clocks.set(zone, clock)
  const part = Object.fromEntries(clock.formatToParts(at).map(({ type, value }) => [type, value]))
  return { day: WEEKDAYS.indexOf(part.weekday ?? ''), minute: Number(part.hour) * 60 + Number(part.minute) }
}

/** The next time that the clock of a zone shows an hour. @param at epoch milliseconds, as is what it returns. */
export function nextAt(hour: number, at: number, zone: string): number {
  const { minute } = wallClock(at, zone)
  const left = (hour * 60 - minute + DAY) % DAY || DAY
  const next = Math.floor(at / MINUTE) * MINUTE + left * MINUTE
  // Clocks may change in between: the difference shows on the wall.
  const off = hour * 60 - wallClock(next, zone).minute
  return next + (Math.abs(off) > DAY / 2 ? 0 : off) * MINUTE
}
