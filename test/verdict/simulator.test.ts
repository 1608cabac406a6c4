import { expect, test } from 'vitest'
import type { VerdictKind } from '../../src/model/explanation.ts'
import type { Notification } from '../../src/model/notification.ts'
import type { Observation } from '../../src/model/observation.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { emptyState, type State } from '../../src/state/schema.ts'
import { createEngine, type Engine } from '../../tools/simulator/engine.ts'
import { vllmPage } from '../../tools/simulator/page.ts'
import { amount } from '../long.ts'
import { configOf, observationOf } from '../playing.ts'

const START = Date.UTC(2026, 10, 30, 12)
const MINUTE = 60_000
/** Runs before the trouble: an hour is needed for a past. */
const CALM = 75
const TROUBLE = 15
const LIVES = amount('lives')
const SEEDS = Array.from({ length: LIVES }, (_, index) => index + 1)
const TIMEOUT = 300_000

const config = configOf('vllm')
/** What an ordinary hour leaves behind, by seed: the same for every story. */
const calm = new Map<number, State>()

/** Plays one life through page, readings and evaluation, a run a minute. @returns what was told in the time of trouble. */
function live(seed: number, trouble: (engine: Engine) => void): Notification[] {
  const engine = createEngine(START, { seed })
  let state = calm.get(seed) ?? emptyState()
  const told: Notification[] = []
  const from = calm.has(seed) ? CALM : 0
  for (let minute = from; minute < CALM + TROUBLE; minute++) {
    const now = START + minute * MINUTE
    if (minute === CALM) {
      engine.advance(now - MINUTE)
      calm.set(seed, state)
      trouble(engine)
    }
    engine.advance(now)
    const { state: next, notifications } = evaluate(state, [observe(engine, now)], config, now)
    state = { ...next, outbox: [] }
    if (minute >= CALM) told.push(...notifications)
  }
  return told
}

function observe(engine: Engine, now: number): Observation {
  const [endpoint] = config.endpoints
  if (!endpoint) throw new Error('no endpoint')
  return observationOf('vllm', endpoint, engine.listening() ? vllmPage(engine) : 'refused', now)
}

const kindsIn = (told: Notification[]) =>
  told.filter((note) => note.reason !== 'resolved').flatMap((note) => note.context?.verdict?.kind ?? 'none')

/** [what happened, how, the right verdict] */
const STORIES: [string, (engine: Engine) => void, VerdictKind][] = [
  ['the load tripled', (engine) => engine.change({ arrivals: 6 }), 'load-grew'],
  ['the GPU slowed to a third', (engine) => engine.change({ slowdown: 3 }), 'broke'],
  ['prompts became eight times longer', (engine) => engine.change({ promptTokens: 3200 }), 'heavier'],
  ['the cache is too small', (engine) => engine.change({ cacheTokens: 3000 }), 'cache-full'],
  ['the engine hung', (engine) => engine.change({ hung: true }), 'stalled'],
]

test.each(STORIES)(
  `simulated vLLM, %s: each message has the right verdict (${LIVES} lives, one in twenty may differ)`,
  (_, trouble, right) => {
    const wrong = SEEDS.flatMap((seed) => {
      const kinds = kindsIn(live(seed, trouble))
      return kinds.length > 0 && kinds.every((kind) => kind === right) ? [] : [`seed ${seed}: ${kinds.join(', ')}`]
    })
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(LIVES / 20)
  },
  TIMEOUT,
)

test(
  `simulated vLLM, all is well: no message of ${LIVES} lives has a verdict`,
  () => {
    const given = SEEDS.flatMap((seed) => kindsIn(live(seed, () => {})).filter((kind) => kind !== 'none'))
    expect(given).toEqual([])
  },
  TIMEOUT,
)

test(
  'simulated vLLM, the process restarts under load: the first message says so in each life',
  () => {
    const first = SEEDS.map((seed) => {
      const told = live(seed, (engine) => {
        engine.restart(10_000)
        engine.change({ arrivals: 6 })
      })
      return kindsIn(told)[0]
    })
    expect(first).toEqual(SEEDS.map(() => 'restarted'))
  },
  TIMEOUT,
)
