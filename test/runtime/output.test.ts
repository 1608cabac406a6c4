import { rmSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createEngine } from '../../tools/simulator/engine.ts'
import { type Inbox, openInbox } from '../../tools/simulator/inbox.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { vllmPage } from '../../tools/simulator/page.ts'
import { type Bundles, buildBundles } from '../bundles.ts'
import { CREDENTIALS, type FakeS3, startS3 } from '../store/s3-server.ts'
import { INSTALLED, startLambda } from './lambda.ts'

const NAME = "what a bundle writes under AWS's own runtime client"
const SECRET = 'planted-5ecret-marker'

describe.skipIf(!INSTALLED)(INSTALLED ? NAME : `${NAME} (skipped: npm ci --prefix test/runtime)`, () => {
  let bundles: Bundles
  let inbox: Inbox
  let s3: FakeS3
  let server: Loopback

  beforeAll(() => {
    bundles = buildBundles()
  }, 180_000)
  afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))
  beforeEach(async () => {
    const engine = createEngine(0, {}, { arrivals: 8 })
    engine.advance(120_000)
    const page = vllmPage(engine)
    inbox = await openInbox()
    s3 = await startS3()
    server = await serveOnLoopback((_request, response) => void response.end(page))
  })
  afterEach(() => Promise.all([inbox.close(), s3.close(), server.close()]))

  /** Two runs. @returns each line as the log group gets it. */
  async function linesOf(more: Record<string, string>): Promise<string[]> {
    const lambda = await startLambda(bundles.dist, 'vllm', {
      ...CREDENTIALS,
      NOTIFLY_URL: inbox.url,
      NOTIFLY_TOKEN: SECRET,
      STATE_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_FORCE_PATH_STYLE: 'yes',
      VLLM_ENDPOINTS: `a=${server.url.replace('//', `//user:${SECRET}@`)}`,
      ...more,
    })
    for (const minute of ['00', '01']) await lambda.invoke({ time: `2026-11-30T12:${minute}:00Z` })
    // Only then has all of it been read.
    await lambda.close()
    const output = lambda.output()
    expect(output).not.toContain(SECRET)
    expect(output).not.toContain(Buffer.from(`user:${SECRET}`).toString('base64'))
    return output.split('\n').filter((line) => line !== '')
  }

  test('is JSON alone, line for line: one run, one push, one document of metrics; no secret', async () => {
    const lines = (await linesOf({})).map((line) => JSON.parse(line))
    const kinds = lines.map((line) => (line._aws ? 'metrics' : line.message))
    expect(kinds).toEqual(['push delivered', 'run', 'metrics', 'run', 'metrics'])
    const [, first, metrics] = lines
    expect(first.requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(metrics).toMatchObject({ function: 'vllm', Endpoints: 1, Firing: 1, PushesDelivered: 1, Failed: 0 })
  })

  test('at debug and with all metrics holds each decision and each signal, and still no secret', async () => {
    const lines = (await linesOf({ LOG_LEVEL: 'debug', METRICS: 'all' })).map((line) => JSON.parse(line))
    expect(lines.filter(({ message }) => message === 'decision').length).toBeGreaterThan(20)
    expect(lines.filter(({ message }) => message === 'run')).toHaveLength(2)
    const signals = lines.filter((line) => line._aws && line.endpoint !== undefined)
    expect(signals).toHaveLength(2)
    expect(signals[0]).toMatchObject({ function: 'vllm', endpoint: 'a', up: 1, running: 16 })
  })
})
