import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { invoke } from '../../src/cli/invoke.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { serve } from '../scrape/loopback.ts'

const JSON_ONLY = { dryRun: false, json: true, why: false, every: undefined, shard: undefined }
const PAGE = 'vllm:num_requests_waiting 30\nvllm:num_requests_running 16\nvllm:kv_cache_usage_perc 0.1\n'
const out: string[] = []
const err: string[] = []
let dir: string

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-invoke-'))
  vi.stubEnv('STATE_DIR', dir)
  vi.stubEnv(
    'VLLM_ENDPOINTS',
    `chat=${(await serve((_, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(PAGE))).url}`,
  )
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

test('without a push server the result stands alone on standard output, and the push beside it', async () => {
  expect(await invoke('vllm', JSON_ONLY)).toBe(0)
  expect(JSON.parse(out.join('\n'))).toMatchObject({ outcome: 'completed', pushes: { delivered: 1 } })
  expect(err.join('\n')).toContain('🐌 chat: 30 waiting (limit 20)\n│ 30 requests are waiting (limit 20)')
})

test('with a push server the push goes there alone', async () => {
  const { url, requests } = await serve((_, response) => response.end('{}'))
  vi.stubEnv('NOTIFLY_URL', url)
  vi.stubEnv('NOTIFLY_TOKEN', 'planted-4711')
  expect(await invoke('vllm', JSON_ONLY)).toBe(0)
  expect([requests.length, err]).toEqual([1, []])
})

test('a run without a push server says that the push was printed, not that it was delivered', async () => {
  await invoke('vllm', { ...JSON_ONLY, json: false })
  expect(out.join('\n')).toContain('pushes: 1 printed, 0 waiting, 0 refused')
})

test('what works but will surprise is said beside the result, too', async () => {
  vi.stubEnv('METRICS_URL', 'http://h:8000')
  await invoke('vllm', { ...JSON_ONLY, dryRun: true })
  expect(err[0]).toBe('METRICS_URL is not used, because VLLM_ENDPOINTS is set')
})

test.each(['vllm', 'ollama'] as const)(
  'what %s proposes to a person who configured nothing is a configuration',
  async (backend) => {
    vi.stubEnv('VLLM_ENDPOINTS', '')
    vi.stubEnv('OLLAMA_MODEL', 'llama3.1:8b')
    await invoke(backend, { ...JSON_ONLY, json: false, dryRun: true })
    const proposed = [...err.join('\n').matchAll(/([A-Z_]+)=("[^"]+"|[^\s,…]+)/g)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll('"', ''),
    ])
    expect(proposed.length).toBeGreaterThan(2)
    const env = { OLLAMA_MODEL: 'llama3.1:8b', ...Object.fromEntries(proposed) }
    expect(parseConfig(backend, env, { lambda: false })).not.toHaveProperty('problems')
  },
)
