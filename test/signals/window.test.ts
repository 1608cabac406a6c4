import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CounterReading, HistogramReading, LabelSet, Readings } from '../../src/model/signals.ts'
import { HISTORY, type History } from '../../src/signals/history.ts'
import { quantile } from '../../src/signals/quantile.ts'
import { emptyReadings } from '../../src/signals/readings.ts'
import { increases, overWindow, type Remembered, remember, sinceLast } from '../../src/signals/window.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const WINDOW = 5 * MINUTE
const T0 = Date.UTC(2026, 10, 30, 12)

describe('counters', () => {
  /** What each reading of `generation_tokens` adds to the one before; undefined is "nothing to compare with". */
  const stories: Record<string, { values: Record<LabelSet, number>[]; since: (number | undefined)[] }> = {
    'a counter counts what came since the reading before': {
      values: [{ a: 100 }, { a: 130 }, { a: 130 }, { a: 230 }],
      since: [undefined, 30, 0, 100],
    },
    'case 23: a counter that fell counts from zero': { values: [{ a: 8_060 }, { a: 40 }], since: [undefined, 40] },
    'one engine of two restarts: only its past is zero': {
      values: [
        { a: 100, b: 1_000 },
        { a: 150, b: 20 },
      ],
      since: [undefined, 70],
    },
    'a new label set counts from zero': { values: [{ a: 100 }, { a: 110, b: 5 }], since: [undefined, 15] },
    'a label set that vanished takes its past with it': {
      values: [{ a: 100, b: 900 }, { a: 110 }, { a: 120 }],
      since: [undefined, 10, 10],
    },
    'a label set that was missing for one reading is not born again': {
      values: [{ a: 100, b: 9_000 }, { a: 110 }, { a: 120, b: 9_006 }],
      since: [undefined, 10, 16],
    },
    'one that came back smaller is': {
      values: [{ a: 100, b: 9_000 }, { a: 110 }, { a: 120, b: 6 }],
      since: [undefined, 10, 16],
    },
    'rounding noise of a sum over processes is no restart': {
      values: [{ a: 12_345.678_9 }, { a: 12_345.678_899_999_9 }, { a: 12_346.678_9 }],
      since: [undefined, 0, 1],
    },
    'a value that is no number is not there': {
      values: [{ a: 100 }, { a: Number.NaN }, { a: 130 }],
      since: [undefined, undefined, 30],
    },
  }
  for (const [name, { values, since }] of Object.entries(stories)) {
    test(name, () => {
      const told = follow(values.map((of) => tokens(of)))
      expect(told.map(({ history }) => sinceLast(history)?.counters.generation_tokens)).toEqual(since)
    })
  }

  test('a label set that was missing for longer than the window is forgotten, and is born again', () => {
    const without = Array.from({ length: 7 }, (_, i) => tokens({ a: 200 + i }))
    const told = follow([tokens({ a: 100, b: 9_000 }), ...without, tokens({ a: 300, b: 9_006 })])
    const known = told.map(({ history }) => 'b' in (history.counters.generation_tokens ?? {}))
    expect(known).toEqual([true, true, true, true, true, true, true, false, true])
    const last = told.at(-1)?.history
    expect(last && sinceLast(last)?.byLabels.generation_tokens).toEqual({ a: 94, b: 9_006 })
  })

  test('a signal that appears after a good reading counts from zero', () => {
    const [, second] = follow([emptyReadings(), tokens({ a: 12 })])
    expect(second && increases(second.history)?.counters.generation_tokens).toBe(12)
  })

  test('case 31: the first reading is a baseline and decides nothing', () => {
    const [first] = follow([tokens({ a: 5_000_000 })])
    expect(first?.restarted).toBe(false)
    expect(first && increases(first.history)).toBeUndefined()
    expect(first && sinceLast(first.history)).toBeUndefined()
  })

  test('increases are kept by label set too', () => {
    const rejected = (kv: number, cap: number): Readings => ({
      ...emptyReadings(),
      counters: { admission_rejected: { 'reason="kv"': { value: kv }, 'reason="cap"': { value: cap } } },
    })
    const [, second] = follow([rejected(10, 3), rejected(12, 3)])
    expect(second && sinceLast(second.history)?.byLabels.admission_rejected).toEqual({
      'reason="kv"': 2,
      'reason="cap"': 0,
    })
  })
})

