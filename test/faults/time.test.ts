import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { readState } from '../../src/state/schema.ts'
import { openInbox } from '../../tools/simulator/inbox.ts'
import { type Bundles, buildBundles } from '../bundles.ts'
import { openGate, type Passing } from './gate.ts'
import { PLACES, type Place } from './place.ts'
import { type Runner, startRunner } from './runner.ts'
import { openDeafHost, openDroppingHost } from './silent-host.ts'
import { openWatched } from './watched.ts'

const MINUTE = 60_000

let bundles: Bundles
beforeAll(() => {
  bundles = buildBundles()
}, 180_000)
afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function openScene(place: Place, endpoints = ['a']) {
  const inbox = await openInbox()
  const watched = await openWatched()
  const servers = { watched: watched.url, inbox: inbox.url, ...(place.server ? { s3: place.server } : {}) }
  const gate = await openGate(servers)
  const clock = join(mkdtempSync(join(tmpdir(), 'queuebell-clock-')), 'clock')
  writeFileSync(clock, '0')
  closing.push(inbox.close, watched.close, gate.close, place.close)
  const start = async (urls: Record<string, string>, more: Record<string, string> = {}): Promise<Runner> => {
    const runner = await startRunner(join(bundles.dist, 'vllm.mjs'), {
      ...place.env,
      VLLM_ENDPOINTS: endpoints.map((name) => `${name}=${urls.watched}`).join(' '),
      NOTIFLY_URL: urls.inbox,
      NOTIFLY_TOKEN: 'token',
      LOG_LEVEL: 'silent',
      ...(urls.s3 ? { S3_ENDPOINT: urls.s3 } : {}),
      ...more,
    })
    closing.unshift(runner.close)
    return runner
  }
  return {
    inbox,
    watched,
    gate,
    place,
    /** The process whose requests pass the gate, and whose clock goes on while it is frozen. */
    gated: (more: Record<string, string> = {}) => start(gate.urls, { CLOCK: clock, ...more }),
    other: () => start(servers),
    passTime: (ms: number) => writeFileSync(clock, String(ms)),
    async state() {
      const read = readState((await place.store.load('vllm.json'))?.text ?? '')
      if (read.kind !== 'state') throw new Error(`the state is ${read.kind}`)
      return read.state
    },
  }
}

/** Resolves when a request reaches the moment, and holds it there until let go. */
function holdAt(watch: (watcher: (passing: Passing) => unknown) => void, fits: (passing: Passing) => boolean) {
  let letGo = () => {}
  const released = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const reached = new Promise<void>((resolve) => {
    watch(async (passing) => {
      if (!fits(passing)) return
      resolve()
      await released
    })
  })
  return { reached, letGo: () => letGo() }
}

const start = () => Math.floor(Date.now() / MINUTE) * MINUTE

