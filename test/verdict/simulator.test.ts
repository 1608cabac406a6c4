import { expect, test } from 'vitest'
import { CATALOGUES, compose } from '../../src/messages/compose.ts'
import { group } from '../../src/messages/group.ts'
import type { VerdictKind } from '../../src/model/explanation.ts'
import type { Notification } from '../../src/model/notification.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { emptyState, type State } from '../../src/state/schema.ts'
import { createEngine, type Engine } from '../../tools/simulator/engine.ts'
import type { Knobs } from '../../tools/simulator/machine.ts'
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
const TIMEOUT = 1_800_000

/** A server, or the replicas of a group. */
interface Place {
  replicas?: number
  knobs?: Partial<Knobs>
}

interface Lived {
  /** What was told in the time of trouble, by run. */
  told: Notification[]
  /** The messages of it in each language. */
  bodies: string[]
}

/** What an ordinary hour leaves behind, by place and seed: the same for every story. */
const calm = new Map<string, State>()

/** Plays one life through page, readings, evaluation and message, a run a minute. */
function live(seed: number, trouble: (engine: Engine, others: Engine[]) => void, place: Place = {}): Lived {
  const { replicas = 1, knobs = {} } = place
  const names = Array.from({ length: replicas }, (_, i) => (replicas === 1 ? 'a' : `chat/${i}`))
  const config = configOf('vllm', { VLLM_ENDPOINTS: names.map((name) => `${name}=http://127.0.0.1:9009`).join(' ') })
  const engines = names.map((_, i) => createEngine(START, { seed: seed + 1_000 * i }, knobs))
  const lifeBefore = JSON.stringify([seed, place])
  let state = calm.get(lifeBefore) ?? emptyState()
  const lived: Lived = { told: [], bodies: [] }
  const from = calm.has(lifeBefore) ? CALM : 0
  for (let minute = from; minute < CALM + TROUBLE; minute++) {
    const now = START + minute * MINUTE
    if (minute === CALM) {
      for (const engine of engines) engine.advance(now - MINUTE)
      calm.set(lifeBefore, state)
      const [first, ...others] = engines
      if (first) trouble(first, others)
    }
    for (const engine of engines) engine.advance(now)
    const observations = config.endpoints.map((endpoint, i) => {
      const engine = engines[i]
      return observationOf('vllm', endpoint, engine?.listening() ? vllmPage(engine) : 'refused', now)
    })
    const { state: next, notifications } = evaluate(state, observations, config, now)
    state = { ...next, outbox: [] }
    if (minute < CALM) continue
    lived.told.push(...notifications)
    lived.bodies.push(...bodiesOf(notifications, now))
  }
  return lived
}

function bodiesOf(notifications: Notification[], now: number): string[] {
  return group(notifications).flatMap((told) =>
    (['en', 'ru'] as const).map(
      (language) => compose(told, language, { markdown: false, link: () => undefined, now }).body,
    ),
  )
}

const kindsIn = (told: Notification[]) =>
  told.filter((note) => note.reason !== 'resolved').flatMap((note) => note.context?.verdict?.kind ?? 'none')

