import { randomUUID } from 'node:crypto'
import diagnostics from 'node:diagnostics_channel'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Store } from '../../src/model/store.ts'
import { openS3Store } from '../../src/store/s3.ts'

/** A real Ceph gateway, started by `.ci/radosgw.sh`: what the fake server cannot prove about itself. */
const endpoint = process.env.QUEUEBELL_TEST_S3

if (!endpoint) console.info('radosgw: QUEUEBELL_TEST_S3 is not set, so nothing is tried on a real S3 server')

describe.skipIf(!endpoint)('a real radosgw', () => {
  const KEY = 'vllm.json'
  let prefix: string
  let requests = 0
  const count = () => {
    requests++
  }

  beforeAll(() => diagnostics.subscribe('http.client.request.start', count))
  afterAll(() => {
    diagnostics.unsubscribe('http.client.request.start', count)
  })
  beforeEach(() => {
    prefix = `${randomUUID()}/`
  })

  const open = (bucket = process.env.QUEUEBELL_TEST_BUCKET ?? 'queuebell'): Store =>
    openS3Store({ kind: 's3', bucket, prefix, endpoint, forcePathStyle: true })

  const run = async (text: string) => {
    const store = open()
    requests = 0
    const stored = await store.load(KEY)
    const saved = await store.save(KEY, text, stored?.version)
    return { saved, requests, before: stored?.text, warnings: store.warnings() }
  }

  test('case 120: compares the quotes of the ETag: found out once, then a run of a new process is two requests', async () => {
    await run('first')
    const second = await run('second')
    expect(second.saved).not.toBe('conflict')
    const third = await run('third')
    expect(third).toMatchObject({ before: 'second', requests: 2, warnings: [] })
    expect(third.saved).not.toBe('conflict')
    expect(await run('fourth')).toMatchObject({ before: 'third', requests: 2 })
  })

  test('case 118: answers 412, not 404, for an object that is gone: created anew', async () => {
    const store = open()
    const version = '"d41d8cd98f00b204e9800998ecf8427e"'
    expect(await store.save(KEY, 'new', version)).not.toBe('conflict')
    expect(await open().load(KEY)).toMatchObject({ text: 'new' })
    expect(store.warnings()).toEqual([expect.stringMatching(/deleted/)])
  })

  test('four processes with ten increments each lose none', async () => {
    const writer = async (store: Store) => {
      for (let done = 0; done < 10; ) {
        const stored = await store.load(KEY)
        const next = String(Number(stored?.text ?? 0) + 1)
        if ((await store.save(KEY, next, stored?.version)) !== 'conflict') done++
      }
    }
    await Promise.all([open(), open(), open(), open()].map(writer))
    expect(await open().load(KEY)).toMatchObject({ text: '40' })
  })

  test('a bucket that does not exist names STATE_BUCKET', async () => {
    await expect(open('nothing-here').load(KEY)).rejects.toThrow(/STATE_BUCKET/)
    await expect(open('nothing-here').put(KEY, 'x')).rejects.toThrow(/STATE_BUCKET/)
  })

  test('a wrong secret names the credentials and shows none', async () => {
    const right = process.env.AWS_SECRET_ACCESS_KEY
    process.env.AWS_SECRET_ACCESS_KEY = 'wrong-secret'
    const error: unknown = await open()
      .load(KEY)
      .catch((e: unknown) => e)
    process.env.AWS_SECRET_ACCESS_KEY = right
    expect(String(error)).toMatch(/AWS_SECRET_ACCESS_KEY/)
    expect(String(error)).not.toMatch(/wrong-secret/)
  })
})
