import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openaiCanary } from '../../src/canary/openai.ts'
import { createClock } from '../../tools/simulator/clock.ts'
import { type OpenAIServer, type OpenAISettings, openOpenAI } from '../../tools/simulator/openai.ts'
import { endpointAt, factsOf, failureIn, gaugesOf, optionsOn, pieces, REQUEST_ID } from './asking.ts'

const open: OpenAIServer[] = []
afterEach(async () => {
  vi.unstubAllGlobals()
  await Promise.all(open.splice(0).map((server) => server.close()))
})

async function simulated(settings: Partial<OpenAISettings> = {}) {
  const clock = createClock(0)
  const server = await openOpenAI({ model: 'm', prefillMs: 80, tokenMs: 20, ...settings }, clock)
  open.push(server)
  const ask = (change = {}, options = {}) => openaiCanary(endpointAt(server.url, change), optionsOn(clock.now, options))
  return { clock, server, ask }
}

describe('against a simulated server', () => {
  test.each([
    [0, 0.1],
    [4_800, 4.9],
    [5_000, 5.1],
  ])('%d ms of queue make a time to first token of %d s', async (queue, ttft) => {
    const { server, ask } = await simulated()
    if (queue > 0) server.occupy(queue)
    const answer = await ask()
    expect(factsOf(answer)).toEqual({ status: 'answered', requestId: REQUEST_ID, requests: 1 })
    expect(gaugesOf(answer)).toMatchObject({ canary_ttft: ttft })
  })

  test('one token of a stream is asked for, with an id that the logs and the trace of the server show', async () => {
    const { server, ask } = await simulated()
    await ask()
    expect(server.asked).toHaveLength(1)
    expect(server.asked[0]).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      body: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1, temperature: 0, stream: true },
    })
    expect(server.asked[0]?.headers['x-request-id']).toBe(REQUEST_ID)
    expect(server.asked[0]?.headers.traceparent).toMatch(new RegExp(`^00-${REQUEST_ID}-[0-9a-f]{16}-01$`))
  })

  test.each(['', '/', '/v1', '/v1/', '/v1/chat/completions'])('case 80: the address may end in "%s"', async (end) => {
    const { server, ask } = await simulated()
    expect(factsOf(await ask({ url: server.url + end }))).toMatchObject({ status: 'answered' })
    expect(server.asked.map((asked) => asked.path)).toEqual(['/v1/chat/completions'])
  })

  test.each(['/v1/completions', '/v1/completions/'])('an address that ends in "%s" is asked there', async (end) => {
    const { server, ask } = await simulated()
    expect(factsOf(await ask({ url: server.url + end }))).toMatchObject({ status: 'answered' })
    expect(server.asked.map((asked) => asked.path)).toEqual(['/v1/completions'])
  })

  test('a server without chat is asked for a plain completion, one without either is not found', async () => {
    const plain = await simulated({ routes: ['plain'] })
    expect(factsOf(await plain.ask())).toMatchObject({ status: 'answered' })
    expect(plain.server.asked.map((asked) => asked.path)).toEqual(['/v1/chat/completions', '/v1/completions'])
    expect(plain.server.asked[1]?.body).toMatchObject({ prompt: 'Hi', max_tokens: 1, stream: true })
    const none = await simulated({ routes: [] })
    expect(failureIn(await none.ask())).toMatchObject({ kind: 'not-found', status: 404 })
  })

  test('a server that knows the limit under its other name is asked with that', async () => {
    const { server, ask } = await simulated({ limit: 'max_completion_tokens' })
    expect(factsOf(await ask())).toMatchObject({ status: 'answered' })
    expect(server.asked.map(({ body }) => [body.max_tokens, body.max_completion_tokens])).toEqual([
      [1, undefined],
      [undefined, 1],
    ])
  })

  test('a model without a chat template is asked for a plain completion', async () => {
    const { server, ask } = await simulated()
    server.meet({
      kind: 'status',
      status: 400,
      body: '{"object":"error","message":"As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template if the tokenizer does not define one.","type":"BadRequestError","code":400}',
    })
    expect(factsOf(await ask())).toMatchObject({ status: 'answered' })
    expect(server.asked.at(-1)?.path).toBe('/v1/completions')
  })

  test('case 63: a model that the server does not have is missing; a route that it does not have is another thing', async () => {
    const { server, ask } = await simulated()
    const answer = await ask({ model: 'typo' })
    expect(factsOf(answer)).toMatchObject({ status: 'model-missing', detail: 'The model `typo` does not exist.' })
    expect(answer).toMatchObject({ readings: { modelFound: false } })
    expect(server.asked).toHaveLength(1)
  })

  test('case 54: a full queue is busy, with what the server asks for', async () => {
    const { server, ask } = await simulated({ maxQueue: 1 })
    server.occupy(10_000, 2)
    expect(factsOf(await ask())).toEqual({
      status: 'busy',
      requestId: REQUEST_ID,
      requests: 1,
      detail: 'The request queue is full, try again later; Retry-After: 7',
    })
    server.meet({ kind: 'status', status: 429, body: '{"error":"Model is overloaded","error_type":"overloaded"}' })
    expect(factsOf(await ask())).toMatchObject({ status: 'busy', detail: 'Model is overloaded' })
  })

  test('503 while a model is loading, or with nobody behind the proxy, is a failure and no queue', async () => {
    const { server, ask } = await simulated()
    for (const body of [
      '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
      'no healthy upstream',
    ]) {
      server.meet({ kind: 'status', status: 503, body })
      expect(failureIn(await ask())).toMatchObject({ kind: 'http', status: 503 })
    }
  })

  test('a server that wants another key is "not authorised"', async () => {
    const { ask } = await simulated({ key: 'right' })
    expect(failureIn(await ask({ authorization: 'Bearer wrong-key' }))).toMatchObject({
      kind: 'not-authorised',
      status: 401,
    })
    expect(factsOf(await ask({ authorization: 'Bearer right' }))).toMatchObject({ status: 'answered' })
  })

  test.each(['reasoning', 'reasoning_content'] as const)('case 61: a token of %s is a token', async (reasoning) => {
    const { ask } = await simulated({ reasoning })
    expect(factsOf(await ask())).toMatchObject({ status: 'answered' })
  })

  test('comments before the answer and a missing [DONE] are no failure', async () => {
    const { ask } = await simulated({ keepAlives: 3, done: false })
    expect(factsOf(await ask())).toMatchObject({ status: 'answered' })
  })

  test('comments alone until the deadline: a gateway holds the request', async () => {
    const { server, ask } = await simulated()
    server.meet({ kind: 'parked', every: 20 })
    expect(factsOf(await ask({ timeout: 150 }))).toEqual({ status: 'parked', requestId: REQUEST_ID, requests: 1 })
  })

  test('case 67: silence until the deadline is a timeout, before the headers and after them', async () => {
    const { server, ask } = await simulated()
    for (const kind of ['hang', 'stall'] as const) {
      server.meet({ kind })
      const answer = await ask({ timeout: 150 })
      expect(failureIn(answer)).toEqual({ kind: 'timeout' })
      expect(answer.canary).toEqual({ status: 'failed', requestId: REQUEST_ID, requests: 1 })
    }
  })

  test('case 62: a stream that breaks off, or ends before any token, is cut', async () => {
    const { server, ask } = await simulated()
    for (const kind of ['cut', 'unfinished'] as const) {
      server.meet({ kind })
      expect(failureIn(await ask()).kind).toBe('cut')
    }
  })

  test('an error inside a 200 stream is a failure with its words, or a full queue when it says so', async () => {
    const { server, ask } = await simulated()
    server.meet({ kind: 'error', words: 'EngineCore encountered an issue' })
    expect(failureIn(await ask())).toEqual({ kind: 'stream-error', detail: 'EngineCore encountered an issue' })
    server.meet({ kind: 'error', words: 'queue full' })
    expect(factsOf(await ask())).toMatchObject({ status: 'busy', detail: 'queue full' })
  })
})

