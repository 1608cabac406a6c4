import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type BeatRequest, type LastWrite, receive } from '../../src/heartbeats/receive.ts'

const TOKEN = 'planted-token-4711'
const CONFIG = {
  token: TOKEN,
  workers: [
    { name: 'indexer', interval: 60_000 },
    { name: 'gpu-1', interval: 60_000 },
    { name: 'quick', interval: 5_000 },
  ],
}

/** A receiver whose clock the test holds. */
function receiver(config: { token: string; workers: readonly { name: string; interval: number }[] } = CONFIG) {
  const written: [string, string][] = []
  const lastWrites = new Map<string, LastWrite>()
  const state = { now: 0, broken: false }
  const send = (path: string, change: Partial<BeatRequest> = {}) =>
    receive(request(path, change), config, {
      now: state.now,
      lastWrites,
      async put(key, text) {
        if (state.broken) throw new Error('the store is away')
        written.push([key, text])
      },
    })
  return { written, send, state }
}

function request(path: string, change: Partial<BeatRequest> = {}): BeatRequest {
  return {
    method: 'POST',
    path,
    query: new URLSearchParams(),
    headers: { authorization: `Bearer ${TOKEN}` },
    body: '',
    bodyTooLarge: false,
    ...change,
  }
}

const NO_TOKEN = { headers: {} }

describe('the token', () => {
  test('comes as Bearer or as ?token=, and either is enough', async () => {
    const { send } = receiver()
    expect((await send('/indexer')).status).toBe(204)
    expect((await send('/indexer', { headers: { authorization: `bearer  ${TOKEN} ` } })).status).toBe(204)
    expect((await send('/indexer', { ...NO_TOKEN, query: new URLSearchParams({ token: TOKEN }) })).status).toBe(204)
  })

  test.each(['token=a%2Bb/c==', 'token=a+b/c==', 'x=1&token=a%2Bb%2Fc%3D%3D'])(
    'of base64 may stand in the query as it is: %s',
    async (query) => {
      const { send } = receiver({ ...CONFIG, token: 'a+b/c==' })
      expect((await send('/indexer', { ...NO_TOKEN, query: new URLSearchParams(query) })).status).toBe(204)
    },
  )

  test.each([
    ['none', {}],
    ['a wrong one', { authorization: 'Bearer wrong' }],
    ['its beginning', { authorization: `Bearer ${TOKEN.slice(0, -1)}` }],
    ['one that is longer', { authorization: `Bearer ${TOKEN}x` }],
    ['in capitals', { authorization: `Bearer ${TOKEN.toUpperCase()}` }],
    ['under another scheme', { authorization: `Basic ${TOKEN}` }],
    ['bare', { authorization: TOKEN }],
    ['empty', { authorization: 'Bearer ' }],
  ])('%s: nothing tells a known worker from an unknown one, a good request from a bad one', async (_, headers) => {
    const { send, written } = receiver()
    const answers = await Promise.all([
      send('/indexer', { headers }),
      send('/nobody', { headers }),
      send('/../indexer', { headers }),
      send('/indexer', { headers, method: 'DELETE' }),
      send('/indexer', { headers, bodyTooLarge: true }),
      send('/indexer', { headers, query: new URLSearchParams('token=&token=nope') }),
    ])
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]?.status).toBe(401)
    expect(written).toEqual([])
  })

  test('an empty token in the configuration opens nothing', async () => {
    const { send } = receiver({ ...CONFIG, token: '' })
    expect((await send('/indexer', { headers: { authorization: 'Bearer ' } })).status).toBe(401)
    expect((await send('/indexer', { ...NO_TOKEN, query: new URLSearchParams('token=') })).status).toBe(401)
  })
})

describe('what a path says', () => {
  test.each([
    ['/indexer', { kind: 'ok' }],
    ['/indexer/', { kind: 'ok' }],
    ['/indexer/start', { kind: 'start' }],
    ['/indexer/fail', { kind: 'fail' }],
    ['/indexer/progress/412/1000', { kind: 'progress', n: 412, of: 1000 }],
    ['/indexer/0', { kind: 'ok' }],
    ['/indexer/1', { kind: 'fail', exit: 1 }],
    ['/indexer/255', { kind: 'fail', exit: 255 }],
  ])('%s', async (path, beat) => {
    for (const method of ['GET', 'POST', 'HEAD']) {
      const { send, written } = receiver()
      expect(await send(path, { method })).toEqual({ status: 204 })
      expect(written).toEqual([['beats/indexer.json', JSON.stringify(beat)]])
    }
  })

  test.each([
    '/',
    '',
    '/nobody',
    '/indexer/256',
    '/indexer/-1',
    '/indexer/1.5',
    '/indexer/stop',
    '/indexer/start/now',
    '/INDEXER',
    '//indexer',
    '/indexer//fail',
    '/../indexer',
    '/indexer/../gpu-1',
    '/%2e%2e/indexer',
    '/indexer%2ffail',
    '/indexer%00',
    '/indexer\0',
    '/beats/indexer.json',
    '/indexer.json',
    '/indexer ',
    '/\u0438ndexer',
    'http://h/indexer',
    '*',
    '/__proto__',
    '/constructor',
    `/${'a'.repeat(100_000)}`,
  ])('%s is nobody', async (path) => {
    const { send, written } = receiver()
    expect((await send(path)).status).toBe(404)
    expect(written).toEqual([])
  })

  test.each(['PUT', 'DELETE', 'OPTIONS', 'get', ''])('%s is not taken', async (method) => {
    const { send, written } = receiver()
    expect((await send('/indexer', { method })).status).toBe(400)
    expect(written).toEqual([])
  })
})

