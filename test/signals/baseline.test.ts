import { describe, expect, test } from 'vitest'
import { BASELINE, type Baseline, bin, ceiling, learn, usual } from '../../src/signals/baseline.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const T0 = Date.UTC(2026, 10, 30, 12)

describe('learning', () => {
  test('takes one value in three minutes and keeps the last twenty', () => {
    const every = (minutes: number, runs: number) => learned(Array.from({ length: runs }, (_, i) => [i * minutes, i]))
    expect(every(1, 7)?.values).toEqual([0, 3, 6])
    expect(every(5, 25)?.values).toEqual(Array.from({ length: 20 }, (_, i) => i + 5))
  })

  test('stores three significant digits', () => {
    expect(
      learned([
        [0, 1_234.567_89],
        [5, 0.123_456_789],
      ])?.values,
    ).toEqual([1_230, 0.123])
  })

  test('case 123: a value that is no number is not learned, and null read back is no baseline', () => {
    expect(
      learned([
        [0, 5],
        [5, Number.NaN],
        [10, Number.POSITIVE_INFINITY],
      ])?.values,
    ).toEqual([5])
    expect(
      learned([
        [0, Number.NaN],
        [1, 7],
      ])?.values,
    ).toEqual([7])
    expect(BASELINE.safeParse({ since: T0, at: T0, values: [null] }).success).toBe(false)
    expect(BASELINE.safeParse(JSON.parse(JSON.stringify(learned([[0, 5]])))).success).toBe(true)
  })

  test('a gap of more than a day forgets what was learned', () => {
    const before = steady(30)
    expect(learn(before, 9, before.at + 24 * HOUR).values).toHaveLength(20)
    expect(learn(before, 9, before.at + 24 * HOUR + 1)).toEqual({
      since: before.at + 24 * HOUR + 1,
      at: before.at + 24 * HOUR + 1,
      values: [9],
    })
  })

  test('a clock that went back does not stop it', () => {
    const before = steady(3)
    const later = learn(before, 9, before.since - HOUR)
    expect(later.values.at(-1)).toBe(9)
    expect(later).toMatchObject({ since: before.since - HOUR, at: before.since - HOUR })
    expect(learn(later, 8, later.at + 3 * MINUTE).values.at(-1)).toBe(8)
  })
})

describe('the usual value', () => {
  test('is the median, after an hour and ten values', () => {
    const nine = learned(Array.from({ length: 9 }, (_, i) => [i * 10, i]))
    expect(usual(nine, T0 + 2 * HOUR)).toBeUndefined()
    const ten = learned(Array.from({ length: 10 }, (_, i) => [i * 10, i]))
    expect(usual(ten, T0 + 2 * HOUR)).toBe(4.5)
    expect(usual(ten, T0 + HOUR)).toBe(4.5)
    expect(usual(ten, T0 + HOUR - 1)).toBeUndefined()
    expect(usual(undefined, T0)).toBeUndefined()
  })

  test('a single wild value does not move it', () => {
    const values = Array.from({ length: 15 }, (_, i): [number, number] => [i * 5, i === 7 ? 1e6 : 100])
    expect(usual(learned(values), T0 + 2 * HOUR)).toBe(100)
    expect(ceiling(learned(values), T0 + 2 * HOUR)).toBe(100)
  })

  test('is unknown a day after the last value', () => {
    const baseline = steady(20)
    expect(usual(baseline, baseline.at + 24 * HOUR)).toBe(5)
    expect(usual(baseline, baseline.at + 24 * HOUR + 1)).toBeUndefined()
  })

  test('its ceiling is the highest value but one', () => {
    const values = Array.from({ length: 12 }, (_, i): [number, number] => [i * 10, i])
    expect(ceiling(learned(values), T0 + 3 * HOUR)).toBe(10)
    expect(ceiling(learned(values.slice(0, 5)), T0 + 3 * HOUR)).toBeUndefined()
  })

  test('an empty baseline has none, even when nothing is asked for', () => {
    expect(usual({ since: T0, at: T0, values: [] }, T0 + 2 * HOUR)).toBeUndefined()
  })
})

test('bins of running requests double', () => {
  const bins = [0, 0.5, 1, 2, 3, 4, 7, 8, 255, 256, -3, Number.NaN].map(bin)
  expect(bins).toEqual([0, 0, 1, 2, 2, 3, 3, 4, 8, 9, 0, 0])
})

/** Learns values at minutes after T0. */
function learned(values: [minute: number, value: number][]): Baseline | undefined {
  let baseline: Baseline | undefined
  for (const [minute, value] of values) baseline = learn(baseline, value, T0 + minute * MINUTE)
  return baseline
}

function steady(runs: number): Baseline {
  let baseline = learn(undefined, 5, T0)
  for (let i = 1; i < runs; i++) baseline = learn(baseline, 5, T0 + i * 5 * MINUTE)
  return baseline
}