describe('restarts', () => {
  const started = (startedAt: number | undefined, value: number): Readings => ({
    ...tokens({ a: value }),
    ...(startedAt === undefined ? {} : { startedAt }),
  })

  test('case 79: another process under the same address is a restart, never a negative rate', () => {
    const [, second] = follow([started(1_790_000_000, 900), started(1_790_003_600, 3)])
    expect(second?.restarted).toBe(true)
    expect(second && increases(second.history)?.counters.generation_tokens).toBe(3)
  })

  test.each<[string, Record<string, number>, Record<string, number>, boolean]>([
    ['case 79: other pids that have counted less', { 'pid="11"': 500, 'pid="12"': 400 }, { 'pid="77"': 3 }, true],
    [
      'a worker that was replaced beside one that goes on',
      { 'pid="11"': 500, 'pid="12"': 400 },
      { 'pid="12"': 401, 'pid="77"': 3 },
      false,
    ],
    ['a worker that is gone beside one that goes on', { 'pid="11"': 500, 'pid="12"': 400 }, { 'pid="12"': 401 }, false],
    ['other labels: another series feeds the signal', { 'err="overloaded"': 5 }, { '': 1 }, false],
    ['more than before: they may have come from anywhere', { 'pid="11"': 500 }, { 'pid="77"': 600 }, false],
  ])('%s', (_, before, after, restarted) => {
    const [, second] = follow([tokens(before), tokens(after)])
    expect(second?.restarted).toBe(restarted)
    expect(second && (increases(second.history)?.counters.generation_tokens ?? 0)).toBeGreaterThanOrEqual(0)
  })

  test('other pids beside a start time that stays are no restart', () => {
    const stays = (of: Record<LabelSet, number>) => ({ ...tokens(of), startedAt: 1_000 })
    expect(follow([stays({ 'pid="11"': 500 }), stays({ 'pid="77"': 3 })])[1]?.restarted).toBe(false)
  })

  test('a moved start time is a restart although every counter rose', () => {
    const [, second] = follow([started(1_790_000_000, 100), started(1_790_000_090, 700)])
    expect(second && increases(second.history)?.counters.generation_tokens).toBe(700)
  })

  test('a start time that differs by less than a second is the same start', () => {
    const [, second] = follow([started(1_790_000_000.2, 100), started(1_790_000_000.9, 700)])
    expect(second?.restarted).toBe(false)
  })

  test('a start time that is missing once is still known afterwards', () => {
    const [, second, third] = follow([started(1_000, 100), started(undefined, 110), started(9_000, 900)])
    expect([second?.restarted, third?.restarted]).toEqual([false, true])
  })

  test('a restart that was seen by its fall is not counted again when the start time shows it too', () => {
    const told = follow([started(1_000, 100), started(undefined, 10), started(9_000, 15)])
    expect(told.map(({ history }) => sinceLast(history)?.counters.generation_tokens)).toEqual([undefined, 10, 5])
  })

  test('a moved _created restarts its own label set alone', () => {
    const readings = (created: number, a: number, b: number): Readings => ({
      ...emptyReadings(),
      counters: { finished: { a: { value: a, created }, b: { value: b, created: 1_000 } } },
    })
    const [, second] = follow([readings(1_000, 100, 100), readings(2_000, 150, 150)])
    expect(second && sinceLast(second.history)?.byLabels.finished).toEqual({ a: 150, b: 50 })
    expect(second?.restarted).toBe(true)
  })

  test('a label set that went with the old process has no past in the new one', () => {
    const both = { ...tokens({ a: 100, b: 50 }), startedAt: 1_000 }
    const [, , third] = follow([both, started(9_000, 10), { ...tokens({ a: 20, b: 60 }), startedAt: 9_000 }])
    expect(third && sinceLast(third.history)?.byLabels.generation_tokens).toEqual({ a: 10, b: 60 })
  })

  test('a label set that went with a restart and comes back small, later than the others, is no other restart', () => {
    const told = follow([
      tokens({ a: 100, b: 50 }),
      tokens({ a: 10 }),
      tokens({ a: 20 }),
      tokens({ a: 30, b: 2 }),
      tokens({ a: 5, b: 3 }),
    ])
    expect(told.map(({ restarted }) => restarted)).toEqual([false, true, false, false, true])
    expect(told.map(({ history }) => sinceLast(history)?.counters.generation_tokens)).toEqual([
      undefined,
      10,
      10,
      12,
      6,
    ])
  })

  test('after a restart the window begins at the reading before it, so that its rate is not thinned', () => {
    const told = follow([
      tokens({ a: 100 }),
      tokens({ a: 200 }),
      tokens({ a: 300 }),
      tokens({ a: 60 }),
      tokens({ a: 90 }),
    ])
    expect(told.map(({ history }) => history.times.length)).toEqual([1, 2, 3, 2, 3])
    const after = told.at(-1)?.history
    expect(after && increases(after)).toMatchObject({ seconds: 120, counters: { generation_tokens: 90 } })
    expect(after?.restartedAt).toBe(T0 + 3 * MINUTE)
  })

  test('a restart is remembered for as long as the window', () => {
    const values = [100, 5, 10, 15, 20, 25, 30, 35]
    const told = follow(values.map((a) => tokens({ a })))
    expect(told.map(({ history }) => history.restartedAt !== undefined)).toEqual([
      ...[false, true, true, true, true, true, true],
      false,
    ])
  })
})

