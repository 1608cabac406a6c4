import { execFileSync } from 'node:child_process'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { TABLES } from '../../src/backends/backends.ts'
import { doctor } from '../../src/cli/doctor.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { type Backend, prefixOf, type ScrapedBackend } from '../../src/model/backend.ts'
import type { IO } from '../../src/model/io.ts'
import { run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { vllm } from '../stories/pages.ts'
import { type Certificates, makeCertificates, read } from './certificates.ts'
import { openProxy } from './proxy.ts'

const DAY = 86_400_000
/** openssl makes certificates from now on, for two days. */
const NOW = Date.now()
let made: Certificates
let connections = 0
beforeAll(() => {
  made = makeCertificates()
})
afterAll(() => void execFileSync('rm', ['-r', made.folder]))

interface Served {
  url: string
  /** What was pushed to it. */
  pushed: string[]
  renew(options: ServerOptions): void
}

/** A server by https: a metrics page, a completion, and what takes pushes. */
async function secure(options: ServerOptions = read(made.server)): Promise<Served> {
  const pushed: string[] = []
  const server = createServer(options, (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      if (request.url?.startsWith('/metrics')) return response.end(vllm())
      if (request.url?.includes('completions'))
        return response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"model":"m","choices":[{"message":{"content":"1"},"delta":{"content":"1"}}]}')
      pushed.push(body)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":1}')
    })
  })
  server.on('secureConnection', () => {
    connections += 1
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    pushed,
    renew: (next) => server.setSecureContext(next),
  }
}

