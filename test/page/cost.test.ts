import { expect, test } from 'vitest'
import type { Store } from '../../src/model/store.ts'
import { createWorld } from './world.ts'

/** What a run asks of its store, and what it leaves there. */
async function played(env: Record<string, string>) {
  const world = createWorld(env)
  const asked: string[] = []
  const store: Store = {
    ...world.store,
    load: (key) => {
      asked.push(`load ${key}`)
      return world.store.load(key)
    },
    save: (key, text, version) => {
      asked.push(`save ${key} ${text.length}`)
      return world.store.save(key, text, version)
    },
    list: (prefix) => {
      asked.push(`list ${prefix}`)
      return world.store.list(prefix)
    },
  }
  for (const [minute, waiting] of [1, 42, 42, 42, 1, 1, 1].entries()) {
    await world.watch(minute, [waiting, 1], { store })
  }
  return { asked, state: await world.state() }
}

test('a run with a page asks for nothing more, and leaves not a byte more, than one without', async () => {
  const without = await played({ PAGE_URL: '', PAGE_SECRET: '' })
  const beside = await played({})
  expect(beside.asked).toEqual(without.asked)
  expect(beside.state).toEqual(without.state)
  // One load and one save a run, and one more to settle where something was pushed.
  expect(without.asked.filter((one) => one.startsWith('load'))).toHaveLength(7)
  expect(without.asked.filter((one) => one.startsWith('save'))).toHaveLength(9)
  expect(Object.keys(without.state)).not.toEqual(expect.arrayContaining(['silences']))
})