describe.each(Object.entries(PLACES))('with its state in %s', (name, open) => {
  test('a process frozen while it pushes does not send the rest once its claim has ended', {
    timeout: 60_000,
  }, async () => {
    const context = await openScene(await open(), ['a', 'b'])
    const [frozen, other] = [await context.gated(), await context.other()]
    const t = start()
    context.watched.waiting = 42
    const push = holdAt(context.gate.watch, ({ to, moment }) => to === 'inbox' && moment === 'done')
    const ended = frozen.run({ now: t, time: t })
    await push.reached // the first of two is taken, and the process does not know
    frozen.signal('SIGSTOP')
    context.passTime(MINUTE + 5_000)
    expect(await other.run({ now: t + MINUTE, time: t + MINUTE })).toMatchObject({ body: { pushes: { delivered: 2 } } })
    push.letGo()
    frozen.signal('SIGCONT')
    expect(await ended).toMatchObject({ body: { pushes: { delivered: 1, waiting: 0 } } })
    const told = (endpoint: string) =>
      context.inbox.received.filter(({ title }) => new RegExp(`\\b${endpoint}\\b`).test(title)).length
    expect([told('a'), told('b')].sort()).toEqual([1, 2])
    expect((await context.state()).outbox).toEqual([])
    expect(await other.run({ now: t + 2 * MINUTE, time: t + 2 * MINUTE })).toMatchObject({
      body: { pushes: { delivered: 0 } },
    })
  })

  test.skipIf(name === 'the file store')(
    'a process frozen between its save and its push sends nothing when it wakes',
    { timeout: 60_000 },
    async () => {
      const context = await openScene(await open())
      const [frozen, other] = [await context.gated(), await context.other()]
      const t = start()
      await other.run({ now: t, time: t })
      context.watched.waiting = 42
      const save = holdAt(
        context.gate.watch,
        ({ to, method, moment }) => to === 's3' && method === 'PUT' && moment === 'done',
      )
      const ended = frozen.run({ now: t + MINUTE, time: t + MINUTE })
      await save.reached
      frozen.signal('SIGSTOP')
      context.passTime(MINUTE + 5_000)
      await other.run({ now: t + 2 * MINUTE, time: t + 2 * MINUTE })
      save.letGo()
      frozen.signal('SIGCONT')
      await ended
      expect(context.inbox.received).toHaveLength(1)
      expect((await context.state()).outbox).toEqual([])
    },
  )

  test('case 113: a run longer than the interval is superseded, and the newer state stays', {
    timeout: 60_000,
  }, async () => {
    const context = await openScene(await open())
    const [slow, other] = [await context.gated(), await context.other()]
    const t = start()
    await other.run({ now: t, time: t })
    context.watched.waiting = 42
    const look = holdAt(context.gate.watch, ({ to, moment }) => to === 'watched' && moment === 'done')
    const ended = slow.run({ now: t + MINUTE, time: t + MINUTE })
    await look.reached
    context.watched.waiting = 1
    expect(await other.run({ now: t + 2 * MINUTE, time: t + 2 * MINUTE })).toMatchObject({
      body: { outcome: 'completed' },
    })
    const newer = await context.state()
    context.passTime(MINUTE + 10_000)
    look.letGo()
    expect(await ended).toMatchObject({ body: { outcome: 'superseded' } })
    expect(await context.state()).toEqual(newer)
    expect(context.inbox.received).toEqual([])
  })

  test('case 110: a tick that comes twice, or after the next one, changes nothing', { timeout: 60_000 }, async () => {
    const context = await openScene(await open())
    const runner = await context.other()
    const t = start()
    context.watched.waiting = 42
    await runner.run({ now: t + MINUTE, time: t + MINUTE })
    const before = await context.state()
    expect(await runner.run({ now: t + MINUTE + 5_000, time: t + MINUTE })).toMatchObject({
      body: { outcome: 'duplicate' },
    })
    expect(await runner.run({ now: t + MINUTE + 9_000, time: t })).toMatchObject({ body: { outcome: 'superseded' } })
    expect(await context.state()).toEqual(before)
    expect(context.inbox.received).toHaveLength(1)
  })
})