describe('histograms', () => {
  test('case 20: bounds are numbers: the same ones in another spelling are no restart', () => {
    const [, second] = follow([
      ttft({ bounds: [0.5, 1, 2.5], counts: [100, 100, 100, 100] }),
      ttft({ bounds: [0.5, 1.0000000000000002, 2.5], counts: [150, 190, 200, 200] }),
    ])
    expect(second?.restarted).toBe(false)
    const found = second && increases(second.history)?.histograms.ttft
    expect(found?.counts).toEqual([50, 90, 100, 100])
    expect(found && quantile(0.99, found)?.value).toBeCloseTo(2.35, 9)
  })

  test('case 22: no traffic is an increase of nothing, and no quantile', () => {
    const same = ttft({ bounds: [1, 5], counts: [8_000, 8_050, 8_060], sum: 900 })
    const [, second] = follow([same, same])
    const found = second && increases(second.history)?.histograms.ttft
    expect(found).toEqual({ bounds: [1, 5], counts: [0, 0, 0], sum: 0 })
    expect(found && quantile(0.99, found)).toBeUndefined()
  })

  test('case 28: other bounds are a restart, and old bounds that are gone are not zeros', () => {
    const [, second] = follow([
      ttft({ bounds: [1, 5, 10], counts: [90, 95, 98, 100] }),
      ttft({ bounds: [1, 5, 10, 20, 40], counts: [10, 18, 18, 20, 20, 20] }),
    ])
    expect(second?.restarted).toBe(true)
    const found = second && increases(second.history)?.histograms.ttft
    expect(found?.counts).toEqual([10, 18, 18, 20, 20, 20])
    expect(found && quantile(0.99, found)?.value).toBeCloseTo(19, 9)
  })

  test('as many bounds, but others, are a restart too', () => {
    const found = between({ bounds: [1, 5], counts: [10, 20, 20] }, { bounds: [2, 5], counts: [30, 40, 40] })
    expect(found?.histograms.ttft).toEqual({ bounds: [2, 5], counts: [30, 40, 40] })
  })

  test('one bucket that fell restarts the whole histogram, though its count rose', () => {
    const [, second] = follow([
      ttft({ bounds: [1, 5], counts: [50, 60, 60], sum: 100 }),
      ttft({ bounds: [1, 5], counts: [10, 65, 70], sum: 150 }),
    ])
    expect(second && increases(second.history)?.histograms.ttft).toEqual({
      bounds: [1, 5],
      counts: [10, 65, 70],
      sum: 150,
    })
  })

  test('case 29: a small dip is lifted to the running maximum', () => {
    const found = between(
      { bounds: [0.5, 1, 2], counts: [100, 110, 120, 120] },
      { bounds: [0.5, 1, 2], counts: [110, 117, 132, 132] },
    )
    expect(found?.histograms.ttft?.counts).toEqual([10, 10, 12, 12])
    const increase = found?.histograms.ttft
    expect(increase && quantile(0.99, increase, 5)?.value).toBeCloseTo(1.94, 9)
  })

  test('a dip of a few among very few observations is no fault', () => {
    const found = between({ bounds: [1, 5], counts: [9, 9, 9] }, { bounds: [1, 5], counts: [11, 10, 11] })
    expect(found?.histograms.ttft?.counts).toEqual([2, 2, 2])
    expect(found?.faults).toEqual([])
  })

  test('case 29: buckets that are not cumulative at all are a data fault and no reading', () => {
    const found = between(
      { bounds: [0.5, 1, 2], counts: [0, 0, 0, 0] },
      { bounds: [0.5, 1, 2], counts: [50, 30, 15, 5] },
    )
    expect(found?.histograms.ttft).toBeUndefined()
    expect(found?.faults).toEqual([{ signal: 'ttft', series: 'a', what: 'buckets-fall' }])
  })

  test('a bucket that lagged behind in one reading catches up in the next', () => {
    const told = follow([
      ttft({ bounds: [1, 5], counts: [100, 100, 100] }),
      ttft({ bounds: [1, 5], counts: [110, 108, 110] }),
      ttft({ bounds: [1, 5], counts: [120, 120, 120] }),
    ])
    const last = told.at(-1)?.history
    expect(last && increases(last)?.histograms.ttft?.counts).toEqual([20, 20, 20])
  })

  test('a sum that fell while the count rose is a data fault; the buckets still count', () => {
    const found = between({ bounds: [1], counts: [10, 10], sum: 100 }, { bounds: [1], counts: [40, 40], sum: 60 })
    expect(found?.histograms.ttft).toEqual({ bounds: [1], counts: [30, 30] })
    expect(found?.faults).toEqual([{ signal: 'ttft', series: 'a', what: 'falling-sum' }])
  })

  test('a histogram without a sum has none, and that is no fault', () => {
    const found = between({ bounds: [1], counts: [10, 10] }, { bounds: [1], counts: [40, 40] })
    expect(found?.histograms.ttft).toEqual({ bounds: [1], counts: [30, 30] })
    expect(found?.faults).toEqual([])
  })

  test('label sets add up', () => {
    const of = (a: number[], b: number[]): Readings =>
      sets({ a: { bounds: [1, 5], counts: a, sum: 1 }, b: { bounds: [1, 5], counts: b, sum: 2 } })
    const [, second] = follow([of([1, 1, 1], [5, 6, 7]), of([2, 3, 4], [6, 8, 10])])
    expect(second && increases(second.history)?.histograms.ttft).toEqual({ bounds: [1, 5], counts: [2, 4, 6], sum: 0 })
  })

  test('label sets with different bounds add up at the bounds they share', () => {
    const of = (a: number[], b: number[]): Readings =>
      sets({ a: { bounds: [1, 5, 10], counts: a }, b: { bounds: [1, 2, 10], counts: b } })
    const [, second] = follow([of([0, 0, 0, 0], [0, 0, 0, 0]), of([1, 2, 3, 4], [10, 20, 30, 40])])
    expect(second && increases(second.history)?.histograms.ttft).toEqual({ bounds: [1, 10], counts: [11, 33, 44] })
  })

  test('a label set without traffic does not coarsen the bounds of the others', () => {
    const of = (a: number[], b: number[]): Readings =>
      sets({ a: { bounds: [1, 5, 10], counts: a }, b: { bounds: [3], counts: b } })
    const [, second] = follow([of([0, 0, 0, 0], [7, 7]), of([1, 2, 3, 4], [7, 7])])
    expect(second && increases(second.history)?.histograms.ttft?.bounds).toEqual([1, 5, 10])
  })

  test('buckets that contradict each other in shape are not there', () => {
    const [, second] = follow([ttft({ bounds: [1], counts: [1, 2] }), ttft({ bounds: [1], counts: [1] })])
    expect(second && increases(second.history)?.histograms.ttft).toBeUndefined()
  })

  test('case 37: a queue that stands still adds no observation', () => {
    const queue = { bounds: [1, 5], counts: [500, 500, 500], sum: 40 }
    const found = between(queue, queue)
    expect(found?.histograms.ttft?.counts.at(-1)).toBe(0)
  })
})

