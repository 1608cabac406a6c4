import net from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { deflateSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { openDispatcher } from '../../src/http/connections.ts'
import { startDeadline, withDeadline } from '../../src/http/deadline.ts'
import { type GetOptions, type Got, get, send } from '../../src/http/get.ts'
import { failureOf, neverSent } from '../../src/http/network-failure.ts'
import { toWords } from '../../src/http/server-words.ts'
import { deafUrl, serve, serveRaw } from '../scrape/loopback.ts'

const connections = openDispatcher()
afterAll(() => connections.close())

/** Gets, and gives the body as text beside the result. */
async function ask(url: string, options: Partial<GetOptions> = {}): Promise<{ got: Got; text: string; took: number }> {
  const chunks: Uint8Array[] = []
  const start = performance.now()
  const got = await get(url, {
    timeout: 5_000,
    dispatcher: connections.dispatcher,
    onChunk: (chunk) => chunks.push(chunk),
    ...options,
  })
  return { got, text: Buffer.concat(chunks).toString('utf8'), took: performance.now() - start }
}

const failure = async (url: string, options: Partial<GetOptions> = {}) => {
  const { got } = await ask(url, options)
  return got.ok ? undefined : got.failure
}

test('a page arrives whole, asked for as plain Prometheus text and uncompressed', async () => {
  const server = await serve((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4')
    response.end('a 1\nb 2\n')
  })
  const { got, text } = await ask(`${server.url}/metrics?x=1`, { headers: { authorization: 'Bearer t0ps3cret' } })
  expect(got).toMatchObject({ ok: true, contentType: 'text/plain; version=0.0.4', bytes: 8 })
  expect(text).toBe('a 1\nb 2\n')
  expect(server.requests[0]).toMatchObject({ method: 'GET', url: '/metrics?x=1' })
  expect(server.requests[0]?.headers).toMatchObject({
    accept: 'text/plain;version=0.0.4',
    'accept-encoding': 'identity',
    authorization: 'Bearer t0ps3cret',
    'user-agent': 'queuebell',
  })
})

describe('time', () => {
  test('case 81: a server that falls silent after its first line is given up at the deadline', async () => {
    const server = await serve((_, response) => response.write('a 1\n'))
    const { got, took } = await ask(server.url, { timeout: 300 })
    expect(got).toEqual({ ok: false, failure: { kind: 'timeout' } })
    expect(took).toBeGreaterThan(250)
    expect(took).toBeLessThan(2_000)
  })

  test('a trickle of bytes does not outlive the deadline', async () => {
    const timers: NodeJS.Timeout[] = []
    const server = await serve((_, response) => timers.push(setInterval(() => response.write('a'), 20)))
    const { got, took } = await ask(server.url, { timeout: 300 })
    for (const timer of timers) clearInterval(timer)
    expect(got).toEqual({ ok: false, failure: { kind: 'timeout' } })
    expect(took).toBeLessThan(2_000)
  })

  test('a server that accepts and never sends a header is given up at the deadline', async () => {
    const server = await serveRaw(() => {})
    expect(await failure(server.url, { timeout: 300 })).toEqual({ kind: 'timeout' })
  })

  test('redirects and the page share one deadline', async () => {
    const server = await serve((_, response) =>
      setTimeout(() => response.writeHead(307, { location: '/again' }).end(), 150),
    )
    const { got, took } = await ask(server.url, { timeout: 300 })
    expect(got).toEqual({ ok: false, failure: { kind: 'timeout' } })
    expect(took).toBeLessThan(1_000)
  })

  test("the run's own end ends a get before its deadline", async () => {
    const server = await serveRaw(() => {})
    const { got, took } = await ask(server.url, { timeout: 60_000, signal: AbortSignal.timeout(100) })
    expect(got).toEqual({ ok: false, failure: { kind: 'timeout' } })
    expect(took).toBeLessThan(2_000)
  })

  test('the deadline comes although the collector runs while the answer is awaited', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const server = await serveRaw(() => {})
    const timer = setInterval(collect, 20)
    const run = startDeadline(10_000)
    const all = Promise.all(Array.from({ length: 10 }, () => ask(server.url, { timeout: 400, signal: run.signal })))
    const answers = await all.finally(() => {
      clearInterval(timer)
      run.clear()
    })
    expect(answers.map(({ got }) => got.ok)).not.toContain(true)
    expect(Math.max(...answers.map(({ took }) => took))).toBeLessThan(5_000)
  })

  test('a deadline that is cleared, or whose run was over before it began, keeps nothing alive', () => {
    const over = new AbortController()
    over.abort()
    const late = startDeadline(60_000, over.signal)
    expect(late.signal.aborted).toBe(true)
    late.clear()
    const run = new AbortController()
    const early = startDeadline(60_000, run.signal)
    early.clear()
    run.abort()
    expect(early.signal.aborted).toBe(false)
  })

  test.each<[what: string, abandon: true | (() => Error), error: object]>([
    ['with the time-out', true, { name: 'TimeoutError' }],
    ['with its own error', () => new Error('too late'), { message: 'too late' }],
  ])('work that does not heed its signal is abandoned at the deadline, %s', async (_, abandon, error) => {
    const deaf = new Promise<never>(() => {})
    await expect(withDeadline(10, () => deaf, { abandon })).rejects.toMatchObject(error)
    expect(await withDeadline(60_000, async () => 'in time', { abandon })).toBe('in time')
  })

  test('case 84: an address has far more than 250 ms for its handshake, and both families are tried', async () => {
    const server = await serve((_, response) => response.end('a 1\n'))
    const connect = vi.spyOn(net, 'connect')
    try {
      await ask(server.url)
      const [options] = connect.mock.calls[0] as unknown as [net.TcpNetConnectOpts]
      expect(options.autoSelectFamily).toBe(true)
      expect(options.autoSelectFamilyAttemptTimeout).toBeGreaterThanOrEqual(1_000)
    } finally {
      connect.mockRestore()
    }
  })
})