describe('when time runs out', () => {
  test('case 114: twelve dead endpoints are asked at once; results and state are written before the end', {
    timeout: 60_000,
  }, async () => {
    const names = Array.from({ length: 12 }, (_, i) => `r${i}`)
    const context = await openScene(await filePlace(), names)
    context.watched.waiting = 'hang'
    const runner = await context.gated({ VLLM_TIMEOUT: '30s' })
    const ended = await runner.run({ now: start(), remaining: 6_000 })
    // Half of the time is left to write, to push and to settle.
    expect(ended.took).toBeLessThan(4_500)
    expect(ended.body?.endpoints.map(({ up, failure }) => [up, failure?.kind])).toEqual(
      names.map(() => [false, 'timeout']),
    )
    expect(Object.values((await context.state()).endpoints).map(({ failures }) => failures)).toEqual(names.map(() => 1))
  })

  test.each([
    ['accepts and never answers', openDeafHost],
    ['drops every packet', openDroppingHost],
  ])(
    'case 115: a state store that %s fails the run long before its limit',
    { timeout: 60_000, tags: ['long'] },
    async (_, openHost) => {
      const host = await openHost()
      closing.push(host.close)
      const place = await (PLACES['S3 (fake)'] ?? Promise.reject)()
      const context = await openScene({ ...place, env: { ...place.env, S3_ENDPOINT: host.url }, server: undefined })
      const runner = await context.gated()
      const ended = await runner.run({ now: start(), remaining: 60_000 })
      expect(ended.error).toMatch(/cannot read s3:.*(gateway endpoint|NAT)/)
      expect(ended.took).toBeLessThan(12_000)
    },
  )

  test.each([
    ['accepts and never answers', openDeafHost],
    ['drops every packet', openDroppingHost],
  ])(
    'case 115: a push server that %s: the run ends in its time and keeps what it has to tell',
    { timeout: 60_000, tags: ['long'] },
    async (_, openHost) => {
      const host = await openHost()
      closing.push(host.close)
      const context = await openScene(await filePlace())
      context.watched.waiting = 42
      const runner = await context.gated({ NOTIFLY_URL: host.url })
      const ended = await runner.run({ now: start(), remaining: 8_000 })
      expect(ended).toMatchObject({ body: { pushes: { delivered: 0, waiting: 1 } } })
      expect(ended.took).toBeLessThan(8_000)
      expect((await context.state()).outbox).toHaveLength(1)
    },
  )

  test('case 115: a state store that falls silent in the middle of a run fails it before its limit', {
    timeout: 60_000,
    tags: ['long'],
  }, async () => {
    const context = await openScene(await (PLACES['S3 (fake)'] ?? Promise.reject)())
    const runner = await context.gated()
    let silent = false
    context.gate.watch(({ to, method }) => {
      if (to === 's3' && method === 'PUT') silent = true
      return to === 's3' && silent ? new Promise(() => {}) : undefined
    })
    const ended = await runner.run({ now: start(), remaining: 10_000 })
    expect(ended.error).toMatch(/s3:|did not end/)
    expect(ended.took).toBeLessThan(10_000)
  })
})

describe('the handler rejects, so that the platform counts an error', () => {
  test('when a message has waited longer than 15 minutes, and not before', { timeout: 60_000 }, async () => {
    const context = await openScene(await filePlace())
    context.watched.waiting = 42
    const runner = await context.gated({ NOTIFLY_URL: 'http://127.0.0.1:2' })
    const t = start()
    const limit = { remaining: 4_000 }
    expect(await runner.run({ now: t, ...limit })).toMatchObject({ body: { pushes: { delivered: 0, waiting: 1 } } })
    expect(await runner.run({ now: t + 14 * MINUTE, ...limit })).toMatchObject({ body: { pushes: { waiting: 1 } } })
    expect((await runner.run({ now: t + 16 * MINUTE, ...limit })).error).toMatch(/RunFailed.*15 minutes/)
  })

  test('while the push server refuses the token; the message is kept and delivered once', {
    timeout: 60_000,
  }, async () => {
    const context = await openScene(await filePlace())
    context.watched.waiting = 42
    const runner = await context.gated()
    const t = start()
    context.inbox.meet({ kind: 'status', status: 401 }, 2)
    for (const minute of [0, 1]) {
      expect((await runner.run({ now: t + minute * MINUTE })).error).toMatch(/RunFailed.*401.*NOTIFLY_TOKEN/)
    }
    expect(await runner.run({ now: t + 2 * MINUTE })).toMatchObject({ body: { pushes: { delivered: 1, waiting: 0 } } })
    expect(context.inbox.received).toHaveLength(1)
  })
})

function filePlace(): Promise<Place> {
  return (PLACES['the file store'] ?? Promise.reject)()
}
