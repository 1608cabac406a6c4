import { describe, expect, test } from 'vitest'
import { type Store, StoreError } from '../../src/model/store.ts'
import { type Opened, openRun, saveDecision, saveSettled, stateKey } from '../../src/state/commit.ts'
import { emptyState, readState, type State, writeState } from '../../src/state/schema.ts'
import { createMemoryStore } from '../../src/store/memory.ts'

const NOW = 1_000_000
const key = stateKey('vllm')
const session = (store: Store, id = 'mine', now = NOW, tick?: number) => ({
  store,
  backend: 'vllm' as const,
  now,
  tick,
  id,
})

/** Decides like a run: its id, time and tick are in what it writes; counts how often it was asked. */
function decider(id = 'mine', now = NOW, tick?: number) {
  const asked: State[] = []
  const decide = async ({ state }: Opened) => {
    asked.push(state)
    return { state: { ...state, ranAt: now, runs: [...state.runs, id], ...(tick === undefined ? {} : { tick }) } }
  }
  return { asked, decide }
}

async function open(store: Store, tick?: number): Promise<Opened> {
  const opened = await openRun({ ...session(store, 'mine', NOW, tick), dryRun: false })
  if (opened.kind !== 'open') throw new Error(opened.kind)
  return opened
}

async function plant(store: Store, state: Partial<State>): Promise<void> {
  await store.put(key, writeState({ ...emptyState(), ...state }))
}

describe('a save', () => {
  test('our own write whose answer was lost is found again: the run goes on with it, decided once', async () => {
    const store = createMemoryStore()
    const lossy: Store = {
      ...store,
      async save(...args) {
        await store.save(...args)
        throw new StoreError('no answer', false)
      },
    }
    const { decide, asked } = decider()
    const saved = await saveDecision(await open(lossy), decide, session(lossy))
    expect(saved.kind).toBe('saved')
    expect(asked).toHaveLength(1)
    expect(saved).toMatchObject({ state: { runs: ['mine'] }, version: (await store.load(key))?.version })
  })

  test('our own write that a repeated request finds in its way (412 to ourselves) is ours all the same', async () => {
    const store = createMemoryStore()
    const twice: Store = {
      ...store,
      async save(...args) {
        await store.save(...args)
        return store.save(...args)
      },
    }
    const { decide, asked } = decider()
    expect((await saveDecision(await open(twice), decide, session(twice))).kind).toBe('saved')
    expect(asked).toHaveLength(1)
  })

  test('a write that was not done and not answered is done again', async () => {
    const store = createMemoryStore()
    let failed = false
    const flaky: Store = {
      ...store,
      async save(...args) {
        if (failed) return store.save(...args)
        failed = true
        throw new StoreError('503', false)
      },
    }
    const { decide, asked } = decider()
    expect((await saveDecision(await open(flaky), decide, session(flaky))).kind).toBe('saved')
    expect(asked).toHaveLength(1)
  })

  test('when another run wrote, the decision is made anew from its state, once', async () => {
    const store = createMemoryStore()
    const opened = await open(store)
    await plant(store, { ranAt: NOW - 1, runs: ['other'] })
    const { decide, asked } = decider()
    const saved = await saveDecision(opened, decide, session(store))
    expect(saved).toMatchObject({ kind: 'saved', state: { runs: ['other', 'mine'] } })
    expect(asked.map((s) => s.runs)).toEqual([[], ['other']])
  })

  test('when yet another run wrote meanwhile, this one is superseded', async () => {
    const store = createMemoryStore()
    const busy: Store = {
      ...store,
      async save() {
        await plant(store, { ranAt: NOW - 1, runs: ['other'] })
        return 'conflict'
      },
    }
    const { decide, asked } = decider()
    expect(await saveDecision(await open(busy), decide, session(busy))).toEqual({ kind: 'superseded' })
    expect(asked).toHaveLength(2)
  })

  test('case 113: a slow run does not overwrite the newer state of one that started after it', async () => {
    const store = createMemoryStore()
    const opened = await open(store)
    await plant(store, { ranAt: NOW + 60_000, runs: ['later'] })
    expect(await saveDecision(opened, decider().decide, session(store))).toEqual({ kind: 'superseded' })
    expect((await store.load(key))?.text).toContain('later')
  })

  test('the same tick in two processes: the one that writes second finds it handled', async () => {
    const store = createMemoryStore()
    const opened = await open(store, 500)
    await plant(store, { ranAt: NOW, runs: ['other'], tick: 500 })
    expect(await saveDecision(opened, decider('mine', NOW, 500).decide, session(store, 'mine', NOW, 500))).toEqual({
      kind: 'duplicate',
    })
  })

  test('a refusal of the store is thrown as it is', async () => {
    const store = createMemoryStore()
    const refusing: Store = { ...store, save: () => Promise.reject(new StoreError('403: grant s3:PutObject', true)) }
    await expect(saveDecision(await open(store), decider().decide, session(refusing))).rejects.toThrow('s3:PutObject')
  })
})

