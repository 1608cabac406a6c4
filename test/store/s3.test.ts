import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Saved, type Store, StoreError } from '../../src/model/store.ts'
import { openS3Store } from '../../src/store/s3.ts'
import { CREDENTIALS, type FakeS3, type Fault, startS3 } from './s3-server.ts'

const KEY = 'vllm.json'
const OBJECT = `queuebell/${KEY}`
/** Milliseconds: the time-out where a test waits for it to pass. */
const SHORT = 600

let s3: FakeS3
const environment = { ...process.env }

beforeEach(async () => {
  Object.assign(process.env, CREDENTIALS)
  s3 = await startS3()
})
afterEach(async () => {
  await s3.close()
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
})

/** A new process: nothing is known but what the store holds. */
const open = (timeout = 5_000): Store => openS3Store(s3.config(), { timeout })

/** State from an earlier run, and the store of a new process that has read it. */
async function afterLoad(timeout?: number) {
  s3.plant(OBJECT, 'old')
  const store = open(timeout)
  const version = (await store.load(KEY))?.version
  s3.log.length = 0
  return { store, version }
}

const versionOf = (saved: Saved) => (saved === 'conflict' ? 'conflict' : saved.version)
const textNow = () => s3.objects.get(OBJECT)?.text
const puts = () => s3.log.filter(({ kind, key }) => kind === 'PUT' && key === OBJECT).length
const failure = async (work: Promise<unknown>): Promise<StoreError> => {
  const error = await work.then(
    () => undefined,
    (e: unknown) => e,
  )
  if (!(error instanceof StoreError)) throw new Error(`expected a StoreError, got ${inspect(error)}`)
  return error
}

describe('requests', () => {
  /** One run as a new process: load, decide, save. */
  const run = async (text: string) => {
    const store = open()
    s3.log.length = 0
    const stored = await store.load(KEY)
    const saved = await store.save(KEY, text, stored?.version)
    return { kinds: s3.log.map(({ kind }) => kind), saved, warnings: store.warnings() }
  }

  test('in the steady state a run is one GET and one PUT, whatever the store is like', async () => {
    const stores = [{}, { quotesCompared: true }, { conditions: 'ignored' }, { conditions: 'unsupported' }] as const
    for (const traits of stores) {
      s3.objects.clear()
      s3.traits = traits
      await run('first')
      await run('second') // finds out about the quotes
      expect(await run('third'), JSON.stringify(traits)).toMatchObject({ kinds: ['GET', 'PUT'] })
      expect(textNow()).toBe('third')
    }
  })

  test('the first save of all tries the conditions on an object of its own', async () => {
    expect((await run('first')).kinds).toEqual(['GET', 'PUT', 'PUT', 'PUT', 'PUT'])
    expect([...s3.objects.keys()]).toEqual(['queuebell/conditions-check', OBJECT])
  })

  test('a store that was tried is not tried again for a second object', async () => {
    const store = open()
    await store.save(KEY, 'first', undefined)
    s3.log.length = 0
    await store.save('tgi.json', 'first', undefined)
    expect(s3.log).toEqual([{ kind: 'PUT', key: 'queuebell/tgi.json', ifNoneMatch: '*' }])
  })

  test('case 111: what one process saved is what a new one decides from', async () => {
    await run('fired at 12:00')
    expect(await open().load(KEY)).toMatchObject({ text: 'fired at 12:00' })
  })

  test('case 113: a slow run does not overwrite what a quicker one saved meanwhile', async () => {
    const { store: slow, version } = await afterLoad()
    const quick = open()
    await quick.save(KEY, 'quick', (await quick.load(KEY))?.version)
    expect(await slow.save(KEY, 'slow', version)).toBe('conflict')
    expect(textNow()).toBe('quick')
  })

  test('case 85: connections are not kept for the next invocation', async () => {
    const store = open()
    s3.plant(OBJECT, 'old')
    await store.load(KEY)
    await vi.waitFor(async () => expect(await s3.openConnections()).toBe(0))
  })
})

