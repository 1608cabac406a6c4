import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import type http from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { type Backend, prefixOf } from '../../src/model/backend.ts'
import type { IO } from '../../src/model/io.ts'
import { run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { telemetrySettings } from '../../src/telemetry/settings.ts'
import { withTelemetry } from '../../src/telemetry/telemetry.ts'
import { buildBundles } from '../bundles.ts'
import { deafUrl, serve, serveRaw } from '../scrape/loopback.ts'
import { vllm } from '../stories/pages.ts'

interface SentSpan {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  startTimeUnixNano: string
  endTimeUnixNano: string
  status: { code?: number; message?: string }
  attributes: { key: string; value: { stringValue?: string } }[]
}

/** A collector that takes OTLP and keeps what came. */
async function collector() {
  const bodies: { path: string; body: Buffer; headers: http.IncomingHttpHeaders }[] = []
  const { url } = await serve((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      bodies.push({ path: request.url ?? '', body: Buffer.concat(chunks), headers: request.headers })
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  const parsed = (path: string) =>
    bodies.filter((one) => one.path === path).map(({ body }) => JSON.parse(body.toString()))
  return {
    url,
    bodies,
    spans: (): SentSpan[] =>
      parsed('/v1/traces').flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans as SentSpan[]),
    resource: () => parsed('/v1/traces')[0].resourceSpans[0].resource.attributes,
    metrics: () => parsed('/v1/metrics').flatMap(({ resourceMetrics }) => resourceMetrics[0].scopeMetrics[0].metrics),
  }
}

const warned: string[] = []

async function watch(backend: Backend, variables: Record<string, string>) {
  warned.length = 0
  const parsed = parseConfig(backend, variables, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join())
  const { config } = parsed
  const log = { debug() {}, info() {}, warn: (text: string) => void warned.push(text), error() {} }
  const io: IO = {
    now: Date.now,
    sleep: async () => {},
    store: createMemoryStore(),
    log,
    runId: () => 'run-1',
    print() {},
  }
  const started = performance.now()
  const report = await withTelemetry({ config, io, env: variables }, (own) =>
    run({ config, io: own, deadline: Date.now() + 50_000 }),
  )
  return { report, ms: performance.now() - started }
}

async function engine(waiting = 42) {
  const asked: http.IncomingHttpHeaders[] = []
  const { url } = await serve((request, response) => {
    if (request.url === '/metrics') return void response.end(vllm({ waiting, running: 4 }))
    if (request.url === '/api/ps') return void response.end(JSON.stringify({ models: [{ name: 'm', model: 'm' }] }))
    if (request.method !== 'POST') return void response.writeHead(404).end()
    asked.push(request.headers)
    if (request.url === '/api/generate')
      return void response.end(JSON.stringify({ model: 'm', response: 'hi', done: true, total_duration: 1_000_000 }))
    const chunk = { object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content: 'hi' } }] }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
  })
  return { url, asked }
}

/** `run(load, scrape)`: a trace as one line, children in the order of their beginning. */
function treeOf(spans: readonly SentSpan[], parent?: SentSpan): string {
  const children = spans
    .filter(({ parentSpanId }) => (parentSpanId || undefined) === parent?.spanId)
    .sort((a, b) => (BigInt(a.startTimeUnixNano) < BigInt(b.startTimeUnixNano) ? -1 : 1))
  return children
    .map((span) => {
      const below = treeOf(spans, span)
      return span.name + (span.status.code === 2 ? `!${span.status.message}` : '') + (below ? `(${below})` : '')
    })
    .join(' ')
}

describe('a run is a trace', () => {
  test('with each step, and the failure of a scrape as its status', async () => {
    const { url, spans, resource, bodies } = await collector()
    await watch('vllm', {
      VLLM_ENDPOINTS: `chat/a=${(await engine()).url} chat/b=${await deafUrl()}`,
      NOTIFLY_URL: (await serve((_, response) => response.end('{"id":1}'))).url,
      NOTIFLY_TOKEN: 't',
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20b,x-more=1',
      OTEL_SERVICE_NAME: 'watch',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    })
    const tree = treeOf(spans())
    expect(tree.replace(/scrape scrape!refused|scrape!refused scrape/, 'scrapes')).toBe(
      'run(load scrapes judge save push settle)',
    )
    expect(new Set(spans().map(({ traceId }) => traceId)).size).toBe(1)
    const scraped = spans().find(({ status }) => status.code === 2)
    expect(scraped?.attributes).toEqual(
      expect.arrayContaining([
        { key: 'queuebell.endpoint', value: { stringValue: 'chat/b' } },
        { key: 'error.type', value: { stringValue: 'refused' } },
      ]),
    )
    expect(resource()).toEqual(
      expect.arrayContaining([
        { key: 'service.name', value: { stringValue: 'watch' } },
        { key: 'deployment.environment', value: { stringValue: 'test' } },
      ]),
    )
    expect(bodies[0]?.headers).toMatchObject({ 'x-key': 'a b', 'x-more': '1' })
    // Metrics are sent only when they are asked for.
    expect(bodies.map(({ path }) => path)).toEqual(['/v1/traces'])
    expect(warned).toEqual([])
  })

  test.each(['openai', 'ollama'] as const)(
    'a canary of %s hands its span on: the spans of the engine hang under it',
    async (backend) => {
      const { url, spans } = await collector()
      const server = await engine(0)
      await watch(backend, {
        [`${prefixOf(backend)}_ENDPOINTS`]: `chat=${server.url}`,
        [`${prefixOf(backend)}_MODEL`]: 'm',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/v1/traces`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      })
      expect(treeOf(spans())).toBe('run(load canary judge save)')
      const canary = spans().find(({ name }) => name === 'canary')
      expect(server.asked.map(({ traceparent }) => traceparent)).toEqual([`00-${canary?.traceId}-${canary?.spanId}-01`])
    },
  )

  test('signals go out as metrics, with the endpoint as attribute', async () => {
    const { url, metrics } = await collector()
    await watch('vllm', {
      VLLM_ENDPOINTS: `chat/a=${(await engine()).url}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_METRICS_EXPORTER: 'otlp',
    })
    const waiting = metrics().find(({ name }) => name === 'queuebell.waiting')
    expect(waiting.gauge.dataPoints[0]).toMatchObject({ asDouble: 42 })
    expect(waiting.gauge.dataPoints[0].attributes).toEqual(
      expect.arrayContaining([{ key: 'queuebell.endpoint', value: { stringValue: 'chat/a' } }]),
    )
    expect(metrics().map(({ name }) => name)).toContain('queuebell.alert.firing')
  })
})