describe('connections', () => {
  test('case 83: a refused connection carries the code of the network', async () => {
    expect(await failure(await deafUrl())).toEqual({ kind: 'refused', code: 'ECONNREFUSED' })
  })

  test('case 83: an unknown name carries the code of the resolver', async () => {
    const found = await failure('http://no-such-host.invalid/metrics')
    expect(found?.kind).toBe('name-not-found')
    expect(found?.code).toMatch(/^(ENOTFOUND|EAI_AGAIN)$/)
  })

  test('case 83: a reset before the answer is unreachable, with its code', async () => {
    const server = await serveRaw((socket) => socket.once('data', () => socket.resetAndDestroy()))
    expect(await failure(server.url)).toEqual({ kind: 'unreachable', code: 'ECONNRESET' })
  })

  test('TLS spoken to a port that does not know it is told as TLS', async () => {
    const server = await serve((_, response) => response.end('a 1\n'))
    expect(await failure(server.url.replace('http:', 'https:'))).toMatchObject({ kind: 'tls' })
  })

  test('something that is not HTTP is told with the code of the reader', async () => {
    const server = await serveRaw((socket) => socket.write('SSH-2.0-OpenSSH_9.2\r\n'))
    expect(await failure(server.url)).toMatchObject({
      kind: 'not-http',
      code: 'HTTPParserError',
      detail: expect.stringContaining('Expected HTTP/'),
    })
  })

  test('case 62: a body shorter than announced is cut, however well its beginning reads', async () => {
    const server = await serve((_, response) => {
      response.setHeader('content-length', '100')
      response.write('h_bucket{le="1"} 3\n')
      setTimeout(() => response.destroy(), 20)
    })
    expect(await failure(server.url)).toMatchObject({ kind: 'cut' })
  })

  test('case 62: a chunked body without its end is cut', async () => {
    const server = await serve((_, response) => {
      response.write('h_bucket{le="1"} 3\n')
      setTimeout(() => response.destroy(), 20)
    })
    expect(await failure(server.url)).toEqual({ kind: 'cut', code: 'HTTPParserError' })
  })

  test('case 85: no connection is kept, so that none can have died while the process was frozen', async () => {
    const server = await serve((_, response) => response.end('a 1\n'))
    for (let poll = 0; poll < 3; poll += 1) await ask(server.url)
    expect(server.opened()).toBe(3)
    await vi.waitFor(() => expect(server.open()).toBe(0), 10_000)
  })

  test('case 86: after 100 polls answered 503 with a body no socket is left open', async () => {
    const server = await serve((_, response) => {
      response.statusCode = 503
      response.end('x'.repeat(100_000))
    })
    let most = 0
    for (let poll = 0; poll < 100; poll += 1) {
      expect(await failure(server.url)).toMatchObject({ kind: 'http', status: 503 })
      most = Math.max(most, server.open())
    }
    expect(most).toBeLessThanOrEqual(4)
    await vi.waitFor(() => expect(server.open()).toBe(0), 10_000)
  })

  test('case 86: an error page that never ends is let go of soon', async () => {
    const server = await serve((_, response) => {
      response.statusCode = 500
      response.write('database is gone')
    })
    const { got, took } = await ask(server.url)
    expect(got).toEqual({ ok: false, failure: { kind: 'http', status: 500, detail: 'database is gone' } })
    expect(took).toBeLessThan(2_000)
    await vi.waitFor(() => expect(server.open()).toBe(0), 10_000)
  })

  test.each([16, 64, 200])(
    'a body of %i KiB that waits to be read while the server hangs up ends nothing but itself',
    async (kib) => {
      const body = 'x'.repeat(kib * 1024)
      const server = await serveRaw((socket) =>
        socket.once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`)
          socket.end(body)
        }),
      )
      const response = await send(server.url, { dispatcher: connections.dispatcher })
      await vi.waitFor(() => expect(server.open()).toBe(0), 10_000)
      expect(await response.text()).toBe(body)
    },
  )

  test('forty endpoints behind one address are asked at once', async () => {
    let waiting: (() => void)[] = []
    const server = await serve((_, response) => {
      waiting.push(() => response.end('a 1\n'))
      if (waiting.length === 40) for (const answer of waiting.splice(0)) answer()
    })
    const all = await Promise.all(Array.from({ length: 40 }, () => ask(server.url)))
    expect(all.every(({ got }) => got.ok)).toBe(true)
    waiting = []
  })
})

describe('bytes', () => {
  const page = 'vllm:num_requests_waiting 3\n'
  const gzip = gzipSync(page)
  const compressed = { kind: 'compressed' }
  test.each([
    ['declared gzip is decoded', 'gzip', gzip, page],
    ['plain text declared as identity is taken', 'identity', Buffer.from(page), page],
    ['undeclared gzip is refused', undefined, gzip, compressed],
    ['gzip declared as identity is refused', 'identity', gzip, compressed],
    ['gzip packed twice is refused', 'gzip', gzipSync(gzip), compressed],
    ['undeclared deflate is refused', undefined, deflateSync(page), compressed],
    ['undeclared deflate of the highest level is refused', undefined, deflateSync(page, { level: 9 }), compressed],
    ['declared deflate is decoded', 'deflate', deflateSync(page), page],
    ['undeclared zstd is refused', undefined, Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 4, 0]), compressed],
  ])('case 78: %s', async (_, encoding, body, expected) => {
    const server = await serve((__, response) => {
      if (encoding !== undefined) response.setHeader('content-encoding', encoding)
      response.write(body.subarray(0, 2))
      setTimeout(() => response.end(body.subarray(2)), 5)
    })
    const { got, text } = await ask(server.url)
    if (typeof expected === 'string') expect(text).toBe(expected)
    else expect(got).toMatchObject({ ok: false, failure: expected })
  })

  test('case 78: compressed bytes are known even if they come one by one', async () => {
    const server = await serve(async (_, response) => {
      for (const byte of gzip) {
        response.write(Buffer.from([byte]))
        await new Promise(setImmediate)
      }
      response.end()
    })
    expect(await failure(server.url)).toEqual(compressed)
  })

  test('case 78: plain text declared as gzip is refused, at the latest at the deadline', async () => {
    const server = await serve((_, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(page))
    const { got } = await ask(server.url, { timeout: 1_000 })
    expect(got.ok ? 'taken' : got.failure.kind).toMatch(/^(compressed|timeout)$/)
  })

  test('a decoder that gets stuck does not outlive the deadline', async () => {
    const server = await serve((_, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.write('v')
      setTimeout(() => response.end('llm:num_requests_waiting 3\n'), 5)
    })
    const { got, took } = await ask(server.url, { timeout: 300 })
    expect(got.ok).toBe(false)
    expect(took).toBeLessThan(2_000)
  })

  test('an endless body that nobody reads does not fill the memory', async () => {
    let sent = 0
    const server = await serve((request, response) => {
      const more = () => {
        while (!request.destroyed && response.write('x'.repeat(65_536))) sent += 65_536
      }
      response.on('drain', more)
      more()
    })
    const response = await send(server.url, { dispatcher: connections.dispatcher })
    await vi.waitFor(() => expect(server.open()).toBe(0), 10_000)
    await expect(response.text()).rejects.toThrow('terminated')
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test('case 62: a compressed body shorter than announced is cut', async () => {
    const long = gzipSync(Array.from({ length: 2_000 }, (_, i) => `a{i="${i * 7919}"} ${i}\n`).join(''))
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': String(long.length) })
      response.write(long.subarray(0, 1_000))
      setTimeout(() => response.destroy(), 20)
    })
    expect(await failure(server.url)).toMatchObject({ kind: 'cut' })
  })

  test.each<[what: string, body: Buffer, outcome: object]>([
    ['its end is missing, although as much came as was announced', gzip.subarray(0, -12), { failure: { kind: 'cut' } }],
    ['its last bytes are missing', gzipSync('a 1\na 23').subarray(0, -3), { failure: { kind: 'cut' } }],
    ['it is whole without a last line feed', gzipSync('a 1\na 23'), { ok: true, bytes: 8 }],
    ['it has two members', Buffer.concat([gzipSync('a 1\n'), gzipSync('b 2\n')]), { ok: true, bytes: 8 }],
    ['it holds nothing', gzipSync(''), { ok: true, bytes: 0 }],
  ])('case 62: gzip of which %s', async (_, body, outcome) => {
    const server = await serve((__, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': String(body.length) })
      response.write(body.subarray(0, -2))
      setTimeout(() => response.end(body.subarray(-2)), 5)
    })
    expect((await ask(server.url)).got).toMatchObject(outcome)
  })

  test('a bomb of 256 MiB in a few hundred KB is stopped at the limit on decoded bytes', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024, 'a'))
    const server = await serve((_, response) => {
      response.setHeader('content-encoding', 'gzip')
      response.end(bomb)
    })
    let bytes = 0
    const found = await failure(server.url, { timeout: 15_000, onChunk: (chunk) => (bytes += chunk.byteLength) })
    expect(found).toEqual({ kind: 'too-large' })
    expect(bytes).toBeLessThanOrEqual(16 * 1024 * 1024)
  })

  test('a body of exactly the limit is taken, one byte more is not', async () => {
    const server = await serve((_, response) => response.end('x'.repeat(1_000)))
    expect((await ask(server.url, { maxBytes: 1_000 })).got).toMatchObject({ ok: true, bytes: 1_000 })
    expect(await failure(server.url, { maxBytes: 999 })).toEqual({ kind: 'too-large' })
  })

  test('an endless body is stopped and its connection closed', async () => {
    const server = await serve((request, response) => {
      const more = () => {
        while (!request.destroyed && response.write('x'.repeat(65_536))) {}
      }
      response.on('drain', more)
      more()
    })
    expect(await failure(server.url, { maxBytes: 1_000_000 })).toEqual({ kind: 'too-large' })
    await vi.waitFor(() => expect(server.open()).toBe(0), 10_000)
  })
})

describe('redirects', () => {
  test('case 74: 307 to /metrics/ is followed within the origin, with the credentials', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/metrics') response.writeHead(307, { location: '/metrics/' }).end()
      else response.end('a 1\n')
    })
    const { got, text } = await ask(`${server.url}/metrics`, { headers: { authorization: 'Bearer t0ps3cret' } })
    expect(got.ok).toBe(true)
    expect(text).toBe('a 1\n')
    expect(server.requests.map((r) => [r.url, r.headers.authorization])).toEqual([
      ['/metrics', 'Bearer t0ps3cret'],
      ['/metrics/', 'Bearer t0ps3cret'],
    ])
  })

  test('case 74: another origin is never asked; the answer says where it wanted us', async () => {
    const other = await serve((_, response) => response.end('a 1\n'))
    const server = await serve((_, response) =>
      response.writeHead(302, { location: `${other.url}/login?token=t0ps3cret` }).end(),
    )
    expect(await failure(server.url)).toEqual({ kind: 'redirected', status: 302, detail: `${other.url}/login` })
    expect(other.requests).toEqual([])
  })

  test('the same host under another scheme is another origin', async () => {
    const server = await serve((_, response) =>
      response.writeHead(301, { location: `https://127.0.0.1:${server.port}/metrics` }).end(),
    )
    expect(await failure(server.url)).toMatchObject({ kind: 'redirected', status: 301 })
  })

  test('a loop ends after a few hops', async () => {
    const server = await serve((_, response) => response.writeHead(302, { location: '/metrics' }).end())
    expect(await failure(`${server.url}/metrics`)).toMatchObject({ kind: 'redirect-loop', status: 302 })
    expect(server.requests.length).toBeLessThanOrEqual(6)
  })

  test.each([
    ['no address', 302, undefined, 'http'],
    ['an address that is none', 302, 'http://[', 'redirected'],
    ['an answer to a condition that was never made', 304, undefined, 'http'],
  ])('a redirect with %s is a failure', async (_, status, location, kind) => {
    const server = await serve((__, response) => response.writeHead(status, location ? { location } : {}).end())
    expect(await failure(server.url)).toEqual({ kind, status })
  })
})