describe('conditions that do not hold', () => {
  const conflicts: [string, Fault['do']][] = [
    ['case 116: 412 is a conflict', 412],
    ['case 120: 304 instead of 412 is a conflict', 304],
    ['case 121: a failed condition reported with status 200 is a conflict', '200-failed'],
  ]
  test.each(conflicts)('%s', async (_, answer) => {
    const { store, version } = await afterLoad()
    s3.plant(OBJECT, 'of another run')
    s3.next({ on: 'PUT', do: answer })
    expect(await store.save(KEY, 'new', version)).toBe('conflict')
    expect(textNow()).toBe('of another run')
  })

  test.each(conflicts)('%s for a first save too', async (_, answer) => {
    const store = open()
    s3.next({ on: 'PUT', key: KEY, do: answer })
    expect(await store.save(KEY, 'new', undefined)).toBe('conflict')
    expect(puts()).toBe(1)
  })

  test('case 116: 409 settles nothing: the same write again after a pause', async () => {
    const { store, version } = await afterLoad()
    s3.next({ on: 'PUT', do: 409, times: 2 })
    expect(await store.save(KEY, 'new', version)).toEqual({ version: s3.objects.get(OBJECT)?.etag })
    expect(textNow()).toBe('new')
  })

  test('case 116: 409 three times over is a conflict', async () => {
    const { store, version } = await afterLoad()
    s3.next({ on: 'PUT', do: 409, times: 3 })
    expect(await store.save(KEY, 'new', version)).toBe('conflict')
    expect(textNow()).toBe('old')
  })

  test.each(['kept', '412-missing'] as const)(
    'case 118: an object deleted since it was read is created anew, and that is told (%s)',
    async (conditions) => {
      s3.traits.conditions = conditions
      const { store, version } = await afterLoad()
      s3.objects.clear()
      expect(versionOf(await store.save(KEY, 'new', version))).not.toBe('conflict')
      expect(textNow()).toBe('new')
      expect(s3.log.at(-1)).toMatchObject({ ifNoneMatch: '*' })
      expect(store.warnings()).toEqual([expect.stringMatching(/vllm\.json was deleted .* lost/)])
    },
  )

  test('case 118: created anew by somebody else first: a conflict', async () => {
    const { store, version } = await afterLoad()
    s3.plant(OBJECT, 'of another run')
    s3.next({ on: 'PUT', do: 404 })
    expect(await store.save(KEY, 'new', version)).toBe('conflict')
    expect(textNow()).toBe('of another run')
  })

  test('a stale read is refused when it is written back', async () => {
    s3.plant(OBJECT, 'first')
    s3.plant(OBJECT, 'second')
    s3.next({ on: 'GET', do: 'stale' })
    const store = open()
    const stored = await store.load(KEY)
    expect(stored?.text).toBe('first')
    expect(await store.save(KEY, 'new', stored?.version)).toBe('conflict')
    expect(textNow()).toBe('second')
  })
})

describe('case 119: reading is forbidden', () => {
  test('and nothing is there: a fresh start', async () => {
    s3.traits.readForbidden = 'missing'
    const store = open()
    expect(await store.load(KEY)).toBeUndefined()
    const saved = await store.save(KEY, 'first', undefined)
    expect(saved).toEqual({ version: s3.objects.get(OBJECT)?.etag })
    expect(await open().load(KEY)).toMatchObject({ text: 'first' })
  })

  test('and something is there: an error that names the permissions, and nothing is overwritten', async () => {
    s3.plant(OBJECT, 'precious')
    s3.traits.readForbidden = 'all'
    const store = open()
    expect(await store.load(KEY)).toBeUndefined()
    const error = await failure(store.save(KEY, 'first', undefined))
    expect(error.permanent).toBe(true)
    expect(error.message).toMatch(/s3:\/\/queuebell-test\/queuebell\/vllm\.json .*s3:GetObject.*s3:ListBucket/)
    expect(textNow()).toBe('precious')
  })

  test('until the permission is granted: what happens then is an ordinary conflict', async () => {
    s3.traits.readForbidden = 'missing'
    const store = open()
    await store.load(KEY)
    s3.traits.readForbidden = undefined
    expect(await store.load(KEY)).toBeUndefined()
    s3.plant(OBJECT, 'of another run')
    expect(await store.save(KEY, 'first', undefined)).toBe('conflict')
  })

  test.each(['ignored', 'unsupported'] as const)('and conditions are %s: nothing is risked', async (conditions) => {
    s3.plant(OBJECT, 'precious')
    s3.traits = { readForbidden: 'all', conditions }
    const store = open()
    await store.load(KEY)
    expect((await failure(store.save(KEY, 'first', undefined))).message).toMatch(/s3:GetObject/)
    expect(textNow()).toBe('precious')
  })

  test('and writing too: the error names s3:PutObject', async () => {
    s3.traits = { readForbidden: 'missing', writeForbidden: true }
    const store = open()
    await store.load(KEY)
    const error = await failure(store.save(KEY, 'first', undefined))
    expect(error).toMatchObject({ permanent: true, message: expect.stringContaining('s3:PutObject') })
  })
})

