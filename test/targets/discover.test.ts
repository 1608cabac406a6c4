import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import type { Shard } from '../../src/model/config.ts'
import type { Network } from '../../src/run.ts'
import { run } from '../../src/run.ts'
import { emptyReadings } from '../../src/signals/readings.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { load } from '../../src/targets/load.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { CREDENTIALS, type FakeS3, startS3 } from '../store/s3-server.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 30, 12)

/** A function over what its sources name; every endpoint that is asked answers, unless it is down. */
function createWatcher(variables: Record<string, string>, network: Partial<Network> = {}) {
  const store = createMemoryStore(() => now)
  const pushes: { title: string; body: string }[] = []
  const warnings: string[] = []
  let now = START
  const fake: Network = {
    async observe({ endpoints }) {
      return endpoints.map((endpoint) => ({ endpoint, up: true, took: 1, readings: readings() }))
    },
    async push({ message }) {
      pushes.push(message)
      return { kind: 'delivered', misconfigured: false }
    },
    ping: async () => {},
    ...network,
  }
  return {
    pushes,
    warnings,
    state: async (key = 'vllm.json') => JSON.parse((await store.load(key))?.text ?? '{}'),
    async turn(shard?: Shard) {
      if (!shard || shard.index === 1) now += MINUTE
      const parsed = parseConfig(
        'vllm',
        { ...variables, NOTIFLY_URL: 'http://push.test', NOTIFLY_TOKEN: 't' },
        { lambda: false },
      )
      if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
      const log = { debug() {}, info() {}, error() {}, warn: (text: string) => void warnings.push(text) }
      const io = {
        now: () => now,
        sleep: async () => {},
        store,
        log,
        runId: () => `${now} ${shard?.index}`,
        print() {},
      }
      const config = { ...parsed.config, ...(shard && { shard }) }
      const { result } = await run({ config, io, tick: now, deadline: now + MINUTE, network: fake })
      return result
    },
  }
}

/** A healthy vLLM without traffic. */
function readings() {
  return { ...emptyReadings(), gauges: { waiting: { value: 0 }, running: { value: 0 }, kv_cache: { value: 0 } } }
}

const names = ({ endpoints }: { endpoints: readonly { name: string }[] }) => endpoints.map(({ name }) => name).sort()
const entry = (name: string, group?: string) => ({
  targets: [`10.0.0.1:${8_000}`],
  labels: { name, ...(group && { group }) },
})