describe('the readings that are kept', () => {
  const kept = (seconds: number[], window = WINDOW): number[] => {
    let past: History | undefined
    for (const [i, at] of seconds.entries()) past = remember(past, tokens({ a: i }), T0 + at * SECOND, window).history
    return (past?.times ?? []).map((time) => (time - T0) / SECOND)
  }

  const every = (step: number, end: number) => Array.from({ length: end / step + 1 }, (_, i) => i * step)

  test('six readings a minute apart fill the window', () => {
    expect(kept(every(60, 600))).toEqual([300, 360, 420, 480, 540, 600])
  })

  test('readings older than the window go, but the one before the latest always stays', () => {
    expect(kept([0, 60, 4_000])).toEqual([60, 4_000])
    expect(kept([0, 60, 4_000, 4_060])).toEqual([4_000, 4_060])
  })

  test('frequent readings are thinned evenly: the window stays well covered and no gap gapes', () => {
    for (const step of [5, 10, 15, 30]) {
      for (let end = 600; end < 900; end += step) {
        const times = kept(every(step, end))
        expect(times.length).toBe(6)
        expect(times.slice(-2)).toEqual([end - step, end])
        expect(end - (times[0] ?? end), `every ${step} s, after ${end} s`).toBeGreaterThanOrEqual(150)
        const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
        expect(Math.max(...gaps), `every ${step} s, after ${end} s`).toBeLessThanOrEqual(150)
      }
    }
  })

  test('a clock that went back breaks nothing: nothing is judged once, then all goes on', () => {
    const told: (number | undefined)[] = []
    let past: History | undefined
    for (const [at, a] of [
      [0, 10],
      [60, 20],
      [30, 30],
      [30, 35],
      [90, 50],
    ] as const) {
      past = remember(past, tokens({ a }), T0 + at * SECOND, WINDOW).history
      told.push(increases(past)?.counters.generation_tokens)
    }
    expect(told).toEqual([undefined, 10, undefined, undefined, 15])
    const restarted = follow([tokens({ a: 10 }), tokens({ a: 5 })]).at(-1)?.history
    expect(restarted?.restartedAt).toBe(T0 + MINUTE)
    expect(remember(restarted, tokens({ a: 6 }), T0, WINDOW).history.restartedAt).toBeUndefined()
  })

  test('64 engines with six reasons each are counted whole, and a reason that is new among them', () => {
    const of = (reasons: readonly string[], value: number) =>
      tokens(
        Object.fromEntries(
          Array.from({ length: 64 }, (_, engine) =>
            reasons.map((reason) => [`engine="${engine}",finished_reason="${reason}"`, value]),
          ).flat(),
        ),
      )
    const reasons = ['stop', 'length', 'abort', 'error', 'repetition']
    const [, second] = follow([of(reasons, 100), of([...reasons, 'new'], 101)])
    expect(second && sinceLast(second.history)?.counters.generation_tokens).toBe(64 * (5 + 101))
  })

  test('a page with thousands of label sets keeps those known first, and no new one counts from zero', () => {
    const many = (from: number, to: number, value: number): Readings =>
      tokens(Object.fromEntries(Array.from({ length: to - from }, (_, i) => [`set="${from + i}"`, value])))
    const [first, second] = follow([many(0, 5_000, 1_000_000), many(100, 5_000, 1_000_001)])
    const size = JSON.stringify(second?.history).length
    expect(Object.keys(first?.history.counters.generation_tokens ?? {})).toHaveLength(2_048)
    expect(second && sinceLast(second.history)?.counters.generation_tokens).toBe(1_948)
    expect(size).toBeLessThan(150_000)
  })
})

