import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BACKENDS } from '../../src/backends/backends.ts'
import { type Backend, prefixOf } from '../../src/model/backend.ts'
import { createEngine } from '../../tools/simulator/engine.ts'
import { type Inbox, openInbox } from '../../tools/simulator/inbox.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { vllmPage } from '../../tools/simulator/page.ts'
import { type Bundles, buildBundles } from '../bundles.ts'
import { CREDENTIALS, type FakeS3, startS3 } from '../store/s3-server.ts'
import { type Environment, INSTALLED, startLambda } from './lambda.ts'

const NAME = "AWS's own runtime client on the Node of Lambda"
/** One that scrapes, one that asks, and the one of the workers. */
const ALWAYS: readonly Backend[] = ['vllm', 'ollama', 'heartbeat-check']
const SECRET = 'planted-5ecret-marker'

describe.skipIf(!INSTALLED)(INSTALLED ? NAME : `${NAME} (skipped: npm ci --prefix test/runtime)`, () => {
  let bundles: Bundles
  let inbox: Inbox
  let s3: FakeS3
  let server: Loopback
  /** The server that is watched: answers its page, or nothing at all. */
  let hangs = false
  let environment: Environment | undefined

  beforeAll(() => {
    bundles = buildBundles()
  }, 180_000)
  afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))
  beforeEach(async () => {
    hangs = false
    const engine = createEngine(0, {}, { arrivals: 8 })
    engine.advance(120_000)
    const page = vllmPage(engine)
    inbox = await openInbox()
    s3 = await startS3()
    server = await serveOnLoopback((_request, response) => void (hangs || response.end(page)))
  })
  afterEach(async () => {
    await environment?.close()
    await Promise.all([inbox.close(), s3.close(), server.close()])
  })

  function variables(): Record<string, string> {
    return {
      ...CREDENTIALS,
      NOTIFLY_URL: inbox.url,
      NOTIFLY_TOKEN: SECRET,
      STATE_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_FORCE_PATH_STYLE: 'yes',
      HEARTBEAT_WORKERS: 'indexer=60s+30s',
      HEARTBEAT_TOKEN: SECRET,
      ...Object.fromEntries(
        BACKENDS.filter((backend) => backend !== 'heartbeat-check').map((backend) => [
          `${prefixOf(backend)}_ENDPOINTS`,
          `a=${server.url}`,
        ]),
      ),
      // The page stands still while the clock runs on, as a hung engine's does.
      VLLM_STALLED_LIMIT: 'off',
      OLLAMA_MODEL: 'm',
      OPENAI_MODEL: 'm',
    }
  }

  async function start(name: string, more: Record<string, string> = {}): Promise<Environment> {
    environment = await startLambda(bundles.dist, name, { ...variables(), ...more })
    return environment
  }

  /** Some always; the rest, a process for each, in the long run. */
  function everyBackend(name: string, check: (backend: Backend) => Promise<void>): void {
    test.each(ALWAYS)(name, check)
    test.each(BACKENDS.filter((one) => !ALWAYS.includes(one)))(name, { tags: ['long'] }, check)
  }

  const tick = (minute: number) => ({ time: new Date(Date.UTC(2026, 10, 30, 12, minute)).toISOString() })

  everyBackend('%s: a run completes, its state lies in the bucket', async (backend) => {
    const { answer } = await (await start(backend)).invoke(tick(0))
    if (answer.kind === 'error') throw new Error(JSON.stringify(answer))
    expect(answer.value.statusCode).toBe(200)
    expect(JSON.parse(answer.value.body)).toMatchObject({ backend, outcome: 'completed' })
    expect([...s3.objects.keys()]).toContain(`queuebell/${backend}.json`)
  })

  everyBackend(
    '%s: a wrong configuration is an error of the call, names its variables and shows no secret',
    async (backend) => {
      const prefix = backend === 'heartbeat-check' ? 'HEARTBEAT_WORKERS' : `${prefixOf(backend)}_ENDPOINTS`
      const lambda = await start(backend, { [prefix]: '!!', ALERT_LANGUAGE: 'xx', STATE_BUCKET: '' })
      const { answer } = await lambda.invoke(tick(0))
      expect(answer).toMatchObject({ kind: 'error', errorType: 'ConfigError' })
      for (const name of [prefix, 'ALERT_LANGUAGE', 'STATE_BUCKET']) expect(JSON.stringify(answer)).toContain(name)
      expect(JSON.stringify(answer) + lambda.output()).not.toContain(SECRET)
    },
  )

  everyBackend('%s: a state that cannot be read rejects', async (backend) => {
    const lambda = await start(backend)
    s3.traits.readForbidden = 'all'
    s3.traits.writeForbidden = true
    const { answer } = await lambda.invoke(tick(0))
    expect(answer).toMatchObject({ kind: 'error', errorType: 'StoreError' })
    expect(JSON.stringify(answer) + lambda.output()).not.toContain(SECRET)
  })

  test('heartbeat-receive: a beat is written, without the token it is not', async () => {
    const lambda = await start('heartbeat-receive')
    const request = (authorization: string) => ({
      rawPath: '/indexer',
      rawQueryString: '',
      headers: { Authorization: authorization },
      requestContext: { http: { method: 'POST' } },
    })
    expect((await lambda.invoke(request('Bearer wrong'))).answer).toMatchObject({ value: { statusCode: 401 } })
    expect(s3.objects.size).toBe(0)
    expect((await lambda.invoke(request(`Bearer ${SECRET}`))).answer).toMatchObject({ value: { statusCode: 204 } })
    expect(s3.objects.size).toBe(1)
  })

  test('case 111: a warm and a cold environment say a queue once between them', async () => {
    const warm = await start('vllm')
    await warm.invoke(tick(0))
    await warm.invoke(tick(1))
    await warm.close()
    await (await start('vllm')).invoke(tick(2))
    expect(inbox.received).toHaveLength(1)
  })

  test('the same tick twice is a duplicate', async () => {
    const lambda = await start('vllm')
    await lambda.invoke(tick(0))
    const { answer } = await lambda.invoke(tick(0))
    expect(JSON.stringify(answer)).toContain('duplicate')
  })

  test('case 114: with the deadline near it ends by itself, the state saved, the silent endpoint failed', {
    timeout: 30_000,
    tags: ['long'],
  }, async () => {
    hangs = true
    const lambda = await start('vllm', { VLLM_TIMEOUT: '60s' })
    const { answer, took } = await lambda.invoke(tick(0), 6_000)
    expect(took).toBeLessThan(6_000)
    expect(JSON.stringify(answer)).toContain('completed')
    expect([...s3.objects.keys()]).toContain('queuebell/vllm.json')
  })

  test('case 115: without a way out to the store it fails visibly before its limit', {
    timeout: 30_000,
    tags: ['long'],
  }, async () => {
    const silent = await serveOnLoopback(() => {})
    const lambda = await start('vllm', { S3_ENDPOINT: silent.url })
    const { answer, took } = await lambda.invoke(tick(0), 12_000)
    await silent.close()
    expect(answer.kind).toBe('error')
    expect(took).toBeLessThan(12_000)
  })

  test('frozen between two invocations while its connections die, it goes on', {
    timeout: 30_000,
    tags: ['long'],
  }, async () => {
    const lambda = await start('vllm')
    await lambda.invoke(tick(0))
    lambda.freeze()
    await pause(7_000) // Node's servers end an idle connection after five seconds
    lambda.thaw()
    const { answer } = await lambda.invoke(tick(1))
    expect(answer.kind).toBe('response')
    expect(inbox.received).toHaveLength(1)
  })
})
