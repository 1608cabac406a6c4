import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { editDistance, suggest } from '../../src/config/suggest.ts'

test.each([
  ['WAITNG', 'WAITING', 1],
  ['WATIING', 'WAITING', 1],
  ['WAITINGS', 'WAITING', 1],
  ['WAXTING', 'WAITING', 1],
  ['', 'ABC', 3],
  ['SAME', 'SAME', 0],
])('%s is %s with %i changes', (a, b, distance) => expect(editDistance(a, b)).toBe(distance))

test('the distance is the same in both directions, 0 for equal texts alone and never more than the longer text', () => {
  const text = fc.string({ maxLength: 12 })
  fc.assert(
    fc.property(text, text, (a, b) => {
      const distance = editDistance(a, b)
      expect(distance).toBe(editDistance(b, a))
      expect(distance === 0).toBe(a === b)
      expect(distance).toBeLessThanOrEqual(Math.max(a.length, b.length))
    }),
  )
})

test('the nearest known name is suggested, else a longer one, or none', () => {
  const known = ['WAITING', 'QUEUE_WAIT', 'TTFT', 'CHAT_A_TTFT']
  expect(suggest('WAITNG', known)).toBe('WAITING')
  expect(suggest('TFTT', known)).toBe('TTFT')
  expect(suggest('CHAT_TTFT', known)).toBe('CHAT_A_TTFT')
  expect(suggest('QUEUE', known)).toBe('QUEUE_WAIT')
  expect(suggest('SOMETHING_ELSE', known)).toBeUndefined()
  expect(suggest('', known)).toBeUndefined()
  expect(suggest('ANY', [])).toBeUndefined()
})
