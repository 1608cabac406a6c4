import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ollamaCanary } from '../../src/canary/ollama.ts'
import { createClock } from '../../tools/simulator/clock.ts'
import { type OllamaServer, type OllamaSettings, openOllama } from '../../tools/simulator/ollama.ts'
import { endpointAt, factsOf, failureIn, gaugesOf, optionsOn, pieces, REQUEST_ID } from './asking.ts'

const open: OllamaServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const MODEL = { loadMs: 40_000, prefillMs: 130, tokenMs: 20 }

async function simulated(settings: Partial<OllamaSettings> = {}) {
  const clock = createClock(0)
  const server = await openOllama({ models: { m: MODEL, other: MODEL }, ...settings }, clock)
  open.push(server)
  return {
    clock,
    server,
    ask: (change = {}, options = {}) => ollamaCanary(endpointAt(server.url, change), optionsOn(clock.now, options)),
  }
}

const generations = (server: OllamaServer) => server.asked.filter(({ path }) => path === '/api/generate')

describe('the phases', () => {
  test.each([
    [0, 0],
    [4_900, 4.9],
    [5_100, 5.1],
    [60_000, 60],
  ])('%d ms in the queue of a loaded model are a wait of %d s, exactly', async (queue, wait) => {
    const { server, ask } = await simulated()
    server.load('m')
    if (queue > 0) server.occupy('m', queue)
    const answer = await ask()
    expect(factsOf(answer)).toMatchObject({ status: 'answered', requestId: REQUEST_ID, vramShare: 1 })
    expect(gaugesOf(answer)).toEqual({
      canary_total: (queue + 150) / 1_000,
      canary_wait: wait,
      canary_load: 0,
      canary_prefill: 0.13,
      canary_decode: 0.02,
    })
  })

  test('40 s of loading with 1 s of waiting are not a queue of 41 s', async () => {
    const { server, ask } = await simulated({ models: { m: { ...MODEL, loadMs: 40_000 } } })
    server.meet({
      kind: 'status',
      status: 200,
      body: '{"response":"a","done":true,"total_duration":41150000000,"load_duration":40000000000,"prompt_eval_duration":130000000,"eval_duration":20000000}',
    })
    server.load('m')
    const clock = createClock(0)
    const answer = await ollamaCanary(
      endpointAt(server.url),
      optionsOn(() => {
        clock.pass(41_150) // from the first look at the clock to the second
        return clock.now()
      }),
    )
    expect(gaugesOf(answer)).toMatchObject({ canary_wait: 1, canary_load: 40 })
    expect(factsOf(answer)).toMatchObject({ status: 'cold-load' })
    expect(await ask()).toBeDefined()
  })

  test('case 65: six requests at a loaded model wait, none is refused, although the queue may hold one', async () => {
    const { server, ask } = await simulated({ maxQueue: 1, parallel: 1 })
    server.load('m')
    server.occupy('m', 2_000, 5)
    const answer = await ask()
    expect(factsOf(answer)).toMatchObject({ status: 'answered' })
    expect(gaugesOf(answer).canary_wait).toBe(10)
  })

  test('two places halve the wait', async () => {
    const { server, ask } = await simulated({ parallel: 2 })
    server.occupy('m', 2_000, 4)
    expect(gaugesOf(await ask()).canary_wait).toBe(4)
  })
})

