import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { parseConfig } from '../src/config/parse.ts'
import { createLog } from '../src/log.ts'
import { StoreError } from '../src/model/store.ts'
import type { Network } from '../src/run.ts'
import { type RunOptions, run } from '../src/run.ts'
import { scheduled } from '../src/scheduled.ts'
import { gaugeReadings } from '../src/signals/readings.ts'
import { createMemoryStore } from '../src/store/memory.ts'

const NOW = Date.UTC(2026, 10, 30, 12)
const PLANTED = 'planted-5ecret-marker'
const ENV = {
  VLLM_ENDPOINTS: `chat/a=http://user:${PLANTED}@10.0.0.5:8000 chat/b=http://10.0.0.6:8000`,
  NOTIFLY_URL: 'http://127.0.0.1:9099',
  NOTIFLY_TOKEN: PLANTED,
}

/** A run that nothing real happens in. @returns its lines. */
async function runWith(
  { push, ...more }: Partial<RunOptions> & Pick<Partial<Network>, 'push'> = {},
  env: Record<string, string> = {},
) {
  const parsed = parseConfig('vllm', { ...ENV, ...env }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const { config } = parsed
  const lines: string[] = []
  let time = NOW
  const network: Network = {
    // A busy server and a dead one; both say what they should not know.
    observe: async ({ endpoints }) =>
      endpoints.map((endpoint, i) =>
        i === 0
          ? {
              endpoint,
              took: 12.3,
              up: true,
              readings: gaugeReadings({ waiting: 42, running: 16, kv_cache: 0.5 }, PLANTED),
            }
          : { endpoint, took: 5_000, up: false, failure: { kind: 'http', status: 500, detail: `no ${PLANTED}` } },
      ),
    push:
      push ??
      (async (_message, _config, { io, about }) => {
        io.log.info('push delivered', { status: 200, took: 3, about, note: PLANTED })
        return { kind: 'delivered', misconfigured: false, status: 200 }
      }),
    ping: async () => {},
  }
  const io = {
    now: () => (time += 10),
    sleep: async () => {},
    store: createMemoryStore(() => time),
    log: createLog(
      config.logLevel,
      config.secrets,
      (line) => lines.push(line),
      () => time,
    ),
    runId: () => 'run-1',
    print: () => {},
  }
  const options = { config, io, network, deadline: NOW + 60_000, ...more }
  const outcome = await run({ ...options, io: { ...io, ...more.io } }).catch((error: unknown) => error)
  return { lines, parsed: lines.map((line) => JSON.parse(line)), outcome }
}

const named = (lines: { message: string }[], message: string) => lines.filter((line) => line.message === message)

describe('a run', () => {
  test('at info leaves one line of its own and one for each push', async () => {
    const { parsed } = await runWith()
    expect(parsed.map(({ message }) => message)).toEqual(['push delivered', 'run'])
    expect(parsed[0]).toMatchObject({ function: 'vllm', requestId: 'run-1', endpoint: 'chat/a', status: 200 })
    expect(parsed[1]).toMatchObject({
      level: 'info',
      function: 'vllm',
      requestId: 'run-1',
      outcome: 'completed',
      endpoints: 2,
      down: 1,
      blind: 0,
      firing: 1,
      pushes: { delivered: 1, waiting: 0, refused: 0 },
    })
    expect(parsed[1].ms).toBeGreaterThan(0)
  })

  test('carries the request id of the platform where there is one, and the name of its shard', async () => {
    const parsed = parseConfig('vllm', ENV, { lambda: false })
    if ('problems' in parsed) throw new Error()
    const config = { ...parsed.config, shard: { index: 1, of: 2 } }
    const { parsed: lines } = await runWith({ config, io: { requestId: 'aws-1' } as RunOptions['io'] })
    expect(lines.length).toBeGreaterThan(0)
    for (const line of lines) expect(line).toMatchObject({ function: 'vllm.1-of-2', requestId: 'aws-1' })
  })

  test('that another one handled says so in its one line', async () => {
    const store = createMemoryStore(() => NOW)
    const io = { store } as unknown as RunOptions['io']
    await runWith({ tick: NOW, io })
    const { parsed } = await runWith({ tick: NOW, io })
    expect(parsed).toMatchObject([{ message: 'run', level: 'info', outcome: 'duplicate' }])
    expect(parsed[0]).not.toHaveProperty('endpoints')
  })

  test('that cannot read its state leaves one line too, an error', async () => {
    const store = createMemoryStore(() => NOW)
    store.load = async () => {
      throw new StoreError(`state: cannot read it with ${PLANTED}`, true)
    }
    const { parsed, lines, outcome } = await runWith({ io: { store } as unknown as RunOptions['io'] })
    expect(outcome).toBeInstanceOf(StoreError)
    expect(parsed).toMatchObject([{ message: 'run', level: 'error', outcome: 'failed', error: { name: 'StoreError' } }])
    expect(lines.join()).not.toContain(PLANTED)
  })

  test('whose push server is misconfigured is an error although it completed', async () => {
    const push: Network['push'] = async () => ({ kind: 'waiting', misconfigured: true, status: 401, reason: PLANTED })
    const { parsed, lines } = await runWith({ push })
    expect(named(parsed, 'run')).toMatchObject([
      { level: 'error', outcome: 'completed', problems: [expect.stringContaining('check NOTIFLY_URL')] },
    ])
    expect(lines.join()).not.toContain(PLANTED)
  })
})

test('what is odd about the store is told once', async () => {
  const store = { ...createMemoryStore(() => NOW), warnings: () => [`ignores If-Match ${PLANTED}`] }
  const io = { store } as unknown as RunOptions['io']
  const warnings = async () => (await runWith({ io })).parsed.filter(({ level }) => level === 'warn')
  expect(await warnings()).toMatchObject([{ message: 'ignores If-Match ***', function: 'vllm' }])
  expect(await warnings()).toEqual([])
})

describe('at debug', () => {
  test('each endpoint has a line for its answer', async () => {
    const { parsed } = await runWith({}, { LOG_LEVEL: 'debug' })
    expect(named(parsed, 'answer')).toMatchObject([
      { endpoint: 'chat/a', outcome: 'answered', ms: 12 },
      { endpoint: 'chat/b', outcome: 'http', ms: 5_000, failure: { kind: 'http', status: 500 } },
    ])
  })

  test('each rule has a line for its decision, with its numbers and why', async () => {
    const { parsed } = await runWith({}, { LOG_LEVEL: 'debug' })
    const decisions = named(parsed, 'decision')
    expect(decisions).toContainEqual(
      expect.objectContaining({
        endpoint: 'chat/a',
        rule: 'waiting',
        value: 42,
        limit: 20,
        clear: 10,
        for: 0,
        judgement: 'breach',
        before: 'ok',
        after: 'firing',
        why: 'fires now',
      }),
    )
    expect(decisions).toContainEqual(
      expect.objectContaining({
        endpoint: 'chat/b',
        rule: 'ttft',
        judgement: 'unknown',
        why: 'no usable answer: http 500',
      }),
    )
    expect(named(parsed, 'run')).toHaveLength(1)
  })

  test('a dry run says the same, and pushes nothing', async () => {
    const { parsed } = await runWith({ dryRun: true }, { LOG_LEVEL: 'debug' })
    expect(named(parsed, 'decision').length).toBeGreaterThan(10)
    expect(named(parsed, 'push delivered')).toEqual([])
    expect(named(parsed, 'run')).toHaveLength(1)
  })

  test('a planted secret is in no line, whoever says it: the address, the server, its model, the push server', async () => {
    const { lines } = await runWith({}, { LOG_LEVEL: 'debug' })
    expect(lines.length).toBeGreaterThan(20)
    expect(lines.join('\n')).toContain('***')
    expect(lines.join('\n')).not.toContain(PLANTED)
  })
})

describe('the handler', () => {
  let written: string[] = []
  beforeEach(() => {
    written = []
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(
        ...String(text)
          .split('\n')
          .filter((line) => line.startsWith('{')),
      )
      return true
    })
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
  })
  const lines = () => written.map((line) => JSON.parse(line))

  test('with a configuration that cannot be used leaves one line with the request id, and rejects', async () => {
    vi.stubEnv('VLLM_ENDPOINTS', '!!')
    vi.stubEnv('NOTIFLY_TOKEN', PLANTED)
    await expect(scheduled('vllm')({}, { awsRequestId: 'aws-1' })).rejects.toThrow('VLLM_ENDPOINTS')
    expect(lines()).toMatchObject([
      { message: 'run', level: 'error', function: 'vllm', requestId: 'aws-1', outcome: 'failed' },
    ])
    expect(written.join()).not.toContain(PLANTED)
  })

  test.each<[string, Record<string, string>, number]>([
    ['in Lambda a run that fails leaves its metrics as well', { METRICS: 'own' }, 1],
    ['METRICS=off leaves none', { METRICS: 'off' }, 0],
  ])('%s', async (_, env, documents) => {
    for (const [name, value] of Object.entries({
      AWS_LAMBDA_FUNCTION_NAME: 'queuebell-vllm',
      VLLM_ENDPOINTS: 'a=http://127.0.0.1:9097',
      NOTIFLY_URL: 'http://127.0.0.1:9099',
      NOTIFLY_TOKEN: PLANTED,
      STATE_BUCKET: 'state',
      S3_ENDPOINT: 'http://127.0.0.1:9098',
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'AKIAPLANTED',
      AWS_SECRET_ACCESS_KEY: PLANTED,
      ...env,
    }))
      vi.stubEnv(name, value)
    await expect(
      scheduled('vllm')({}, { awsRequestId: 'aws-2', getRemainingTimeInMillis: () => 3_000 }),
    ).rejects.toThrow('state: cannot')
    const metrics = lines().filter((line) => line._aws)
    expect(metrics).toHaveLength(documents)
    for (const document of metrics) expect(document).toMatchObject({ function: 'vllm', Failed: 1 })
    expect(lines().filter(({ message }) => message === 'run')).toMatchObject([
      { outcome: 'failed', requestId: 'aws-2' },
    ])
    expect(written.join()).not.toContain(PLANTED)
  })

  test('warns once a process of a setting that surprises', async () => {
    vi.stubEnv('VLLM_ENDPOINTS', '')
    vi.stubEnv('STATE_DIR', '/dev/null/x')
    vi.stubEnv('WAITING_PRIORITY', '0')
    for (let i = 0; i < 2; i += 1) await scheduled('vllm')({}, {}).catch(() => {})
    expect(lines().filter(({ level, message }) => level === 'warn' && /WAITING_PRIORITY/.test(message))).toHaveLength(1)
  })
})
