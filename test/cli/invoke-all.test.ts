import { mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { serve } from '../scrape/loopback.ts'

const out: string[] = []
const err: string[] = []
let dir: string

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-all-'))
  vi.stubEnv('STATE_DIR', dir)
  vi.spyOn(console, 'log').mockImplementation((text) => out.push(String(text)))
  vi.spyOn(console, 'error').mockImplementation((text) => err.push(String(text)))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  out.length = 0
  err.length = 0
  await rm(dir, { recursive: true })
})

const pageOf = async (text: string) =>
  (await serve((_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(text))).url

test('everything that is configured is watched, and a backend that hangs holds no other up', async () => {
  const hanging = await serve(() => {})
  let told = 0
  const inbox = await serve((_, response) => {
    told = performance.now()
    response.end('{"id":1}')
  })
  vi.stubEnv('VLLM_ENDPOINTS', `slow=${hanging.url}`)
  vi.stubEnv('VLLM_TIMEOUT', '3s')
  vi.stubEnv('TGI_ENDPOINTS', `chat=${await pageOf('tgi_queue_size 60\ntgi_batch_current_size 4\n')}`)
  vi.stubEnv('HEARTBEAT_WORKERS', 'indexer=60s+30s')
  vi.stubEnv('NOTIFLY_URL', inbox.url)
  vi.stubEnv('NOTIFLY_TOKEN', 'planted-4711')
  const started = performance.now()
  expect([await runCommand(['invoke', 'all', '--json']), err]).toEqual([0, []])
  expect(told - started).toBeLessThan(2_500)
  expect(performance.now() - started).toBeGreaterThan(2_500)
  const results = out.map((line) => JSON.parse(line) as { backend: string; endpoints: { up: boolean }[] })
  expect(results.map(({ backend }) => backend).sort()).toEqual(['heartbeat-check', 'tgi', 'vllm'])
  expect(results.at(-1)).toMatchObject({ backend: 'vllm', endpoints: [{ up: false }] })
  expect((await readdir(dir)).filter((name) => name.endsWith('.json')).sort()).toEqual([
    'heartbeat-check.json',
    'tgi.json',
    'vllm.json',
  ])
})

test('every problem of every function is told at once, each once', async () => {
  vi.stubEnv('VLLM_ENDPOINTS', 'chat')
  vi.stubEnv('TGI_ENDPOINTS', 'chat')
  vi.stubEnv('LOG_LEVEL', 'loud')
  expect(await runCommand(['invoke', 'all'])).toBe(1)
  expect(err.join('\n').split('\n')).toEqual([
    'Configuration: 3 problems',
    '  - VLLM_ENDPOINTS: chat has no URL; write name=URL pairs, such as chat/a=http://10.0.0.5:8000',
    '  - LOG_LEVEL: may be debug, info, warn, error or silent',
    '  - TGI_ENDPOINTS: chat has no URL; write name=URL pairs, such as chat/a=http://10.0.0.5:8080',
  ])
})

test('nothing configured is said, with what to type', async () => {
  expect(await runCommand(['invoke', 'all'])).toBe(1)
  expect(err.join()).toContain('npm run init writes a first .env')
})

test('--serve without --every would end with the run', async () => {
  expect(await runCommand(['invoke', 'all', '--serve', '8080'])).toBe(1)
  expect(err.join()).toContain('invoke all has no option --serve')
})
