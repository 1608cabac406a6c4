import { afterEach, describe, expect, test } from 'vitest'
import { below, openaiBase, wholeModelName } from '../../src/canary/address.ts'
import { type CanariesOptions, canaries } from '../../src/canary/canary.ts'
import { requestIdOf, traceparent } from '../../src/canary/trace.ts'
import { openDispatcher } from '../../src/http/connections.ts'
import { createClock } from '../../tools/simulator/clock.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { openOllama } from '../../tools/simulator/ollama.ts'
import { openOpenAI } from '../../tools/simulator/openai.ts'
import { endpointAt } from './asking.ts'

const open: Loopback[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const options = (change: Partial<CanariesOptions> = {}): CanariesOptions => ({
  backend: 'openai',
  canary: { load: false, loadTimeout: 120_000 },
  clock: () => performance.now(),
  runId: 'run-1',
  dispatcher: openDispatcher().dispatcher,
  signal: new AbortController().signal,
  timeLeft: 30_000,
  now: 0,
  ...change,
})

/** A server that counts how many completions it computes at once. */
async function counting(ms: number) {
  const seen = { now: 0, most: 0, all: 0 }
  const server = await serveOnLoopback((request, response) => {
    if (request.method !== 'POST') {
      response.writeHead(404).end()
      return
    }
    seen.now += 1
    seen.all += 1
    seen.most = Math.max(seen.most, seen.now)
    setTimeout(() => {
      seen.now -= 1
      response.end('data: {"choices":[{"delta":{"content":"A"}}]}\n\ndata: [DONE]\n\n')
    }, ms)
  })
  open.push(server)
  return { ...server, seen }
}

describe('several canaries', () => {
  test('case 113: canaries to one server wait for each other, different servers are asked at once', async () => {
    const [one, other] = [await counting(60), await counting(60)]
    const endpoints = [
      endpointAt(one.url, { name: 'a' }),
      endpointAt(other.url, { name: 'b' }),
      endpointAt(`${one.url}/v1`, { name: 'c' }),
      endpointAt(`${other.url}/v1`, { name: 'd' }),
    ]
    const bothBusy = new Promise<void>((resolve) => {
      const timer = setInterval(() => {
        if (one.seen.now === 1 && other.seen.now === 1) {
          clearInterval(timer)
          resolve()
        }
      }, 1)
    })
    const [observations] = await Promise.all([canaries(endpoints, options()), bothBusy])
    expect(observations.map(({ endpoint, up }) => [endpoint.name, up])).toEqual([
      ['a', true],
      ['b', true],
      ['c', true],
      ['d', true],
    ])
    expect([one.seen, other.seen]).toEqual([
      { now: 0, most: 1, all: 2 },
      { now: 0, most: 1, all: 2 },
    ])
  })

  test('the observation is of the endpoint as it was configured', async () => {
    const server = await counting(1)
    const endpoint = endpointAt(server.url, { timeout: 7_000 })
    const [observation] = await canaries([endpoint], options())
    expect(observation?.endpoint).toBe(endpoint)
    expect(observation?.took).toBeGreaterThan(0)
  })

  test('a model that hangs leaves its neighbours on the server their share of the time', async () => {
    const clock = createClock(0)
    const server = await openOpenAI({ model: 'm', prefillMs: 1, tokenMs: 1 }, clock)
    open.push(server)
    server.meet({ kind: 'hang' })
    const endpoints = [endpointAt(server.url, { name: 'a' }), endpointAt(server.url, { name: 'b' })]
    const observations = await canaries(endpoints, options({ timeLeft: 600 }))
    expect(observations).toMatchObject([
      { up: false, failure: { kind: 'timeout' } },
      { up: true, canary: { status: 'answered' } },
    ])
  })

  test('case 114: what has no time left counts as not answered, and nobody is asked in vain', async () => {
    const server = await counting(1)
    expect(await canaries([endpointAt(server.url)], options({ timeLeft: 20 }))).toMatchObject([
      { up: false, failure: { kind: 'timeout' } },
    ])
    expect(server.seen.all).toBe(0)
  })

  test('every canary has an id of its own, the same in the header and in the facts', async () => {
    const clock = createClock(0)
    const server = await openOllama({ models: { m: { loadMs: 1, prefillMs: 1, tokenMs: 1 } } }, clock)
    open.push(server)
    server.load('m')
    const endpoints = [endpointAt(server.url, { name: 'a' }), endpointAt(server.url, { name: 'b' })]
    const observations = await canaries(endpoints, options({ backend: 'ollama' }))
    const ids = observations.map((observation) => (observation.up === false ? '' : observation.canary?.requestId))
    expect(new Set(ids).size).toBe(2)
    const sent = server.asked
      .filter(({ path }) => path === '/api/generate')
      .map(({ headers }) => headers['x-request-id'])
    expect(sent).toEqual(ids)
  })
})

describe('a queue that is known to be deep', () => {
  test.each([
    [19, 'answered', 1],
    [20, 'skipped', 0],
    [34, 'skipped', 0],
  ])('%d requests waiting: %s', async (waiting, status, completions) => {
    const clock = createClock(0)
    const server = await openOpenAI({ model: 'm', prefillMs: 1, tokenMs: 1, metrics: true }, clock)
    open.push(server)
    server.occupy(1_000, waiting + 1) // one of them is computed
    const [observation] = await canaries([endpointAt(`${server.url}/v1`)], options({ clock: clock.now }))
    expect(observation).toMatchObject({ up: status === 'skipped' ? undefined : true, canary: { status } })
    if (status === 'skipped') expect(observation).toMatchObject({ canary: { detail: `${waiting} requests waiting` } })
    expect(server.asked.filter(({ method }) => method === 'POST')).toHaveLength(completions)
  })

  test('a server without metrics, or whose metrics hang, is asked', async () => {
    const server = await serveOnLoopback((request, response) => {
      if (request.method === 'POST') response.end('data: {"choices":[{"text":"A"}]}\n\n')
    })
    open.push(server)
    const [observation] = await canaries([endpointAt(server.url, { timeout: 400 })], options())
    expect(observation).toMatchObject({ up: true, canary: { status: 'answered' } })
  })
})

describe('addresses and names', () => {
  test.each([
    ['http://h:11434', 'http://h:11434/api/ps'],
    ['http://h/ollama', 'http://h/ollama/api/ps'],
    ['http://h/ollama/', 'http://h/ollama/api/ps'],
    ['https://h/a/b//?key=1', 'https://h/a/b/api/ps?key=1'],
    ['http://[::1]:11434/', 'http://[::1]:11434/api/ps'],
  ])('case 80: below %s', (base, whole) => {
    expect(below(base, 'api/ps')).toBe(whole)
  })

  test.each([
    ['http://h:8000', 'http://h:8000/'],
    ['http://h/llm/v1', 'http://h/llm'],
    ['http://h/llm/v1/', 'http://h/llm'],
    ['http://h/v1/completions', 'http://h/'],
    ['http://h/openai', 'http://h/openai'],
    ['http://h/v10', 'http://h/v10'],
  ])('the routes of %s begin at %s', (address, base) => {
    expect(openaiBase(address)).toBe(base)
  })

  test.each([
    ['mistral', 'mistral:latest'],
    ['mistral:7b', 'mistral:7b'],
    ['library/mistral', 'mistral:latest'],
    ['registry.ollama.ai/library/mistral:7b', 'mistral:7b'],
    ['host:5000/team/mistral', 'host:5000/team/mistral:latest'],
    ['hf.co/team/m-GGUF:Q4_K_M', 'hf.co/team/m-gguf:q4_k_m'],
  ])('%s is %s', (name, whole) => {
    expect(wholeModelName(name)).toBe(whole)
  })

  test('a trace can be found by the request id; an id of another form still makes a valid trace', () => {
    const id = requestIdOf('run', 'chat/a')
    expect(id).toMatch(/^[0-9a-f]{32}$/)
    expect(traceparent(id).split('-')[1]).toBe(id)
    for (const odd of ['0'.repeat(32), 'request 7', ''])
      expect(traceparent(odd)).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/)
  })
})
