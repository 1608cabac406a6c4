import { expect, test } from 'vitest'
import { sparkline } from '../../src/messages/sparkline.ts'

test.each([
  ['a rise', [0, 10, 20, 42], '▁▃▄█', 0, 42],
  ['a flat line at a height is no line at zero', [7, 7, 7], '███', 7, 7],
  ['nothing at all', [0, 0, 0], '▁▁▁', 0, 0],
  ['an unknown value is a gap, not a zero', [3, null, 42, 21], '▂·█▅', 3, 21],
  ['unknown ends are not told as first and last', [null, 3, 5, 6, null], '·▅▇█·', 3, 6],
  ['a value that cannot be is unknown', [1, Number.NaN, -4, 2, 4], '▃··▅█', 1, 4],
  ['only the last 15', [99, ...Array.from({ length: 15 }, () => 1)], '█'.repeat(15), 1, 1],
])('%s', (_, values, bars, first, last) => {
  expect(sparkline(values)).toMatchObject({ bars, first, last })
})

test.each([[[]], [[1, 2]], [[null, null, null, 5, 6]]])('fewer than three known values draw no line: %o', (values) => {
  expect(sparkline(values)).toBeUndefined()
})

test('the largest known value is told too', () => {
  expect(sparkline([2, null, 185, 0])).toMatchObject({ first: 2, top: 185, last: 0 })
})
