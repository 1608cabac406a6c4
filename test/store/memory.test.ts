import { expect, test } from 'vitest'
import { StoreError } from '../../src/model/store.ts'
import { createMemoryStore } from '../../src/store/memory.ts'

test('a list tells the time of the clock that the store was given', async () => {
  let now = 1000
  const store = createMemoryStore(() => now)
  await store.put('beats/a.json', '{}')
  now = 2000
  await store.put('beats/b.json', '{}')
  expect(await store.list('beats/')).toEqual([
    { key: 'beats/a.json', at: 1000, size: 2 },
    { key: 'beats/b.json', at: 2000, size: 2 },
  ])
})

test('the same text saved again is a new version: an old one does not come back', async () => {
  const store = createMemoryStore()
  const first = await store.save('vllm.json', 'a', undefined)
  if (first === 'conflict') throw new Error('conflict')
  const second = await store.save('vllm.json', 'a', first.version)
  expect(second).not.toEqual(first)
  expect(await store.save('vllm.json', 'b', first.version)).toBe('conflict')
})

test('two stores share nothing', async () => {
  await createMemoryStore().put('vllm.json', 'a')
  expect(await createMemoryStore().load('vllm.json')).toBeUndefined()
})

test('an empty key is refused', async () => {
  await expect(createMemoryStore().load('')).rejects.toThrow(StoreError)
})
