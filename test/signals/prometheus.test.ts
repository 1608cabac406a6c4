import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { HistogramReading, LabelSet, Readings } from '../../src/model/signals.ts'
import type { HistogramIncrease } from '../../src/signals/combine.ts'
import { HISTORY } from '../../src/signals/history.ts'
import { quantile } from '../../src/signals/quantile.ts'
import { emptyReadings } from '../../src/signals/readings.ts'
import { increases, remember } from '../../src/signals/window.ts'
import { amount } from '../long.ts'

/*
 * Prometheus is the judge of our quantiles: both get the same two readings, one minute apart, of generated histograms.
 * `promtool test rules` (Debian package `prometheus`) needs no server; it prints what it found where something else
 * was expected, so nothing is expected.
 */
const CASES = amount('histograms')
/** Cases that Prometheus loads at once: its tests of rules may hold 10,000 samples, and slow down before that. */
const GROUP = 10
const SEED = 20_261_130
const QUANTILES = [0.001, 0.1, 0.5, 0.9, 0.99, 1]
const TOLERANCE = 1e-9

const promtool = spawnSync('promtool', ['--version']).status === 0
const why = 'promtool is absent: apt-get install prometheus'

test.skipIf(promtool || process.env.CI !== 'true')('in CI, Prometheus is there to judge', () => {
  expect(promtool, why).toBe(true)
})

const name = `Prometheus finds the same quantile, count and sum in ${CASES.toLocaleString('en')} generated histograms`
test.skipIf(!promtool)(promtool ? name : `${name} (skipped: ${why})`, { timeout: 60_000 }, () => {
  const cases = fc.sample(generated, { numRuns: CASES, seed: SEED })
  const judged = judge(cases)
  const ours = cases.map(increaseOf)
  let atLeast = 0
  let compared = 0
  for (const q of QUANTILES) {
    for (const [n, increase] of ours.entries()) {
      const theirs = judged.quantiles.get(q)?.get(n)
      const found = quantile(q, increase, 0)
      expect(close(found?.value, theirs), `case ${n}, q ${q}: ${found?.value} here, ${theirs} there`).toBe(true)
      compared += found === undefined ? 0 : 1
      atLeast += found?.atLeast ? 1 : 0
    }
  }
  for (const [n, increase] of ours.entries()) {
    expect(increase.counts.at(-1), `count of case ${n}`).toBeCloseTo(judged.counts.get(n) ?? -1, 6)
    expect(close(increase.sum, judged.sums.get(n)), `sum of case ${n}`).toBe(true)
  }
  // The test must not pass because nothing was compared.
  expect(compared).toBeGreaterThan(0.9 * CASES * QUANTILES.length)
  expect(atLeast).toBeGreaterThan(CASES / 12)
})

interface Generated {
  bounds: number[]
  /** Per label set: the two readings. */
  sets: { before: HistogramReading; after: HistogramReading }[]
}

/** Bounds of real servers, and invented ones; the odd ones begin at 0 or below. */
const someBounds: fc.Arbitrary<number[]> = fc.oneof(
  fc.constant<number[]>([
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
  ]),
  fc.constant<number[]>([0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 10, 15, 20]),
  fc.constant(Array.from({ length: 35 }, (_, k) => 0.0001 * 1.5 ** (k + 1))),
  fc.constant<number[]>([-2, -0.5, 0.5, 2]),
  fc
    .uniqueArray(fc.double({ min: -1, max: 1e4, noNaN: true }), { minLength: 1, maxLength: 24 })
    .map((bounds) => bounds.sort((a, b) => a - b)),
)

const observations = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.nat(40) },
  { weight: 1, arbitrary: fc.nat(10_000_000) },
)

const generated: fc.Arbitrary<Generated> = someBounds.chain((bounds) => {
  const buckets = fc.array(observations, { minLength: bounds.length + 1, maxLength: bounds.length + 1 })
  const sum = fc.double({ min: 0, max: 1e6, noNaN: true })
  const set = fc.record({ old: buckets, new: buckets, sum, more: sum, dip: fc.nat(bounds.length), by: fc.nat(3) })
  return fc.array(set, { minLength: 1, maxLength: 4 }).map((sets) => ({
    bounds,
    sets: sets.map((of) => {
      const before = cumulative(of.old)
      const increase = cumulative(of.new)
      // Buckets read while they move: one lags a little behind the one before it.
      increase[of.dip] = Math.max(0, (increase[of.dip] ?? 0) - of.by)
      const after = before.map((count, i) => count + (increase[i] ?? 0))
      return {
        before: { bounds, counts: before, sum: of.sum },
        after: { bounds, counts: after, sum: of.sum + (Math.max(...increase) > 0 ? of.more : 0) },
      }
    }),
  }))
})