describe('what is stored', () => {
  test('a history survives JSON', () => {
    const last = follow([vllmLike(0), vllmLike(1), vllmLike(2)]).at(-1)?.history
    const stored = HISTORY.parse(JSON.parse(JSON.stringify(last)))
    expect(stored).toEqual(last)
  })

  test('case 123: null, text, lost steps and times out of order are no history', () => {
    const good = follow([vllmLike(0), vllmLike(1)]).at(-1)?.history
    const spoilt: ((history: Record<string, Record<string, Record<string, Record<string, unknown>>>>) => unknown)[] = [
      ({ counters }) => ({ ...good, counters: { ...counters, finished: { a: { last: null, steps: [1] } } } }),
      () => ({ ...good, counters: { finished: { a: { last: 1, steps: [null] } } } }),
      () => ({ ...good, counters: { finished: { a: { last: '1', steps: [1] } } } }),
      () => ({ ...good, counters: { finished: { a: { last: 1, steps: [] } } } }),
      () => ({ ...good, histograms: { ttft: { a: { bounds: [1], last: [1], steps: [[1]], sums: [] } } } }),
      () => ({ ...good, times: [T0 + MINUTE, T0] }),
      () => ({ ...good, times: [] }),
      () => ({ ...good, times: null }),
      () => ({ ...good, times: { length: 1 } }),
      () => ({ ...good, counters: { finished: { a: { last: 1, steps: [Number.POSITIVE_INFINITY] } } } }),
      () => ({ ...good, histograms: { ttft: { a: { bounds: ['1'], last: [1], steps: [[1]], sums: [1] } } } }),
      () => ({ ...good, histograms: { ttft: { a: { bounds: [1], last: [1], steps: [[null]], sums: [1] } } } }),
      () => ({ ...good, histograms: { ttft: { a: { bounds: [1], last: [1], steps: [1], sums: [1] } } } }),
      () => ({ ...good, histograms: { ttft: { a: { bounds: [1], last: [1], steps: [[1]], sums: ['1'] } } } }),
      () => null,
    ]
    expect(HISTORY.safeParse(good).success).toBe(true)
    for (const spoil of spoilt) expect(HISTORY.safeParse(spoil(JSON.parse(JSON.stringify(good)))).success).toBe(false)
  })

  test('one engine of a busy vLLM takes less than 8 KiB', () => {
    const told = follow(Array.from({ length: 40 }, (_, run) => vllmLike(run)))
    const last = told.at(-1)?.history
    const bytes = Buffer.byteLength(JSON.stringify(last))
    console.log(`history of one engine: ${bytes} bytes, ${last?.times.length} readings`)
    expect(last?.times).toHaveLength(6)
    expect(bytes).toBeLessThan(8 * 1_024)
  })
})

