import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readState } from '../../src/state/schema.ts'
import { type Inbox, openInbox } from '../../tools/simulator/inbox.ts'
import { type Bundles, buildBundles } from '../bundles.ts'
import { openGate } from './gate.ts'
import { PLACES, type Place } from './place.ts'
import { type Ended, type Runner, startRunner } from './runner.ts'
import { openWatched, type Watched } from './watched.ts'

const MINUTE = 60_000

let bundles: Bundles
beforeAll(() => {
  bundles = buildBundles()
}, 180_000)
afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))

/** Requests waiting as the server shows them before the run that is killed, in it, and after it. */
interface Story {
  name: string
  before: number[]
  killed: number
  after: number[]
  /** The incident is seen by more than the run that is killed: it must be told. */
  lasts: boolean
}
const STORIES: Story[] = [
  { name: 'the run that fires', before: [1, 1], killed: 42, after: [42, 42, 1, 1, 1], lasts: true },
  { name: 'the run that fires, and then all is well', before: [1, 1], killed: 42, after: [1, 1, 1], lasts: false },
  { name: 'the run that resolves', before: [1, 42, 1], killed: 1, after: [1, 1, 1], lasts: true },
  { name: 'the first run of all', before: [], killed: 42, after: [42, 42, 1, 1, 1], lasts: true },
]

describe.each(Object.entries(PLACES))('killed with its state in %s', (place, open) => {
  test.each(STORIES)(
    'at each request, before and after its server has done it: the next run goes on ($name)',
    { timeout: 600_000, tags: 'long' },
    async (story) => {
      const scenes = scenesOf(story, open)
      let kills = 0
      for (let n = 0, reached = true; reached; n += 1) {
        reached = false
        for (const moment of ['asked', 'done', 'answered'] as const) {
          const context = await scenes.next()
          const victim = await context.startVictim()
          victim.gate.watch((passing) => {
            if (passing.n !== n || passing.moment !== moment) return
            reached = true
            kills += 1
            victim.runner.signal('SIGKILL')
          })
          await context.follow(story, victim, `request ${n} ${moment}`)
        }
      }
      await scenes.close()
      // The endpoint and the push; in S3 the state is read, written and settled as well.
      expect(kills).toBeGreaterThanOrEqual(place === 'the file store' ? 6 : 15)
    },
  )
})

describe('killed inside the file store', () => {
  test.each(STORIES)(
    'at each file operation, before and after it took effect: the next run goes on ($name)',
    { timeout: 600_000, tags: 'long' },
    async (story) => {
      const scenes = scenesOf(story, PLACES['the file store'] ?? Promise.reject)
      let kills = 0
      for (let n = 0, alive = false; !alive; n += 1) {
        for (const when of ['before', 'after']) {
          const context = await scenes.next()
          const victim = await context.startVictim({ KILL_AT: String(n), KILL_WHEN: when })
          const ended = await context.follow(story, victim, `operation ${n} ${when}`)
          if (ended.gone) kills += 1
          else alive = true
        }
      }
      await scenes.close()
      expect(kills).toBeGreaterThanOrEqual(30)
    },
  )
})

/** A story that needs no fresh state goes on where the one before it ended. */
function scenesOf(story: Story, open: () => Promise<Place>) {
  let context: Awaited<ReturnType<typeof openScene>> | undefined
  return {
    async next() {
      // A new process asks with its own clock, and a real store refuses one that is 15 minutes off.
      if (context && story.before.length > 0 && context.ahead() < 8 * MINUTE) return context
      await context?.close()
      context = await openScene(await open())
      return context
    },
    close: async () => context?.close(),
  }
}

interface Victim {
  runner: Runner
  gate: Awaited<ReturnType<typeof openGate>>
  close(): Promise<void>
}

/** Servers, a process that stays alive, and those that are killed one after the other. */
async function openScene(place: Place) {
  const inbox: Inbox = await openInbox()
  const watched: Watched = await openWatched()
  const bundle = join(bundles.dist, 'vllm.mjs')
  const env = { ...place.env, NOTIFLY_TOKEN: 'token', LOG_LEVEL: 'silent' }
  const urls = (to: { watched?: string | undefined; inbox?: string | undefined; s3?: string | undefined }) => ({
    VLLM_ENDPOINTS: `a=${to.watched}`,
    NOTIFLY_URL: to.inbox,
    ...(to.s3 ? { S3_ENDPOINT: to.s3 } : {}),
  })
  const servers = { watched: watched.url, inbox: inbox.url, ...(place.server ? { s3: place.server } : {}) }
  const steady = await startRunner(bundle, { ...env, ...urls(servers) })
  let now = Math.floor(Date.now() / MINUTE) * MINUTE

  async function startVictim(more: Record<string, string> = {}): Promise<Victim> {
    const gate = await openGate(servers)
    const runner = await startRunner(bundle, { ...env, ...urls(gate.urls), ...more })
    return { runner, gate, close: async () => Promise.all([runner.close(), gate.close()]).then(() => {}) }
  }

  async function look(runner: Runner, waiting: number): Promise<Ended> {
    watched.waiting = waiting
    watched.seconds += 60
    now += MINUTE
    return runner.run({ now, time: now })
  }

  async function follow(story: Story, victim: Victim, at: string): Promise<Ended> {
    const mark = inbox.received.length
    for (const waiting of story.before) expect(await look(steady, waiting)).toMatchObject(COMPLETED)
    const before = inbox.received.length
    const ended = await look(victim.runner, story.killed)
    expect({ at, error: ended.error }).toEqual({ at, error: undefined })
    const sent = inbox.received.length > before
    for (const waiting of story.after)
      expect({ at, ...(await look(steady, waiting)) }).toMatchObject({ at, ...COMPLETED })
    const state = readState((await place.store.load('vllm.json'))?.text ?? '')
    expect({ at, state }).toMatchObject({ at, state: { kind: 'state', state: { outbox: [] } } })
    const titles = inbox.received.slice(mark).map(({ title }) => title)
    check(titles, { at, maybeTwice: ended.gone === true && sent, lasts: story.lasts })
    await victim.close()
    return ended
  }

  return {
    startVictim,
    follow,
    /** Milliseconds that the story has gone beyond the real time. */
    ahead: () => now - Date.now(),
    async close() {
      await Promise.all([steady.close(), inbox.close(), watched.close()])
      await place.close()
    },
  }
}

const COMPLETED = { body: { outcome: 'completed' } }

/** One fired and one resolved, or one late; once more only of what was sent by the run that was killed. */
function check(titles: string[], facts: { at: string; maybeTwice: boolean; lasts: boolean }): void {
  const count = (sign: string) => titles.filter((title) => title.startsWith(sign)).length
  const [fired, late, over] = [count('🐌'), count('🕓'), count('✅')]
  const story = JSON.stringify({ ...facts, titles })
  expect(fired + late + over, story).toBe(titles.length)
  if (facts.lasts) {
    expect(fired, story).toBeGreaterThanOrEqual(1)
    expect(over, story).toBeGreaterThanOrEqual(1)
  }
  if (facts.maybeTwice) expect(titles.length, story).toBeLessThanOrEqual(3)
  else
    expect(
      [
        [0, 0, 0],
        [0, 1, 0],
        [1, 0, 1],
      ],
      story,
    ).toContainEqual([fired, late, over])
}
