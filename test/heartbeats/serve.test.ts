import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import type { LambdaFunctionURLEvent } from 'aws-lambda'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parseListen, type Serving } from '../../src/cli/http-server.ts'
import { serve } from '../../src/cli/receive.ts'

const TOKEN = 'planted-token-4711'
let dir: string
let env: Record<string, string>
const open: Serving[] = []

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-beats-'))
  env = {
    HEARTBEAT_TOKEN: TOKEN,
    HEARTBEAT_WORKERS: 'indexer=60s+30s gpu-1=5m+1m',
    STATE_DIR: dir,
    LOG_LEVEL: 'silent',
  }
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await Promise.all(open.splice(0).map((serving) => serving.close()))
  await rm(dir, { recursive: true })
})

async function serving(limits = {}): Promise<Serving> {
  const started = await serve(0, env, { limits })
  open.push(started)
  return started
}

const beats = () => readdir(path.join(dir, 'beats')).catch(() => [] as string[])
const bearer = { authorization: `Bearer ${TOKEN}` }

/** One request as it is written, for what no client would send. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk
    })
    socket.once('close', () => resolve(answer)).once('error', reject)
  })
}

describe('the receiver as a server', () => {
  test('takes what a worker sends with curl: a GET, a POST with its last words, a HEAD', async () => {
    const { url } = await serving()
    const answers = [
      await fetch(`${url}/indexer?token=${TOKEN}`),
      await fetch(`${url}/indexer/1`, { method: 'POST', headers: bearer, body: 'no space left\n' }),
      await fetch(`${url}/gpu-1/start`, { method: 'HEAD', headers: bearer }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204])
    expect(await beats()).toEqual(['gpu-1.json', 'indexer.json'])
    expect(await readFile(path.join(dir, 'beats/indexer.json'), 'utf8')).toBe(
      '{"kind":"fail","exit":1,"body":"no space left"}',
    )
  })

  test('a body of 1 MB is 413 with the token and 401 without, and the connection still serves the next beat', async () => {
    const { url } = await serving()
    const body = 'x'.repeat(1024 * 1024)
    expect((await fetch(`${url}/indexer`, { method: 'POST', headers: bearer, body })).status).toBe(413)
    expect((await fetch(`${url}/indexer`, { method: 'POST', body })).status).toBe(401)
    expect(await beats()).toEqual([])
    expect((await fetch(`${url}/indexer`, { headers: bearer })).status).toBe(204)
  })

  test.each([
    ['GET /../indexer', 404],
    ['GET /indexer/../gpu-1', 404],
    ['GET /%2e%2e/indexer', 404],
    ['GET //indexer', 404],
    ['GET http://h/indexer', 404],
    ['GET /indexer?x=/../y', 204],
    ['OPTIONS *', 400],
    ['DELETE /indexer', 400],
  ])('%s as it stands on the wire: %d', async (line, status) => {
    const { port } = await serving()
    const answer = await raw(
      port,
      `${line} HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${TOKEN}\r\nConnection: close\r\n\r\n`,
    )
    expect(answer).toContain(`HTTP/1.1 ${status} `)
    expect(await beats()).toEqual(status === 204 ? ['indexer.json'] : [])
  })

  test('what is no HTTP is refused, and the server lives on', async () => {
    const { port, url } = await serving()
    expect(await raw(port, '\x16\x03\x01\x02\x00\x01\r\n\r\n')).toContain('400 Bad Request')
    expect((await fetch(`${url}/indexer`, { headers: bearer })).status).toBe(204)
  })

  test('who sends its request a byte at a time, or its body never, loses the connection', async () => {
    const { port } = await serving({ headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 })
    const start = performance.now()
    const slow = await Promise.all([
      raw(port, 'GET /indexer HTTP/1.1\r\nHost: h\r\nX-Slow: '),
      raw(
        port,
        `POST /indexer HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Length: 100\r\n\r\nhalf`,
      ),
    ])
    expect(slow.every((answer) => answer === '' || answer.includes('408'))).toBe(true)
    expect(performance.now() - start).toBeLessThan(5_000)
    expect(await beats()).toEqual([])
  })

  test('a wrong configuration is told before it listens, without the token', async () => {
    await expect(serve(0, { HEARTBEAT_TOKEN: TOKEN, STATE_DIR: dir })).rejects.toThrow('HEARTBEAT_WORKERS')
    await expect(serve(0, { HEARTBEAT_WORKERS: 'a=1m+1m', STATE_DIR: dir })).rejects.toThrow('HEARTBEAT_TOKEN')
    const error = await serve(0, { ...env, HEARTBEAT_WORKERS: 'a=never' }).catch((reason: unknown) => String(reason))
    expect(error).not.toContain(TOKEN)
  })
})

describe('the receiver behind a function URL', () => {
  const event = (method: string, rawPath: string, change: Partial<LambdaFunctionURLEvent> = {}) =>
    ({
      version: '2.0',
      rawPath,
      rawQueryString: '',
      headers: { authorization: `Bearer ${TOKEN}` },
      requestContext: { http: { method, path: rawPath } },
      isBase64Encoded: false,
      ...change,
    }) as LambdaFunctionURLEvent

  async function handler() {
    vi.resetModules()
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    return (await import('../../functions/heartbeat-receive.ts')).handler
  }

  test('answers in the form of payload 2.0, with plain and base64 bodies', async () => {
    const receive = await handler()
    const words = 'память кончилась'
    expect(await receive(event('GET', '/indexer', { headers: {}, rawQueryString: `token=${TOKEN}` }))).toEqual({
      statusCode: 204,
    })
    expect(
      await receive(event('POST', '/gpu-1/9', { body: Buffer.from(words).toString('base64'), isBase64Encoded: true })),
    ).toEqual({ statusCode: 204 })
    expect(await readFile(path.join(dir, 'beats/gpu-1.json'), 'utf8')).toBe(
      `{"kind":"fail","exit":9,"body":"${words}"}`,
    )
    expect(await receive(event('POST', '/indexer', { body: 'x'.repeat(4_097) }))).toMatchObject({ statusCode: 413 })
    expect(await receive(event('GET', '/nobody'))).toMatchObject({ statusCode: 404 })
    expect(await receive(event('GET', '/indexer', { headers: {} }))).toMatchObject({ statusCode: 401 })
    const { headers: _, ...bare } = event('GET', '/indexer')
    expect(await receive(bare as LambdaFunctionURLEvent)).toMatchObject({ statusCode: 401 })
  })

  test('a changed configuration counts from the next call on', async () => {
    const receive = await handler()
    const ask = async (worker: string) => (await receive(event('GET', `/${worker}`))) as { statusCode: number }
    expect(await ask('new')).toMatchObject({ statusCode: 404 })
    vi.stubEnv('HEARTBEAT_WORKERS', 'new=60s+30s')
    expect(await ask('new')).toMatchObject({ statusCode: 204 })
    vi.stubEnv('HEARTBEAT_TOKEN', 'another-token-4711')
    expect(await ask('new')).toMatchObject({ statusCode: 401 })
    vi.stubEnv('HEARTBEAT_WORKERS', 'new=soon')
    await expect(receive(event('GET', '/new'))).rejects.toThrow('HEARTBEAT_WORKERS')
  })

  test('a wrong configuration is found at the call, not at the import, and again at the next until it is right', async () => {
    env.HEARTBEAT_WORKERS = 'indexer=soon'
    const receive = await handler()
    await expect(receive(event('GET', '/indexer'))).rejects.toThrow('HEARTBEAT_WORKERS')
    vi.stubEnv('HEARTBEAT_WORKERS', 'indexer=60s+30s')
    expect(await receive(event('GET', '/indexer'))).toEqual({ statusCode: 204 })
  })
})

test.each([
  ['8080', { host: '127.0.0.1', port: 8080 }],
  ['0', { host: '127.0.0.1', port: 0 }],
  ['0.0.0.0:8080', { host: '0.0.0.0', port: 8080 }],
  ['[::]:8080', { host: '::', port: 8080 }],
  ['localhost:1', { host: 'localhost', port: 1 }],
  ['65536', undefined],
  ['http://0.0.0.0:8080', undefined],
  [':8080', undefined],
  ['', undefined],
  ['port', undefined],
])('--serve %s', (text, place) => {
  expect(parseListen(text)).toEqual(place)
})
