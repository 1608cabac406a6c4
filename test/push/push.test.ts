import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openDispatcher } from '../../src/http/connections.ts'
import { createLog } from '../../src/log.ts'
import type { ChannelConfig } from '../../src/model/config.ts'
import type { Message } from '../../src/model/message.ts'
import { classify, retryAfterOf } from '../../src/push/attempt.ts'
import { type PushOptions, push } from '../../src/push/push.ts'
import type { PushOutcome } from '../../src/push/push-to.ts'
import { deafUrl, serve, serveRaw } from '../scrape/loopback.ts'
import { channelAt, pushOf } from './pushing.ts'

const msw = setupServer()
beforeAll(() => msw.listen({ onUnhandledRequest: 'bypass' }))
afterEach(() => msw.resetHandlers())
const connections = openDispatcher()
afterAll(async () => {
  msw.close()
  await connections.close()
})

const message: Message = { title: 'Queue is long', body: '42 requests wait', priority: 8 }
const FIRST = 'https://push.example.com/sub'
const FALLBACK = 'https://spare.example.com'
const SECRETS = ['t0ps3cret', 'sp4resecret']
const variables = (name: string) => ({ url: `${name}_URL`, token: `${name}_TOKEN` })
const config = channelAt('notifly', FIRST, { token: 't0ps3cret', variables: variables('NOTIFLY') })
const spare = channelAt('notifly', FALLBACK, {
  name: 'notifly-fallback',
  token: 'sp4resecret',
  variables: variables('NOTIFLY_FALLBACK'),
  isSpare: true,
})
const withFallback: ChannelConfig = { ...config, fallback: spare }

interface Sent {
  outcome: PushOutcome
  /** What came to the pushed servers: `<host> <title>`. */
  requests: string[]
  /** Milliseconds slept between tries. */
  pauses: number[]
  lines: string[]
}

/** An answer of a played server: a status, with headers and a body, in the order of the tries; the last one stays. */
type Answer = number | { status: number; headers?: Record<string, string>; body?: string } | 'lost'

function play(url: string, answers: Answer[], requests: string[], asked: () => void): void {
  msw.use(
    http.post(`${url}/message`, async ({ request }) => {
      const { title } = (await request.json()) as { title: string }
      asked()
      requests.push(`${new URL(request.url).host} ${title}`)
      const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? 500
      if (answer === 'lost') return HttpResponse.error()
      if (typeof answer === 'number') return new HttpResponse(null, { status: answer })
      return new HttpResponse(answer.body ?? null, { status: answer.status, headers: answer.headers ?? {} })
    }),
  )
}

/** Pushes with a clock that only moves while sleeping, and by `takes` for each request. */
async function pushWith(
  config: ChannelConfig,
  { first = [], fallback = [] }: { first?: Answer[]; fallback?: Answer[] },
  more: Partial<Omit<PushOptions, 'io' | 'deadline'>> & { time?: number; takes?: number } = {},
): Promise<Sent> {
  const requests: string[] = []
  const pauses: number[] = []
  const lines: string[] = []
  let now = Date.UTC(2026, 10, 30, 12)
  const io = {
    now: () => now,
    sleep: async (ms: number) => {
      pauses.push(ms)
      now += ms
    },
    log: createLog(
      'debug',
      [],
      (line) => lines.push(line),
      () => now,
    ),
  }
  const { time = 30_000, takes = 0, ...rest } = more
  const asked = () => {
    now += takes
  }
  if (first.length > 0) play(FIRST, first, requests, asked)
  if (fallback.length > 0) play(FALLBACK, fallback, requests, asked)
  const options: PushOptions = {
    io,
    deadline: now + time,
    dispatcher: connections.dispatcher,
    secrets: [...SECRETS, ...(config.token === undefined ? [] : [config.token])],
    maybeSent: false,
    inForm: (form) => pushOf({ ...message, title: form === 'bare' ? 'bare' : 'short' }),
    ...rest,
  }
  return { outcome: await push(pushOf(message), config, options), requests, pauses, lines }
}

const tries = ({ requests }: Sent) => requests.length