/** Runs at these days after now, as the watcher's clock has them. @returns what was told at each. */
async function watch(
  backend: Backend,
  env: Record<string, string>,
  days: readonly number[],
  before: (run: number) => void = () => {},
): Promise<string[][]> {
  const variables = { [`${prefixOf(backend)}_TLS_CA`]: made.ca, NOTIFLY_TLS_CA: made.ca, GAP_LIMIT: 'off', ...env }
  const parsed = parseConfig(backend, variables, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  let now = NOW
  const quiet = () => {}
  const io: IO = {
    now: () => now,
    sleep: async () => {},
    store: createMemoryStore(() => now),
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    runId: () => `run-${now}`,
    print: quiet,
  }
  const told: string[][] = []
  for (const [index, day] of days.entries()) {
    before(index)
    now = Math.round(NOW + day * DAY)
    const { messages } = await run({ config: parsed.config, io, deadline: now + 30_000 })
    told.push(messages.map(({ title, body }) => `${title}\n${body}`))
  }
  return told
}

const dayOf = (told: readonly string[][], days: readonly number[]) =>
  told.flatMap((texts, i) => (texts.length > 0 ? [days[i]] : []))

test('an endpoint whose certificate ends within the limit is told once a day, with the day of its end', async () => {
  const { url } = await secure()
  const days = [0, 0.01, 0.02, 0.5, 0.99, 1.01, 1.02]
  const before = connections
  const told = await watch('vllm', { VLLM_ENDPOINTS: `chat=${url}` }, days)
  expect(dayOf(told, days)).toEqual([0, 1.01])
  expect(told[0]?.join()).toMatch(
    /^🔏 chat: certificate ends in (2 days|4\d h.*)\nThe TLS certificate ends in (2 days|4\d h[^,]*), on \d+ \w+ \d\d:\d\d UTC \(limit 14 days\)\./,
  )
  expect(told[0]?.join()).toContain('Renew it')
  expect(connections - before).toBe(days.length) // no connection but those of the scrapes
})

test('doctor says when it ends', async () => {
  const said: string[] = []
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
  onTestFinished(() => void vi.restoreAllMocks())
  onTestFinished(() => void vi.unstubAllEnvs())
  const { url } = await secure()
  for (const [name, value] of Object.entries({
    VLLM_ENDPOINTS: `chat=${url}`,
    VLLM_TLS_CA: made.ca,
    STATE_DIR: made.folder,
  }))
    vi.stubEnv(name, value)
  expect(await doctor('vllm', { push: false })).toBe(0)
  expect(said.join('\n')).toMatch(/certificate: ends in [12] days \(\d{4}-\d\d-\d\d\), soon/)
})

test('near miss: beyond the limit, and with the rule off, nothing is told', async () => {
  const days = [0, 0.01]
  const { url } = await secure(read(made.issue('long', 'DNS:localhost', 15)))
  expect(await watch('vllm', { VLLM_ENDPOINTS: `chat=${url}` }, days)).toEqual([[], []])
  const { url: ends } = await secure()
  const off = { VLLM_ENDPOINTS: `chat=${ends}`, VLLM_CHAT_TLS_EXPIRY_LIMIT: 'off' }
  expect(await watch('vllm', off, days)).toEqual([[], []])
  expect(await watch('vllm', { VLLM_ENDPOINTS: `chat=${ends}`, TLS_EXPIRY_LIMIT: '36h' }, days)).toEqual([[], []])
})

test('a renewed certificate ends it', async () => {
  const { url, renew } = await secure()
  const days = [0, 0.01, 0.02, 0.03, 0.04]
  const told = await watch('vllm', { VLLM_ENDPOINTS: `chat=${url}` }, days, (run) => {
    if (run === 2) renew(read(made.issue('renewed', 'DNS:localhost', 90)))
  })
  expect(dayOf(told, days)).toEqual([0, 0.03])
  expect(told[3]?.join()).toContain('✅ chat: TLS certificate was renewed')
})

test.each(Object.keys(TABLES) as ScrapedBackend[])('%s: an endpoint by https has the rule', (backend) => {
  const parsed = parseConfig(backend, { [`${prefixOf(backend)}_ENDPOINTS`]: 'a=https://a.test' }, { lambda: false })
  expect(parsed.ok && parsed.config.endpoints[0]?.rules.map(({ id }) => id)).toContain('tls_expiry')
})

test('by plain http nothing is looked at, and the rule is not there', async () => {
  const { url, close } = await serveOnLoopback((_, response) => void response.end(vllm()))
  onTestFinished(close)
  const parsed = parseConfig('vllm', { VLLM_ENDPOINTS: `chat=${url}` }, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  expect(parsed.config.endpoints[0]?.rules.map(({ id }) => id)).not.toContain('tls_expiry')
  expect(parsed.config.certificates).toBeUndefined()
  expect(await watch('vllm', { VLLM_ENDPOINTS: `chat=${url}` }, [0, 0.1])).toEqual([[], []])
})

test('the GPU exporter beside a server is looked at too', async () => {
  const { url, close } = await serveOnLoopback((_, response) => void response.end(vllm()))
  onTestFinished(close)
  const { url: gpu } = await secure()
  const told = await watch('vllm', { VLLM_ENDPOINTS: `chat=${url}`, VLLM_CHAT_GPU_URL: gpu }, [0])
  expect(told[0]?.join()).toContain('certificate ends in')
})

test('a canary sees it', async () => {
  const { url } = await secure()
  const told = await watch('openai', { OPENAI_ENDPOINTS: `api=${url}/v1`, OPENAI_MODEL: 'm' }, [0])
  expect(told[0]?.join()).toContain('🔏 api: certificate ends in')
})

test('through the tunnel of a proxy', async () => {
  const { url } = await secure(read(made.issue('far', 'DNS:vllm.corp.invalid')))
  const proxy = await openProxy({ 'vllm.corp.invalid:443': `127.0.0.1:${new URL(url).port}` })
  onTestFinished(() => proxy.close())
  const env = { VLLM_ENDPOINTS: 'chat=https://vllm.corp.invalid', HTTPS_PROXY: proxy.url }
  expect((await watch('vllm', env, [0]))[0]?.join()).toContain('certificate ends in')
})

test("a push server's certificate is told by the next run, once a day at most", async () => {
  const { url, close } = await serveOnLoopback((_, response) => void response.end(vllm({ waiting: 30 })))
  onTestFinished(close)
  const push = await secure()
  const days = [0, 0.01, 0.02, 0.4, 0.5, 1.02, 1.03]
  const env = {
    VLLM_ENDPOINTS: `chat=${url}`,
    NOTIFLY_URL: push.url,
    NOTIFLY_TOKEN: 't',
    WAITING_REPEAT: '12h',
    STUCK_LIMIT: 'off',
    STALLED_LIMIT: 'off',
  }
  const told = await watch('vllm', env, days)
  const about = told.map((texts) => texts.filter((text) => text.includes('certificate')).length)
  // The queue is pushed at 0, and reminded of at 0.5 and 1.02; what that saw is told by the run after it.
  expect(about).toEqual([0, 1, 0, 0, 0, 0, 1])
  expect(told[1]?.join()).toMatch(/^🔏 notifly: certificate ends in (2 days|47 h)/)
  expect(push.pushed.length).toBeGreaterThan(3)
})