test('one engine with few requests and many tokens, whose window is widened, takes less than 8 KiB', () => {
  const told = follow(Array.from({ length: 90 }, (_, run) => vllmLike(run, 2)))
  const last = told.at(-1)?.history
  const bytes = Buffer.byteLength(JSON.stringify(last))
  console.log(`history of one engine with a widened window: ${bytes} bytes, ${last?.times.length} readings`)
  expect(last?.times.length).toBeGreaterThan(6)
  expect(bytes).toBeLessThan(8 * 1_024)
})

describe('the window of times in the queue and to the first token', () => {
  /** One request in so many minutes, each with this time. */
  const requests = (every: number, minutes: number, name: 'ttft' | 'queue_wait' = 'ttft') =>
    Array.from({ length: minutes + 1 }, (_, minute): Readings => {
      const count = Math.floor(minute / every)
      return {
        ...emptyReadings(),
        histograms: { [name]: { a: { bounds: [1, 10], counts: [0, count, count], sum: 4 * count } } },
      }
    })
  const widened = (readings: Readings[]) => {
    const last = follow(readings).at(-1)?.history
    return last && overWindow(last, WINDOW)
  }

  test.each([
    ['enough in the window: it stays', requests(0.2, 90), undefined, 25],
    ['one a minute: until there are 20', requests(1, 90), 20, 20],
    ['one in two minutes: until there are 20', requests(2, 90), 40, 20],
    ['one in four minutes: up to an hour, as many as there are', requests(4, 120), 60, 12],
    ['one in three minutes that wait: until there are 5', requests(3, 90, 'queue_wait'), 15, 5],
  ])('%s', (_, readings, minutes, atLeast) => {
    const found = widened(readings)
    const [signal = 'ttft'] = Object.keys(readings[0]?.histograms ?? {}) as ('ttft' | 'queue_wait')[]
    const span = found?.spans?.[signal]
    expect(found?.seconds).toBe(300)
    expect(found?.histograms[signal]?.counts.at(-1)).toBeGreaterThanOrEqual(atLeast)
    if (minutes === undefined) expect(span).toBeUndefined()
    else {
      // Older readings lie apart: the span ends at the nearest that holds enough.
      expect(span).toBeGreaterThanOrEqual((minutes - 10) * 60)
      expect(span).toBeLessThanOrEqual(Math.min(minutes + 15, 60) * 60)
    }
  })

  test('without a single request in it the window says nothing, however many came before', () => {
    const [last] = requests(1, 30).slice(-1)
    const quiet = Array.from({ length: 8 }, () => last ?? emptyReadings())
    const found = widened([...requests(1, 30), ...quiet])
    expect([found?.histograms.ttft?.counts.at(-1), found?.spans]).toEqual([0, undefined])
  })

  test('a restart ends it: what the process before had observed is not judged', () => {
    const found = widened([...requests(1, 40), ...requests(1, 8)])
    expect(found?.histograms.ttft?.counts.at(-1)).toBeLessThanOrEqual(8)
  })
})