describe('case 109: what an answer means', () => {
  test.each<[number, PushOutcome['kind'], number, boolean]>([
    // status, outcome, tries, misconfigured
    [200, 'delivered', 1, false],
    [202, 'delivered', 1, false],
    [204, 'delivered', 1, false],
    [301, 'waiting', 1, true],
    [302, 'waiting', 1, true],
    [307, 'waiting', 1, true],
    [400, 'refused', 2, false],
    [401, 'waiting', 1, true],
    [403, 'waiting', 1, true],
    [402, 'waiting', 1, true],
    [404, 'waiting', 1, true],
    [405, 'waiting', 1, true],
    [406, 'waiting', 1, true],
    [408, 'waiting', 3, false],
    [409, 'waiting', 1, true],
    [410, 'waiting', 1, true],
    [413, 'refused', 3, false],
    [415, 'waiting', 1, true],
    [418, 'waiting', 1, true],
    [421, 'waiting', 1, true],
    [422, 'refused', 2, false],
    [429, 'waiting', 1, false],
    [451, 'waiting', 1, true],
    [500, 'waiting', 3, false],
    [502, 'waiting', 3, false],
    [503, 'waiting', 3, false],
  ])('%i is %s after %i tries, misconfigured: %s', async (status, kind, times, misconfigured) => {
    const sent = await pushWith(config, { first: [status] })
    expect(sent.outcome).toMatchObject({ kind, misconfigured, status })
    expect(tries(sent)).toBe(times)
  })

  test('nothing but 2xx is ever delivered', () => {
    for (let status = 100; status < 600; status += 1) {
      expect(classify(status) === 'delivered').toBe(status >= 200 && status < 300)
    }
  })
})

describe('trying again in the same run', () => {
  test('case 95: a server that is back at the third try has taken the message once', async () => {
    const sent = await pushWith(config, { first: [500, 503, 200] })
    expect(sent.outcome).toEqual({ kind: 'delivered', misconfigured: false, status: 200, by: 'first' })
    expect(tries(sent)).toBe(3)
  })

  test('the pauses grow', async () => {
    const { pauses } = await pushWith(config, { first: [503] })
    expect(pauses).toHaveLength(2)
    expect(pauses[1]).toBeGreaterThan(pauses[0] ?? Number.POSITIVE_INFINITY)
  })

  test.each([
    ['seconds', '7', [7_000]],
    ['a date', 'Mon, 30 Nov 2026 12:00:09 GMT', [9_000]],
    ['a date that has passed', 'Mon, 30 Nov 2026 11:00:00 GMT', [0]],
  ])('Retry-After as %s that fits into the run is waited for', async (_, value, pauses) => {
    const sent = await pushWith(config, { first: [{ status: 429, headers: { 'retry-after': value } }, 200] })
    expect(sent.outcome.kind).toBe('delivered')
    expect(sent.pauses).toEqual(pauses)
  })

  test.each(['soon', '1.5', '-5', '5 seconds'])('Retry-After of %j says nothing', async (value) => {
    const headers = { 'retry-after': value }
    expect((await pushWith(config, { first: [{ status: 429, headers }] })).outcome.retryAfter).toBe(30_000)
    expect((await pushWith(config, { first: [{ status: 503, headers }, 200] })).pauses).toEqual([1_000])
  })

  test('Retry-After that does not fit is left to the next run, with the time it asked for', async () => {
    const sent = await pushWith(config, { first: [{ status: 429, headers: { 'retry-after': '45' } }] })
    expect(sent.outcome).toMatchObject({ kind: 'waiting', retryAfter: 45_000, status: 429, misconfigured: false })
    expect([tries(sent), sent.pauses]).toEqual([1, []])
  })

  test('a date is read by the clock of the server that wrote it, and no wait is longer than an hour', () => {
    const now = Date.UTC(2026, 10, 30, 12)
    const at = (value: string, date?: string) =>
      retryAfterOf(new Headers({ 'retry-after': value, ...(date === undefined ? {} : { date }) }), now)
    expect(at('Mon, 30 Nov 2026 09:00:30 GMT', 'Mon, 30 Nov 2026 09:00:00 GMT')).toBe(30_000)
    expect(at('Tue, 30 Nov 2027 12:00:00 GMT')).toBe(3_600_000)
    expect(at('999999999999')).toBe(3_600_000)
  })

  test('no try is started when the time is up', async () => {
    const late = await pushWith(config, { first: [200] }, { time: 0 })
    expect(late.outcome).toMatchObject({ kind: 'waiting', misconfigured: false })
    expect(late.requests).toEqual([])
    const short = await pushWith(config, { first: [503] }, { time: 1_100 })
    expect([tries(short), short.pauses]).toEqual([1, []])
  })
})