describe('a collector that is away', () => {
  test.each([
    ['refuses', deafUrl],
    ['never answers', async () => (await serveRaw(() => {})).url],
    ['answers 503', async () => (await serve((_, response) => response.writeHead(503).end())).url],
  ])('%s: costs a warning and at most a second', async (_, place) => {
    const { report, ms } = await watch('vllm', {
      VLLM_ENDPOINTS: `chat/a=${(await engine()).url}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: await place(),
      OTEL_METRICS_EXPORTER: 'otlp',
    })
    expect(report.result.outcome).toBe('completed')
    expect(warned).toEqual([expect.stringMatching(/^telemetry was not sent: .+; is the collector up\?$/)])
    expect(ms).toBeLessThan(2_000)
  })
})

test('an address that is none is warned of, and nothing is sent', async () => {
  const { report } = await watch('vllm', {
    VLLM_ENDPOINTS: `chat/a=${(await engine()).url}`,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
  })
  expect(report.result.outcome).toBe('completed')
  expect(warned).toEqual([expect.stringContaining('OTEL_EXPORTER_OTLP_ENDPOINT is no http or https address')])
})

describe('the variables', () => {
  const at = 'http://127.0.0.1:4318'
  test.each([
    [{}, undefined],
    [{ OTEL_SERVICE_NAME: 'x' }, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: at, OTEL_SDK_DISABLED: 'true' }, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: at, OTEL_TRACES_EXPORTER: 'none' }, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: `${at}/` }, { traces: { url: `${at}/v1/traces`, protocol: 'http/protobuf' } }],
    [
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: at,
        OTEL_METRICS_EXPORTER: 'otlp',
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${at}/m`,
      },
      { traces: { url: `${at}/v1/traces` }, metrics: { url: `${at}/m` } },
    ],
  ])('%j', (env, expected) => {
    const found = telemetrySettings(env)
    if (expected === undefined) expect(found).toBeUndefined()
    else expect(found).toMatchObject(expected)
  })

  test.each([[{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not spoken here']])(
    '%j is warned of',
    (more, words) => {
      expect(telemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: at, ...more })?.warnings[0]).toContain(words)
    },
  )
})

test('the packages are in a bundle of their own, and in no function', { timeout: 60_000, tags: ['long'] }, async () => {
  const bundles = buildBundles()
  try {
    for (const name of [...readdirSync('functions').map((file) => basename(file, '.ts')), 'queuebell'])
      expect([
        name,
        spawnSync('grep', [
          '-c',
          'scopeSpans',
          join(bundles.dist, name === 'queuebell' ? 'queuebell.mjs' : `${name}.cjs`),
        ]).stdout.toString(),
      ]).toEqual([name, '0\n'])
    const { url, bodies } = await collector()
    const script = `const { handler } = await import(${JSON.stringify(join(bundles.dist, 'vllm.mjs'))}); await handler({}, {})`
    const env = {
      PATH: process.env.PATH,
      VLLM_ENDPOINTS: `chat/a=${(await engine()).url}`,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      STATE_DIR: mkdtempSync(join(tmpdir(), 'state-')),
    }
    const { spawn } = await import('node:child_process')
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env, stdio: 'inherit' })
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0)
    expect(bodies.map(({ path, headers }) => [path, headers['content-type']])).toEqual([
      ['/v1/traces', 'application/x-protobuf'],
    ])
    expect(decoded(bodies[0]?.body)).toEqual(['judge', 'load', 'run', 'save', 'scrape', 'settle'])
  } finally {
    rmSync(bundles.root, { recursive: true, force: true })
  }
})

/** The names of the spans by the official definitions; where they are not installed, by the bytes of the names. */
function decoded(body: Buffer | undefined): string[] {
  const script = `import sys, json
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest as R
r = R(); r.ParseFromString(sys.stdin.buffer.read())
print(json.dumps(sorted(s.name for rs in r.resource_spans for ss in rs.scope_spans for s in ss.spans)))`
  const python = process.env.OTEL_PROTO_PYTHON ?? 'python3'
  const { status, stdout } = spawnSync(python, ['-c', script], { input: body ?? Buffer.alloc(0) })
  if (status === 0) return JSON.parse(stdout.toString())
  return ['judge', 'load', 'run', 'save', 'scrape', 'settle'].filter((name) => body?.includes(name))
}