describe('endpoints of an http_sd address', () => {
  let server: Loopback
  let list: unknown
  let status = 200
  let seen: (string | undefined)[] = []
  beforeEach(async () => {
    status = 200
    seen = []
    server = await serveOnLoopback((request, response) => {
      seen.push(request.headers.authorization)
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(typeof list === 'string' ? list : JSON.stringify(list))
    })
  })
  afterEach(() => server.close())

  test('come and go with the list, beside those of the variables; what is gone leaves the state without a message', async () => {
    const watcher = createWatcher({ VLLM_TARGETS: server.url, VLLM_ENDPOINTS: 'own=http://10.0.0.9:8000' })
    list = [entry('a', 'chat'), entry('b', 'chat')]
    expect(names(await watcher.turn())).toEqual(['chat/a', 'chat/b', 'own'])
    list = [entry('b', 'chat'), entry('c', 'chat')]
    expect(names(await watcher.turn())).toEqual(['chat/b', 'chat/c', 'own'])
    expect(Object.keys((await watcher.state()).endpoints).sort()).toEqual(['chat/b', 'chat/c', 'own', 'targets'])
    list = []
    expect(names(await watcher.turn())).toEqual(['own'])
    expect(watcher.pushes).toEqual([])
  })

  test.each([
    [
      'cannot be read',
      () => {
        status = 500
      },
    ],
    [
      'is no list',
      () => {
        list = '<html>'
      },
    ],
    [
      'names one endpoint twice',
      () => {
        list = [entry('a'), entry('a')]
      },
    ],
    [
      'names a port that no fetch asks',
      () => {
        list = [{ targets: ['h:6000'] }]
      },
    ],
  ])('a source that %s keeps its last list and is blind: one push, and one when it is back', async (_, breakIt) => {
    const watcher = createWatcher({ VLLM_TARGETS: server.url })
    const good = [entry('a', 'chat'), entry('b', 'chat')]
    list = good
    await watcher.turn()
    breakIt()
    expect(names(await watcher.turn())).toEqual(['chat/a', 'chat/b', 'targets'])
    expect(watcher.pushes).toEqual([])
    const { endpoints } = await watcher.turn()
    expect(names({ endpoints })).toEqual(['chat/a', 'chat/b', 'targets'])
    expect(endpoints.find(({ name }) => name === 'targets')?.alerts).toEqual({ blind: 'firing' })
    for (let i = 0; i < 3; i++) await watcher.turn()
    expect(watcher.pushes).toHaveLength(1)
    expect(watcher.pushes[0]?.title).toContain('the list of endpoints cannot be used')
    expect(watcher.pushes[0]?.body).toContain(server.url)
    expect(watcher.warnings.join('\n')).toContain('its last list counts, of 2 endpoints')
    status = 200
    list = good
    for (let i = 0; i < 3; i++) await watcher.turn()
    expect(watcher.pushes).toHaveLength(2)
    expect(watcher.pushes[1]?.title).toContain('everything is visible again')
    expect(names(await watcher.turn())).toEqual(['chat/a', 'chat/b'])
  })

  test('a source that never could be read is told too, and the run completes', async () => {
    status = 404
    const watcher = createWatcher({ VLLM_TARGETS: server.url })
    for (let i = 0; i < 3; i++) expect((await watcher.turn()).outcome).toBe('completed')
    expect(watcher.pushes).toHaveLength(1)
  })

  test('rules and credentials of a group hold for what is found in it; its variables are no problem while it is empty', async () => {
    const asked: unknown[] = []
    const variables = { VLLM_CHAT_WAITING_LIMIT: '7', VLLM_CHAT_BEARER_TOKEN: 'group-secret', VLLM_TARGETS: server.url }
    const watcher = createWatcher(variables, {
      async observe({ endpoints, secrets }) {
        const one = endpoints.map(({ name, rules, authorization }) => [
          name,
          rules.find((r) => r.id === 'waiting')?.limit,
          authorization,
        ])
        asked.push(...one, secrets.includes('group-secret'))
        return []
      },
    })
    list = []
    await watcher.turn()
    list = [entry('a', 'chat'), entry('a', 'embed')]
    await watcher.turn()
    expect(asked).toEqual([true, ['chat/a', 7, 'Bearer group-secret'], ['embed/a', 20, undefined], true])
  })

  test('credentials in the address are sent and never shown', async () => {
    status = 403
    const watcher = createWatcher({ VLLM_TARGETS: server.url.replace('://', '://me:hunter2@') })
    for (let i = 0; i < 2; i++) await watcher.turn()
    expect(seen[0]).toBe(`Basic ${Buffer.from('me:hunter2').toString('base64')}`)
    expect(JSON.stringify([watcher.pushes, watcher.warnings, await watcher.state()])).not.toContain('hunter2')
  })

  test('1,000 endpoints in 8 shards: each is judged by exactly one while targets come and go, and keeps its past', {
    tags: ['long'],
  }, async () => {
    const watcher = createWatcher({ VLLM_TARGETS: server.url })
    const all = (from: number) =>
      Array.from({ length: 1_000 }, (_, i) => entry(`r${(from + i) % 4}`, `g${Math.floor((from + i) / 4)}`))
    for (const from of [0, 4, 200, 201, 0]) {
      list = all(from)
      const judged: string[] = []
      for (let index = 1; index <= 8; index++) judged.push(...names(await watcher.turn({ index, of: 8 })))
      expect(judged).toHaveLength(1_000)
      expect(judged.sort()).toEqual(
        all(from)
          .map(({ labels }) => `${labels.group}/${labels.name}`)
          .sort(),
      )
    }
    const kept = new Set<string>()
    for (let index = 1; index <= 8; index++) {
      const { endpoints, targets } = await watcher.state(`vllm.${index}-of-8.json`)
      const own = Object.keys(endpoints).filter((name) => name !== 'targets')
      expect(own.length).toBeGreaterThan(60)
      expect(targets[`${server.url}/`]).toHaveLength(own.length)
      for (const name of own) kept.add(name)
      const groups = new Set(own.map((name) => name.split('/')[0]))
      expect(own).toHaveLength(groups.size * 4)
    }
    expect(kept.size).toBe(1_000)
    expect(watcher.pushes).toEqual([])
  })

  test('of 8 shards, one tells that the source cannot be read', async () => {
    const watcher = createWatcher({ VLLM_TARGETS: server.url })
    status = 500
    for (let i = 0; i < 4; i++) for (let index = 1; index <= 8; index++) await watcher.turn({ index, of: 8 })
    expect(watcher.pushes).toHaveLength(1)
  })
})