describe('the model', () => {
  test('case 66: a model that is not loaded is not loaded by us, and keep_alive is never sent', async () => {
    const { server, ask } = await simulated()
    const answer = await ask()
    expect(factsOf(answer)).toMatchObject({ status: 'not-loaded' })
    expect(gaugesOf(answer)).toEqual({})
    expect(generations(server)).toEqual([])
    server.load('m')
    await ask()
    expect(generations(server).map(({ body }) => body)).toEqual([
      { model: 'm', prompt: 'Hi', stream: true, think: false, options: { num_predict: 1, num_ctx: 4_096 } },
    ])
  })

  test('an idle model that was unloaded is not a queue, and another one in its place has its own word', async () => {
    const { server, clock, ask } = await simulated({ keepAlive: 300_000 })
    server.occupy('m', 1_000)
    expect(factsOf(await ask())).toMatchObject({ status: 'answered' })
    clock.pass(301_000)
    expect(factsOf(await ask())).toMatchObject({ status: 'not-loaded' })
    server.load('other')
    expect(factsOf(await ask())).toMatchObject({ status: 'other-model' })
  })

  test('case 58: with CANARY_LOAD a cold load is measured as loading, the wait without it; later a wait without a load is a queue', async () => {
    const { server, ask } = await simulated({ models: { m: { loadMs: 103_000, prefillMs: 1_000, tokenMs: 470 } } })
    const load = { canary: { load: true, loadTimeout: 120_000 } }
    const cold = await ask({}, load)
    expect(factsOf(cold)).toMatchObject({ status: 'cold-load' })
    expect(gaugesOf(cold)).toMatchObject({ canary_total: 104.47, canary_load: 103, canary_wait: 0 })
    server.occupy('m', 58_530)
    const queued = await ask({}, load)
    expect(factsOf(queued)).toMatchObject({ status: 'answered' })
    expect(gaugesOf(queued)).toMatchObject({ canary_total: 60, canary_load: 0, canary_wait: 58.53 })
  })

  test('a load has its own deadline, so that a short canary does not abort it', async () => {
    const clock = {
      now: () => performance.now(),
      pass: () => {},
      sleep: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
    }
    const server = await openOllama({ models: { m: { loadMs: 300, prefillMs: 0, tokenMs: 0 } } }, clock)
    open.push(server)
    const short = endpointAt(server.url, { timeout: 100 })
    const patient = optionsOn(clock.now, { canary: { load: true, loadTimeout: 5_000 } })
    expect(factsOf(await ollamaCanary(short, patient))).toMatchObject({ status: 'cold-load' })
    expect(server.loaded()).toEqual(['m:latest'])
  })

  test('a load that the run has no time for is not begun: it would be aborted at each run anew', async () => {
    const { server, ask } = await simulated()
    const answer = await ask({}, { canary: { load: true, loadTimeout: 120_000 }, timeLeft: 50_000 })
    expect(factsOf(answer)).toMatchObject({
      status: 'not-loaded',
      detail: 'CANARY_LOAD_TIMEOUT of 120 s is more than this run has left',
    })
    expect(generations(server)).toEqual([])
  })

  test('case 63: a model that the server does not have is missing, not down and not a queue', async () => {
    const { server, ask } = await simulated()
    const answer = await ask({ model: 'typo' })
    expect(factsOf(answer)).toMatchObject({ status: 'model-missing' })
    expect(answer).toMatchObject({ up: true, readings: { modelFound: false, model: 'typo' } })
    server.load('m')
    server.meet({ kind: 'status', status: 404, body: '{"error":"model \'m\' not found"}' })
    expect(factsOf(await ask())).toMatchObject({ status: 'model-missing', detail: "model 'm' not found" })
    server.meet({ kind: 'status', status: 404 })
    expect(factsOf(await ask())).toMatchObject({ status: 'model-missing' })
  })

  test.each(['m', 'M', 'm:latest', 'library/m', 'registry.ollama.ai/library/m:Latest'])(
    '%s names the same model',
    async (model) => {
      const { server, ask } = await simulated()
      server.load('m')
      expect(factsOf(await ask({ model }))).toMatchObject({ status: 'answered' })
      expect(generations(server)).toHaveLength(1)
    },
  )

  test('a model partly in system memory says how much of it is not', async () => {
    const { server, ask } = await simulated({ models: { m: { ...MODEL, vramShare: 0.25 } } })
    server.load('m')
    const answer = await ask()
    expect(factsOf(answer)).toMatchObject({ status: 'answered', vramShare: 0.25 })
    expect(answer.up === true && answer.readings.gauges.vram_share?.value).toBe(0.25)
  })

  test('a model that somebody loaded with another context is not loaded anew by the canary', async () => {
    const { server, ask } = await simulated()
    server.load('m', 32_768)
    expect(gaugesOf(await ask()).canary_load).toBe(0)
  })
})