describe('for all readings', () => {
  const labels = fc.constantFrom('a', 'b', 'c')
  const counter: fc.Arbitrary<CounterReading> = fc.record(
    { value: fc.oneof(fc.nat(50), fc.nat(10_000_000), fc.double({ min: 0, max: 1e9 })), created: fc.nat(5) },
    { requiredKeys: ['value'] },
  )
  const histogram: fc.Arbitrary<HistogramReading> = fc
    .record(
      {
        bounds: fc.constantFrom([1, 5, 10], [0, 1], [1, 5, 20], []),
        counts: fc.array(fc.nat(100), { minLength: 4, maxLength: 4 }),
        sum: fc.double({ min: 0, max: 1e6 }),
        created: fc.nat(5),
      },
      { requiredKeys: ['bounds', 'counts'] },
    )
    .map((reading) => ({ ...reading, counts: reading.counts.slice(0, reading.bounds.length + 1) }))
  const run = fc.record({
    gap: fc.oneof(fc.integer({ min: 1, max: 120 * SECOND }), fc.integer({ min: -MINUTE, max: 2 * 3_600 * SECOND })),
    counters: fc.dictionary(labels, counter),
    histograms: fc.dictionary(labels, histogram),
    startedAt: fc.option(fc.nat(3), { nil: undefined }),
  })

  test('no increase is negative or no number, the latest reading is always kept, and what is stored can be read', () => {
    fc.assert(
      fc.property(fc.array(run, { minLength: 1, maxLength: 20 }), (runs) => {
        let past: History | undefined
        let now = T0
        for (const { gap, counters, histograms, startedAt } of runs) {
          now += gap
          const readings: Readings = {
            ...emptyReadings(),
            counters: { finished: counters },
            histograms: { ttft: histograms },
          }
          if (startedAt !== undefined) readings.startedAt = startedAt * 100
          past = remember(past, readings, now, WINDOW).history
          check(past, now)
        }
      }),
      { numRuns: 300 },
    )
  })

  test('without restarts the whole increase is the latest value minus the oldest kept one, however it was thinned', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ gap: fc.integer({ min: 1, max: 90 }), more: fc.nat(1_000) }), {
          minLength: 2,
          maxLength: 60,
        }),
        (runs) => {
          const values = new Map<number, number>()
          let past: History | undefined
          let now = T0
          let value = 0
          for (const { gap, more } of runs) {
            now += gap * SECOND
            value += more
            values.set(now, value)
            past = remember(past, tokens({ a: value }), now, WINDOW).history
            for (const [from, time] of past.times.slice(0, -1).entries()) {
              expect(increases(past, from)?.counters.generation_tokens).toBe(value - (values.get(time) ?? Number.NaN))
            }
          }
        },
      ),
      { numRuns: 200 },
    )
  })

  function check(history: History, now: number): void {
    expect(history.times.at(-1)).toBe(now)
    expect(history.times.length).toBeLessThanOrEqual(6)
    expect(HISTORY.safeParse(JSON.parse(JSON.stringify(history))).success).toBe(true)
    for (const from of history.times.keys()) {
      const found = increases(history, from)
      if (!found) continue
      expect(found.seconds).toBeGreaterThan(0)
      const counts = found.histograms.ttft?.counts ?? []
      for (const increase of [found.counters.finished ?? 0, found.histograms.ttft?.sum ?? 0, ...counts]) {
        expect(increase).toBeGreaterThanOrEqual(0)
        expect(Number.isFinite(increase)).toBe(true)
      }
      expect([...counts].sort((a, b) => a - b)).toEqual(counts)
    }
  }
})

