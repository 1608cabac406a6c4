import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterAll, describe, expect, test } from 'vitest'
import { openDispatcher } from '../../src/http/connections.ts'
import type { BackendTable } from '../../src/model/backend.ts'
import type { Answer } from '../../src/model/observation.ts'
import { scrape, scrapeGpu } from '../../src/scrape/scrape.ts'
import { serveOnLoopback } from '../../tools/simulator/loopback.ts'
import { deafUrl, serve } from './loopback.ts'

/** What the server answers. */
let serves: (request: IncomingMessage, response: ServerResponse) => void
const text = (body: string | null, status = 200, type?: string) => {
  serves = (_, response) => response.writeHead(status, type === undefined ? {} : { 'content-type': type }).end(body)
}
const connections = openDispatcher()
const server = await serveOnLoopback((request, response) => serves(request, response))
afterAll(async () => {
  await connections.close()
  await server.close()
})

const TABLE: BackendTable = {
  signals: { waiting: { from: [{ name: 'vllm:num_requests_waiting' }], core: true } },
  modelLabels: ['model_name'],
  repeats: [],
  ignored: [],
  recognise: [],
}
const options = { now: Date.UTC(2026, 10, 30, 12), dispatcher: connections.dispatcher }
const URL = `${server.url}/metrics`
const endpoint = { url: URL, timeout: 5_000, model: undefined, authorization: undefined }

const PAGE = `# HELP vllm:num_requests_waiting Number of requests waiting.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{model_name="m"} 42.0
`

/** What a scrape makes of one answer. */
async function answerTo(
  body: string | null,
  init: { status?: number; type?: string } = {},
  table: BackendTable = TABLE,
): Promise<Answer> {
  text(body, init.status, init.type ?? 'text/plain; version=0.0.4; charset=utf-8')
  return scrape(endpoint, table, options)
}

const waiting = (answer: Answer) => (answer.up ? answer.readings.gauges.waiting?.value : undefined)
const failure = (answer: Answer) => (answer.up === false ? answer.failure : undefined)

describe('a metrics page', () => {
  test('becomes readings', async () => {
    expect(waiting(await answerTo(PAGE))).toBe(42)
  })

  test('keeps its last line although the line feed is missing', async () => {
    expect(waiting(await answerTo(PAGE.trimEnd()))).toBe(42)
  })

  test.each(['text/html; charset=utf-8', 'application/json', 'application/octet-stream', ''])(
    'is read although a home-made exporter calls it %j',
    async (type) => {
      expect(waiting(await answerTo(PAGE, { type }))).toBe(42)
    },
  )

  test('case 46: comments without samples are a good scrape in which everything is missing', async () => {
    const answer = await answerTo(PAGE.replace(/^vllm.*\n/m, ''))
    expect(answer).toMatchObject({ up: true, readings: { gauges: {}, empty: true } })
  })

  test('case 76: process metrics alone are a good scrape in which everything is missing', async () => {
    const answer = await answerTo('python_gc_objects_collected_total{generation="0"} 512.0\n')
    expect(answer).toMatchObject({ up: true, readings: { gauges: {} } })
    expect(waiting(answer)).toBeUndefined()
  })
})

describe('what is no metrics page', () => {
  test.each<[string, string | null, string, string | undefined]>([
    ['case 76: nothing at all', null, 'text/plain', undefined],
    ['case 76: blank lines', '\n \r\n', 'text/plain', undefined],
    ['a web page', '<!doctype html><html><head><title>Open WebUI</title></head></html>', 'text/html', 'Open WebUI'],
    [
      'a web page that is called text',
      '\n  <html><body>502 Bad Gateway</body></html>',
      'text/plain',
      '502 Bad Gateway',
    ],
    ['a web page that quotes metrics', `<pre>\n${PAGE}</pre>`, 'text/html', undefined],
    ['JSON', '{"object":"list","data":[]}', 'application/json', '{"object":"list","data":[]}'],
    [
      'JSON over several lines, called text',
      '{\n  "error": {\n    "message": "no such route"\n  }\n}\n',
      'text/plain',
      'no such route',
    ],
    ['a list as JSON', '[]', 'application/json', '[]'],
    ['a greeting', 'Ollama is running', 'text/plain', 'Ollama is running'],
    ['comments of another language', '# heading\n', 'text/html', '# heading'],
  ])('%s', async (_, body, type, detail) => {
    const found = failure(await answerTo(body, { type }))
    expect(found?.kind).toBe('not-prometheus')
    if (detail !== undefined || body === null) expect(found?.detail).toBe(detail)
  })

  test('an empty page is healthy where the backend is known to start so, and only if it is empty', async () => {
    const table = { ...TABLE, emptyIsHealthy: true }
    expect(await answerTo(null, {}, table)).toMatchObject({ up: true, readings: { gauges: {}, empty: true } })
    expect(failure(await answerTo('Ollama is running', {}, table))?.kind).toBe('not-prometheus')
  })
})