describe('case 120: stores that do not keep the condition', () => {
  test.each([
    ['ignored', 'ignores'],
    ['if-match-ignored', 'ignores'],
    ['unsupported', 'does not know \\(501\\)'],
  ] as const)('%s is found out at the first save, told once, and it works on', async (conditions, word) => {
    s3.traits.conditions = conditions
    const store = open()
    let version = versionOf(await store.save(KEY, '1', undefined))
    version = versionOf(await store.save(KEY, '2', version))
    await store.save(KEY, '3', version)
    expect(textNow()).toBe('3')
    expect(store.warnings()).toEqual([expect.stringMatching(new RegExp(`queuebell-test ${word}.*duplicates possible`))])
  })

  test('a new process knows it from the object that it reads', async () => {
    s3.traits.conditions = 'unsupported'
    await open().save(KEY, '1', undefined)
    const store = open()
    const version = (await store.load(KEY))?.version
    await store.save(KEY, '2', version)
    expect(s3.log.at(-1)).toEqual({ kind: 'PUT', key: OBJECT })
    expect(store.warnings()).toHaveLength(1)
  })

  test('one that keeps 501 for later is met without conditions', async () => {
    const { store, version } = await afterLoad()
    s3.traits.conditions = 'unsupported'
    expect(versionOf(await store.save(KEY, 'new', version))).toBe(s3.objects.get(OBJECT)?.etag)
    expect(textNow()).toBe('new')
  })

  test('a check that is forbidden assumes the best and says nothing', async () => {
    s3.next({ on: 'PUT', key: 'conditions-check', do: 403, times: 3 })
    const store = open()
    expect(versionOf(await store.save(KEY, 'new', undefined))).not.toBe('conflict')
    expect(store.warnings()).toEqual([])
  })

  test('quotes compared: refused although nothing moved, the bare ETag is tried, and remembered by the next process', async () => {
    s3.traits.quotesCompared = true
    const { store, version } = await afterLoad()
    const second = versionOf(await store.save(KEY, 'second', version))
    expect(s3.log.map(({ kind }) => kind)).toEqual(['PUT', 'GET', 'PUT'])
    await store.save(KEY, 'third', second)
    expect(s3.log.map(({ kind }) => kind)).toEqual(['PUT', 'GET', 'PUT', 'PUT'])
    const next = open()
    s3.log.length = 0
    const stored = await next.load(KEY)
    expect(versionOf(await next.save(KEY, 'fourth', stored?.version))).not.toBe('conflict')
    expect(s3.log.map(({ kind }) => kind)).toEqual(['GET', 'PUT'])
  })

  test('quotes compared: a version that did move is still a conflict', async () => {
    s3.traits.quotesCompared = true
    const { store, version } = await afterLoad()
    s3.plant(OBJECT, 'of another run', { 'queuebell-etag': 'bare' })
    expect(await store.save(KEY, 'new', version)).toBe('conflict')
    expect([textNow(), puts()]).toEqual(['of another run', 1])
  })

  test('a store that refuses every condition is a conflict, not an endless loop', async () => {
    const { store, version } = await afterLoad()
    s3.next({ on: 'PUT', do: 412, times: 9 })
    expect(await store.save(KEY, 'new', version)).toBe('conflict')
    expect(puts()).toBe(2)
    expect(store.warnings()).toEqual([expect.stringContaining('refused to replace')])
  })

  test('a PUT that something in between answers with a page is an error, since nothing was written', async () => {
    const { store, version } = await afterLoad()
    s3.next({ on: 'PUT', do: 'page' })
    await expect(store.save(KEY, 'new', version)).rejects.toThrow(/something in between answered for the store/)
    s3.next({ on: 'PUT', key: 'other.json', do: 'page' })
    await expect(store.save('other.json', 'new', undefined)).rejects.toThrow(/something in between/)
  })

  test('a PUT that names no ETag: the version is asked for', async () => {
    s3.traits.noEtag = 'put'
    const { store, version } = await afterLoad()
    expect(versionOf(await store.save(KEY, 'new', version))).toBe(s3.objects.get(OBJECT)?.etag)
  })

  test('a store that names no ETag at all: it works on, and duplicates are possible', async () => {
    s3.traits.noEtag = 'all'
    const { store, version } = await afterLoad()
    const second = versionOf(await store.save(KEY, 'second', version))
    await store.save(KEY, 'third', second)
    expect(textNow()).toBe('third')
    expect(store.warnings()).toEqual([expect.stringMatching(/duplicates possible/)])
  })
})

