import { expect, test } from 'vitest'
import type { VerdictKind } from '../../src/model/explanation.ts'
import { type Steady, steady } from '../../src/verdict/steady.ts'

/** What is told after each run, of what the runs find. */
function told(found: readonly (VerdictKind | undefined)[]): (VerdictKind | undefined)[] {
  let held: Steady = {}
  return found.map((kind) => {
    held = steady(held, kind && { kind })
    return held.verdict?.kind
  })
}

/** [story, what single runs find, what is told] */
const STORIES: [string, (VerdictKind | undefined)[], (VerdictKind | undefined)[]][] = [
  ['the first that is found counts at once', [undefined, 'broke'], [undefined, 'broke']],
  ['a run that finds none changes nothing', ['broke', undefined, undefined], ['broke', 'broke', 'broke']],
  ['one other run is chance', ['broke', 'load-grew', 'broke'], ['broke', 'broke', 'broke']],
  ['two in a row are not', ['load-grew', 'broke', 'broke'], ['load-grew', 'load-grew', 'broke']],
  [
    'two that disagree are',
    ['load-grew', 'broke', 'heavier', 'heavier'],
    ['load-grew', 'load-grew', 'load-grew', 'heavier'],
  ],
  [
    'two with a run between that finds none are',
    ['heavier', 'broke', undefined, 'broke'],
    ['heavier', 'heavier', 'heavier', 'heavier'],
  ],
  ['a standstill is there or not', ['broke', 'stalled', undefined], ['broke', 'stalled', undefined]],
  ['so is sleep', ['asleep', 'load-grew'], ['asleep', 'load-grew']],
  ['a restart is known at once', ['load-grew', 'restarted', undefined], ['load-grew', 'restarted', 'restarted']],
]

test.each(STORIES)('%s', (_, found, expected) => {
  expect(told(found)).toEqual(expected)
})

test('the numbers that it rests on are the latest', () => {
  const first = steady({}, { kind: 'load-grew', arrivals: 2 })
  expect(steady(first, { kind: 'load-grew', arrivals: 3 }).verdict).toEqual({ kind: 'load-grew', arrivals: 3 })
})
