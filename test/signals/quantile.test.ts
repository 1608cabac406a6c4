import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mean, quantile } from '../../src/signals/quantile.ts'

describe('quantile', () => {
  test('is linear inside its bucket, from 0 in the first one', () => {
    expect(quantile(0.5, { bounds: [2, 4], counts: [100, 100, 100] })).toEqual({ value: 1, atLeast: false })
    expect(quantile(0.75, { bounds: [2, 4], counts: [50, 100, 100] })).toEqual({ value: 3, atLeast: false })
  })

  test('case 27: in the +Inf bucket it is at least the last bound', () => {
    expect(quantile(0.99, { bounds: [1, 5, 10], counts: [2, 3, 5, 100] })).toEqual({ value: 10, atLeast: true })
  })

  test('case 30: fewer than 20 observations are too few to judge', () => {
    expect(quantile(0.99, { bounds: [1, 5], counts: [19, 19, 19] })).toBeUndefined()
    expect(quantile(0.99, { bounds: [1, 5], counts: [20, 20, 20] })).toBeDefined()
    expect(quantile(0.99, { bounds: [1, 5], counts: [1, 1, 1] }, 1)).toBeDefined()
  })

  test('case 22: nothing observed is unknown, never NaN, even when one asks for no minimum', () => {
    expect(quantile(0.99, { bounds: [1, 5], counts: [0, 0, 0] }, 0)).toBeUndefined()
  })

  test('a bucket at 0 is not divided by its width', () => {
    expect(quantile(0.5, { bounds: [0, 1], counts: [90, 100, 100] })).toEqual({ value: 0, atLeast: false })
    expect(quantile(0.95, { bounds: [0, 1], counts: [90, 100, 100] })?.value).toBeCloseTo(0.5, 12)
  })

  test('a first bucket below 0 gives its bound, for its lower end is not known', () => {
    expect(quantile(0.5, { bounds: [-1, 1], counts: [90, 100, 100] })).toEqual({ value: -1, atLeast: false })
  })

  test('a summary has no quantile: its own cannot be taken between two readings', () => {
    expect(quantile(0.99, { bounds: [], counts: [1_000] })).toBeUndefined()
  })

  test('rises with q and stays between 0 and the last bound', () => {
    const buckets = fc.array(fc.nat(100), { minLength: 4, maxLength: 4 })
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(buckets, share, share, ([a = 0, b = 0, c = 0, d = 0], p, q) => {
        const increase = { bounds: [0.5, 1, 20], counts: [a, a + b, a + b + c, a + b + c + d] }
        const lower = quantile(Math.min(p, q), increase, 1)
        const upper = quantile(Math.max(p, q), increase, 1)
        if (!lower || !upper) return a + b + c + d === 0
        // Interpolation rounds in its last digit.
        return lower.value >= 0 && upper.value <= 20 && lower.value <= upper.value * (1 + 1e-12)
      }),
    )
  })
})

describe('mean', () => {
  test('is sum over count', () => {
    expect(mean({ bounds: [1, 5], counts: [0, 100, 100], sum: 250 })).toEqual({ value: 2.5 })
  })

  test('fewer than 5 observations, or no believable sum, are unknown', () => {
    expect(mean({ bounds: [1], counts: [4, 4], sum: 2 })).toBeUndefined()
    expect(mean({ bounds: [1], counts: [5, 5], sum: 2 })).toEqual({ value: 0.4 })
    expect(mean({ bounds: [1], counts: [100, 100] })).toBeUndefined()
    expect(mean({ bounds: [1], counts: [0, 0], sum: 0 }, 0)).toBeUndefined()
  })

  test('case 35: one absurd observation does not move it beyond the p99', () => {
    const found = mean({ bounds: [0.3, 10], counts: [100, 100, 101], sum: 1_209_650 })
    expect(found?.outlier).toBe(true)
    expect(found?.value).toBeCloseTo(0.3 * 0.9999, 9)
  })

  test('the outlier is found among few observations too, where no p99 would be told', () => {
    expect(mean({ bounds: [0.3, 10], counts: [10, 10, 10], sum: 1e6 })).toMatchObject({ outlier: true })
  })

  test.each([
    ['1 of 50 beyond the last bound', { bounds: [0.3, 7_680], counts: [49, 49, 50], sum: 1_209_650 }],
    ['1 of 5, the host up for a day', { bounds: [0.3, 7_680], counts: [4, 4, 5], sum: 86_400 }],
    ['3 of 150, each with the uptime', { bounds: [0.3, 7_680], counts: [147, 147, 150], sum: 3_000_000 }],
    [
      '1 of 30 in a finite bucket, the host up for two hours',
      { bounds: [0.3, 1_920, 7_680], counts: [29, 29, 30, 30], sum: 7_201 },
    ],
  ])('case 35: few that must have been absurd leave the mean to the others: %s', (_, increase) => {
    const found = mean(increase)
    expect(found?.outlier).toBe(true)
    expect(found?.value).toBeLessThan(0.3)
  })

  test.each([
    [
      'half of them beyond the last bound, for hours',
      { bounds: [0.3, 60], counts: [50, 50, 100], sum: 400_000 },
      4_000,
    ],
    ['one beyond the last bound, for ten minutes', { bounds: [0.3, 60], counts: [9, 9, 10], sum: 602 }, 60.2],
    ['what the others may have waited explains it', { bounds: [0.3, 7_680], counts: [0, 9, 10], sum: 12_000 }, 1_200],
  ])('waits that may have been are believed: %s', (_, increase, value) => {
    expect(mean(increase)).toEqual({ value })
  })

  test('a p99 that is only "at least" rules nothing out', () => {
    expect(mean({ bounds: [1, 5, 10], counts: [0, 0, 50, 100], sum: 3_000 })).toEqual({ value: 30 })
  })

  test('observations at the upper end of their bucket are no outlier, only cut to what the p99 says', () => {
    expect(mean({ bounds: [1, 5], counts: [100, 100, 100], sum: 100 })).toEqual({ value: 0.99 })
  })

  test('a summary gives its mean as it is', () => {
    expect(mean({ bounds: [], counts: [10], sum: 25 })).toEqual({ value: 2.5 })
  })
})