describe('answers that are failures', () => {
  test.each<[string, number, string, string, string]>([
    // case, status, body, kind, detail
    ['case 49', 500, 'Internal Server Error', 'http', 'Internal Server Error'],
    ['case 54', 503, '{"error":"Model is overloaded","error_type":"overloaded"}', 'http', 'Model is overloaded'],
    ['case 54', 429, '{"error":"Model is overloaded"}', 'http', 'Model is overloaded'],
    [
      'case 75',
      401,
      '{"error":{"message":"Authentication Error, No api key passed in."}}',
      'not-authorised',
      'Authentication Error, No api key passed in.',
    ],
    ['case 75', 403, 'Forbidden', 'not-authorised', 'Forbidden'],
    ['no metrics here', 404, '{"detail":"Not Found"}', 'not-found', 'Not Found'],
    [
      'llama.cpp without --metrics',
      501,
      '{"error":{"code":501,"message":"This server does not support metrics endpoint. Start it with `--metrics`","type":"not_supported_error"}}',
      'http',
      'This server does not support metrics endpoint. Start it with `--metrics`',
    ],
    [
      'llama.cpp while it loads',
      503,
      '{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}',
      'http',
      'Loading model',
    ],
  ])('%s: %i', async (_, status, body, kind, detail) => {
    expect(failure(await answerTo(body, { status }))).toEqual({ kind, status, detail })
  })

  test('case 62: half a page is not read as a smaller truth', async () => {
    const server = await serve((_, response) => {
      response.setHeader('content-length', '1000')
      response.write(PAGE)
      setTimeout(() => response.destroy(), 20)
    })
    expect(failure(await scrape({ ...endpoint, url: server.url }, TABLE, options))?.kind).toBe('cut')
  })

  test('nobody listens', async () => {
    const found = failure(await scrape({ ...endpoint, url: await deafUrl() }, TABLE, options))
    expect(found).toEqual({ kind: 'refused', code: 'ECONNREFUSED' })
  })
})

test('case 75: the key of the endpoint is sent, and is nowhere in an answer that repeats it', async () => {
  let seen: string | undefined
  serves = ({ headers }, response) => {
    seen = headers.authorization
    response.writeHead(seen === 'Bearer g00dkey' ? 200 : 401).end(`key ${seen} is not valid`)
  }
  const answers = [
    await scrape({ ...endpoint, authorization: 'Bearer s3cretkey' }, TABLE, options),
    await scrape({ ...endpoint, authorization: 'Bearer g00dkey' }, TABLE, options),
  ]
  expect(seen).toBe('Bearer g00dkey')
  expect(answers.map((answer) => failure(answer)?.kind)).toEqual(['not-authorised', 'not-prometheus'])
  expect(JSON.stringify(answers)).not.toMatch(/s3cretkey|g00dkey/)
})

test('only the series of the configured model are read', async () => {
  text('vllm:num_requests_waiting{model_name="a"} 1\nvllm:num_requests_waiting{model_name="b"} 2\n')
  expect(waiting(await scrape({ ...endpoint, model: 'b' }, TABLE, options))).toBe(2)
})

describe('the GPU exporter beside a server', () => {
  const gpu = { ...options, timeout: 5_000 }

  test('gives readings', async () => {
    text(PAGE)
    expect((await scrapeGpu(URL, TABLE, gpu))?.gauges.waiting?.value).toBe(42)
  })

  test('is passed over when it fails', async () => {
    text(null, 500)
    expect(await scrapeGpu(URL, TABLE, gpu)).toBeUndefined()
    expect(await scrapeGpu(await deafUrl(), TABLE, gpu)).toBeUndefined()
  })
})