describe('opening', () => {
  test.each([
    [undefined, 500, 'open'],
    [500, undefined, 'open'],
    [500, 500, 'duplicate'],
    [500, 499, 'superseded'],
    [500, 501, 'open'],
  ])('with tick %s handled, tick %s is %s', async (handled, tick, kind) => {
    const store = createMemoryStore()
    await plant(store, handled === undefined ? {} : { tick: handled })
    expect((await openRun({ ...session(store, 'mine', NOW, tick), dryRun: false })).kind).toBe(kind)
  })

  test.each([
    ['', 'it is empty'],
    ['{"v":1,"alerts":{', 'it is not JSON'],
    ['{"v":1}', 'no schema'],
    ['null', 'not an object'],
  ])('case 122: a broken state (%j) is put aside, told once, and the run starts anew', async (text) => {
    const store = createMemoryStore()
    await store.put(key, text)
    const opened = await open(store)
    expect(opened.state.endpoints).toEqual({})
    expect(opened.state.outbox.map((o) => o.notification.rule)).toEqual(['state-broken'])
    const aside = await store.list('vllm.broken-')
    expect(aside).toHaveLength(1)
    expect((await store.load(aside[0]?.key ?? ''))?.text).toBe(text)
    // The version is that of the broken object, so that only it is replaced.
    expect(opened.version).toBe((await store.load(key))?.version)
  })

  test('a tick far ahead of the clock, of a test event or a clock that was wrong, does not end the watching', async () => {
    const store = createMemoryStore()
    await plant(store, { tick: NOW + 86_400_000 })
    expect((await openRun({ ...session(store, 'mine', NOW, NOW), dryRun: false })).kind).toBe('open')
  })

  test.each([
    ['the same', 0, 'duplicate'],
    ['an older', -60_000, 'superseded'],
    ['a newer', 60_000, 'open'],
  ])('where all ticks are far ahead of the clock, %s one is still told from the last', async (_, later, kind) => {
    const store = createMemoryStore()
    const far = NOW + 86_400_000
    await plant(store, { tick: far })
    expect((await openRun({ ...session(store, 'mine', NOW, far + later), dryRun: false })).kind).toBe(kind)
  })

  test.each(['{"v":1,"runs":[', ''])(
    'case 122: half an answer (%j) is not a broken state: read once more',
    async (half) => {
      const store = createMemoryStore()
      await plant(store, { runs: ['earlier'] })
      let reads = 0
      const flaky: Store = {
        ...store,
        load: async (at) => {
          const stored = await store.load(at)
          return stored && reads++ === 0 ? { ...stored, text: half } : stored
        },
      }
      expect((await open(flaky)).state.runs).toEqual(['earlier'])
      expect(await store.list('vllm.broken-')).toEqual([])
    },
  )

  test('case 410: a state that broke while this run worked is put aside too before it is replaced', async () => {
    const store = createMemoryStore()
    await plant(store, {})
    const opened = await open(store)
    await store.put(key, '{"v":2,"broken')
    const decide = async (from: Opened) => ({ state: from.state })
    await saveDecision(opened, decide, session(store, 'mine'))
    const aside = await store.list('vllm.broken-')
    expect(aside).toHaveLength(1)
  })

  const note = { id: 'i/fired/0', incident: 'i', reason: 'fired', rule: 'waiting', endpoint: 'a', priority: 8 }
  const whole = { ...note, at: 0, firedAt: 0, context: { backend: 'vllm', url: 'http://a', numbers: {}, of: 1 } }
  test.each([
    ['nothing but an id', { id: 'i/fired/0' }],
    ['no times', note],
    ['an unknown reason', { ...whole, reason: 'odd' }],
    ['a priority in words', { ...whole, priority: 'high' }],
    ['a time that is null', { ...whole, firedAt: null }],
    ['half a context', { ...whole, context: {} }],
    ['a sparkline that is no list', { ...whole, context: { ...whole.context, spark: 'up' } }],
    ['an unknown failure', { ...whole, failure: { kind: 'odd' } }],
    ['half a beat', { ...whole, beat: { interval: 1 } }],
  ])('an outbox edited by hand (%s) is a broken state: it does not make every run fail for ever', (_, notification) => {
    const state = (item: unknown) =>
      JSON.stringify({ ...emptyState(), outbox: [{ notification: item, since: 0, tries: 0 }] })
    expect(readState(state(whole)).kind).toBe('state')
    expect(readState(state(notification)).kind).toBe('broken')
  })

  test('case 122: the state of a newer version is refused and left as it is', async () => {
    const store = createMemoryStore()
    await store.put(key, '{"v":9,"endpoints":{}}')
    await expect(open(store)).rejects.toThrow('newer Queuebell (version 9)')
    expect(await store.load(key)).toMatchObject({ text: '{"v":9,"endpoints":{}}' })
    expect(await store.list('vllm.broken-')).toEqual([])
  })

  test('case 123: a number that JSON turned into null makes the state broken, never 0; one that would is not written', () => {
    const endpoint = {
      since: 0,
      failures: null,
      seen: [],
      blindRuns: 0,
      stalledRuns: 0,
      inside: {},
      recent: [],
      baselines: {},
      gpus: {},
      xids: {},
      alerts: {},
    }
    expect(readState(JSON.stringify({ ...emptyState(), endpoints: { a: endpoint } })).kind).toBe('broken')
    expect(() => writeState({ ...emptyState(), gaps: [Number.NaN] })).toThrow('JSON cannot hold')
  })
})

describe('settling', () => {
  test('goes on from whatever state is newest, and keeps what others wrote', async () => {
    const store = createMemoryStore()
    await plant(store, { runs: ['mine'] })
    const stored = await store.load(key)
    const from = { state: { ...emptyState(), runs: ['mine'] }, version: stored?.version ?? '' }
    await plant(store, { runs: ['mine', 'other'] })
    expect((await saveSettled(from, { deliveries: [], reposted: [] }, session(store))).runs).toEqual(['mine', 'other'])
  })

  test('that can not be written is an error, so that the run counts as failed', async () => {
    const store = createMemoryStore()
    const down: Store = { ...store, save: () => Promise.reject(new StoreError('500', false)) }
    await expect(
      saveSettled({ state: emptyState(), version: '1' }, { deliveries: [], reposted: [] }, session(down)),
    ).rejects.toThrow(StoreError)
  })
})
