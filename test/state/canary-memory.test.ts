import { describe, expect, test } from 'vitest'
import type { CanaryMemory } from '../../src/model/observation.ts'
import { heldBack, isUnused, remember } from '../../src/state/canary-memory.ts'

const MINUTE = 60_000
const DAY = 1_440 * MINUTE
const MIDNIGHT = Date.parse('2026-11-30T00:00:00Z')

/** Runs each minute over some days, of which each asks that may. */
function askedEach(budget: number, days: number, minutes = 1): number[] {
  let memory: CanaryMemory | undefined
  return Array.from({ length: days }, (_, day) => {
    let asked = 0
    for (let minute = 0; minute < 1_440; minute += minutes) {
      const now = MIDNIGHT + day * DAY + minute * MINUTE
      if (heldBack(memory, { budget }, { now, backsOff: false })) continue
      memory = remember(memory, { status: 'answered', requests: 1 }, false, now)
      asked += 1
    }
    return asked
  })
}

describe('a budget by days of UTC', () => {
  test.each([
    [500, 480, 500],
    [100, 98, 100],
    [1, 1, 1],
    [1_440, 1_438, 1_440],
    [5_000, 1_440, 1_440],
  ])('%i a day, a run a minute: from %i to %i', (budget, least, most) => {
    for (const asked of askedEach(budget, 3)) {
      expect(asked).toBeGreaterThanOrEqual(least)
      expect(asked).toBeLessThanOrEqual(most)
    }
  })

  test('requests count, not canaries: one that had to be worded anew costs two', () => {
    const memory = remember(undefined, { status: 'answered', requests: 2 }, false, MIDNIGHT)
    expect(memory).toMatchObject({ requests: 2 })
    const late = { now: MIDNIGHT + 23 * 60 * MINUTE, backsOff: false }
    expect(heldBack(memory, { budget: 2 }, late)).toBe('over-budget')
    expect(heldBack(memory, { budget: 3 }, late)).toBe(undefined)
    expect(heldBack(memory, { budget: 2 }, { now: MIDNIGHT + DAY, backsOff: false })).toBe(undefined)
  })

  test('a clock that went back holds nothing up', () => {
    const memory = remember(undefined, { status: 'answered', requests: 1 }, false, MIDNIGHT + DAY)
    expect(heldBack(memory, { budget: 1 }, { now: MIDNIGHT, backsOff: true })).toBe(undefined)
  })
})

test('pauses grow from the fourth canary in a row that was over its limit, and end with one that was not', () => {
  let memory: CanaryMemory | undefined
  const asked: number[] = []
  for (let minute = 0; minute < 30; minute += 1) {
    const now = MIDNIGHT + minute * MINUTE
    if (heldBack(memory, {}, { now, backsOff: true })) continue
    memory = remember(memory, { status: 'busy', requests: 1 }, minute < 22, now)
    asked.push(minute)
  }
  expect(asked).toEqual([0, 1, 2, 3, 5, 8, 13, 18, 23, 24, 25, 26, 27, 28, 29])
})

test('a model is unused only while the end that we set is ahead, and not a day ahead', () => {
  const memory = { askedAt: MIDNIGHT, day: MIDNIGHT, requests: 1, overLimit: 0, leavesAt: MIDNIGHT + 5 * MINUTE }
  const at = (minute: number) => MIDNIGHT + minute * MINUTE
  expect(isUnused(memory, at(5), at(1))).toBe(true)
  expect(isUnused(memory, at(6), at(1))).toBe(false)
  expect(isUnused(memory, at(5), at(5))).toBe(false)
  expect(isUnused(memory, undefined, at(1))).toBe(false)
  expect(isUnused({ ...memory, leavesAt: at(2_000) }, at(2_000), at(1))).toBe(false)
  expect(isUnused(undefined, at(5), at(1))).toBe(false)
})
