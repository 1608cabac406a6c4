import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../src/model/store.ts'
import { openFileStore } from '../../src/store/file.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { openS3Store } from '../../src/store/s3.ts'
import { CREDENTIALS, type FakeS3, startS3 } from './s3-server.ts'

/** `QUEUEBELL_TEST_S3`: the endpoint of a real S3 server; its bucket and keys in QUEUEBELL_TEST_BUCKET and AWS_… */
const REAL = process.env.QUEUEBELL_TEST_S3

let dir: string
let fake: FakeS3
const credentials = { ...process.env }

beforeAll(async () => {
  if (!REAL) Object.assign(process.env, CREDENTIALS)
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-stores-'))
  fake = await startS3()
})
afterAll(async () => {
  await fake.close()
  await rm(dir, { recursive: true })
  Object.assign(process.env, credentials)
})

/** Each opens two views of one fresh place, as two processes would. */
const stores: Record<string, () => [Store, Store]> = {
  memory: () => {
    const store = createMemoryStore()
    return [store, store]
  },
  file: () => {
    const place = path.join(dir, randomUUID(), 'state')
    return [openFileStore(place), openFileStore(place)]
  },
  's3 (fake)': () => {
    const config = fake.config(`${randomUUID()}/`)
    return [openS3Store(config), openS3Store(config)]
  },
  's3 (real)': () => {
    const bucket = process.env.QUEUEBELL_TEST_BUCKET ?? 'queuebell'
    const config = { kind: 's3', bucket, prefix: `${randomUUID()}/`, endpoint: REAL, forcePathStyle: true } as const
    return [openS3Store(config), openS3Store(config)]
  },
}

if (!REAL) console.info('store contract: no real S3 server here (QUEUEBELL_TEST_S3 is not set), its tests are skipped')

for (const [name, open] of Object.entries(stores))
  describe.skipIf(name === 's3 (real)' && !REAL)(name, () => {
    test('an object that was never written is absent, not an error', async () => {
      const [store] = open()
      expect(await store.load('vllm.json')).toBeUndefined()
    })

    test('what was saved is read back to the character, by another process too', async () => {
      const [a, b] = open()
      const text = '{"очередь":"▁▂▃ 🐌","empty":""}\n'
      const saved = await a.save('vllm.json', text, undefined)
      expect(await b.load('vllm.json')).toEqual({ text, version: versionOf(saved) })
    })

    test('an empty object is there, with an empty text', async () => {
      const [a, b] = open()
      await a.put('vllm.json', '')
      expect(await b.load('vllm.json')).toMatchObject({ text: '' })
    })

    test('of two saves from the same version, the second is a conflict and changes nothing', async () => {
      const [a, b] = open()
      const first = versionOf(await a.save('vllm.json', 'one', undefined))
      const second = versionOf(await a.save('vllm.json', 'two', first))
      expect(await b.save('vllm.json', 'three', first)).toBe('conflict')
      expect(await b.load('vllm.json')).toEqual({ text: 'two', version: second })
    })

    test('of two first saves, the second is a conflict and changes nothing', async () => {
      const [a, b] = open()
      await a.save('vllm.json', 'one', undefined)
      expect(await b.save('vllm.json', 'two', undefined)).toBe('conflict')
      expect(await b.load('vllm.json')).toMatchObject({ text: 'one' })
    })

    test('each save gives the version that the next save needs', async () => {
      const [a, b] = open()
      let version = versionOf(await a.save('vllm.json', '0', undefined))
      for (const n of [1, 2, 3, 4, 5]) version = versionOf(await (n % 2 ? a : b).save('vllm.json', `${n}`, version))
      expect(await b.load('vllm.json')).toEqual({ text: '5', version })
    })

    test('of twenty first saves at once, exactly one is taken', async () => {
      const [a, b] = open()
      const saves = Array.from({ length: 20 }, (_, n) => (n % 2 ? a : b).save('vllm.json', `${n}`, undefined))
      const taken = (await Promise.all(saves)).filter((saved) => saved !== 'conflict')
      expect(taken).toHaveLength(1)
    })

    test('increments by writers that read again after a conflict are never lost', async () => {
      const [a, b] = open()
      const writer = async (store: Store) => {
        for (let done = 0; done < 5; ) {
          const stored = await store.load('count')
          const next = String(Number(stored?.text ?? 0) + 1)
          if ((await store.save('count', next, stored?.version)) !== 'conflict') done++
        }
      }
      await Promise.all([writer(a), writer(b), writer(a), writer(b)])
      expect(await a.load('count')).toMatchObject({ text: '20' })
    })

    test('a put needs no version and moves it', async () => {
      const [a, b] = open()
      const version = versionOf(await a.save('vllm.json', 'one', undefined))
      await b.put('vllm.json', 'aside')
      expect(await a.save('vllm.json', 'two', version)).toBe('conflict')
      expect(await a.load('vllm.json')).toMatchObject({ text: 'aside' })
    })

    test('a list names the keys below a prefix and when each was written', async () => {
      const [a, b] = open()
      const before = Date.now()
      await a.put('beats/indexer.json', '{}')
      await a.put('beats/mailer.json', '{}')
      await a.put('beatsteaks.json', '{}')
      await a.put('vllm.json', '{}')
      const listed = await b.list('beats/')
      expect(listed.map(({ key }) => key).sort()).toEqual(['beats/indexer.json', 'beats/mailer.json'])
      // Stores round to the second, down or up.
      for (const { at } of listed) expect(Math.abs(at - before)).toBeLessThan(10_000)
    })

    test('a list tells the bytes of each object, so that one that says nothing new need not be read', async () => {
      const [a, b] = open()
      await a.put('beats/indexer.json', '{"kind":"ok"}')
      await a.put('beats/mailer.json', '{"body":"очередь"}')
      const sizes = (await b.list('beats/')).map(({ key, size }): [string, number | undefined] => [key, size])
      expect(new Map(sizes)).toEqual(
        new Map([
          ['beats/indexer.json', 13],
          ['beats/mailer.json', 25],
        ]),
      )
    })

    test('a list of nothing is empty', async () => {
      const [store] = open()
      expect(await store.list('beats/')).toEqual([])
    })

    test('a store that keeps the conditions has nothing odd to tell', async () => {
      const [store] = open()
      const version = versionOf(await store.save('vllm.json', 'one', undefined))
      await store.save('vllm.json', 'two', version)
      expect(store.warnings()).toEqual([])
    })
  })

function versionOf(saved: Awaited<ReturnType<Store['save']>>): string {
  if (saved === 'conflict') throw new Error('conflict where none was expected')
  return saved.version
}