describe('endpoints of a name', () => {
  test('one replica an address, in the group that the name was given; a name that is gone keeps its last', async () => {
    let addresses: string[] | undefined = ['10.0.0.1', '10.0.0.2', 'fd00::1']
    const asked: string[] = []
    const watcher = createWatcher(
      { VLLM_ENDPOINTS: 'chat=dns+http://vllm-headless:8000/metrics' },
      {
        load: async () => (addresses ? { ok: true, addresses } : { ok: false, why: 'ENOTFOUND' }),
        async observe({ endpoints }) {
          asked.push(...endpoints.map(({ url }) => url))
          return endpoints.map((endpoint) => ({ endpoint, up: true, took: 1, readings: readings() }))
        },
      },
    )
    expect(names(await watcher.turn())).toEqual(['chat/10-0-0-1', 'chat/10-0-0-2', 'chat/fd00--1'])
    expect(asked).toEqual([
      'http://10.0.0.1:8000/metrics',
      'http://10.0.0.2:8000/metrics',
      'http://[fd00::1]:8000/metrics',
    ])
    addresses = ['10.0.0.2', '10.0.0.3']
    expect(names(await watcher.turn())).toEqual(['chat/10-0-0-2', 'chat/10-0-0-3'])
    addresses = undefined
    for (let i = 0; i < 3; i++) await watcher.turn()
    expect(names(await watcher.turn())).toEqual(['chat/10-0-0-2', 'chat/10-0-0-3', 'targets'])
    // The name is told as unread, and the group as one of none: nobody who asks for it finds a replica.
    expect(watcher.pushes).toHaveLength(2)
    expect(watcher.pushes.map(({ title }) => title).join()).toContain('chat: no replica of the group answers')
    expect(watcher.pushes[0]?.body).toContain('dns+http://vllm-headless:8000/metrics')
  })

  test.each([
    ['chat/a=dns+http://h:8000', 'named by its group alone'],
    ['chat=dns+https://h:8443', 'only dns+http:// can be followed'],
    ['waiting=dns+http://h:8000', 'reads like the beginning of the setting VLLM_WAITING_'],
  ])('%s is refused', (text, why) => {
    expect(parseConfig('vllm', { VLLM_ENDPOINTS: text }, { lambda: false })).toEqual({
      ok: false,
      problems: [expect.stringContaining(why)],
    })
  })

  test('the system resolves it', async () => {
    const source = { kind: 'dns', id: 'x', group: 'chat', url: 'http://127.0.0.1:8000/metrics' } as const
    expect(await load(source)).toEqual({ ok: true, addresses: ['127.0.0.1'] })
    // In the hosts file alone: what a name server does not know counts too, as for any connection.
    const { addresses } = (await load({ ...source, url: 'http://localhost:8000' })) as { addresses: string[] }
    expect(addresses.some((address) => ['127.0.0.1', '::1'].includes(address))).toBe(true)
    expect(await load({ ...source, url: 'http://no-such-name.invalid:8000' })).toEqual({
      ok: false,
      why: expect.any(String),
    })
  })
})

describe('a list in a file or a bucket', () => {
  const dir = mkdtempSync(path.join(tmpdir(), 'queuebell-targets-'))
  let s3: FakeS3
  beforeEach(async () => {
    Object.assign(process.env, CREDENTIALS)
    s3 = await startS3()
  })
  afterEach(() => s3.close())
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  test('a file', async () => {
    const file = path.join(dir, 'targets.json')
    writeFileSync(file, JSON.stringify([entry('a', 'chat')]))
    expect(names(await createWatcher({ VLLM_TARGETS: file }).turn())).toEqual(['chat/a'])
    expect(await load({ kind: 'file', id: 'x', path: path.join(dir, 'none') })).toEqual({ ok: false, why: 'ENOENT' })
  })

  test('an object costs one GET', async () => {
    s3.plant('lists/vllm.json', JSON.stringify([entry('a', 'chat')]))
    const variables = { S3_ENDPOINT: s3.endpoint, S3_FORCE_PATH_STYLE: 'yes' }
    const watcher = createWatcher({ ...variables, VLLM_TARGETS: `s3://${s3.bucket}/lists/vllm.json` })
    expect(names(await watcher.turn())).toEqual(['chat/a'])
    expect(s3.requests).toMatchObject({ GET: 1, PUT: 0, LIST: 0 })
    const missing = createWatcher({ ...variables, VLLM_TARGETS: `s3://${s3.bucket}/none.json` })
    await missing.turn()
    expect(missing.warnings[0]).toContain('NoSuchKey')
  })
})

test.each([
  ['ftp://h/x', 'may be a file, an http or https address, s3://bucket/key or dns+http://name:port'],
  ['s3://bucket', 'write s3://bucket/key'],
  ['http://h:6000/x', 'port 6000 is blocked'],
  ['[{"targets":[]}]', 'may be a file'],
])('VLLM_TARGETS=%s is refused', (text, why) => {
  expect(parseConfig('vllm', { VLLM_TARGETS: text }, { lambda: false })).toEqual({
    ok: false,
    problems: [expect.stringContaining(why)],
  })
})