describe('what a failure says', () => {
  test.each([
    [401, 'not-authorised'],
    [403, 'not-authorised'],
    [404, 'not-found'],
    [400, 'http'],
    [429, 'http'],
    [500, 'http'],
    [501, 'http'],
    [503, 'http'],
  ])('status %i is %s', async (status, kind) => {
    const server = await serve((_, response) => response.writeHead(status).end())
    expect(await failure(server.url)).toEqual({ kind, status })
  })

  test("the server's own words never repeat the credentials that were sent", async () => {
    const basic = `Basic ${Buffer.from('alice:hunter2secret').toString('base64')}`
    for (const authorization of ['Bearer t0ps3cret', basic]) {
      const server = await serve((request, response) => {
        response.writeHead(401)
        response.end(`bad ${request.headers.authorization}: t0ps3cret, alice:hunter2secret, pw hunter2secret`)
      })
      const found = await failure(server.url, { headers: { authorization } })
      const secret = authorization === basic ? /hunter2secret|YWxpY2U6/ : /t0ps3cret/
      expect(found?.detail).toContain('***')
      expect(JSON.stringify(found)).not.toMatch(secret)
    }
  })

  test('an address that carries a password is refused without showing it', async () => {
    const found = await failure('http://alice:hunter2secret@127.0.0.1:8000/metrics')
    expect(found?.kind).toBe('other')
    expect(JSON.stringify(found)).not.toContain('hunter2secret')
  })

  test('a port that fetch refuses by standard says so', async () => {
    const refused = await send('http://127.0.0.1:1/', { dispatcher: undefined }).catch((error: unknown) => error)
    expect(failureOf(refused, false)).toEqual({ kind: 'other', code: 'BAD_PORT' })
  })

  test('a consumer that throws is a failure, and lets go of the connection', async () => {
    const server = await serve((_, response) => response.write('a 1\n'))
    const onChunk = () => {
      throw new RangeError('broken')
    }
    expect(await failure(server.url, { onChunk })).toEqual({ kind: 'other' })
    await vi.waitFor(() => expect(server.open()).toBe(0), 10_000)
  })
})

