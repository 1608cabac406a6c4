import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readState, writeState } from '../../src/state/schema.ts'
import { type Inbox, openInbox } from '../../tools/simulator/inbox.ts'
import { type Bundles, buildBundles } from '../bundles.ts'
import { amount } from '../long.ts'
import { PLACES, type Place } from './place.ts'
import { type Command, type Ended, type Runner, startRunner } from './runner.ts'
import { openWatched, type Watched } from './watched.ts'

const ROUNDS = amount('rounds')
const SECOND = 1_000
const MINUTE = 60 * SECOND

/** What the two processes are told at one moment; `t` is the minute's own time. */
const WAYS: Record<string, { minutes: number; both: (t: number) => [Command, Command] }> = {
  'the same tick twice': {
    minutes: 1,
    both: (t) => [
      { now: t + 2 * SECOND, time: t },
      { now: t + 2 * SECOND, time: t },
    ],
  },
  'the same moment, without event.time': { minutes: 1, both: (t) => [{ now: t }, { now: t }] },
  'a late tick beside the next one': {
    minutes: 2,
    both: (t) => [
      { now: t + 59 * SECOND, time: t },
      { now: t + 61 * SECOND, time: t + MINUTE },
    ],
  },
  'two runs seconds apart, without event.time': {
    minutes: 2,
    both: (t) => [{ now: t + 59 * SECOND }, { now: t + 61 * SECOND }],
  },
}

let bundles: Bundles
beforeAll(() => {
  bundles = buildBundles()
}, 180_000)
afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))

for (const [place, open] of Object.entries(PLACES)) {
  describe(`two processes at once on ${place}`, () => {
    for (const [way, { minutes, both }] of Object.entries(WAYS)) {
      test(`case 99, 116: ${way}: each incident is told once, and its end once`, {
        timeout: 30_000 + ROUNDS * 4_000,
      }, async () => {
        const two = await openTwo(await open())
        // Near the real time, since a real store refuses a clock that is off by more than 15 minutes.
        let t = Math.floor(Date.now() / MINUTE) * MINUTE
        const outcomes: Record<string, number> = {}
        try {
          for (let round = 1; round <= ROUNDS; round += 1) {
            await forgetIncidents(two.place)
            const before = two.inbox.received.length
            for (const waiting of [42, 1, 1, 1]) {
              two.watched.waiting = waiting
              two.watched.seconds += minutes * 60
              const ended = await two.run(both(t))
              expect({ round, errors: ended.flatMap((e) => e.error ?? []) }).toEqual({ round, errors: [] })
              for (const { body } of ended) outcomes[body?.outcome ?? ''] = (outcomes[body?.outcome ?? ''] ?? 0) + 1
              t += minutes * MINUTE
            }
            const received = two.inbox.received.slice(before)
            const told = received.map(({ title, priority }) => ({ title, priority }))
            expect({ round, told }, JSON.stringify(received)).toEqual({
              round,
              told: [
                { title: expect.stringContaining('🐌'), priority: 8 },
                { title: expect.stringContaining('✅'), priority: 4 },
              ],
            })
          }
          const read = readState((await two.place.store.load('vllm.json'))?.text ?? '')
          expect(read).toMatchObject({ kind: 'state', state: { outbox: [] } })
          expect(outcomes.completed).toBeGreaterThanOrEqual(ROUNDS * 4)
        } finally {
          await two.close()
        }
      })
    }
  })
}

/** The third beginning within an hour is told as one that comes and goes; here each is the first, on a state that goes on. */
async function forgetIncidents({ store }: Place): Promise<void> {
  const stored = await store.load('vllm.json')
  if (stored === undefined) return
  const read = readState(stored.text)
  if (read.kind !== 'state') throw new Error(read.kind)
  const { state } = read
  expect(
    Object.values(state.endpoints).flatMap(({ incidents }) => Object.values(incidents).filter((i) => !i.over)),
  ).toEqual([])
  for (const endpoint of Object.values(state.endpoints)) endpoint.incidents = {}
  await store.save('vllm.json', writeState(state), stored.version)
}

async function openTwo(place: Place) {
  const inbox: Inbox = await openInbox()
  const watched: Watched = await openWatched()
  // Uneven answers bring the two processes into every order.
  watched.delay = () => Math.random() * 30
  const start = (): Promise<Runner> =>
    startRunner(join(bundles.dist, 'vllm.mjs'), {
      ...place.env,
      VLLM_ENDPOINTS: `a=${watched.url}`,
      NOTIFLY_URL: inbox.url,
      NOTIFLY_TOKEN: 'token',
      LOG_LEVEL: 'silent',
    })
  const runners = await Promise.all([start(), start()])
  return {
    place,
    inbox,
    watched,
    run: ([one, other]: [Command, Command]): Promise<Ended[]> =>
      Promise.all([runners[0].run(one), runners[1].run(other)]),
    async close() {
      for (const runner of runners) await runner.close()
      await Promise.all([inbox.close(), watched.close()])
      await place.close()
    },
  }
}