/** Remembers one reading a minute, through JSON each time, as the state does. */
function follow(readings: Readings[]): Remembered[] {
  let past: History | undefined
  return readings.map((reading, minute) => {
    const told = remember(past, reading, T0 + minute * MINUTE, WINDOW)
    past = HISTORY.parse(JSON.parse(JSON.stringify(told.history)))
    return told
  })
}

function between(before: HistogramReading, after: HistogramReading) {
  const [, second] = follow([ttft(before), ttft(after)])
  return second && increases(second.history)
}

function tokens(values: Record<LabelSet, number>): Readings {
  const series = Object.entries(values).map(([labels, value]) => [labels, { value }] as const)
  return { ...emptyReadings(), counters: { generation_tokens: Object.fromEntries(series) } }
}

function ttft(reading: HistogramReading): Readings {
  return sets({ a: reading })
}

function sets(readings: Record<LabelSet, HistogramReading>): Readings {
  return { ...emptyReadings(), histograms: { ttft: readings } }
}

/** One engine under load: four histograms of 22 buckets, counts around ten million, uneven sums, `_created` everywhere. */
function vllmLike(run: number, perMinute = 654): Readings {
  const created = 1_790_000_000.123_456
  const engine = 'engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"'
  const bounds = [
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640,
  ]
  const histogram = (total: number, perMinute: number, share: number): Record<LabelSet, HistogramReading> => {
    const all = total + run * perMinute
    const counts = [...bounds.map((_, i) => Math.floor(all * (1 - share ** (i + 1)))), all]
    return { [engine]: { bounds, counts, sum: all * 0.123_456_789_012_345, created } }
  }
  const counter = (value: number) => ({ value: value + run * (value % 10_007), created })
  const reasons = ['stop', 'length', 'abort', 'error', 'repetition'].map((reason, i) => [
    `engine="0",finished_reason="${reason}",model_name="meta-llama/Llama-3.1-8B-Instruct"`,
    counter(9_876_543 >> (3 * i)),
  ])
  const one = (value: number) => ({ [engine]: counter(value) })
  return {
    ...emptyReadings(),
    startedAt: 1_790_000_000.12,
    counters: {
      finished: Object.fromEntries(reasons),
      failed: one(1_234),
      preemptions: one(4_321),
      prompt_tokens: one(9_876_543_210),
      generation_tokens: one(2_345_678_901),
      prefix_queries: one(9_876_543_210),
      prefix_hits: one(3_456_789_012),
      steps: one(87_654_321),
    },
    histograms: {
      queue_wait: histogram(9_876_543, perMinute, 0.3),
      ttft: histogram(9_876_543, perMinute, 0.8),
      itl: histogram(987_654_321, 254_321, 0.5),
      e2e: histogram(9_876_543, perMinute, 0.9),
    },
  }
}