describe('a write whose answer is lost', () => {
  test.each(['lose-answer', 'done-500', 'done-hang'] as const)('but was done (%s): saved', async (fault) => {
    const { store, version } = await afterLoad(SHORT)
    s3.next({ on: 'PUT', do: fault })
    expect(await store.save(KEY, 'new', version)).toEqual({ version: s3.objects.get(OBJECT)?.etag })
    expect([textNow(), puts()]).toEqual(['new', 1])
  })

  test.each(['cut', 'hang', 500, 503] as const)('and was not done (%s): written again, once', async (fault) => {
    const { store, version } = await afterLoad(SHORT)
    s3.next({ on: 'PUT', do: fault })
    expect(versionOf(await store.save(KEY, 'new', version))).not.toBe('conflict')
    expect([textNow(), puts()]).toEqual(['new', 2])
    expect(s3.log.at(-1)).toMatchObject({ kind: 'PUT', ifMatch: version })
  })

  test('and is done late, after it was written again: saved, it is our own', async () => {
    const { store, version } = await afterLoad()
    s3.next({ on: 'PUT', do: 'late' })
    expect(await store.save(KEY, 'new', version)).toEqual({ version: s3.objects.get(OBJECT)?.etag })
    s3.next({ on: 'PUT', key: 'tgi.json', do: 'late' })
    expect(versionOf(await store.save('tgi.json', 'first', undefined))).not.toBe('conflict')
  })

  test('as a first save: found by reading, or written again', async () => {
    const store = open()
    s3.next({ on: 'PUT', key: KEY, do: 'done-500' })
    expect(versionOf(await store.save(KEY, 'first', undefined))).not.toBe('conflict')
    s3.next({ on: 'PUT', key: 'tgi.json', do: 500 })
    expect(versionOf(await store.save('tgi.json', 'first', undefined))).not.toBe('conflict')
  })

  test('and another run wrote the very same text: a conflict, it is not ours', async () => {
    const { store, version } = await afterLoad()
    const other = open()
    await other.save(KEY, 'same', (await other.load(KEY))?.version)
    s3.next({ on: 'PUT', do: 500 })
    expect(await store.save(KEY, 'same', version)).toBe('conflict')
  })

  test('and nothing more can be learned: an error that says the outcome is unknown', async () => {
    const { store, version } = await afterLoad()
    s3.next({ on: 'PUT', do: 'done-500' })
    s3.next({ on: 'GET', do: 503, times: 2 })
    expect(await failure(store.save(KEY, 'new', version))).toMatchObject({ permanent: false })
  })

  test('twice: an error that says the outcome is unknown', async () => {
    const { store, version } = await afterLoad()
    s3.next({ on: 'PUT', do: 503, times: 2 })
    expect(await failure(store.save(KEY, 'new', version))).toMatchObject({ permanent: false })
  })
})

describe('reading', () => {
  test.each(['cut', 'cut-body', 500, 503] as const)(
    'a passing fault (%s) is met by asking once more',
    async (fault) => {
      s3.plant(OBJECT, 'a text of some length')
      s3.next({ on: 'GET', do: fault })
      expect(await open().load(KEY)).toMatchObject({ text: 'a text of some length' })
    },
  )

  test.each(['hang', 'hang-body'] as const)(
    'case 115: a store that does not answer to the end (%s) fails within the time-out',
    async (fault) => {
      s3.plant(OBJECT, 'a text of some length')
      s3.next({ on: 'GET', do: fault, times: 9 })
      const from = performance.now()
      const error = await failure(open(SHORT).load(KEY))
      expect(performance.now() - from).toBeLessThan(2_000)
      expect(s3.requests.GET).toBe(1)
      expect(error).toMatchObject({ permanent: false, message: expect.stringMatching(/VPC/) })
    },
  )

  test('a page of something in between is not the object: nothing is overwritten, the next run tries again', async () => {
    const { store, version } = await afterLoad()
    s3.next({ on: 'GET', do: 'page', times: 2 })
    const error = await failure(store.load(KEY))
    expect(error).toMatchObject({ permanent: false, message: expect.stringMatching(/in between.*S3_ENDPOINT/) })
    s3.next({ on: 'GET', do: 'page' })
    expect(await store.load(KEY)).toEqual({ text: 'old', version })
    expect(store.warnings()).toEqual([])
  })

  test('case 122: an empty object is not a missing one', async () => {
    s3.plant(OBJECT, '')
    expect(await open().load(KEY)).toMatchObject({ text: '' })
  })

  test('case 127: a list tells the time at which the store took each object, over all pages', async () => {
    s3.traits.pageSize = 2
    const at = Date.UTC(2026, 10, 30, 12)
    for (const name of ['a', 'b & c', 'd', 'e', 'f']) {
      s3.plant(`queuebell/beats/${name}.json`, '{}')
      Object.assign(s3.objects.get(`queuebell/beats/${name}.json`) ?? {}, { at })
    }
    const listed = await open().list('beats/')
    expect(listed).toEqual(['a', 'b & c', 'd', 'e', 'f'].map((name) => ({ key: `beats/${name}.json`, at, size: 2 })))
    expect(s3.requests.LIST).toBe(3)
  })
})

