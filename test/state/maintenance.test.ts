import { expect, test } from 'vitest'
import type { MaintenanceWindow } from '../../src/model/config.ts'
import { maintenanceAt, nextAt } from '../../src/state/maintenance.ts'

const berlin = { kind: 'weekly', zone: 'Europe/Berlin' } as const
const saturday: MaintenanceWindow = { ...berlin, days: [6], from: 120, to: 240 }
const nights: MaintenanceWindow = { ...berlin, days: [1, 2, 3, 4, 5], from: 23 * 60, to: 60 }
const once: MaintenanceWindow = { kind: 'once', from: Date.UTC(2026, 11, 24, 19), to: Date.UTC(2026, 11, 25, 1) }

test.each<[string, MaintenanceWindow, string, string | undefined]>([
  ['before it', saturday, '2026-11-28T00:59:59Z', undefined],
  ['at its beginning', saturday, '2026-11-28T01:00:00Z', '2026-11-28T03:00:00Z'],
  ['in it', saturday, '2026-11-28T02:59:59Z', '2026-11-28T03:00:00Z'],
  ['at its end', saturday, '2026-11-28T03:00:00Z', undefined],
  ['on another day', saturday, '2026-11-29T02:00:00Z', undefined],
  ['by the clock of the zone in summer', saturday, '2026-07-04T00:30:00Z', '2026-07-04T02:00:00Z'],
  ['overnight, before midnight', nights, '2026-11-30T22:30:00Z', '2026-12-01T00:00:00Z'],
  ['overnight, after midnight', nights, '2026-11-30T23:30:00Z', '2026-12-01T00:00:00Z'],
  ['overnight, the night after Friday', nights, '2026-12-04T23:30:00Z', '2026-12-05T00:00:00Z'],
  ['overnight, not the night before Monday', nights, '2026-11-29T23:30:00Z', undefined],
  ['once, in it', once, '2026-12-24T19:00:00Z', '2026-12-25T01:00:00Z'],
  ['once, at its end', once, '2026-12-25T01:00:00Z', undefined],
])('planned work, %s', (_, window, at, end) => {
  expect(maintenanceAt([window], Date.parse(at))).toBe(end === undefined ? undefined : Date.parse(end))
})

test.each([
  ['2026-11-30T07:59:00Z', '2026-11-30T08:00:00Z'],
  ['2026-11-30T08:00:00Z', '2026-12-01T08:00:00Z'],
  ['2026-11-30T20:00:30Z', '2026-12-01T08:00:00Z'],
  ['2026-03-28T20:00:00Z', '2026-03-29T07:00:00Z'], // clocks go forward in between
  ['2026-10-24T20:00:00Z', '2026-10-25T08:00:00Z'], // and back
])('after %s, 9:00 in Berlin is next at %s', (at, next) => {
  expect(new Date(nextAt(9, Date.parse(at), 'Europe/Berlin')).toISOString()).toBe(next.replace('Z', '.000Z'))
})
