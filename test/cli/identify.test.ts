import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { identify } from '../../src/cli/identify.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { serve } from '../scrape/loopback.ts'

const said: string[] = []
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
  vi.spyOn(console, 'error').mockImplementation((text) => said.push(String(text)))
})
afterEach(() => {
  vi.restoreAllMocks()
  said.length = 0
})

/** A server with these answers, and 404 for the rest. */
const serving = async (answers: Record<string, string>) =>
  (
    await serve((request, response) => {
      const answer = answers[request.url ?? '']
      response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'text/plain' }).end(answer)
    })
  ).url

const VLLM = 'vllm:num_requests_waiting{model_name="llama"} 3\nvllm:kv_cache_usage_perc{model_name="llama"} 0.1\n'
const MODELS = '{"object":"list","data":[{"id":"llama"},{"id":"mistral"}]}'

async function linesOf(answers: Record<string, string>, below = ''): Promise<string[] | string> {
  const url = await serving(answers)
  const found = await identify(url + below)
  if (!found.ok) return found.why
  return (found.found?.lines ?? [found.problem ?? '']).map((line) => line.replace(url, 'URL'))
}

describe('an address is asked in the usual places, and its lines for .env are told', () => {
  test.each([
    ['metrics beside the API', { '/metrics': VLLM, '/v1/models': MODELS }, '', ['VLLM_ENDPOINTS=chat=URL']],
    ['metrics below another path', { '/prometheus/metrics': VLLM }, '', ['VLLM_ENDPOINTS=chat=URL/prometheus/metrics']],
    ['metrics with a slash', { '/metrics/': VLLM }, '', ['VLLM_ENDPOINTS=chat=URL/metrics/']],
    ['a sub-path', { '/a/metrics': VLLM }, '/a', ['VLLM_ENDPOINTS=chat=URL/a/metrics']],
    ['the address of the page', { '/metrics': VLLM }, '/metrics', ['VLLM_ENDPOINTS=chat=URL']],
    ['the address of the API', { '/metrics': VLLM, '/v1/models': MODELS }, '/v1', ['VLLM_ENDPOINTS=chat=URL']],
    [
      'an Ollama',
      { '/api/ps': '{"models":[{"name":"qwen3:8b"}]}', '/v1/models': MODELS },
      '',
      ['OLLAMA_ENDPOINTS=box=URL', 'OLLAMA_MODEL=qwen3:8b'],
    ],
    ['an API alone', { '/v1/models': MODELS }, '', ['OPENAI_ENDPOINTS=chat=URL', 'OPENAI_MODEL=llama']],
    [
      'an exporter of GPUs',
      { '/metrics': 'DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-1"} 40\n' },
      '',
      ['DCGM_ENDPOINTS=node-1=URL'],
    ],
  ])('%s', async (_, answers, below, lines) => {
    expect(await linesOf(answers, below)).toEqual(lines)
  })

  test.each([
    [
      'metrics of something else',
      { '/metrics': 'node_load1 0.5\n' },
      'what answers at /metrics is no server that Queuebell knows',
    ],
    ['a web page', { '/metrics': '<html>' }, 'at this address'],
    ['nothing known', {}, 'there are no metrics at this address'],
  ])('%s is told as what it is', async (_, answers, words) => {
    expect(String(await linesOf(answers))).toMatch(new RegExp(words))
  })
})

test('doctor -- <address> prints what answers, the function, the lines and what to type next', async () => {
  const url = await serving({ '/metrics': VLLM, '/v1/models': MODELS })
  expect(await runCommand(['doctor', url])).toBe(0)
  const text = said.join('\n')
  expect(text).toContain('/metrics  vLLM V1, 0.9.2 or newer, model llama')
  expect(text).toContain('/v1/models  OpenAI-compatible API, models: llama, mistral')
  expect(text).toContain(`This is for the function vllm. Lines for .env:\n\nVLLM_ENDPOINTS=chat=${url}`)
  expect(text).toContain('Then: npm run doctor -- vllm --push')
})

test.each([
  ['http://127.0.0.1:1', 1, 'port 1 is blocked for every fetch'],
  ['http://u:planted-4711@127.0.0.1:9', 1, 'port 9 is blocked'],
  ['http://', 1, 'is no address'],
])('doctor -- %s', async (address, code, words) => {
  expect(await runCommand(['doctor', address])).toBe(code)
  expect(said.join('\n')).toContain(words)
  expect(said.join('\n')).not.toContain('planted-4711')
})

const CAPTURED = path.join(process.cwd(), '../shared/metrics')
/** The beginning of a captured page's name → its function. Other pages are parts without one known series, or no servers of ours. */
const OWNERS: [RegExp, string][] = [
  [/^vllm-nim/, 'VLLM'],
  [/^vllm-(v\d|0\.28|metal)/, 'VLLM'],
  [/^tgi-3/, 'TGI'],
  [/^tei/, 'TEI'],
  [/^sglang-(0|2024|2026)/, 'SGLANG'],
  [/^llamacpp-(2024|2025-partial|2026|v0\.5\.0-(counters|fresh|overload|router-model))/, 'LLAMACPP'],
  [/^dcgm/, 'DCGM'],
  [/^dynamo/, 'DYNAMO'],
  [/^epp/, 'EPP'],
  [/^litellm/, 'LITELLM'],
  [/^triton-(8models|tensorrtllm)/, 'TRITON'],
  [/^ray-vllm/, 'VLLM'],
]
const HEADERS_ONLY = /headers-only|escaped-comments/

describe.skipIf(!existsSync(CAPTURED))('every captured page is recognised', () => {
  const files = existsSync(CAPTURED) ? readdirSync(CAPTURED).filter((file) => file.endsWith('.prom')) : []
  const owned = files.flatMap((file) => {
    const owner = HEADERS_ONLY.test(file) ? undefined : OWNERS.find(([name]) => name.test(file))?.[1]
    return owner === undefined ? [] : [{ file, owner }]
  })

  test.each(owned)('$file is for $owner, under no name and under a wrong one', async ({ file, owner }) => {
    const page = readFileSync(path.join(CAPTURED, file), 'utf8')
    const url = await serving({ '/metrics': page })
    const found = await identify(url)
    const lines = found.ok ? (found.found?.lines ?? []) : []
    expect(lines[0]?.split('=')[0]).toBe(`${owner}_ENDPOINTS`)
    const wrong = owner === 'TEI' ? 'tgi' : 'tei'
    vi.stubEnv(`${wrong.toUpperCase()}_ENDPOINTS`, `a=${url}`)
    expect(await runCommand(['doctor', wrong])).toBe(1)
    vi.unstubAllEnvs()
    expect(said.join('\n')).toContain(`move a from ${wrong.toUpperCase()}_ENDPOINTS to ${owner}_ENDPOINTS`)
    vi.stubEnv('TRTLLM_ENDPOINTS', `a=${url}`)
    expect(await runCommand(['doctor', 'trtllm'])).toBe(1)
    vi.unstubAllEnvs()
    expect(said.join('\n')).toContain(`are at /metrics: set ${owner}_ENDPOINTS to a=`)
    const [line = ''] = lines
    const cut = line.indexOf('=')
    const env = { [line.slice(0, cut)]: line.slice(cut + 1) }
    expect(parseConfig(owner.toLowerCase() as 'vllm', env, { lambda: false }).ok).toBe(true)
  })

  test('and they are most of those that there are', () => {
    expect(owned.length).toBeGreaterThan(25)
  })
})