describe('a message that is too large', () => {
  test('is tried once more in fewer words', async () => {
    const sent = await pushWith(config, { first: [413, 200] })
    expect(sent.outcome.kind).toBe('delivered')
    expect(sent.requests).toEqual(['push.example.com Queue is long', 'push.example.com short'])
  })

  test('then as its bare facts, and is dropped when these are too large as well', async () => {
    const sent = await pushWith(config, { first: [413] })
    expect(sent.outcome).toMatchObject({ kind: 'refused', status: 413 })
    expect(sent.requests).toEqual(['Queue is long', 'short', 'bare'].map((title) => `push.example.com ${title}`))
  })

  test('stays short while the server fails', async () => {
    const sent = await pushWith(config, { first: [413, 503, 200] })
    expect(sent.requests.slice(1)).toEqual(['push.example.com short', 'push.example.com short'])
  })
})

describe('a message that is refused as it is', () => {
  const bodies = (...titles: string[]) => titles.map((title) => `push.example.com ${title}`)
  test.each<[string, Answer[], PushOutcome['kind'], string[]]>([
    ['as bare facts it is taken', [400, 200], 'delivered', ['Queue is long', 'bare']],
    ['so are its bare facts', [422], 'refused', ['Queue is long', 'bare']],
    ['bare facts are too large', [400, 413], 'refused', ['Queue is long', 'bare']],
    ['short is refused too', [413, 400, 200], 'delivered', ['Queue is long', 'short', 'bare']],
    ['then the token is found wrong', [400, 401], 'waiting', ['Queue is long', 'bare']],
    ['then the server is away', [400, 503, 200], 'delivered', ['Queue is long', 'bare', 'bare']],
  ])('%s', async (_, first, kind, requests) => {
    const sent = await pushWith(config, { first })
    expect([sent.outcome.kind, sent.requests]).toEqual([kind, bodies(...requests)])
  })
})

describe('an answer of 429 without a time', () => {
  test.each([
    [0, 30_000],
    [1, 90_000],
    [2, 270_000],
    [3, 570_000],
    [9, 570_000],
  ])('after %i in a row: one try, and the next in %i ms', async (limits, retryAfter) => {
    const sent = await pushWith(config, { first: [429, 200] }, { limits })
    expect(sent.outcome).toMatchObject({ kind: 'waiting', retryAfter, limits: limits + 1, status: 429 })
    expect([tries(sent), sent.pauses]).toEqual([1, []])
  })

  test('after an answer that asked for seconds is the last try of the run', async () => {
    const sent = await pushWith(config, { first: [{ status: 429, headers: { 'retry-after': '2' } }, 429, 200] })
    expect([sent.outcome.kind, tries(sent), sent.pauses]).toEqual(['waiting', 2, [2_000]])
  })

  test('leaves the fallback, which is asked at once', async () => {
    const sent = await pushWith(withFallback, { first: [429], fallback: [200] })
    expect([sent.outcome.kind, sent.requests.length]).toEqual(['delivered', 2])
    const both = await pushWith(withFallback, { first: [429], fallback: [503] }, { limits: 1 })
    expect(both.outcome).toMatchObject({ kind: 'waiting', firstAfter: 86_000, limits: 2 })
  })
})

