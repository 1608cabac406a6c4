import { describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../tools/simulator/engine.ts'
import type { Knobs } from '../../tools/simulator/machine.ts'
import { vllmPage } from '../../tools/simulator/page.ts'
import { amount } from '../long.ts'

const START = Date.UTC(2026, 10, 30)
const MINUTE = 60_000

/** Plays ten ordinary minutes, turns the knobs, plays ten more. */
function trouble(knobs: Partial<Knobs>, seed = 1) {
  const engine = createEngine(START, { seed })
  engine.advance(START + 10 * MINUTE)
  const before = numbers(engine)
  engine.change(knobs)
  engine.advance(START + 20 * MINUTE)
  const after = numbers(engine)
  return { engine, before, after, generated: after.generated - before.generated }
}

function numbers(engine: Engine) {
  const { generationTokens: generated, preemptions, finished } = engine.totals()
  return { ...engine.gauges(), generated, preemptions, finished: finished.stop + finished.length }
}

test('the same seed and the same knobs give the same page, another seed another one', () => {
  const page = (seed: number) => vllmPage(trouble({ arrivals: 5 }, seed).engine)
  expect(page(3)).toBe(page(3))
  expect(page(3)).not.toBe(page(4))
})

test('it does not matter in how many steps the time passes', () => {
  const fine = createEngine(START)
  for (let second = 1; second <= 120; second += 1) fine.advance(START + second * 1000)
  const coarse = createEngine(START)
  coarse.advance(START + 120_000)
  expect(vllmPage(fine)).toBe(vllmPage(coarse))
})

test('time never runs backwards', () => {
  const engine = createEngine(START)
  engine.advance(START + MINUTE)
  const page = vllmPage(engine)
  engine.advance(START)
  expect(vllmPage(engine)).toBe(page)
})

describe(`over ${amount('seeds')} seeds`, () => {
  const seeds = Array.from({ length: amount('seeds') }, (_, index) => index + 1)
  test.each<[what: string, knobs: Partial<Knobs>, holds: (played: ReturnType<typeof trouble>) => boolean]>([
    ['an ordinary load does not queue', {}, ({ after }) => after.waiting <= 5 && after.running <= 16],
    [
      'a tripled load queues at the usual ceiling',
      { arrivals: 6 },
      ({ after, generated, before }) =>
        after.waiting > 500 && after.running >= 15 && generated > 1.4 * before.generated,
    ],
    [
      'a GPU slowed to a third queues at a lower ceiling',
      { slowdown: 3 },
      ({ after, generated, before }) => after.waiting > 100 && generated < 0.8 * before.generated,
    ],
    [
      'prompts eight times longer fill the cache',
      { promptTokens: 3200 },
      ({ after }) => after.waiting > 100 && after.preemptions > 100,
    ],
    ['a cache too small preempts', { cacheTokens: 2400 }, ({ after }) => after.preemptions > 100 && after.waiting > 50],
    [
      'a hung engine makes no progress and keeps its last gauges',
      { hung: true },
      ({ before, after }) =>
        after.generated === before.generated && after.running === before.running && after.waiting === before.waiting,
    ],
  ])('%s', (_what, knobs, holds) => {
    expect(seeds.filter((seed) => !holds(trouble(knobs, seed)))).toEqual([])
  })
})

test('nothing is lost: what arrived is finished, running or waiting', () => {
  const engine = createEngine(START, { seed: 5 }, { arrivals: 5 })
  engine.advance(START + 10 * MINUTE)
  engine.change({ arrivals: 1e-9 })
  const { running, waiting } = engine.gauges()
  const { finished } = numbers(engine)
  engine.advance(START + 120 * MINUTE)
  expect(numbers(engine).finished).toBeGreaterThanOrEqual(finished + running + waiting)
  expect(numbers(engine)).toMatchObject({ running: 0, waiting: 0, kvUsage: 0 })
})

test('a restart loses all work and all totals, and nothing listens until it has started', () => {
  const { engine } = trouble({ arrivals: 6 })
  engine.restart(30_000)
  expect(engine.listening()).toBe(false)
  engine.advance(START + 20 * MINUTE + 29_000)
  expect(engine.listening()).toBe(false)
  engine.advance(START + 20 * MINUTE + 31_000)
  expect(engine.listening()).toBe(true)
  // The last step may end a little after the moment that was asked for.
  expect(engine.startedAt() - START - 20 * MINUTE).toBeCloseTo(30_000, -3)
  expect(numbers(engine).finished).toBe(0)
  expect(engine.gauges().waiting).toBeLessThan(20)
})

test('errors are counted as such', () => {
  const { engine } = trouble({ errorShare: 0.5 })
  const { error, stop } = engine.totals().finished
  expect(error).toBeGreaterThan(0.3 * stop)
})