describe('refusals and failures', () => {
  test('case 54: 503 and 429 are a full queue, not down', async () => {
    const { server, ask } = await simulated()
    server.load('m')
    server.meet({
      kind: 'status',
      status: 503,
      body: '{"error":"server busy, please try again.  maximum pending requests exceeded"}',
    })
    expect(factsOf(await ask())).toEqual({
      status: 'busy',
      requestId: REQUEST_ID,
      requests: 1,
      detail: 'server busy, please try again. maximum pending requests exceeded',
    })
    server.meet({ kind: 'status', status: 429, headers: { 'retry-after': '5' } })
    expect(factsOf(await ask())).toMatchObject({ status: 'busy', detail: 'Retry-After: 5' })
    server.meet({ kind: 'status', status: 500, body: '{"error":"queue is full"}' })
    expect(factsOf(await ask())).toMatchObject({ status: 'busy' })
    server.meet({ kind: 'status', status: 500, body: '{"error":"CUDA error: all devices are busy or unavailable"}' })
    expect(failureIn(await ask())).toMatchObject({ kind: 'http', status: 500 })
  })

  test('a full queue of loads refuses a model that is not loaded', async () => {
    const { server, ask } = await simulated({ maxQueue: 1 })
    server.occupy('other', 10_000, 2)
    const answer = await ask({}, { canary: { load: true, loadTimeout: 60_000 } })
    expect(factsOf(answer)).toMatchObject({ status: 'busy' })
  })

  test('case 61: an empty text of a thinking model is a success, and thinking is asked off', async () => {
    const { server, ask } = await simulated({ models: { m: { ...MODEL, thinks: true } } })
    server.load('m')
    expect(factsOf(await ask())).toMatchObject({ status: 'answered' })
    expect(generations(server)[0]?.body.think).toBe(false)
  })

  test('a model that refuses the think setting is asked once more without it, and the wait counts from then', async () => {
    const { server, ask } = await simulated({ models: { m: { ...MODEL, refusesThink: true } } })
    server.load('m')
    server.occupy('m', 7_000)
    const answer = await ask()
    expect(gaugesOf(answer).canary_wait).toBe(7)
    expect(generations(server).map(({ body }) => 'think' in body)).toEqual([true, false])
  })

  test('any other 400 is not tried again', async () => {
    const { server, ask } = await simulated()
    server.load('m')
    server.meet({ kind: 'status', status: 400, body: '{"error":"m does not support generate"}' })
    expect(failureIn(await ask())).toEqual({ kind: 'http', status: 400, detail: 'm does not support generate' })
    expect(generations(server)).toHaveLength(1)
  })

  test('case 62: an answer cut off in the middle is a failure, not a short answer', async () => {
    const { server, ask } = await simulated()
    server.load('m')
    server.meet({ kind: 'cut' })
    expect(failureIn(await ask()).kind).toBe('cut')
    server.meet({ kind: 'unfinished' })
    expect(failureIn(await ask())).toEqual({ kind: 'cut' })
  })

  test('an error line inside a 200 stream is a failure with its words, or a full queue when it says so', async () => {
    const { server, ask } = await simulated()
    server.load('m')
    server.meet({ kind: 'error', words: 'the model failed to generate a response' })
    expect(failureIn(await ask())).toEqual({ kind: 'stream-error', detail: 'the model failed to generate a response' })
    server.meet({ kind: 'error', words: 'server busy, please try again' })
    expect(factsOf(await ask())).toMatchObject({ status: 'busy' })
  })

  test('case 67: a server whose pages answer while generation hangs is a timeout', async () => {
    const { server, ask } = await simulated()
    server.load('m')
    server.meet({ kind: 'hang' })
    const answer = await ask({ timeout: 150 })
    expect(failureIn(answer)).toEqual({ kind: 'timeout' })
    // The server's own log may show what became of it.
    expect(answer.canary).toEqual({ status: 'failed', requestId: REQUEST_ID, requests: 1 })
    expect(await (await fetch(server.url)).text()).toBe('Ollama is running')
  })

  test('case 81: the deadline holds over the body too', async () => {
    const { server, ask } = await simulated()
    server.load('m')
    server.meet({ kind: 'stall' })
    expect(failureIn(await ask({ timeout: 150 }))).toEqual({ kind: 'timeout' })
  })

  test("case 64: our own limit decides while no header comes, and the run's end comes before it", async () => {
    const { server, ask } = await simulated()
    server.load('m')
    server.meet({ kind: 'hang' })
    const start = performance.now()
    expect(failureIn(await ask({ timeout: 400_000 }, { signal: AbortSignal.timeout(150) }))).toEqual({
      kind: 'timeout',
    })
    expect(performance.now() - start).toBeLessThan(2_000)
  })

  test('a port where nothing listens is refused', async () => {
    const port = await freePort()
    const answer = await ollamaCanary(
      endpointAt(`http://127.0.0.1:${port}`),
      optionsOn(() => 0),
    )
    expect(failureIn(answer)).toMatchObject({ kind: 'refused', code: 'ECONNREFUSED' })
    // Nobody would find its id in a log.
    expect(answer.canary).toBe(undefined)
  })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

describe('what servers answer', () => {
  const mocked = setupServer()
  beforeAll(() => mocked.listen({ onUnhandledRequest: 'error' }))
  afterEach(() => mocked.resetHandlers())
  afterAll(() => mocked.close())

  const PS = { models: [{ name: 'm:latest', model: 'm:latest', size: 100, size_vram: 100 }] }
  const answers = (generate: () => Response | Promise<Response>, base = 'http://ollama:11434') =>
    mocked.use(
      http.get(`${base}/api/ps`, () => HttpResponse.json(PS)),
      http.post(`${base}/api/generate`, generate),
    )
  const ask = (url = 'http://ollama:11434', change = {}, clock = () => 0) =>
    ollamaCanary(endpointAt(url, change), optionsOn(clock))

  const twice = (ms: number) => {
    let reading = -ms
    return () => {
      reading += ms
      return reading
    }
  }

  const captured = path.resolve('../shared/metrics')
  describe.skipIf(!existsSync(captured))('captured bodies (skipped: ../shared/metrics is not here)', () => {
    const body = (name: string) => readFileSync(path.join(captured, name), 'utf8')
    const oneLine = (name: string) => JSON.stringify(JSON.parse(body(name)))

    test.each([
      // file, elapsed ms, seconds
      [
        'ollama-generate-final-chunk-cold-load.json',
        12_000,
        {
          canary_total: 12,
          canary_wait: 1.298991709,
          canary_load: 6.338219291,
          canary_prefill: 0.130079,
          canary_decode: 4.23271,
          canary_rate: 61.190112245,
        },
      ],
      [
        'ollama-generate-nonstream-2023-08.json',
        6_000,
        {
          canary_total: 6,
          canary_wait: 0.959808041,
          canary_load: 0.005025959,
          canary_prefill: 0.325953,
          canary_decode: 4.709213,
          canary_rate: 61.581414984,
        },
      ],
      [
        'ollama-generate-nonstream-2025-10.json',
        200,
        {
          canary_total: 0.2,
          canary_wait: 0.033048416,
          canary_load: 0.101397084,
          canary_prefill: 0.013074791,
          canary_decode: 0.052479709,
          canary_rate: 342.989706746,
        },
      ],
      ['ollama-generate-load-only-no-durations-2023-12.json', 300, { canary_total: 0.3 }],
    ])('%s', async (name, elapsed, gauges) => {
      answers(() => new HttpResponse(`${oneLine(name)}\n`))
      expect(gaugesOf(await ask(undefined, {}, twice(elapsed)))).toEqual(gauges)
    })

    test('a stream whose last line names no durations: the total is known, the wait is not', async () => {
      answers(() => new HttpResponse(body('ollama-generate-stream-2025-10.ndjson')))
      const answer = await ask(undefined, {}, twice(500))
      expect(factsOf(answer)).toMatchObject({ status: 'answered' })
      expect(gaugesOf(answer)).toEqual({ canary_total: 0.5 })
    })

    test('an error body and a list of loaded models', async () => {
      mocked.use(
        http.get('http://ollama:11434/api/ps', () => new HttpResponse(body('ollama-ps-one-model.json'))),
        http.post(
          'http://ollama:11434/api/generate',
          () => new HttpResponse(body('ollama-error-body.json'), { status: 500 }),
        ),
      )
      expect(failureIn(await ask(undefined, { model: 'mistral' }))).toEqual({
        kind: 'http',
        status: 500,
        detail: 'the model failed to generate a response',
      })
    })
  })

  test.each([
    ['a little', 2_500, []],
    ['much', 300, [{ signal: 'canary_wait', series: 'total_duration', what: 'out-of-range' }]],
  ])('durations that add up to %s more than our clock saw are no negative wait', async (_, elapsed, faults) => {
    answers(() => HttpResponse.json({ done: true, load_duration: 1, prompt_eval_duration: 2e9, eval_duration: 1e9 }))
    const answer = await ask(undefined, {}, twice(elapsed))
    expect(gaugesOf(answer)).toMatchObject({ canary_wait: 0, canary_prefill: 2, canary_decode: 1 })
    expect(answer).toMatchObject({ readings: { faults } })
  })

  test.each([
    ['negative', -5, 'out-of-range'],
    ['longer than any canary takes: other units, or another clock', 4e12, 'out-of-range'],
    ['text', '1000', 'not-a-number'],
    ['no number', {}, 'not-a-number'],
  ])('a duration that cannot be makes the wait unknown with it, and is named: %s', async (_, duration, what) => {
    answers(() => HttpResponse.json({ done: true, load_duration: duration, eval_duration: 1e9 }))
    const answer = await ask(undefined, {}, twice(2_500))
    expect(gaugesOf(answer)).toEqual({ canary_total: 2.5, canary_prefill: 0, canary_decode: 1 })
    expect(answer).toMatchObject({ readings: { faults: [{ signal: 'canary_load', series: 'load_duration', what }] } })
  })

  test('pieces may end inside a character, inside a line break and inside a number', async () => {
    const bytes = new TextEncoder().encode(
      '{"response":"é","done":false}\r\n{"done":true,"load_duration":0,"eval_duration":1500000000}',
    )
    answers(() => new HttpResponse(pieces([...bytes].map((byte) => Uint8Array.of(byte)))))
    expect(gaugesOf(await ask(undefined, {}, twice(2_000)))).toMatchObject({ canary_wait: 0.5, canary_decode: 1.5 })
  })

  test('case 80: a base address with a path keeps it', async () => {
    answers(() => HttpResponse.json({ done: true }), 'http://proxy/ollama')
    for (const url of ['http://proxy/ollama', 'http://proxy/ollama/'])
      expect(factsOf(await ask(url))).toMatchObject({ status: 'answered' })
  })

  test('a page, a greeting and half a line where a stream was expected', async () => {
    answers(() => HttpResponse.html('<html><title>Welcome</title></html>'))
    expect(failureIn(await ask())).toEqual({ kind: 'bad-answer', detail: 'Welcome' })
    answers(() => new HttpResponse('{"response":"a","done":fal'))
    expect(failureIn(await ask())).toEqual({ kind: 'cut' })
    answers(() => new HttpResponse(''))
    expect(failureIn(await ask())).toEqual({ kind: 'cut' })
    mocked.use(http.get('http://ollama:11434/api/ps', () => HttpResponse.text('Ollama is running')))
    expect(failureIn(await ask())).toEqual({ kind: 'bad-answer', detail: 'GET /api/ps: Ollama is running' })
  })

  test('a body that was not streamed may span lines', async () => {
    const spread = (value: object) => answers(() => new HttpResponse(JSON.stringify(value, null, 2)))
    spread({ response: 'Hi', done: true, context: [1, 2, 3], load_duration: 2e9, eval_duration: 1e9 })
    expect(gaugesOf(await ask(undefined, {}, twice(3_500)))).toMatchObject({ canary_wait: 0.5, canary_load: 2 })
    spread({ error: 'the model failed to generate a response' })
    expect(failureIn(await ask())).toEqual({ kind: 'stream-error', detail: 'the model failed to generate a response' })
    spread({ error: 'server busy, please try again' })
    expect(factsOf(await ask())).toMatchObject({ status: 'busy' })
    spread({ response: 'Hi', done: false })
    expect(failureIn(await ask())).toEqual({ kind: 'cut' })
  })

  test('a server that never stops talking is not listened to for ever', async () => {
    const line = '{"response":"a","done":false}\n'
    answers(() => new HttpResponse(pieces(new Array(1_000).fill(line))))
    expect(failureIn(await ask())).toEqual({ kind: 'bad-answer', detail: 'more than one token came' })
    answers(() => new HttpResponse(pieces(new Array(40).fill('a'.repeat(65_536)))))
    expect(failureIn(await ask())).toEqual({ kind: 'too-large' })
  })

  test('what is not Ollama, not for us, or elsewhere', async () => {
    const ps = (status: number, headers = {}) =>
      mocked.use(http.get('http://ollama:11434/api/ps', () => new HttpResponse('no', { status, headers })))
    ps(404)
    expect(failureIn(await ask())).toEqual({ kind: 'not-found', status: 404, detail: 'GET /api/ps: no' })
    ps(401)
    expect(failureIn(await ask())).toMatchObject({ kind: 'not-authorised', status: 401 })
    ps(307, { location: 'https://elsewhere/' })
    expect(failureIn(await ask())).toMatchObject({ kind: 'redirected', status: 307 })
    ps(502)
    expect(failureIn(await ask())).toMatchObject({ kind: 'http', status: 502 })
  })

  test('before the first model is loaded the list may be null', async () => {
    mocked.use(
      http.get('http://ollama:11434/api/ps', () => HttpResponse.json({ models: null })),
      http.get('http://ollama:11434/api/tags', () => HttpResponse.json(PS)),
    )
    expect(factsOf(await ask())).toMatchObject({ status: 'not-loaded' })
  })

  test("the endpoint's credentials are sent, and never come back in what the server says", async () => {
    const secret = 'tell-nobody-4711'
    let sent: string | null = null
    answers(() => HttpResponse.json({ error: `key ${secret} is not allowed: Bearer ${secret}` }, { status: 403 }))
    mocked.use(
      http.get('http://ollama:11434/api/ps', ({ request }) => {
        sent = request.headers.get('authorization')
        return HttpResponse.json(PS)
      }),
    )
    const answer = await ask(undefined, { authorization: `Bearer ${secret}` })
    expect(sent).toBe(`Bearer ${secret}`)
    expect(failureIn(answer).kind).toBe('not-authorised')
    expect(JSON.stringify(answer)).not.toContain(secret)
  })
})