describe('errors say what, where and what to do', () => {
  const table: [string, Partial<FakeS3['traits']>, Fault['do'] | undefined, RegExp][] = [
    ['case 125: a wrong clock', {}, 'skewed', /clock is wrong/],
    ['a wrong access key', {}, 'bad-key', /AWS_ACCESS_KEY_ID/],
    ['a bucket that does not exist', { noBucket: true }, undefined, /STATE_BUCKET/],
  ]
  test.each(table)('%s: on reading, writing and listing, at once and for good', async (_, traits, fault, words) => {
    s3.traits = traits
    for (const [on, work] of [
      ['GET', () => open().load(KEY)],
      ['PUT', () => open().save(KEY, 'x', undefined)],
      ['PUT', () => open().put(KEY, 'x')],
      ['LIST', () => open().list('beats/')],
    ] as const) {
      if (fault) s3.next({ on, do: fault })
      const error = await failure(work())
      expect(error.permanent).toBe(true)
      expect(error.message).toMatch(words)
      expect(error.message).toContain('s3://queuebell-test/queuebell/')
    }
  })

  test('a list that is forbidden names s3:ListBucket', async () => {
    s3.traits.readForbidden = 'all'
    expect((await failure(open().list('beats/'))).message).toMatch(/s3:ListBucket/)
  })

  test('a server that is no S3 store: names the bucket and the endpoint', async () => {
    s3.next({ on: 'PUT', do: 404, times: 9 })
    const error = await failure(open().save(KEY, 'x', undefined))
    expect(error).toMatchObject({ permanent: true, message: expect.stringMatching(/STATE_BUCKET.*S3_ENDPOINT/) })
  })

  test('nobody listens there: the network code and S3_ENDPOINT', async () => {
    const config = s3.config()
    await s3.close()
    const error = await failure(openS3Store(config).load(KEY))
    expect(error).toMatchObject({ permanent: false, message: expect.stringMatching(/ECONNREFUSED.*S3_ENDPOINT/) })
    s3 = await startS3()
  })

  test('no credentials at all: names the variables', async () => {
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
    Object.assign(process.env, { AWS_EC2_METADATA_DISABLED: 'true', AWS_SHARED_CREDENTIALS_FILE: '/dev/null' })
    const error = await failure(openS3Store(s3.config()).load(KEY))
    expect(error).toMatchObject({ permanent: true, message: expect.stringMatching(/AWS_ACCESS_KEY_ID/) })
    expect(s3.requests.GET).toBe(0)
  })

  test('credentials from a program that does not end: the same time-out', async () => {
    const profile = path.join(await mkdtemp(path.join(os.tmpdir(), 'queuebell-s3-')), 'config')
    await writeFile(profile, '[default]\nregion = us-east-1\ncredential_process = sleep 3\n')
    for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) delete process.env[name]
    Object.assign(process.env, { AWS_CONFIG_FILE: profile, AWS_SHARED_CREDENTIALS_FILE: '/dev/null' })
    const from = performance.now()
    expect(await failure(open(SHORT).load(KEY))).toMatchObject({
      permanent: false,
      message: expect.stringMatching(/time/),
    })
    expect(performance.now() - from).toBeLessThan(2_500)
    await rm(path.dirname(profile), { recursive: true })
  })

  test('no error shows a key or a secret, not even when it is logged whole', async () => {
    process.env.AWS_SECRET_ACCESS_KEY = 'very-secret'
    process.env.AWS_ACCESS_KEY_ID = 'AKIASECRETID'
    for (const fault of ['skewed', 'bad-key', 500, 'hang', 'cut'] as const) {
      s3.next({ on: 'GET', do: fault, times: 2 })
      const text = inspect(await failure(open(SHORT).load(KEY)), { depth: 9, showHidden: true })
      expect(text).not.toMatch(/very-secret|AKIASECRETID|Signature/)
    }
  })
})