describe('the body', () => {
  test('is kept, up to 4 KiB of UTF-8', async () => {
    const { send, written } = receiver()
    expect((await send('/indexer/3', { body: ' no space left\n' })).status).toBe(204)
    expect(written).toEqual([['beats/indexer.json', '{"kind":"fail","exit":3,"body":"no space left"}']])
    expect((await send('/gpu-1', { body: 'x'.repeat(4_096) })).status).toBe(204)
    expect((await send('/gpu-1', { body: 'x'.repeat(4_097) })).status).toBe(413)
    expect((await send('/gpu-1', { body: 'é'.repeat(2_049) })).status).toBe(413)
    expect((await send('/gpu-1', { bodyTooLarge: true })).status).toBe(413)
  })
})

describe('how often it writes', () => {
  test('a beat each second is one write each 10 s, for each worker', async () => {
    const { send, written, state } = receiver()
    for (state.now = 0; state.now < 30_000; state.now += 1_000) {
      await send('/indexer')
      await send('/gpu-1')
    }
    expect(written.map(([key]) => key)).toEqual([
      'beats/indexer.json',
      'beats/gpu-1.json',
      'beats/indexer.json',
      'beats/gpu-1.json',
      'beats/indexer.json',
      'beats/gpu-1.json',
    ])
  })

  test.each([
    // seconds, path, body, written?
    [
      [
        [0, '/indexer', '', true],
        [1, '/indexer/fail', '', true],
        [2, '/indexer', '', true],
        [3, '/indexer', '', false],
      ],
    ],
    [
      [
        [0, '/indexer/start', '', true],
        [1, '/indexer/0', '', true],
        [2, '/indexer/1', '', true],
        [3, '/indexer/2', '', true],
        [4, '/indexer/start', '', true],
      ],
    ],
    [
      [
        [0, '/indexer/1', 'a', true],
        [1, '/indexer/1', 'b', false],
        [9.9, '/indexer/1', 'a', false],
        [10, '/indexer/1', 'a', true],
      ],
    ],
    [
      [
        [0, '/quick', '', true],
        [2, '/quick', '', false],
        [2.5, '/quick', '', true],
        [7.4, '/quick', '', true],
      ],
    ],
    [
      [
        [20, '/indexer', '', true],
        [5, '/indexer', '', true],
        [6, '/indexer', '', false],
      ],
    ], // the clock was set back
  ] as [number, string, string, boolean][][][])('what is new is written at once, the rest waits: %j', async (story) => {
    const { send, written, state } = receiver()
    for (const [at, path, body, isWritten] of story) {
      state.now = at * 1_000
      const before = written.length
      expect((await send(path, { body })).status).toBe(204)
      expect([at, written.length - before]).toEqual([at, isWritten ? 1 : 0])
    }
  })

  test('a thousand beats at the same moment are one write', async () => {
    const { send, written } = receiver()
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => send('/indexer')))
    expect(answers.every(({ status }) => status === 204)).toBe(true)
    expect(written).toHaveLength(1)
  })

  test('a beat that could not be stored is told so, and the next one is written', async () => {
    const { send, written, state } = receiver()
    state.broken = true
    expect((await send('/indexer')).status).toBe(503)
    state.broken = false
    expect((await send('/indexer')).status).toBe(204)
    expect(written).toHaveLength(1)
  })
})

test('10,000 random requests: an answer of the list each, no crash, no write for anybody else, the token nowhere', async () => {
  const { send, written } = receiver()
  const piece = fc.constantFrom(
    'indexer',
    'gpu-1',
    'start',
    'fail',
    '..',
    '.',
    '',
    '%2e%2e',
    '%2F',
    '0',
    '256',
    'A',
    '\0',
    '\u202e',
    'beats',
  )
  const path = fc.oneof(
    fc.array(piece, { maxLength: 5 }).map((parts) => `/${parts.join('/')}`),
    fc.string({ unit: 'binary', maxLength: 50 }),
  )
  const token = fc.constantFrom(TOKEN, `Bearer ${TOKEN}`, `bearer ${TOKEN}`, 'Bearer wrong', '', undefined)
  const random = fc.record({
    method: fc.oneof(fc.constantFrom('GET', 'POST', 'HEAD', 'PUT'), fc.string({ maxLength: 8 })),
    path,
    query: fc
      .oneof(fc.string({ maxLength: 30 }), fc.constant(`token=${TOKEN}`))
      .map((text) => new URLSearchParams(text)),
    headers: token.map((authorization) => ({ authorization })),
    body: fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.constant('x'.repeat(5_000))),
    bodyTooLarge: fc.boolean(),
  })
  const met = new Set<number>()
  await fc.assert(
    fc.asyncProperty(random, async (change) => {
      const answer = await send(change.path, change)
      met.add(answer.status)
      expect([204, 400, 401, 404, 413]).toContain(answer.status)
      expect(JSON.stringify(answer)).not.toContain(TOKEN)
    }),
    { numRuns: 10_000, seed: 5 },
  )
  expect([...met].sort()).toEqual([204, 400, 401, 404, 413])
  expect(new Set(written.map(([key]) => key))).toEqual(new Set(['beats/indexer.json', 'beats/gpu-1.json']))
  expect(written.every(([, text]) => !text.includes(TOKEN))).toBe(true)
})
