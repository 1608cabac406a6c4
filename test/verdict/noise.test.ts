import { expect, test } from 'vitest'
import type { VerdictKind } from '../../src/model/explanation.ts'
import { verdict } from '../../src/verdict/verdict.ts'
import { amount } from '../long.ts'
import { type Life, noisyEngine, USUAL } from './noisy-engine.ts'

const LIVES = amount('noisyLives')
const SEEDS = Array.from({ length: LIVES }, (_, index) => index + 1)
/** An hour of runs, then the runs of the trouble; the verdict of each of the last ones counts, since a message may be written at any of them. */
const PAST = 60
const TROUBLE = 8
const JUDGED = 4

/** [what happened, how life changes, the right verdict] */
const STORIES: [string, Partial<Life>, VerdictKind][] = [
  ['the load tripled', { load: 9 }, 'load-grew'],
  ['the GPU slowed to a third', { slowness: 3 }, 'broke'],
  ['prompts became eight times longer', { prompt: 3200 }, 'heavier'],
  ['the cache is too small', { cache: 5000 }, 'cache-full'],
  ['the engine hung', { hung: true }, 'stalled'],
]

test.each(STORIES)(
  `in a noisy engine where %s, the verdict is right (${LIVES} lives, one in twenty may differ)`,
  (_, change, right) => {
    const wrong = SEEDS.map((seed) => {
      const engine = noisyEngine(seed)
      engine.live(USUAL, PAST)
      const past = engine.past(PAST)
      engine.live({ ...USUAL, ...change }, TROUBLE - JUDGED)
      const kinds = Array.from({ length: JUDGED }, () => {
        engine.live({ ...USUAL, ...change }, 1)
        return verdict(engine.work(), past)?.kind
      })
      return kinds.every((kind) => kind === right) ? undefined : `seed ${seed}: ${kinds.join(', ')}`
    }).filter((fault) => fault !== undefined)
    expect(wrong.length, wrong.join('; ')).toBeLessThanOrEqual(LIVES / 20)
  },
)

test.each([3, 0.3, 5])(
  `in a noisy engine where all is well at %s requests a second, no verdict is given in any run of ${LIVES} lives`,
  (load) => {
    const given = SEEDS.flatMap((seed) => {
      const engine = noisyEngine(seed)
      engine.live({ ...USUAL, load }, PAST)
      const past = engine.past(PAST)
      return Array.from({ length: 30 }, () => {
        engine.live({ ...USUAL, load }, 1)
        return verdict(engine.work(), past)?.kind
      }).filter((kind) => kind !== undefined)
    })
    expect(given).toEqual([])
  },
)