const coded = (code: string, cause?: unknown) => Object.assign(new Error('x', { cause }), { code })
const failed = (cause: unknown) => new TypeError('fetch failed', { cause })

test.each([
  [
    'case 83: all addresses refused',
    failed(new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])),
    'refused',
    'ECONNREFUSED',
  ],
  [
    'case 83: one refused, one without a route',
    failed(new AggregateError([coded('ENETUNREACH'), coded('ECONNREFUSED')])),
    'refused',
    'ENETUNREACH, ECONNREFUSED',
  ],
  [
    'case 84: one timed out, one without a route',
    failed(new AggregateError([coded('ENETUNREACH'), coded('ETIMEDOUT')])),
    'timeout',
    'ENETUNREACH, ETIMEDOUT',
  ],
  ['no headers in time', failed(coded('UND_ERR_HEADERS_TIMEOUT')), 'timeout', 'UND_ERR_HEADERS_TIMEOUT'],
  ['case 115: no connection in time', failed(coded('UND_ERR_CONNECT_TIMEOUT')), 'timeout', 'UND_ERR_CONNECT_TIMEOUT'],
  ['a certificate that ran out', failed(coded('CERT_HAS_EXPIRED')), 'tls', 'CERT_HAS_EXPIRED'],
  [
    'a certificate of its own making',
    failed(coded('DEPTH_ZERO_SELF_SIGNED_CERT')),
    'tls',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
  ],
  ['no route', failed(coded('EHOSTUNREACH')), 'unreachable', 'EHOSTUNREACH'],
  ['a code deep in the causes', failed(new Error('y', { cause: coded('EAI_AGAIN') })), 'name-not-found', 'EAI_AGAIN'],
  ['a failure without a code', failed(new Error('y')), 'other', undefined],
  ['something thrown that is no error', 'oops', 'other', undefined],
  ['a deadline', new DOMException('late', 'TimeoutError'), 'timeout', undefined],
])('%s', (_, error, kind, code) => {
  expect(failureOf(error, false)).toEqual(code === undefined ? { kind } : { kind, code })
})

