import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { checkWatcher } from '../../src/cli/doctor-watcher.ts'
import { configOf } from '../config/outcome.ts'
import { deafUrl, serve } from '../scrape/loopback.ts'
import { servedBy } from '../stories/servers.ts'

const PAGE = `# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="llama"} 3
vllm:num_requests_running{engine="0",model_name="llama"} 1
vllm:kv_cache_usage_perc{engine="0",model_name="llama"} 0.1
`
const said: string[] = []
let dir: string

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-doctor-'))
  vi.stubEnv('STATE_DIR', dir)
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
  vi.spyOn(console, 'error').mockImplementation((text) => said.push(String(text)))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  said.length = 0
  await rm(dir, { recursive: true })
})

const serveText = async (text: string, type = 'text/plain') =>
  serve((_, response) => response.writeHead(200, { 'content-type': type }).end(text))

/** Checks vLLM with these variables. @returns the exit code and all that was printed. */
async function check(variables: Record<string, string>, options = { push: false }): Promise<[number, string]> {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  const code = await doctor('vllm', options)
  return [code, said.join('\n')]
}

/** Function, what doctor calls its page, and the least of its rules that must be seen. */
const SERVERS = [
  ['trtllm', 'TensorRT-LLM', 'waiting'],
  ['dynamo', 'Dynamo frontend', 'waiting'],
  ['litellm', 'LiteLLM proxy', 'upstream'],
  ['epp', 'llm-d router', 'rejected'],
  ['router', "vLLM's router", 'upstream'],
  ['triton', 'Triton with TensorRT-LLM', 'waiting'],
  ['lmdeploy', 'LMDeploy', 'waiting'],
  ['mistralrs', 'mistral.rs', 'kv_cache'],
  ['genai', 'OpenTelemetry GenAI', 'errors'],
  ['ray-serve', 'Ray Serve', 'upstream'],
] as const

describe.each(SERVERS)('the page of %s', (backend, as, rule) => {
  test('is recognised, and what it does not publish is no fault', async () => {
    const { url } = await serveText(servedBy(backend, 5))
    vi.stubEnv(`${backend.toUpperCase().replace('-', '_')}_ENDPOINTS`, `a=${url}/metrics`)
    const code = await doctor(backend, { push: false })
    const text = said.join('\n')
    expect(text).toContain(`server: ${as}`)
    expect(text).toMatch(new RegExp(`ok +${rule} `))
    expect([text.includes('BLIND') ? text : '', code]).toEqual(['', 0])
  })

  test('is named with its function when it stands under another', async () => {
    const { url } = await serveText(servedBy(backend, 5))
    vi.stubEnv('TEI_ENDPOINTS', `a=${url}`)
    expect(await doctor('tei', { push: false })).toBe(1)
    expect(said.join('\n')).toContain(`from TEI_ENDPOINTS to ${backend.toUpperCase().replace('-', '_')}_ENDPOINTS`)
  })
})

test('JSON at /metrics, and metrics at another path: the function that asks there is named', async () => {
  const { url } = await serve((request, response) =>
    request.url === '/prometheus/metrics'
      ? response.writeHead(200, { 'content-type': 'text/plain' }).end(servedBy('trtllm', 5))
      : response.writeHead(200, { 'content-type': 'application/json' }).end('[{"iter": 1}]'),
  )
  const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
  expect(code).toBe(1)
  expect(text).toContain(
    'the metrics of TensorRT-LLM with iteration statistics are at /prometheus/metrics: set TRTLLM_ENDPOINTS',
  )
})

test('trtllm without a path asks where its metrics lie', async () => {
  const asked: (string | undefined)[] = []
  const { url } = await serve((request, response) => {
    asked.push(request.url)
    response.writeHead(200, { 'content-type': 'text/plain' }).end(servedBy('trtllm', 5))
  })
  vi.stubEnv('TRTLLM_ENDPOINTS', `a=${new URL(url).origin}`)
  expect(await doctor('trtllm', { push: false })).toBe(0)
  expect(asked).toEqual(['/prometheus/metrics'])
})