describe('case 319: what a 2xx says', () => {
  const NTFY = '{"id":"xE73","time":1735,"expires":1736,"event":"message","topic":"message","message":"{}"}'
  test.each<[string, string, boolean]>([
    // type, body, taken
    [
      'application/json',
      '{"id":25,"appid":5,"message":"m","title":"t","priority":8,"date":"2026-11-30T12:00:00Z"}',
      true,
    ],
    ['application/json', '{}', true],
    ['application/json', '[]', true],
    ['application/json', 'null', true],
    ['application/json', '', true],
    ['text/html', '', true],
    ['text/html', '{"id":1}', true],
    ['text/html', 'ok', true],
    ['text/html; charset=utf-8', ' Accepted\n', true],
    ['text/plain', '{"id":1,"status":"queued"}', true],
    ['text/plain', 'ok', true],
    ['application/json', '{"success":true,"errors":[],"error":null}', true],
    ['application/json', '{"status":200,"code":0,"errorCode":0}', true],
    ['application/json', '{"status":"OK","code":"200"}', true],
    ['application/json', '{"status":1,"request":"e460545a"}', true],
    ['application/json', '{"id":1,"extras":{"error":"of the message, not of the server"}}', true],
    ['text/html; charset=utf-8', '<!doctype html><title>Sign in</title>', false],
    ['text/html', 'Please sign in', false],
    ['application/json', '\n <HTML><body>x', false],
    ['text/plain', '<?xml version="1.0"?><html/>', false],
    ['', '<script>location="/login"</script>', false],
    ['application/json', '{"error":"Unauthorized","errorCode":401,"errorDescription":"x"}', false],
    ['application/json', '{"error":true}', false],
    ['application/json', '{"error":{"message":"quota"}}', false],
    ['application/json', '{"errors":["title is too odd"]}', false],
    ['application/json', '{"errors":{"title":["x"]}}', false],
    ['text/html', '{"ok":false,"error":"invalid_auth"}', false],
    ['application/json', '{"success":false}', false],
    ['application/json', '{"success":"false"}', false],
    ['application/json', '{"status":"error"}', false],
    ['application/json', '{"status":"failed","id":1}', false],
    ['application/json', '{"status":401}', false],
    ['application/json', '{"status":false}', false],
    ['application/json', '{"code":40101,"http":401}', false],
    ['application/json', '{"code":"UNAUTHENTICATED"}', false],
    ['application/json', '{"errorCode":3}', false],
    ['application/json', NTFY, false],
    ['application/json', `\uFEFF${NTFY}`, false],
  ])('%s %s is taken: %s', async (type, body, taken) => {
    const sent = await pushWith(config, { first: [{ status: 200, headers: { 'content-type': type }, body }] })
    expect(sent.outcome).toMatchObject({ kind: taken ? 'delivered' : 'waiting', misconfigured: !taken, status: 200 })
    expect(tries(sent)).toBe(1)
  })

  test.each([
    [
      '<title>Sign in · Company</title>',
      /a web page answered: Sign in · Company/,
      /sign-in page in front of NOTIFLY_URL/,
    ],
    ['{"success":false,"message":"no such app"}', /JSON with a failure answered: no such app/, /NOTIFLY_TOKEN/],
    [NTFY, /an ntfy server answered/, /use PUSH_<NAME>=ntfy\+https/],
  ])('%s is told with what to do', async (body, reason, advice) => {
    const { outcome } = await pushWith(config, { first: [{ status: 200, body }] })
    expect([outcome.reason, outcome.advice]).toEqual([expect.stringMatching(reason), expect.stringMatching(advice)])
  })

  test('a fallback gets what a web page swallowed, and its own web page is told as its own', async () => {
    const page: Answer = { status: 200, body: '<html></html>' }
    const sent = await pushWith(withFallback, { first: [page], fallback: [200] })
    expect(sent.outcome).toMatchObject({ kind: 'delivered', by: 'fallback', misconfigured: true })
    const both = await pushWith(withFallback, { first: [503], fallback: [page] })
    expect(both.outcome.advice).toContain('NOTIFLY_FALLBACK_URL')
  })
})