/** [what happened, how, the right verdict, where] */
const STORIES: [string, (engine: Engine, others: Engine[]) => void, VerdictKind, Place?][] = [
  ['the load tripled', (engine) => engine.change({ arrivals: 6 }), 'load-grew'],
  ['the GPU slowed to a third', (engine) => engine.change({ slowdown: 3 }), 'broke'],
  ['prompts became eight times longer', (engine) => engine.change({ promptTokens: 3200 }), 'heavier'],
  ['the cache is too small', (engine) => engine.change({ cacheTokens: 3000 }), 'cache-full'],
  ['the engine hung', (engine) => engine.change({ hung: true }), 'stalled'],
  [
    'the balancer sends everything to one of three replicas',
    (engine, others) => {
      engine.change({ arrivals: 6 })
      for (const other of others) other.change({ arrivals: 0.2 })
    },
    'imbalance',
    { replicas: 3 },
  ],
  [
    'KV transfers take fifty times as long',
    (engine) => engine.change({ transferSeconds: 2.5 }),
    'transfer',
    { knobs: { transferSeconds: 0.05 } },
  ],
  [
    'half of the KV transfers fail',
    (engine) => engine.change({ transferSeconds: 1.5, transferFailShare: 0.5 }),
    'transfer',
    { knobs: { transferSeconds: 0.05 } },
  ],
  [
    'the draft model guesses wrong',
    (engine) => engine.change({ acceptShare: 0.15 }),
    'draft',
    { knobs: { draftTokens: 3, arrivals: 3 } },
  ],
  ['the engine was put to sleep and is asked on', (engine) => engine.change({ asleep: true }), 'asleep'],
  [
    'most requests wait for an adapter slot',
    (engine) => engine.change({ adapterShare: 0.7, adapterSeconds: 20 }),
    'deferred',
  ],
]

/** The advice that leaves the reader to find out which it is. */
const EITHER = (['en', 'ru'] as const).map((language) =>
  CATALOGUES[language].advice['look-which']({ key: 'look-which' }),
)
const EXPLANATIONS =
  /Load grew|Something broke|Requests got heavier|KV cache overflows|Spread unevenly|First tokens are late although|Speculative decoding guesses|Deferred:|sleeps on purpose|server restarted/g

test.each(STORIES)(
  `simulated vLLM, %s: the first message and each other has the right verdict, and no second explanation (${LIVES} lives, one in twenty may differ)`,
  (_, trouble, right, place) => {
    const wrong = SEEDS.flatMap((seed) => {
      const { told, bodies } = live(seed, trouble, place)
      for (const body of bodies) {
        expect(EITHER.filter((either) => body.includes(either))).toEqual([])
        expect(new Set(body.match(EXPLANATIONS)).size, body).toBeLessThanOrEqual(1)
      }
      const kinds = kindsIn(told)
      return kinds.length > 0 && kinds.every((kind) => kind === right) ? [] : [`seed ${seed}: ${kinds.join(', ')}`]
    })
    console.info(`${right}: ${SEEDS.length - wrong.length} of ${SEEDS.length} lives were told right`)
    expect(wrong.length, wrong.join('\n')).toBeLessThanOrEqual(LIVES / 20)
  },
  TIMEOUT,
)

test(
  'simulated vLLM, the process restarts under load: the first message says so in each life',
  () => {
    const first = SEEDS.map((seed) => {
      const { told } = live(seed, (engine) => {
        engine.restart(10_000)
        engine.change({ arrivals: 6 })
      })
      return kindsIn(told)[0]
    })
    expect(first).toEqual(SEEDS.map(() => 'restarted'))
  },
  TIMEOUT,
)

const HOURS = amount('calmHours')
/**
 * Requests a second. At 2, more than half of what it can do, a cluster of arrivals fills all places for some seconds once in
 * three days: then first tokens are late, for one in a hundred in five minutes, which is told as the limit of 3 s wants it.
 */
const CALM_LOAD = 1.5
test.each(SEEDS)(
  `simulated vLLM, all is well for ${HOURS} hours (life %d of ${LIVES}): no message at all`,
  (seed) => {
    const config = configOf('vllm')
    const engine = createEngine(START, { seed }, { arrivals: CALM_LOAD })
    let state = emptyState()
    for (let minute = 0; minute < HOURS * 60; minute++) {
      const now = START + minute * MINUTE
      engine.advance(now)
      const observations = config.endpoints.map((endpoint) => observationOf('vllm', endpoint, vllmPage(engine), now))
      const { state: next, notifications } = evaluate(state, observations, config, now)
      state = next
      expect(notifications.map(({ id }) => id)).toEqual([])
    }
  },
  TIMEOUT,
)
