import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createConcurrencyLimit } from '../../src/http/concurrency-limit.ts'

/** Works that end when they are told to, and the numbers of those that have begun. */
function works(count: number, enter: ReturnType<typeof createConcurrencyLimit>) {
  const begun: number[] = []
  const ends: { done(): void; fail(error: Error): void }[] = []
  const results = Array.from({ length: count }, (_, i) =>
    enter(() => {
      begun.push(i)
      return new Promise<number>((resolve, reject) => {
        ends[i] = { done: () => resolve(i), fail: reject }
      })
    }),
  )
  return { begun, results, end: (i: number) => ends[i]?.done(), fail: (i: number) => ends[i]?.fail(new Error('lost')) }
}

const settle = () => vi.advanceTimersByTimeAsync(0)

describe('a limit of two at once, with patience for 20 ms', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('the others wait, and begin in their order as places become free', async () => {
    const { begun, results, end } = works(4, createConcurrencyLimit(2, 20))
    await settle()
    expect(begun).toEqual([0, 1])
    end(1)
    await settle()
    expect(begun).toEqual([0, 1, 2])
    end(0)
    end(2)
    await settle()
    end(3)
    await expect(Promise.all(results)).resolves.toEqual([0, 1, 2, 3])
  })

  test('one that fails leaves its place, and its error is its own', async () => {
    const { begun, results, fail } = works(3, createConcurrencyLimit(2, 20))
    const lost = expect(results[0]).rejects.toThrow('lost')
    await settle()
    fail(0)
    await lost
    await settle()
    expect(begun).toEqual([0, 1, 2])
  })

  test('slow ones hold up nobody, and give their places away once', async () => {
    const { begun, results, end } = works(6, createConcurrencyLimit(2, 20))
    await vi.advanceTimersByTimeAsync(19)
    expect(begun).toEqual([0, 1])
    await vi.advanceTimersByTimeAsync(1)
    expect(begun).toEqual([0, 1, 2, 3])
    // Their places are taken already.
    end(0)
    end(1)
    await settle()
    expect(begun).toEqual([0, 1, 2, 3])
    await expect(Promise.all(results.slice(0, 2))).resolves.toEqual([0, 1])
    await vi.advanceTimersByTimeAsync(20)
    expect(begun).toEqual([0, 1, 2, 3, 4, 5])
  })
})
