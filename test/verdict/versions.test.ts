import { afterEach, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { prefixOf, type ScrapedBackend } from '../../src/model/backend.ts'
import { NETWORK, run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { isAtLeast } from '../../src/verdict/flags.ts'
import { type Loopback, serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { page, vllm } from '../stories/pages.ts'

const servers: Loopback[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})

const sglang = (usage: number) =>
  page({ 'sglang:num_queue_reqs': 3, 'sglang:num_running_reqs': 9, 'sglang:token_usage': usage })

interface Played {
  /** What was told, by run. */
  told: string[][]
  /** Paths beside the metrics, by run. */
  asked: string[][]
  state: string
}

/** Runs, a minute apart, over a real server. @param paths what it answers beside its metrics; anything else is a 404. */
async function watch(
  backend: ScrapedBackend,
  pages: readonly string[],
  paths: Readonly<Record<string, string>>,
  env: Record<string, string> = {},
): Promise<Played> {
  let served = ''
  let asked: string[] = []
  const server = await serveOnLoopback(({ url = '' }, response) => {
    const body = url === '/metrics' ? served : paths[url]
    if (url !== '/metrics') asked.push(url)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(body)
  })
  servers.push(server)
  const variables = { [`${prefixOf(backend)}_ENDPOINTS`]: `a=${server.url}`, KV_CACHE_FOR: '0s', ...env }
  const parsed = parseConfig(backend, variables, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
  let now = Date.UTC(2026, 5, 1)
  const store = createMemoryStore(() => now)
  const quiet = () => {}
  const io = {
    now: () => now,
    sleep: async () => {},
    store,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    runId: () => `run-${now}`,
    print: quiet,
  }
  const played: Played = { told: [], asked: [], state: '' }
  for (const one of pages) {
    ;[served, asked] = [one, []]
    const { messages } = await run({ config: parsed.config, io, network: NETWORK, deadline: now + 60_000 })
    played.told.push(messages.map(({ title, body }) => `${title}\n${body}`))
    played.asked.push(asked)
    now += 60_000
  }
  played.state = (await store.load(`${backend}.json`))?.text ?? ''
  return played
}

const FULL = vllm({ kv: 0.95, waiting: 3, running: 9 })
const MORE = 'Raise gpu_memory_utilization or lower max_num_seqs: the KV cache is too small for what runs.'
const MORE_SGLANG = 'Raise --mem-fraction-static a little or lower --max-running-requests.'
const TABLE: [ScrapedBackend, string, Record<string, string>, string][] = [
  ['vllm', FULL, { '/version': '{"version":"0.7.3"}' }, MORE],
  [
    'vllm',
    FULL,
    { '/version': '{"version":"0.11.2"}' },
    `${MORE} What it drops can be kept in CPU memory: --kv-offloading-backend native --kv-offloading-size (vLLM 0.11.2).`,
  ],
  [
    'vllm',
    FULL,
    { '/version': '{"version":"0.30.1rc2.dev7+gab12"}' },
    `${MORE} What it drops can be kept in CPU memory: --kv-offloading-size (vLLM 0.30.1rc2.dev7+gab12).`,
  ],
  ['vllm', FULL, {}, MORE],
  ['vllm', FULL, { '/version': '<html>0.30</html>' }, MORE],
  ['vllm', FULL, { '/version': '{"version":"see https://evil.example"}' }, MORE],
  ['sglang', sglang(0.95), { '/get_server_info': '{"version":"0.4.1","model_path":"m"}' }, MORE_SGLANG],
  [
    'sglang',
    sglang(0.95),
    { '/server_info': '{"model_path":"m","version":"0.5.9"}' },
    `${MORE_SGLANG} What it drops can be kept in CPU memory: --enable-hierarchical-cache (SGLang 0.5.9).`,
  ],
]

test.each(TABLE)('a full cache of %s, told by its version: %#', async (backend, served, paths, advice) => {
  const { told } = await watch(backend, [served], paths)
  expect(told[0]?.join('\n').split('\n')).toContain(advice)
})

/** Reminders come soon, and nothing but the cache is told. */
const ONLY_THE_CACHE = { KV_CACHE_REPEAT: '5m', STALLED_LIMIT: 'off', STUCK_LIMIT: 'off', FLAPS: 'off' }

test('the version is asked for once, when something is told, and again after a restart', async () => {
  const calm = (minute: number, started?: number) => vllm({ finished: 100 * minute, ...(started && { started }) })
  const full = (minute: number, started?: number) =>
    vllm({ kv: 0.95, running: 9, finished: 100 * minute, ...(started && { started }) })
  const pages = [
    ...[0, 1].map((minute) => calm(minute)),
    ...[2, 3, 4, 5, 6, 7].map((minute) => full(minute)),
    ...[8, 9].map((minute) => calm(minute)),
    full(10),
    // While the restart explains all, no setting does.
    ...Array.from({ length: 12 }, (_, minute) => calm(minute, 1_770_000_000)),
    full(12, 1_770_000_000),
  ]
  const { asked, told, state } = await watch('vllm', pages, { '/version': '{"version":"0.30.0"}' }, ONLY_THE_CACHE)
  expect(told.flatMap((texts, minute) => (texts.length > 0 ? [minute] : []))).toEqual([2, 7, 9, 10, 12, 23])
  expect(asked.flatMap((paths, minute) => paths.map((path) => `${minute} ${path}`))).toEqual([
    '2 /version',
    '23 /version',
  ])
  expect(JSON.parse(state).endpoints.a.version).toEqual({ at: expect.any(Number), text: '0.30.0' })
})

test('a server that tells no version is asked once', async () => {
  const { asked, told } = await watch('sglang', Array<string>(12).fill(sglang(0.95)), {}, ONLY_THE_CACHE)
  expect(told.flat().length).toBeGreaterThan(1)
  expect(asked.flat()).toEqual(['/server_info', '/get_server_info'])
})

test('where the advice is the same for every version, nobody is asked', async () => {
  const pages = [0, 1].map((minute) => vllm({ finished: 100 * minute, errors: 50 * minute }))
  const { asked, told } = await watch('vllm', pages, { '/version': '{"version":"0.30.0"}' })
  expect(told.flat().join()).toContain('Read the server log')
  expect(asked.flat()).toEqual([])
})

test('while nothing of a server is pushed, it is not asked', async () => {
  const env = { MAINTENANCE: '2026-06-01T00:00Z/PT1H' }
  const { asked, told } = await watch('vllm', [FULL, FULL], { '/version': '{"version":"0.30.0"}' }, env)
  expect([told.flat(), asked.flat()]).toEqual([[], []])
})

test('versions are compared by their numbers', () => {
  const pairs = [
    ['0.10.2', '0.9', true],
    ['0.9', '0.9.2', false],
    ['0.15', '0.15.0', true],
    ['0.15.0rc1', '0.15', true],
    ['1', '0.30', true],
    ['0.7.3.post1', '0.8', false],
  ] as const
  for (const [version, least, expected] of pairs) expect(isAtLeast(version, least), version).toBe(expected)
})
