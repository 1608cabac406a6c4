import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PLAIN_SIZES, toText } from '../../src/heartbeats/beat.ts'
import { readBeats } from '../../src/heartbeats/beats.ts'
import { receive } from '../../src/heartbeats/receive.ts'
import type { Store } from '../../src/model/store.ts'
import { StoreError } from '../../src/model/store.ts'
import { openFileStore } from '../../src/store/file.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { endpointAt } from '../canary/asking.ts'

const worker = (name: string) =>
  endpointAt('beats', { name, model: undefined, beat: { interval: 60_000, grace: 30_000 } })

/** A store that counts what is asked of it, and that may leave out the sizes in its list. */
function counting(now: () => number, sizes: boolean, store: Store = createMemoryStore(now)) {
  const calls = { list: 0, load: 0 }
  const counted: Store = {
    ...store,
    async list(prefix) {
      calls.list += 1
      const listed = await store.list(prefix)
      return sizes ? listed : listed.map(({ key, at }) => ({ key, at }))
    },
    async load(key) {
      calls.load += 1
      return store.load(key)
    },
  }
  return { store: counted, calls }
}

describe.each([
  ['a store that tells sizes', true],
  ['a store that does not', false],
])('%s', (_, sizes) => {
  test('the age is the time since the object was stored; what a worker said comes along', async () => {
    let now = 0
    const { store } = counting(() => now, sizes)
    await store.put('beats/alive.json', toText({ kind: 'ok' }))
    now = 5_000
    await store.put('beats/failed.json', toText({ kind: 'fail', exit: 3, body: 'no space left' }))
    await store.put('beats/begun.json', toText({ kind: 'start', body: 'run 7' }))
    await store.put('beats/stranger.json', toText({ kind: 'fail' }))
    now = 65_000
    const observed = await readBeats(['alive', 'failed', 'begun', 'unseen'].map(worker), store, now)
    expect(observed.map((o) => [o.endpoint.name, o.up === true && o.beat, o.up === true && o.readings.gauges])).toEqual(
      [
        ['alive', { age: 65_000 }, { beat_age: { value: 65 } }],
        ['failed', { age: 60_000, failed: { exit: 3, body: 'no space left' } }, { beat_age: { value: 60 } }],
        ['begun', { age: 60_000, body: 'run 7', running: 'start' }, { beat_age: { value: 60 } }],
        ['unseen', {}, {}],
      ],
    )
  })
})

describe('a fleet that is well costs one list call and no reading', () => {
  const names = Array.from({ length: 50 }, (_, index) => `w${index}`)

  async function look(given: Store) {
    const { store, calls } = counting(() => 0, true, given)
    for (const name of names) await store.put(`beats/${name}.json`, toText({ kind: 'ok' }))
    await readBeats(names.map(worker), store, 1)
    const well = { ...calls }
    await store.put('beats/w7.json', toText({ kind: 'fail', exit: 1 }))
    await readBeats(names.map(worker), store, 1)
    return [well, calls]
  }

  test('in memory', async () => {
    expect(await look(createMemoryStore(() => 0))).toEqual([
      { list: 1, load: 0 },
      { list: 2, load: 1 },
    ])
  })

  test('in files', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'queuebell-beats-'))
    try {
      expect(await look(openFileStore(dir))).toEqual([
        { list: 1, load: 0 },
        { list: 2, load: 1 },
      ])
    } finally {
      await rm(dir, { recursive: true })
    }
  })
})

test('no failed beat has the size of a plain one', () => {
  const failed = [undefined, 1, 25, 255].map((exit) =>
    toText({ kind: 'fail', ...(exit === undefined ? {} : { exit }) }),
  )
  expect(failed.filter((text) => PLAIN_SIZES.has(Buffer.byteLength(text)))).toEqual([])
})

test("case 127: a sender's slow clock changes nothing: the time of receipt counts", async () => {
  let now = Date.parse('2026-11-30T12:00:00Z')
  const store = createMemoryStore(() => now)
  const stamped = { kind: 'ok', at: '2026-11-30T11:45:00Z' } // an old sender's own field
  await store.put('beats/slow.json', JSON.stringify(stamped))
  now += 60_000
  const [observed] = await readBeats([worker('slow')], store, now)
  expect(observed).toMatchObject({ up: true, beat: { age: 60_000 } })
})

test('a store whose clock is ahead of ours gives an age of 0, not a negative one', async () => {
  const store = createMemoryStore(() => 10_000)
  await store.put('beats/a.json', toText({ kind: 'ok' }))
  expect(await readBeats([worker('a')], store, 8_000)).toMatchObject([{ beat: { age: 0 } }])
})

test.each(['', 'no JSON', '[]', 'null', '{"kind":"odd"}', '{"kind":"fail","exit":"x","body":7}'])(
  'an object that a person edited still has its time: %s',
  async (text) => {
    const store = createMemoryStore(() => 0)
    await store.put('beats/a.json', text)
    expect(await readBeats([worker('a')], store, 1_000)).toMatchObject([{ up: true, beat: { age: 1_000 } }])
  },
)

test('a store that cannot be listed is an error: nothing is known of any worker', async () => {
  const store: Store = {
    ...createMemoryStore(() => 0),
    list: () => Promise.reject(new StoreError('cannot list', true)),
  }
  await expect(readBeats([worker('a')], store, 0)).rejects.toThrow('cannot list')
})

test('what the receiver writes, the checker reads', async () => {
  let now = 0
  const store = createMemoryStore(() => now)
  const config = { token: 'secret', workers: [{ name: 'a', interval: 60_000 }] }
  const send = (path: string, body = '') =>
    receive(
      { method: 'POST', path, query: new URLSearchParams({ token: 'secret' }), headers: {}, body, bodyTooLarge: false },
      config,
      { now, lastWrites: new Map(), put: store.put },
    )
  await send('/a/start')
  now = 30_000
  await send('/a/137', 'killed\nfor want of memory')
  now = 31_000
  expect(await readBeats([worker('a')], store, now)).toMatchObject([
    { beat: { age: 1_000, failed: { exit: 137, body: 'killed\nfor want of memory' } } },
  ])
  await send('/a')
  const [observed] = await readBeats([worker('a')], store, now)
  expect(observed).toMatchObject({ beat: { age: 0 } })
  expect(observed?.up === true && observed.beat?.failed).toBe(undefined)
})
