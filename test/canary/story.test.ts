import { afterEach, describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import type { Backend } from '../../src/model/backend.ts'
import type { IO } from '../../src/model/io.ts'
import { run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import type { Clock } from '../../tools/simulator/clock.ts'
import type { Loopback } from '../../tools/simulator/loopback.ts'
import { openOllama } from '../../tools/simulator/ollama.ts'
import { openOpenAI } from '../../tools/simulator/openai.ts'

const open: Loopback[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

/** Time as it passes: the canary's own stopwatch is real here, so the queues are short and the limits shorter. */
const REAL: Clock = {
  now: () => performance.now(),
  pass() {},
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}

/** Runs a minute apart, told titles and phases. */
function watcher(backend: Backend, env: Record<string, string>) {
  let now = Date.parse('2026-11-30T12:00:00Z')
  const parsed = parseConfig(backend, { ...env, STATE_DIR: 'nowhere' }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const quiet = () => {}
  const io: IO = {
    now: () => now,
    sleep: async () => {},
    store: createMemoryStore(() => now),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    runId: () => `run-${now}`,
    print: quiet,
  }
  return async () => {
    now += 60_000
    const { result, messages } = await run({ config: parsed.config, io, deadline: now + 180_000 })
    const [endpoint] = result.endpoints
    return {
      alerts: endpoint?.alerts,
      signals: endpoint?.signals,
      notes: endpoint?.notes,
      told: messages.length,
      text: messages.map(({ title, body }) => `${title}\n${body}`).join('\n'),
    }
  }
}

describe('Ollama, from the server to the message', () => {
  const MODEL = { loadMs: 700, prefillMs: 1, tokenMs: 1 }
  const SETTINGS = { models: { m: MODEL, other: MODEL } }
  const LIMITS = { CANARY_LIMIT: '250ms', CANARY_CLEAR: '100ms' }

  async function watched(env: Record<string, string> = {}, settings = {}) {
    const server = await openOllama({ ...SETTINGS, ...settings }, REAL)
    open.push(server)
    return { server, look: watcher('ollama', { OLLAMA_URL: server.url, OLLAMA_MODEL: 'm', ...LIMITS, ...env }) }
  }

  test('a short queue does not fire, a long one fires once, and its end is told once', async () => {
    const { server, look } = await watched()
    server.load('m')
    server.occupy('m', 100)
    expect(await look()).toMatchObject({ alerts: {}, told: 0 })
    server.occupy('m', 500)
    expect(await look()).toMatchObject({ alerts: { canary: 'firing' }, told: 1 })
    server.occupy('m', 500)
    expect(await look()).toMatchObject({ alerts: { canary: 'firing' }, told: 0 })
    expect(await look()).toMatchObject({ alerts: { canary: 'firing' }, told: 0 })
    expect(await look()).toMatchObject({ alerts: {}, told: 1 })
  })

  test('case 58: a cold load does not fire the queue, and nobody loads a model unasked', async () => {
    const unasked = await watched()
    expect(await unasked.look()).toMatchObject({ alerts: {}, told: 0, notes: ['canary: not loaded'] })
    unasked.server.load('other')
    expect(await unasked.look()).toMatchObject({ alerts: {}, told: 0, notes: ['canary: not loaded, another model is'] })
    expect(unasked.server.loaded()).toEqual(['other:latest'])
    const asked = await watched({ CANARY_LOAD: 'yes', OLLAMA_TIMEOUT: '400ms' })
    const cold = await asked.look()
    expect(cold).toMatchObject({ alerts: {}, told: 0, notes: ['canary: cold load'] })
    expect(cold.signals?.canary_load).toBeGreaterThanOrEqual(0.7)
    expect(cold.signals?.canary_wait).toBeLessThan(0.25)
    expect(asked.server.loaded()).toEqual(['m:latest'])
  })

  test('case 54: a refusal within milliseconds fires busy, not down', async () => {
    const { server, look } = await watched()
    server.load('m')
    server.meet({ kind: 'status', status: 503, body: '{"error":"server busy, please try again"}' }, 3)
    expect(await look()).toMatchObject({ alerts: { busy: 'firing' }, told: 1 })
    expect(await look()).toMatchObject({ alerts: { busy: 'firing' }, told: 0 })
    expect(await look()).toMatchObject({ alerts: { busy: 'firing' }, told: 0 })
    await look()
    expect(await look()).toMatchObject({ alerts: {}, told: 1 })
  })

  test('case 67: three timeouts fire down, two do not', async () => {
    const { server, look } = await watched({ OLLAMA_TIMEOUT: '300ms' })
    server.load('m')
    server.meet({ kind: 'hang' }, 3)
    expect(await look()).toMatchObject({ told: 0 })
    expect(await look()).toMatchObject({ told: 0 })
    const third = await look()
    expect(third).toMatchObject({ alerts: { down: 'firing' }, told: 1 })
    expect(third.text).toContain(`X-Request-Id: ${server.asked.at(-1)?.headers['x-request-id']}`)
  })

  test('case 63: a model that is not on the server is blind, and the message names it', async () => {
    const { look } = await watched({ OLLAMA_MODEL: 'typo' })
    await look()
    const second = await look()
    expect(second).toMatchObject({ alerts: { blind: 'firing' }, told: 1 })
    expect(second.text).toContain('typo')
  })
})

describe('an OpenAI-compatible server, from the server to the message', () => {
  async function watched(settings = {}) {
    const server = await openOpenAI({ model: 'm', prefillMs: 1, tokenMs: 1, ...settings }, REAL)
    open.push(server)
    const env = {
      OPENAI_ENDPOINTS: `chat=${server.url}/v1`,
      OPENAI_MODEL: 'm',
      CANARY_LIMIT: '250ms',
      CANARY_CLEAR: '100ms',
    }
    return { server, look: watcher('openai', env) }
  }

  test('a late first token fires once, and the message carries the id that the server has seen', async () => {
    const { server, look } = await watched()
    expect(await look()).toMatchObject({ alerts: {}, told: 0 })
    server.occupy(500)
    const late = await look()
    expect(late).toMatchObject({ alerts: { canary: 'firing' }, told: 1 })
    expect(late.text).toContain(String(server.asked.at(-1)?.headers['x-request-id']))
  })

  test('a queue that is known to be deep: the canary is skipped, and nothing is cleared by that', async () => {
    const { server, look } = await watched({ metrics: true })
    server.occupy(500)
    expect(await look()).toMatchObject({ alerts: { canary: 'firing' } })
    const before = server.asked.filter(({ method }) => method === 'POST').length
    server.occupy(5_000, 30)
    for (let time = 0; time < 3; time += 1)
      expect(await look()).toMatchObject({ alerts: { canary: 'firing' }, told: 0 })
    expect(server.asked.filter(({ method }) => method === 'POST')).toHaveLength(before)
  })
})