function increaseOf({ sets }: Generated): HistogramIncrease {
  const read = (which: 'before' | 'after'): Readings => ({
    ...emptyReadings(),
    histograms: {
      ttft: Object.fromEntries(sets.map((set, i): [LabelSet, HistogramReading] => [`set="${i}"`, set[which]])),
    },
  })
  const first = remember(undefined, read('before'), 0, 300_000).history
  const stored = HISTORY.parse(JSON.parse(JSON.stringify(first)))
  const found = increases(remember(stored, read('after'), 60_000, 300_000).history)?.histograms.ttft
  if (!found) throw new Error(`no increase of ${JSON.stringify(sets)}`)
  return found
}

type ByCase = Map<number, number>

/** What Prometheus finds, by the number of the case. */
function judge(cases: readonly Generated[]): { quantiles: Map<number, ByCase>; counts: ByCase; sums: ByCase } {
  const increase = (series: string, by: string) => `sum by (${by}) (${series} - ${series} offset 1m)`
  const expressions = [
    ...QUANTILES.map((q) => `histogram_quantile(${q}, ${increase('h_bucket', 'case, le')})`),
    // The running maximum: +Inf may lag behind like any bucket.
    `max by (case) (${increase('h_bucket', 'case, le')})`,
    increase('h_sum', 'case'),
  ]
  const series = cases.map(seriesOf)
  const groups = series.flatMap((_, n) => (n % GROUP === 0 ? [series.slice(n, n + GROUP).flat()] : []))
  const answers = ask(groups, expressions)
  return {
    quantiles: new Map(QUANTILES.map((q, i) => [q, answers[i] ?? new Map()])),
    counts: answers.at(-2) ?? new Map(),
    sums: answers.at(-1) ?? new Map(),
  }
}

interface InputSeries {
  series: string
  values: string
}

function seriesOf({ sets }: Generated, n: number): InputSeries[] {
  return sets.flatMap(({ before, after }, i) => {
    const series = (name: string, old: number | undefined, now: number | undefined, le = ''): InputSeries => ({
      series: `${name}{case="${n}",set="${i}"${le}}`,
      values: `${old} ${now}`,
    })
    return [
      ...before.counts.map((old, b) => series('h_bucket', old, after.counts[b], `,le="${before.bounds[b] ?? '+Inf'}"`)),
      series('h_sum', before.sum, after.sum),
    ]
  })
}

/** Runs promtool once. @returns for each expression, the values by case. */
function ask(groups: InputSeries[][], expressions: string[]): ByCase[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'quantiles-'))
  try {
    const file = path.join(folder, 'test.yml')
    const promql_expr_test = expressions.map((expr) => ({ expr, eval_time: '1m', exp_samples: [] }))
    const tests = groups.map((input_series) => ({ interval: '1m', input_series, promql_expr_test }))
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ evaluation_interval: '1m', tests }))
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8', maxBuffer: 2 ** 28 })
    return expressions.map((expr) => answerTo(expr, stdout + stderr))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Reads `expr: "…", time: 1m, exp: nil got: {case="7"} 1.5E+00, …`, once for each group. */
function answerTo(expr: string, output: string): ByCase {
  const answers = output.split('expr: ').filter((part) => part.startsWith(JSON.stringify(expr)))
  if (answers.length === 0) throw new Error(`promtool did not answer ${expr}: ${output.slice(0, 2_000)}`)
  const samples = answers.flatMap((answer) => [...answer.matchAll(/\{case="(\d+)"\} (\S+?)(?=[,\s]|$)/g)])
  return new Map(samples.map(([, n, value]) => [Number(n), Number(value)]))
}

function cumulative(buckets: readonly number[]): number[] {
  let total = 0
  return buckets.map((count) => {
    total += count
    return total
  })
}

/** Prometheus says NaN where nothing was observed; there we say nothing. */
function close(ours: number | undefined, theirs: number | undefined): boolean {
  if (theirs === undefined) return false
  if (ours === undefined) return Number.isNaN(theirs)
  return Math.abs(ours - theirs) <= TOLERANCE * Math.max(Math.abs(ours), Math.abs(theirs))
}
