import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { TABLES } from '../../src/backends/backends.ts'
import type { BackendTable, ScrapedBackend } from '../../src/model/backend.ts'
import { SIGNALS, type Signal } from '../../src/model/signals.ts'
import { cacheOf, run, scriptOf, sealed } from './loader.ts'

/*
 * `node warm.mjs <dist> <function>`: writes the code cache of one built function for the Node that runs this. The function
 * is called as in its first minutes, by servers on loopback: what a run compiles is in the cache then, and nothing else is.
 */
const [dist = 'dist', name = 'vllm'] = process.argv.slice(2)
const RUNS = 4
const bundle = resolve(dist, `${name}.cjs`)

const objects = new Map<string, { body: Buffer; etag: string }>()
let puts = 0
const server = createServer(answer)
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
for (const variable of Object.keys(process.env)) if (variable !== 'PATH') delete process.env[variable]
Object.assign(process.env, environment())

const source = readFileSync(bundle)
const script = scriptOf(bundle, source, undefined)
const { handler } = run(bundle, script) as { handler: (event: unknown, context: unknown) => Promise<unknown> }
const write = process.stdout.write
process.stdout.write = () => true // its log
for (let minute = 0; minute < RUNS; minute++) {
  const time = new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString()
  await handler({ time, rawPath: '/', requestContext: { http: { method: 'GET' } } }, {})
}
process.stdout.write = write
const cache = script.createCachedData()
writeFileSync(cacheOf(bundle), sealed(source, cache))
console.log(cacheOf(bundle))
process.exit(0)

function environment(): Record<string, string> {
  const prefix = name.toUpperCase().replaceAll('-', '_')
  return {
    [`${prefix}_ENDPOINTS`]: `a=${url}`,
    ...(name === 'ollama' || name === 'openai' ? { [`${prefix}_MODEL`]: 'm' } : {}),
    HEARTBEAT_WORKERS: 'indexer=60s+30s',
    HEARTBEAT_TOKEN: 'a-token-of-thirty-two-characters',
    PAGE_SECRET: 'a-secret-of-thirty-two-characters',
    NOTIFLY_URL: `${url}/push`,
    NOTIFLY_TOKEN: 'warm',
    STATE_BUCKET: 'state',
    S3_ENDPOINT: url,
    S3_FORCE_PATH_STYLE: 'yes',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'warm',
    AWS_SECRET_ACCESS_KEY: 'warm',
    AWS_LAMBDA_FUNCTION_NAME: `queuebell-${name}`,
  }
}

/** A bucket, a canary's model, or the page of a server that works. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://h')
    if (!pathname.startsWith('/state')) return respond(request, response)
    if (request.method === 'PUT') return put(pathname, Buffer.concat(chunks), request.headers, response)
    const object = objects.get(pathname)
    if (searchParams.has('list-type')) response.end('<ListBucketResult><KeyCount>0</KeyCount></ListBucketResult>')
    else if (object) response.writeHead(200, { etag: object.etag }).end(object.body)
    else response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
  })
}

function put(pathname: string, body: Buffer, headers: IncomingMessage['headers'], response: ServerResponse): void {
  const { 'if-match': match, 'if-none-match': none } = headers
  const known = objects.get(pathname)
  if ((match !== undefined && match !== known?.etag) || (none !== undefined && known))
    return void response.writeHead(412).end('<Error><Code>PreconditionFailed</Code></Error>')
  const etag = `"${++puts}"`
  objects.set(pathname, { body, etag })
  response.writeHead(200, { etag }).end()
}

function respond({ method }: IncomingMessage, response: ServerResponse): void {
  if (method === 'POST')
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true,"response":"","choices":[]}\n')
  else response.writeHead(200, { 'content-type': 'text/plain' }).end(pageOf(TABLES[name as ScrapedBackend]))
}

let asked = 0
/** Each signal under its newest name, with a little more in each minute. */
function pageOf(table: BackendTable | undefined): string {
  asked += 1
  return Object.entries(table?.signals ?? {})
    .flatMap(([signal, row]) => {
      const [first] = row?.from ?? []
      if (!first) return []
      const of = (more: string) => `{${[`${table?.modelLabels[0] ?? 'a'}="m"`, more].filter(Boolean).join(',')}}`
      const { kind } = SIGNALS[signal as Signal]
      if (kind !== 'histogram') return `${first.name}${of('')} ${kind === 'gauge' ? 0.5 : asked * 10}\n`
      return [
        ...['0.5', '1', '+Inf'].map((le) => `${first.name}_bucket${of(`le="${le}"`)} ${asked * 30}\n`),
        `${first.name}_sum${of('')} ${asked * 10}\n${first.name}_count${of('')} ${asked * 30}\n`,
      ]
    })
    .join('')
}
