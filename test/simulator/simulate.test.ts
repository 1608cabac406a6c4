import { expect, test } from 'vitest'
import { createEngine } from '../../tools/simulator/engine.ts'
import { arrivalsAt, turn } from '../../tools/simulator/simulate.ts'

test.each([
  [0, 2],
  [59, 2],
  [60, 6],
  [100, 1],
  [179.9, 1],
  [180, 2],
  [241, 6],
])('by itself, %i s into it, %i requests a second come', (second, arrivals) => {
  expect(arrivalsAt(second)).toBe(arrivals)
})

test.each([
  ['arrivals 5', { arrivals: 5 }],
  [' slowdown=3 ', { slowdown: 3 }],
  ['hung yes', { hung: true }],
  ['errorShare 0.1', { errorShare: 0.1 }],
])('"%s" turns the knob', (typed, knobs) => {
  const engine = createEngine(0)
  turn(engine, typed)
  expect(engine.knobs()).toMatchObject(knobs)
})

test('"restart" takes queue and counts away', () => {
  const engine = createEngine(0, {}, { arrivals: 8 })
  engine.advance(60_000)
  expect(engine.gauges().waiting).toBeGreaterThan(20)
  turn(engine, 'restart')
  expect(engine.gauges().waiting).toBe(0)
})

test.each(['arrivals', 'arrivals many', 'arrivals -1', 'arivals 5', 'constructor 5'])(
  '"%s" says what may be typed',
  (typed) => {
    const engine = createEngine(0)
    const before = { ...engine.knobs() }
    expect(turn(engine, typed)).toMatch(/may be restart, hung yes, .*arrivals/)
    expect(engine.knobs()).toEqual(before)
  },
)