describe('what a stream may look like', () => {
  /** Asks a server that sends these pieces, `ms` apart. */
  async function hear(parts: readonly (string | Uint8Array)[], ms = 100, type = 'text/event-stream') {
    const clock = createClock(0)
    const body = pieces(parts, () => clock.pass(ms))
    vi.stubGlobal('fetch', async () => new Response(body, { headers: { 'content-type': type } }))
    return openaiCanary(endpointAt('http://server:8000'), optionsOn(clock.now))
  }
  const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
  const delta = (part: object, finish: string | null = null) =>
    data({ choices: [{ index: 0, delta: part, finish_reason: finish }] })

  test('the first chunk with only the role is not the first token; the end is the end', async () => {
    const answer = await hear([
      delta({ role: 'assistant', content: '' }),
      delta({ content: 'A' }),
      delta({}, 'length'),
      'data: [DONE]\n\n',
    ])
    expect(gaugesOf(answer)).toEqual({ canary_ttft: 0.2, canary_total: 0.4, canary_decode: 0.2 })
  })

  const usage = { completion_tokens: 1 }
  test.each([
    ['the usage beside an empty list of choices', data({ choices: [], usage })],
    ['the usage beside null', data({ choices: null, usage })],
    ['the usage alone', data({ usage })],
    ['an event without data', 'data:\n\n'],
    ["a gateway's sign of life", 'event: ping\ndata: {"type":"ping"}\n\n'],
  ])('%s is no token, and no failure before or after one', async (_, chunk) => {
    const done = 'data: [DONE]\n\n'
    expect(gaugesOf(await hear([chunk, delta({ content: 'A' }), done])).canary_ttft).toBe(0.2)
    expect(gaugesOf(await hear([delta({ content: 'A\u2028' }), chunk, done])).canary_ttft).toBe(0.1)
    expect(gaugesOf(await hear([delta({ role: 'assistant' }), chunk, done])).canary_ttft).toBe(0.3)
  })

  test('events may end with one line end instead of two', async () => {
    const chunks = [delta({ role: 'assistant', content: '' }), delta({ content: 'A' }), 'data: [DONE]\n\n']
    expect(factsOf(await hear(chunks.map((chunk) => chunk.replace('\n\n', '\n'))))).toMatchObject({
      status: 'answered',
    })
  })

  test('a token without text: the end of the answer is the first that a user sees', async () => {
    expect(gaugesOf(await hear([delta({ role: 'assistant' }), delta({ content: '' }, 'length')])).canary_ttft).toBe(0.2)
    expect(gaugesOf(await hear([delta({ role: 'assistant' }), 'data: [DONE]\n\n'])).canary_ttft).toBe(0.2)
  })

  test('pieces may end anywhere: inside a character, a line break, a name', async () => {
    const text = `: hello\r\n\r\n${delta({ content: 'é' }).replaceAll('\n', '\r\n')}data: [DONE]\r\n\r\n`
    const bytes = [...new TextEncoder().encode(text)].map((byte) => Uint8Array.of(byte))
    expect(factsOf(await hear(bytes, 1))).toMatchObject({ status: 'answered' })
  })

  test('an event may span lines, carry other fields, and lack its last blank line', async () => {
    const answer = await hear(['event: message\nid: 1\ndata: {"choices":\ndata: [{"delta":{"content":"A"}}]}'])
    expect(factsOf(answer)).toMatchObject({ status: 'answered' })
  })

  test('a server that does not stream is heard at its end', async () => {
    const whole = JSON.stringify(
      { choices: [{ message: { role: 'assistant', content: 'A' }, finish_reason: 'length' }] },
      null,
      2,
    )
    expect(gaugesOf(await hear([whole], 300, 'application/json')).canary_ttft).toBe(0.3)
  })

  test('an error in place of the stream, and one with its fields at the top', async () => {
    expect(failureIn(await hear(['{"error":{"message":"out of memory"}}'], 1, 'application/json'))).toEqual({
      kind: 'stream-error',
      detail: 'out of memory',
    })
    for (const stream of [
      data({ object: 'error', message: 'boom' }),
      `event: error\n${data({ message: 'boom', code: 500 })}`,
      'error: {"code":500,"message":"boom","type":"server_error"}\n\n',
    ]) {
      expect(failureIn(await hear([stream]))).toEqual({ kind: 'stream-error', detail: 'boom' })
    }
  })

  test.each([
    [{ error: { message: 'Rate limit exceeded', code: 429 } }, 'busy'],
    [{ error: { message: 'no slot', http_status_code: 503 } }, 'busy'],
    [{ object: 'error', message: 'try later', code: 503 }, 'busy'],
    [{ error: { message: 'Exceeds maximum queue size', code: 500 } }, 'busy'],
    [{ error: { message: 'Loading model', code: 503 } }, undefined],
    [{ error: { message: 'internal error', code: 500 } }, undefined],
    [{ error: { message: 'code 429 of the prompt is odd', code: 400 } }, undefined],
  ])('an error inside a stream may say by its own status that there is no room: %j', async (error, status) => {
    const answer = await hear([data(error)])
    if (status === undefined) expect(failureIn(answer).kind).toBe('stream-error')
    else expect(factsOf(answer)).toMatchObject({ status })
  })

  test('a web page or other text is no answer', async () => {
    expect(failureIn(await hear(['<html><title>Login</title>'], 1, 'text/html'))).toEqual({
      kind: 'bad-answer',
      detail: 'Login',
    })
    expect(failureIn(await hear(['data: hello\n\n']))).toEqual({ kind: 'bad-answer', detail: 'hello' })
    const login = 'data: {"detail":"Log in first"}\n\n'
    expect(failureIn(await hear([login]))).toEqual({ kind: 'bad-answer', detail: 'Log in first' })
    expect(failureIn(await hear([login, 'data: [DONE]\n\n']))).toEqual({ kind: 'bad-answer', detail: 'Log in first' })
    expect(failureIn(await hear(['']))).toEqual({ kind: 'cut' })
  })

  test('a server that ignores the limit is not listened to for ever', async () => {
    let sent = 0
    const clock = createClock(0)
    const body = pieces(new Array(5_000).fill(delta({ content: 'A' })), () => {
      sent += 1
    })
    vi.stubGlobal('fetch', async () => new Response(body))
    expect(factsOf(await openaiCanary(endpointAt('http://server:8000'), optionsOn(clock.now)))).toMatchObject({
      status: 'answered',
    })
    expect(sent).toBeLessThan(50)
  })

  const captured = path.resolve('../shared/metrics/openai-chat-stream-2023-partial.sse')
  test.skipIf(!existsSync(captured))(
    'a captured stream without its end (skipped: ../shared/metrics is not here)',
    async () => {
      const events = readFileSync(captured, 'utf8')
        .split('\n\n')
        .filter((event) => event.trim() !== '')
      const answer = await hear(events.map((event) => `${event}\n\n`))
      expect(gaugesOf(answer)).toEqual({ canary_ttft: 0.2, canary_total: 0.4, canary_decode: 0.2, canary_rate: 10 })
    },
  )
})