describe('the fallback server', () => {
  const asking = (seconds: number): Answer => ({ status: 429, headers: { 'retry-after': `${seconds}` } })
  test.each<[string, Answer, Answer, { firstAfter?: number; retryAfter?: number }]>([
    [
      'the first alone wants to be left alone: the fallback is asked at the next run',
      asking(600),
      503,
      { firstAfter: 596_000 },
    ],
    [
      'both do: the message waits for whoever is ready first',
      asking(600),
      asking(120),
      { firstAfter: 600_000, retryAfter: 120_000 },
    ],
    ['the fallback alone does: the first is asked at the next run', 503, asking(600), {}],
    ['the first does, and the token of the fallback is wrong', asking(600), 401, { firstAfter: 600_000 }],
  ])('when neither takes it and %s', async (_, first, fallback, waits) => {
    const { outcome } = await pushWith(withFallback, { first: [first], fallback: [fallback] })
    const { firstAfter, retryAfter } = outcome
    expect({ firstAfter, retryAfter }).toEqual({ firstAfter: undefined, retryAfter: undefined, ...waits })
  })

  test('is asked alone while the first wants to be left alone', async () => {
    const firstAt = Date.UTC(2026, 10, 30, 12, 5)
    const sent = await pushWith(withFallback, { first: [200], fallback: [200] }, { firstAt })
    expect(sent.outcome).toMatchObject({ kind: 'delivered', by: 'fallback' })
    expect(sent.requests).toEqual(['spare.example.com Queue is long'])
    const none = await pushWith(config, { first: [200] }, { firstAt })
    expect(none).toMatchObject({ outcome: { kind: 'waiting', retryAfter: 300_000 }, requests: [] })
  })

  test.each<[string, Answer[], number, boolean]>([
    // the first server, status told, misconfigured
    ['is failing', [503], 503, false],
    ['refuses the message', [400], 400, false],
    ['is limited without a time', [429], 429, false],
    ['does not know us', [401], 401, true],
    ['asks for patience', [{ status: 429, headers: { 'retry-after': '900' } }], 429, false],
  ])(
    'takes the message when the first %s, and the outcome still tells of the first',
    async (_, first, status, misconfigured) => {
      const sent = await pushWith(withFallback, { first, fallback: [200] })
      expect(sent.outcome).toMatchObject({ kind: 'delivered', by: 'fallback', status, misconfigured })
      expect(sent.requests.at(-1)).toBe('spare.example.com Queue is long')
    },
  )

  test('that is misconfigured itself is what the outcome tells of', async () => {
    const { outcome } = await pushWith(withFallback, { first: [503], fallback: [401] })
    expect(outcome).toEqual({
      kind: 'waiting',
      misconfigured: true,
      status: 401,
      advice: 'is NOTIFLY_FALLBACK_TOKEN still valid, and NOTIFLY_AUTH the right way to send it? Wanted: app token',
    })
  })

  test('is not asked when the first delivered', async () => {
    const sent = await pushWith(withFallback, { first: [200], fallback: [200] })
    expect(sent.outcome.by).toBe('first')
    expect(tries(sent)).toBe(1)
  })

  test('case 104: is not asked while the first may have the message, unless that was so before', async () => {
    const cautious = await pushWith(withFallback, { first: ['lost'], fallback: [200] })
    expect(cautious.outcome.kind).toBe('unanswered')
    expect(tries(cautious)).toBe(1)
    const again = await pushWith(withFallback, { first: ['lost'], fallback: [200] }, { maybeSent: true })
    expect(again.outcome).toMatchObject({ kind: 'delivered', by: 'fallback' })
  })

  test.each<[Answer, Answer, PushOutcome['kind'], boolean]>([
    // first, fallback, outcome, misconfigured
    [503, 400, 'waiting', false],
    [400, 503, 'waiting', false],
    [400, 400, 'refused', false],
    [401, 503, 'waiting', true],
    [503, 401, 'waiting', true],
    [503, 'lost', 'unanswered', false],
    [400, 'lost', 'unanswered', false],
  ])('when neither takes it (%s, %s) the message is %s', async (first, fallback, kind, misconfigured) => {
    const { outcome } = await pushWith(withFallback, { first: [first], fallback: [fallback] })
    expect(outcome).toMatchObject({ kind, misconfigured })
  })

  test('gets its share of the time although the first one could use all of it', async () => {
    const sent = await pushWith(withFallback, { first: [503], fallback: [200] }, { time: 12_000, takes: 3_000 })
    expect(sent.outcome).toMatchObject({ kind: 'delivered', by: 'fallback' })
  })
})

describe('connections', () => {
  test('a refused connection was never sent: tried three times, then left to the next run', async () => {
    const sent = await pushWith({ ...config, url: await deafUrl() }, {})
    const advice = 'does the push server run, and is the port in NOTIFLY_URL right?'
    expect(sent.outcome).toEqual({ kind: 'waiting', misconfigured: false, advice, reason: 'ECONNREFUSED' })
    expect(sent.pauses).toHaveLength(2)
  })

  test('a refused connection at the first leads to the fallback', async () => {
    const sent = await pushWith({ ...withFallback, url: await deafUrl() }, { fallback: [200] })
    expect(sent.outcome).toMatchObject({ kind: 'delivered', by: 'fallback' })
  })

  test('case 104: a push that was taken but answered too late is tried once in this run, not again', async () => {
    const server = await serve(() => {})
    const sent = await pushWith({ ...config, url: server.url }, {}, { time: 400 })
    expect(sent.outcome).toEqual({ kind: 'unanswered', misconfigured: false, reason: 'timeout' })
    expect(server.requests).toHaveLength(1)
  })

  test('case 104: a connection reset after the message was sent is not tried again in this run', async () => {
    let times = 0
    const server = await serveRaw((socket) =>
      socket.once('data', (bytes) => {
        // The question whether it wants TLS is no push.
        if (String(bytes).startsWith('POST')) times += 1
        socket.resetAndDestroy()
      }),
    )
    const sent = await pushWith({ ...config, url: server.url }, {})
    expect(sent.outcome).toEqual({ kind: 'unanswered', misconfigured: false, reason: 'ECONNRESET' })
    expect(times).toBe(1)
  })

  test('an answer of 200 is a delivery even if its body never comes', async () => {
    const server = await serve((_, response) => response.writeHead(200, { 'content-length': '10' }).write('x'))
    const sent = await pushWith({ ...config, url: server.url }, {})
    expect(sent.outcome).toMatchObject({ kind: 'delivered', status: 200 })
  })

  test('a redirect is not followed: the POST would lose its body', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/message') response.writeHead(301, { location: '/elsewhere?token=AbC' }).end()
      else response.end()
    })
    const sent = await pushWith({ ...config, url: server.url }, {})
    expect(sent.outcome).toMatchObject({
      kind: 'waiting',
      misconfigured: true,
      status: 301,
      reason: 'redirects to /elsewhere',
    })
    expect(server.requests).toHaveLength(1)
  })

  test('the message arrives whole, as JSON', async () => {
    let body = ''
    const server = await serve(async (request, response) => {
      for await (const chunk of request) body += chunk
      response.end('{"id":1}')
    })
    await pushWith({ ...config, url: `${server.url}/gotify/` }, {})
    expect(server.requests[0]).toMatchObject({ method: 'POST', url: '/gotify/message' })
    expect(JSON.parse(body)).toEqual({ title: 'Queue is long', message: '42 requests wait', priority: 8 })
  })
})