test('a connection that breaks is unreachable before the headers and a cut answer after them', () => {
  expect(failureOf(failed(coded('UND_ERR_SOCKET')), false).kind).toBe('unreachable')
  expect(failureOf(failed(coded('UND_ERR_SOCKET')), true).kind).toBe('cut')
})

test.each([
  ['ECONNREFUSED', true],
  ['ENOTFOUND', true],
  ['UND_ERR_CONNECT_TIMEOUT', true],
  ['CERT_HAS_EXPIRED', true],
  ['ENETUNREACH, ECONNREFUSED', true],
  ['ECONNRESET', false],
  ['UND_ERR_SOCKET', false],
  ['EPIPE', false],
  ['ENETUNREACH, ECONNRESET', false],
  [undefined, false],
])('after %s the request was surely never sent: %s', (code, never) => {
  expect(neverSent({ kind: 'other', ...(code === undefined ? {} : { code }) })).toBe(never)
})

test.each([
  [
    '{"error":{"code":501,"message":"This server does not support metrics endpoint.","type":"not_supported_error"}}',
    'This server does not support metrics endpoint.',
  ],
  [
    '{"error":"Unauthorized","errorCode":401,"errorDescription":"you need to provide a valid access token"}',
    'you need to provide a valid access token',
  ],
  ['{"detail":[{"loc":["body"],"msg":"field required"}]}', 'field required'],
  ['{"error":"model \'m\' not found"}', "model 'm' not found"],
  ['{"a":1}', '{"a":1}'],
  ['{"message":', '{"message":'],
  ['<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>', '502 Bad Gateway'],
  ['<h1>Gone</h1><script>alert(1)</script><p>away', 'Gone away'],
  ['line one\r\nline two\u2028three\u202e\u0000four\u200b', 'line one line two three four'],
  [' \n\t', undefined],
  ['x'.repeat(500), `${'x'.repeat(199)}…`],
  ['🐌'.repeat(300), `${'🐌'.repeat(199)}…`],
])('of %s it keeps what a person can read', (text, words) => {
  expect(toWords(text, [])).toBe(words)
})