describe('an endpoint', () => {
  test('that serves its metrics is told with its version and what each rule reads', async () => {
    const { url } = await serveText(PAGE)
    const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
    expect(code).toBe(0)
    expect(text).toContain('server: vLLM V1')
    expect(text).toMatch(/ok +waiting +waiting: vllm:num_requests_waiting/)
  })

  test('is asked for its version too', async () => {
    const { url } = await serve(({ url: path }, response) => {
      const body = path === '/version' ? '{"version":"0.30.1"}' : PAGE
      response.writeHead(200, { 'content-type': 'text/plain' }).end(body)
    })
    const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}/metrics` })
    expect(code).toBe(0)
    expect(text).toContain('server: vLLM V1, 0.9.2 or newer, version 0.30.1, model llama')
    expect(text).toContain('(vllm:num_requests_waiting_by_reason, from 0.28)')
  })

  test.each([
    [
      'a web page',
      '<html><title>Sign in</title></html>',
      'text/html',
      'no metrics: a web page, JSON or other text came where metrics were expected: “Sign in”',
    ],
    [
      'JSON',
      '{"object":"list"}',
      'application/json',
      'no metrics: a web page, JSON or other text came where metrics were expected: “{"object":"list"}”',
    ],
    ['nothing', '', 'text/plain', 'no metrics: an empty page came where metrics were expected'],
    [
      'the metrics of another server',
      'tgi_queue_size 3\n',
      'text/plain',
      'this is the page of TGI, not of vllm: move chat/a from VLLM_ENDPOINTS to TGI_ENDPOINTS',
    ],
    ['the metrics of anything', 'up 1\n', 'text/plain', 'not recognised: is this the right port'],
  ])('that answers with %s is told so in one line, not rule by rule', async (_, body, type, words) => {
    const { url } = await serveText(body, type)
    const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
    expect(code).toBe(1)
    expect(text).toContain(words)
    expect(text).not.toContain('BLIND')
  })

  test('without the model that it is asked for is told so, not advised to switch its rules off', async () => {
    const { url } = await serveText(PAGE)
    const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}`, VLLM_MODEL: 'mistral' })
    expect(code).toBe(1)
    expect(text).toContain('model: mistral is not on this server; there: llama. Set VLLM_MODEL, or leave it out.')
    expect(text).not.toContain('_LIMIT=off')
  })

  test.each([
    ['milliseconds', [100, 1000, 10_000], /BLIND +ttft .*not believable \(not-seconds: are they milliseconds\?\)/],
    ['seconds to 2.5', [0.1, 1, 2.5], /BLIND +ttft .*the limit 3 s is above the server's largest bucket \(2.5 s\)/],
    ['seconds to 10', [0.1, 1, 10], /ok +ttft +ttft: vllm:time_to_first_token_seconds/],
  ])('whose times have buckets of %s', async (_, bounds, words) => {
    const name = 'vllm:time_to_first_token_seconds'
    const buckets = [...bounds, '+Inf'].map((le, i) => `${name}_bucket{le="${le}"} ${i + 1}`)
    const { url } = await serveText(`${PAGE}${buckets.join('\n')}\n${name}_sum 2\n${name}_count 4\n`)
    const [, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
    expect(text).toMatch(words)
  })

  test('whose times are a summary is told that no p99 can be had', async () => {
    const name = 'vllm:time_to_first_token_seconds'
    const { url } = await serveText(`${PAGE}${name}{quantile="0.99"} 1\n${name}_sum 2\n${name}_count 4\n`)
    const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
    expect(code).toBe(1)
    expect(text).toMatch(/BLIND +ttft .*a summary has no buckets.*set TTFT_LIMIT=off/)
  })

  test('whose queue times have no sum is told that no mean can be had', async () => {
    const buckets = [1, 4].map((le) => `vllm:request_queue_time_seconds_bucket{le="${le === 4 ? '+Inf' : le}"} ${le}`)
    const { url } = await serveText(`${PAGE}${buckets.join('\n')}\n`)
    const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
    expect(code).toBe(1)
    expect(text).toMatch(/BLIND +queue_wait .*no sum is published.*set QUEUE_WAIT_LIMIT=off/)
  })

  test('that lacks a core series is told so, although no other rule needs it', async () => {
    const { url } = await serveText('vllm_kv_usage_perc 0.1\nobserver_degraded 0\nupstream_health 1\nrequest_total 1\n')
    vi.stubEnv('GATEWAY_ENDPOINTS', `gw=${url}`)
    expect(await doctor('gateway', { push: false })).toBe(1)
    expect(said.join('\n')).toMatch(/BLIND +blind +running: missing, expected vllm_requests_running/)
  })

  test.each([
    ['nothing yet', '', 0, /nothing published yet: it starts with the first request/],
    ['a refused request alone', 'tgi_request_count 1\n', 0, /waits +blind +waiting: not there yet, tgi_queue_size/],
    [
      'batches and no queue',
      'tgi_batch_inference_count 292\n',
      1,
      /BLIND +blind +waiting: missing, expected tgi_queue_size/,
    ],
  ])('whose series appear with the first request, with %s', async (_, page, code, words) => {
    const { url } = await serveText(page)
    vi.stubEnv('TGI_ENDPOINTS', `a=${url}`)
    expect(await doctor('tgi', { push: false })).toBe(code)
    expect(said.join('\n')).toMatch(words)
  })

  test.each([
    ['vllm:request_generation_tokens_count 3', 'vllm:num_requests_waiting'],
    ['ray_vllm:num_requests_running 3', 'ray_vllm:num_requests_waiting'],
    ['vllm:num_requests_running 3', 'vllm:num_requests_waiting'],
    ['num_requests_running 3', 'num_requests_waiting'],
  ])('that has %s is told that %s is missing, spelt as its other names are', async (line, name) => {
    const { url } = await serveText(`${line}\n`)
    const [, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
    expect(text).toContain(`waiting: missing, expected ${name};`)
  })

  test('whose address holds a key is told without it', async () => {
    const { url } = await serveText(PAGE)
    const [, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}/?token=planted-4711` })
    expect(text).toContain('chat/a  http://127.0.0.1')
    expect(text).not.toContain('planted-4711')
  })
})

describe('what the watcher itself needs', () => {
  const page = async () => `chat/a=${(await serveText(PAGE)).url}`

  test('the state place is read and written, and it is said that nobody would be told', async () => {
    const [code, text] = await check({ VLLM_ENDPOINTS: await page() })
    expect([code, text]).toEqual([0, expect.stringContaining(`state: ${dir} can be read and written`)])
    expect(text).toContain('push: no channel is set, so that a run only prints: set NOTIFLY_URL and NOTIFLY_TOKEN')
    expect(await readFile(path.join(dir, 'doctor/check.json'), 'utf8')).toBe('{"checked":"vllm"}')
  })

  test.each([
    ['that is broken', '{"version":2,', 'vllm.json in .* cannot be understood: the next run puts it aside'],
    ['of a newer version', '{"v":99}', 'vllm.json in .* is of a newer Queuebell .version 99.'],
  ])('a state %s is a problem', async (_, state, words) => {
    await writeFile(path.join(dir, 'vllm.json'), state)
    const [code, text] = await check({ VLLM_ENDPOINTS: await page() })
    expect([code, text]).toEqual([1, expect.stringMatching(`PROBLEM state: ${words}`)])
  })

  test('a state place that cannot be written is a problem, in the words of the run', async () => {
    const file = path.join(dir, 'file')
    await writeFile(file, '')
    const [code, text] = await check({ VLLM_ENDPOINTS: await page(), STATE_DIR: path.join(file, 'below') })
    expect([code, text]).toEqual([1, expect.stringMatching(/PROBLEM state: .*ENOTDIR/)])
  })

  test('the ping is sent, and its refusal told without the key in its address', async () => {
    let status = 200
    const pinged = await serve((_, response) => response.writeHead(status).end())
    const variables = { VLLM_ENDPOINTS: await page(), PING_URL: `${pinged.url}/ping/planted-4711` }
    expect(await check(variables)).toEqual([0, expect.stringContaining('ping: PING_URL took it')])
    status = 404
    const [code, text] = await check(variables)
    expect([code, text]).toEqual([
      1,
      expect.stringContaining('PROBLEM ping: PING_URL: ping refused: is PING_URL right? (404)'),
    ])
    expect(text).not.toContain('planted-4711')
  })

  test("case 339: what AWS's client says of an older Node is said once, in one line, where the state is in S3", async () => {
    const config = configOf('vllm', {
      VLLM_ENDPOINTS: 'a=http://h',
      STATE_BUCKET: 'bucket',
      S3_ENDPOINT: await deafUrl(),
    })
    const lines = (await checkWatcher([config, config], '20.20.2', { push: false })).map(({ line }) => line)
    expect(lines.filter((line) => line.startsWith('node: '))).toEqual([
      "node: 20.20.2 works; AWS's client for S3 gets no updates for it after January 2027: go to Node 22 or newer",
    ])
    expect(
      (await checkWatcher([config], '22.1.0', { push: false })).some(({ line }) => line.startsWith('node: ')),
    ).toBe(false)
  })
})

test('a server that refuses us is told with the full names of the variables', async () => {
  const { url } = await serve((_, response) => response.writeHead(401).end('no'))
  const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
  expect(code).toBe(1)
  expect(text).toContain('→ The server itself may be fine. Check VLLM_BEARER_TOKEN or VLLM_BASIC_AUTH.')
})

test('an Ollama without the configured model names those that it has', async () => {
  const { url } = await serve((request, response) => {
    if (request.url === '/api/tags') response.end('{"models":[{"name":"qwen3:8b"},{"name":"mistral:latest"}]}')
    else if (request.url === '/api/ps') response.end('{"models":[]}')
    else response.writeHead(404).end('{"error":"model llama3 not found"}')
  })
  vi.stubEnv('OLLAMA_URL', url)
  vi.stubEnv('OLLAMA_MODEL', 'llama3')
  vi.stubEnv('CANARY_LOAD', 'yes')
  expect(await doctor('ollama', { push: false })).toBe(1)
  expect(said.join('\n')).toContain('→ set OLLAMA_MODEL to one that is there: qwen3:8b, mistral:latest')
})

test('all that is configured is checked, each under its name', async () => {
  const variables = {
    VLLM_ENDPOINTS: `chat/a=${(await serveText(PAGE)).url}`,
    TGI_ENDPOINTS: `b=${(await serveText('')).url}`,
  }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  expect(await doctor(['vllm', 'tgi'], { push: false })).toBe(0)
  expect(said.join('\n')).toMatch(/state: [\s\S]*\nvllm\nchat\/a [\s\S]*\ntgi\nb /)
  expect(said.join('\n').match(/state: /g)).toHaveLength(1)
})

describe('a source of endpoints', () => {
  test('that names some has them checked', async () => {
    const { url } = await serveText(PAGE)
    const list = path.join(dir, 'list.json')
    await writeFile(list, JSON.stringify([{ targets: [new URL(url).host], labels: { group: 'chat' } }]))
    const [code, text] = await check({ VLLM_TARGETS: list })
    expect([code, text]).toEqual([0, expect.stringContaining('server: vLLM V1')])
  })

  test('that cannot be read is a failure, not silence', async () => {
    const [code, text] = await check({ VLLM_TARGETS: path.join(dir, 'gone.json') })
    expect(code).toBe(1)
    expect(text).toContain('VLLM_TARGETS')
    expect(text).toContain('ENOENT')
  })
})

describe('the test push', () => {
  const pushed = async (listener: http.RequestListener): Promise<[number, string]> => {
    const [page, push] = [await serveText(PAGE), await serve(listener)]
    return check(
      { VLLM_ENDPOINTS: `chat/a=${page.url}`, NOTIFLY_URL: push.url, NOTIFLY_TOKEN: 'planted-4711' },
      { push: true },
    )
  }

  test('that is taken is told', async () => {
    const [code, text] = await pushed((_, response) => response.end('{}'))
    expect([code, text]).toEqual([0, expect.stringContaining('push: delivered (200)')])
  })

  test('speaks the language of the messages', async () => {
    const bodies: string[] = []
    vi.stubEnv('ALERT_LANGUAGE', 'ru')
    await pushed((request, response) => {
      request.on('data', (chunk) => bodies.push(String(chunk)))
      request.on('end', () => response.end('{}'))
    })
    expect(bodies.join()).toContain('Проверочный пуш от vllm')
  })

  test('that is not taken says why and what to look at, once, without the token', async () => {
    const [code, text] = await pushed((_, response) => response.writeHead(401).end('no planted-4711'))
    expect(code).toBe(1)
    expect(text).toContain('push: not taken (401 no ***): is NOTIFLY_TOKEN still valid')
    expect(text.match(/still valid/g)).toHaveLength(1)
  })

  test('goes to the fallback too, whose token would otherwise be found wrong when the first is away', async () => {
    const [page, push] = [await serveText(PAGE), await serve((_, response) => response.end('{}'))]
    const spare = await serve((_, response) => response.writeHead(401).end())
    const fallback = { NOTIFLY_FALLBACK_URL: spare.url, NOTIFLY_FALLBACK_TOKEN: 'planted-0815' }
    const first = { VLLM_ENDPOINTS: `chat/a=${page.url}`, NOTIFLY_URL: push.url, NOTIFLY_TOKEN: 'planted-4711' }
    const [code, text] = await check({ ...first, ...fallback }, { push: true })
    expect(code).toBe(1)
    expect(text).toContain('push: delivered (200)')
    expect(text).toContain('push to the fallback: not taken (401): is NOTIFLY_FALLBACK_TOKEN still valid')
    expect([push.requests.length, spare.requests.length]).toEqual([1, 1])
  })
})

test("case 216: a router's page is told as such in one line, and ends with 1", async () => {
  const { url } = await serveText(`${PAGE}vllm:healthy_pods_total{server="http://10.0.0.1:8000"} 1\n`)
  const [code, text] = await check({ VLLM_ENDPOINTS: `chat/a=${url}` })
  expect(code).toBe(1)
  expect(text).toContain("vLLM's router, not an engine: watch the engines behind it")
  expect(text).not.toContain('appears with the first request')
})

test('case 229: what a newer llama.cpp no longer publishes is not on this version, and ends with 0', async () => {
  const body = Object.entries({
    requests_processing: 0,
    requests_deferred: 0,
    n_tokens_max: 512,
    prompt_tokens_total: 9,
  })
    .concat(Object.entries({ tokens_predicted_total: 8, n_decode_total: 7, prompt_tokens_cached_total: 0 }))
    .map(([name, value]) => `llamacpp:${name} ${value}\n`)
    .join('')
  const { url } = await serveText(body)
  vi.stubEnv('LLAMACPP_ENDPOINTS', `a=${url}`)
  expect(await doctor('llamacpp', { push: false })).toBe(0)
  expect(said.join('\n')).toMatch(
    /- +kv_cache +kv_cache: not on this version or set-up \(llamacpp:kv_cache_usage_ratio, before 2025-05\)/,
  )
})