describe('what is told about a push', () => {
  test("case 100: a refusal is logged with the status and the server's reason", async () => {
    const body = '{"error":"Bad Request","errorCode":400,"errorDescription":"Field \'message\' is required"}'
    const sent = await pushWith(config, { first: [{ status: 400, body }] })
    expect(sent.outcome.reason).toBe("Field 'message' is required")
    expect(JSON.parse(sent.lines.at(-1) ?? '')).toMatchObject({
      level: 'error',
      status: 400,
      reason: "Field 'message' is required",
      server: 'first',
      host: 'push.example.com',
      title: 'bare',
    })
  })

  test('each try is one line', async () => {
    const sent = await pushWith(withFallback, { first: [503], fallback: [200] })
    expect(
      sent.lines.map((line) => JSON.parse(line)).map(({ server, try: n, status, level }) => [server, n, status, level]),
    ).toEqual([
      ['first', 1, 503, 'warn'],
      ['first', 2, 503, 'warn'],
      ['first', 3, 503, 'warn'],
      ['fallback', 1, 200, 'info'],
    ])
  })

  test.each([
    [401, /NOTIFLY_TOKEN.*NOTIFLY_AUTH/],
    [404, /NOTIFLY_URL/],
    [301, /NOTIFLY_URL redirects/],
  ])('an answer of %i names the variable to look at', async (status, expected) => {
    const sent = await pushWith(config, { first: [status] })
    expect(JSON.parse(sent.lines[0] ?? '').message).toMatch(expected)
  })

  test.each(['bearer', 'notifly', 'gotify', 'query'] as const)(
    'case 102: with %s no token is in any line or outcome, even if the server sends it back',
    async (auth) => {
      const token = 'pl4nted/s3cret+x='
      const echo = [token, encodeURIComponent(token), 'sp4resecret'].join(' ')
      const first: Answer = { status: 401, body: `bad token ${echo}`, headers: {} }
      const fallback: Answer = {
        status: 302,
        headers: { location: `https://x/${encodeURIComponent(token)}?token=sp4resecret` },
      }
      const sent = await pushWith({ ...withFallback, token, auth }, { first: [first], fallback: [fallback] })
      expect(sent.lines).toHaveLength(2)
      expect(JSON.stringify(sent.outcome) + sent.lines.join('\n')).not.toMatch(/s3cret|sp4resecret/)
    },
  )

  test.each([
    ['an address that is none', { url: 'nonsense' }],
    ['an address with a password', { url: 'https://alice:hunter2@push.example.com' }],
    ['a token that no header may hold', { token: 'hunter2\nx' }],
    ['a port that fetch refuses', { url: 'http://127.0.0.1:1' }],
  ])('%s is our own mistake: kept, told, and shown to nobody', async (_, wrong) => {
    const sent = await pushWith({ ...config, ...wrong }, {})
    expect(sent.outcome).toMatchObject({ kind: 'waiting', misconfigured: true })
    expect(sent.pauses).toEqual([])
    expect(JSON.stringify(sent.outcome) + sent.lines.join('\n')).not.toContain('hunter2')
  })
})
