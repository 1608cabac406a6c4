import { afterEach, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import type { Config } from '../../src/model/config.ts'
import { run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'

const PAGE = 'llamacpp:requests_processing 0\nllamacpp:requests_deferred 0\nllamacpp:n_decode_total 5\n'
const servers: Loopback[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

interface Router {
  /** Model → status; absent: no router, whose list says nothing of states. */
  models?: Record<string, string>
  asked: string[]
}

/** Loads what a scrape names unless it says `autoload=false`, and wakes what sleeps in any case. */
async function startRouter(router: Router): Promise<Loopback> {
  const server = await serveOnLoopback((request, response) => {
    const url = new URL(request.url ?? '', 'http://h')
    router.asked.push(`${url.pathname}${url.search}`)
    const answer = (status: number, body: string) =>
      response.writeHead(status, { 'content-type': 'text/plain' }).end(body)
    if (/^\/(v1\/)?models$/.test(url.pathname)) {
      const data = Object.entries(router.models ?? { only: '' }).map(([id, value]) => ({
        id,
        ...(value && { status: { value } }),
      }))
      return answer(200, JSON.stringify({ object: 'list', data }))
    }
    const model = url.searchParams.get('model')
    if (!router.models) return answer(200, PAGE)
    if (model === null) return answer(400, '{"error":{"code":400,"message":"model name is missing from the request"}}')
    if (router.models[model] !== 'loaded') router.models[model] = 'loaded'
    return answer(200, PAGE)
  })
  servers.push(server)
  return server
}

function configOf(variables: Record<string, string>): Config {
  const parsed = parseConfig('llamacpp', variables, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  return parsed.config
}

/** Runs three times, a minute apart. @returns what the last run says of each endpoint. */
async function watch(variables: Record<string, string>): Promise<Record<string, boolean>> {
  let now = Date.UTC(2026, 10, 30, 12)
  const store = createMemoryStore(() => now)
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  let up: Record<string, boolean> = {}
  for (let turn = 0; turn < 3; turn++) {
    now += 60_000
    const io = { now: () => now, store, log, runId: () => `run-${turn}`, print() {} }
    const { result } = await run({ config: configOf(variables), io: io as never, deadline: now + 30_000 })
    expect(
      result.endpoints.flatMap(({ alerts }) => Object.entries(alerts)).filter(([, phase]) => phase === 'firing'),
    ).toEqual([])
    up = Object.fromEntries(result.endpoints.map(({ name, up }) => [name, up]))
  }
  return up
}

test('cases 228, 403: each loaded model of a router is an endpoint; nothing is loaded, and nothing is woken', async () => {
  const router: Router = {
    models: { 'ggml-org/tiny-a:Q4': 'loaded', 'tiny-b': 'unloaded', 'tiny-c': 'sleeping', 'tiny-d': 'loaded' },
    asked: [],
  }
  const { url } = await startRouter(router)
  expect(await watch({ LLAMACPP_ENDPOINTS: `box=${url}` })).toEqual({ 'box/tiny-a-q4': true, 'box/tiny-d': true })
  expect(router.models).toMatchObject({ 'tiny-b': 'unloaded', 'tiny-c': 'sleeping' })
  expect(router.asked.filter((path) => path.startsWith('/metrics') && !path.includes('autoload=false'))).toEqual([])
})

test('a router without a loaded model is no fault, and so is one model of it that sleeps', async () => {
  const router: Router = { models: { a: 'sleeping', b: 'unloaded' }, asked: [] }
  const { url } = await startRouter(router)
  expect(await watch({ LLAMACPP_ENDPOINTS: `box=${url} a=${url}/metrics?model=a` })).toEqual({})
  expect(router.asked.filter((path) => path.startsWith('/metrics'))).toEqual([])
})

test('a server of one model is asked as ever, and one that is gone is told by its scrape', async () => {
  const router: Router = { asked: [] }
  const { url } = await startRouter(router)
  expect(
    await watch({ LLAMACPP_ENDPOINTS: `one=${url} gone=http://127.0.0.1:59999/metrics`, DOWN_LIMIT: '9' }),
  ).toEqual({
    one: true,
    gone: false,
  })
})
