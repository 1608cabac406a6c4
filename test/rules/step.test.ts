import { expect, test } from 'vitest'
import type { Rule } from '../../src/model/rule.ts'
import { type Judgement, step } from '../../src/rules/step.ts'
import type { Alert } from '../../src/state/schema.ts'

const MINUTE = 60_000

type Row = [minute: number, judgement: Judgement, phase: 'ok' | Alert['phase'], reason?: 'fired' | 'resolved']

/** Walks one alert through a story. */
function follow(rule: Pick<Rule, 'for'>, story: Row[], interval?: number): void {
  let alert: Alert | undefined
  for (const [minute, judgement, phase, reason] of story) {
    const now = Math.round(minute * MINUTE)
    const stepped = step(alert, judgement, rule, { now, interval })
    alert = stepped.reason === 'resolved' ? undefined : stepped.alert
    expect({ minute, phase: alert?.phase ?? 'ok', reason: stepped.reason }).toEqual({ minute, phase, reason })
  }
}

const atOnce = { for: 0 }
const after5 = { for: 5 * MINUTE }

test('without a hold time a breach fires at once, stays silent while it lasts and resolves at the second clear run', () =>
  follow(atOnce, [
    [0, 'clear', 'ok'],
    [1, 'breach', 'firing', 'fired'],
    [2, 'breach', 'firing'],
    [3, 'between', 'firing'],
    [4, 'clear', 'firing'],
    [5, 'clear', 'ok', 'resolved'],
    [6, 'clear', 'ok'],
  ]))

test('one clear run between breaches resolves nothing', () =>
  follow(atOnce, [
    [0, 'breach', 'firing', 'fired'],
    [1, 'clear', 'firing'],
    [2, 'between', 'firing'],
    [3, 'clear', 'firing'],
    [4, 'breach', 'firing'],
    [5, 'clear', 'firing'],
    [6, 'clear', 'ok', 'resolved'],
  ]))

test('with a hold time it fires by the clock: after five minutes, not after four', () =>
  follow(after5, [
    [0, 'breach', 'pending'],
    [1, 'breach', 'pending'],
    [2, 'breach', 'pending'],
    [3, 'breach', 'pending'],
    [4, 'breach', 'pending'],
    [5, 'breach', 'firing', 'fired'],
  ]))

test('case 92: five samples are not five minutes', () =>
  follow(after5, [
    [0.917, 'breach', 'pending'],
    [1.017, 'breach', 'pending'],
    [2.033, 'breach', 'pending'],
    [3.017, 'breach', 'pending'],
    [4, 'breach', 'pending'],
    [5.017, 'breach', 'pending'],
    [6.017, 'breach', 'firing', 'fired'],
  ]))

test('a pending alert ends when the value falls between limit and clear', () =>
  follow(
    after5,
    [
      [0, 'breach', 'pending'],
      [4, 'between', 'ok'],
      [5, 'breach', 'pending'],
      [9, 'breach', 'pending'],
    ],
    4 * MINUTE,
  ))

test('a pending alert outlasts two minutes without data and starts anew after more than three', () => {
  follow(after5, [
    [0, 'breach', 'pending'],
    [1, 'unknown', 'pending'],
    [2, 'unknown', 'pending'],
    [3, 'breach', 'pending'],
    [5, 'breach', 'firing', 'fired'],
  ])
  follow(after5, [
    [0, 'breach', 'pending'],
    [2, 'unknown', 'pending'],
    [4, 'breach', 'pending'],
    [6, 'breach', 'pending'],
    [9, 'breach', 'firing', 'fired'],
  ])
})

test('a schedule of five minutes is no gap: a hold time of five minutes still ends', () =>
  follow(
    after5,
    [
      [0, 'breach', 'pending'],
      [5, 'breach', 'firing', 'fired'],
    ],
    5 * MINUTE,
  ))

test('case 90: no data resolves nothing', () =>
  follow(atOnce, [
    [0, 'breach', 'firing', 'fired'],
    [1, 'unknown', 'firing'],
    [300, 'unknown', 'firing'],
    [301, 'clear', 'firing'],
    [302, 'clear', 'ok', 'resolved'],
  ]))

test('the peak is the highest value of the incident', () => {
  let alert: Alert | undefined
  for (const [now, value] of [
    [0, 21],
    [1, 42],
    [2, 30],
  ] as const) {
    alert = step(alert, 'breach', atOnce, { now, value }).alert
  }
  expect(alert?.peak).toBe(42)
})

test.each([
  ['a moment after the first is the same look: two copies of the watcher', 60_000, 20, undefined],
  ['a run after the first is the end', 60_000, 60_000, 'resolved'],
  ['is the end where runs come each five seconds', 5_000, 5_000, 'resolved'],
])('a clear run %s', (_, interval, after, expected) => {
  const firing = { phase: 'firing', activeAt: 0, firedAt: 0, seenAt: 100_000, clearRuns: 1 } as const
  const { reason, alert } = step(firing, 'clear', { for: 0 }, { now: 100_000 + after, interval })
  expect(reason).toBe(expected)
  if (!expected) expect(alert).toEqual(firing)
})
