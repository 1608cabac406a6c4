import { createHash } from 'node:crypto'
import http from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A subset of S3 in this process, as strict about conditions as AWS: GET, HEAD, PUT, ListObjectsV2 with path-style
 * addresses, ETags, `If-Match`, `If-None-Match: *`, user metadata, LastModified. Any credentials will do.
 *
 *     const s3 = await startS3({ traits: { readForbidden: 'missing' } })
 *     s3.next({ on: 'PUT', do: 'lose-answer' })     // one request, once
 *     openS3Store(s3.config())                      // credentials: AWS_… variables, see `CREDENTIALS`
 *     s3.requests                                   // { GET: 1, HEAD: 0, PUT: 2, LIST: 0 }
 *     await s3.close()
 */
export interface FakeS3 {
  /** `http://127.0.0.1:port`: `S3_ENDPOINT`. */
  endpoint: string
  bucket: string
  /** What `openS3Store` takes. */
  config(prefix?: string): {
    kind: 's3'
    bucket: string
    prefix: string
    endpoint: string | undefined
    forcePathStyle: boolean
  }
  /** Lasting ways of this store; may be changed at any time. */
  traits: Traits
  /** The next request that fits meets this fault; several wait in line. */
  next(fault: Fault): void
  /** Requests seen, faulty ones included. */
  requests: Record<Kind, number>
  /** Requests one by one, oldest first, with their conditions as sent. */
  log: { kind: Kind; key: string; ifMatch?: string; ifNoneMatch?: string }[]
  objects: Map<string, S3Object>
  /** Plants an object behind the store's back; the key includes the prefix. */
  plant(key: string, text: string, metadata?: Record<string, string>): void
  /** Connections that clients keep open. */
  openConnections(): Promise<number>
  close(): Promise<void>
}

export interface Traits {
  /** `ignored`: every PUT is taken. `if-match-ignored`: only `If-None-Match` is kept. `unsupported`: 501. `304`: instead of 412. `412-missing`: Ceph's answer to `If-Match` on no object. */
  conditions?: 'kept' | 'ignored' | 'if-match-ignored' | 'unsupported' | '304' | '412-missing'
  /** Some Ceph gateways: `If-Match` holds only without its quotes. */
  quotesCompared?: boolean
  /** `missing`: 403 instead of 404, as without s3:ListBucket. `all`: as without s3:GetObject too. */
  readForbidden?: 'missing' | 'all' | undefined
  writeForbidden?: boolean
  /** Object Lock with a default retention: a write without `Content-MD5` is refused. */
  digestWanted?: boolean
  /** No answer to a `PUT` names the new ETag, or no answer at all names one. */
  noEtag?: 'put' | 'all'
  noBucket?: boolean
  /** Keys in one page of a list (1000). */
  pageSize?: number
}

export type Kind = 'GET' | 'HEAD' | 'PUT' | 'LIST'

export interface Fault {
  on: Kind
  /** Only for keys that end so. */
  key?: string
  do:
    | 'lose-answer' // done, then the connection is cut
    | 'done-500' // done, and answered 500
    | 'late' // connection cut; done only when the next PUT arrives, just before it
    | 'cut' // not done, connection cut
    | 'cut-body' // GET: half of the body, connection cut
    | 'hang-body' // GET: half of the body, then nothing
    | 'hang' // no answer
    | 'done-hang' // done, no answer
    | 'stale' // GET: the version before, as from a store that is not consistent
    | '200-failed' // not done; status 200 around <Code>PreconditionFailed</Code>
    | 'page' // 200 with a web page, from a proxy or a login in between
    | 'skewed' // RequestTimeTooSkewed
    | 'bad-key' // InvalidAccessKeyId
    | 304
    | 403
    | 404
    | 409
    | 412
    | 500
    | 501
    | 503
  times?: number
}

export interface S3Object {
  text: string
  etag: string
  metadata: Record<string, string>
  /** Epoch milliseconds. */
  at: number
  before?: S3Object
}

/** For tests: `Object.assign(process.env, CREDENTIALS)`. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test-secret', AWS_REGION: 'us-east-1' }

export async function startS3(options: { traits?: Traits; now?: () => number } = {}): Promise<FakeS3> {
  const inner: Inner = { faults: [], late: [], now: options.now ?? Date.now }
  const bucket = 'queuebell-test'
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => serve(fake, inner, request, Buffer.concat(chunks).toString('utf8'), response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const fake: FakeS3 = {
    endpoint,
    bucket,
    config: (prefix = 'queuebell/') => ({ kind: 's3', bucket, prefix, endpoint, forcePathStyle: true }),
    traits: options.traits ?? {},
    next: (fault) => {
      for (let n = 0; n < (fault.times ?? 1); n++) inner.faults.push(fault)
    },
    requests: { GET: 0, HEAD: 0, PUT: 0, LIST: 0 },
    log: [],
    objects: new Map(),
    plant: (key, text, metadata = {}) => store(fake, key, text, metadata, inner.now()),
    openConnections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return fake
}

interface Inner {
  faults: Fault[]
  /** Writes on their way: see the fault `late`. */
  late: (() => void)[]
  now: () => number
}

interface Answer {
  status: number
  headers?: Record<string, string>
  body?: string
}

function serve(
  fake: FakeS3,
  inner: Inner,
  request: http.IncomingMessage,
  body: string,
  response: http.ServerResponse,
): void {
  const url = new URL(request.url ?? '/', fake.endpoint)
  const [, bucket = '', ...rest] = decodeURIComponent(url.pathname).split('/')
  const key = rest.join('/')
  const kind = request.method === 'GET' && key === '' ? 'LIST' : (request.method as Kind)
  fake.requests[kind]++
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers
  fake.log.push({ kind, key, ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) })

  const at = inner.faults.findIndex((f) => f.on === kind && key.endsWith(f.key ?? ''))
  const fault = at < 0 ? undefined : inner.faults.splice(at, 1)[0]?.do
  const done = (): Answer => {
    if (fake.traits.noBucket || bucket !== fake.bucket) return refuse(404, 'NoSuchBucket')
    switch (kind) {
      case 'GET':
      case 'HEAD':
        return get(fake, key, fault === 'stale')
      case 'PUT':
        return put(fake, key, body, request.headers, inner.now())
      case 'LIST':
        return list(fake, url.searchParams)
      default:
        return refuse(405, 'MethodNotAllowed')
    }
  }
  if (kind === 'PUT') for (const write of inner.late.splice(0)) write()
  if (fault === 'late') inner.late.push(done)
  const answer = fault === undefined ? done() : failWith(fault, done)
  if (answer === 'hang') return
  if (answer === 'cut') {
    request.socket.destroy()
    return
  }
  const text = kind === 'HEAD' || answer.status === 304 ? '' : (answer.body ?? '')
  response.writeHead(answer.status, {
    'x-amz-request-id': 'fake',
    'content-length': Buffer.byteLength(text),
    ...answer.headers,
  })
  if (fault === 'cut-body' || fault === 'hang-body') {
    response.write(text.slice(0, text.length / 2), () => fault === 'cut-body' && request.socket.destroy())
    return
  }
  response.end(text)
}

function failWith(fault: Fault['do'], done: () => Answer): Answer | 'cut' | 'hang' {
  switch (fault) {
    case 'lose-answer':
      done()
      return 'cut'
    case 'done-500':
      done()
      return refuse(500, 'InternalError')
    case 'done-hang':
      done()
      return 'hang'
    case 'cut':
    case 'late':
      return 'cut'
    case 'hang':
      return 'hang'
    case 'cut-body':
    case 'hang-body':
    case 'stale':
      return done()
    case '200-failed':
      return { ...refuse(412, 'PreconditionFailed'), status: 200 }
    case 'page':
      return { status: 200, headers: { 'content-type': 'text/html' }, body: '<html><title>Sign in</title></html>' }
    case 'skewed':
      return refuse(403, 'RequestTimeTooSkewed')
    case 'bad-key':
      return refuse(403, 'InvalidAccessKeyId')
    case 304:
      return { status: 304 }
    case 403:
      return refuse(403, 'AccessDenied')
    case 404:
      return refuse(404, 'NoSuchKey')
    case 409:
      return refuse(409, 'ConditionalRequestConflict')
    case 412:
      return refuse(412, 'PreconditionFailed')
    case 500:
      return refuse(500, 'InternalError')
    case 501:
      return refuse(501, 'NotImplemented')
    case 503:
      return refuse(503, 'SlowDown')
    default:
      return fault satisfies never
  }
}

function get(fake: FakeS3, key: string, stale: boolean): Answer {
  const held = fake.objects.get(key)
  const found = stale ? held?.before : held
  if (fake.traits.readForbidden === 'all') return refuse(403, 'AccessDenied')
  if (!found) return fake.traits.readForbidden ? refuse(403, 'AccessDenied') : refuse(404, 'NoSuchKey')
  const headers: Record<string, string> = { etag: found.etag, 'last-modified': new Date(found.at).toUTCString() }
  if (fake.traits.noEtag === 'all') delete headers.etag
  for (const [name, value] of Object.entries(found.metadata)) headers[`x-amz-meta-${name}`] = value
  return { status: 200, headers, body: found.text }
}

function put(fake: FakeS3, key: string, text: string, headers: http.IncomingHttpHeaders, at: number): Answer {
  if (fake.traits.writeForbidden) return refuse(403, 'AccessDenied')
  const digest = createHash('md5').update(text).digest('base64')
  if (fake.traits.digestWanted && headers['content-md5'] !== digest)
    return refuse(
      400,
      'InvalidRequest',
      'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests',
    )
  const refusal = conditionFails(fake, key, headers['if-match'], headers['if-none-match'])
  if (refusal) return refusal
  const metadata: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (name.startsWith('x-amz-meta-')) metadata[name.slice('x-amz-meta-'.length)] = String(value)
  const { etag } = store(fake, key, text, metadata, at)
  return { status: 200, headers: fake.traits.noEtag ? {} : { etag } }
}

function conditionFails(fake: FakeS3, key: string, ifMatch?: string, ifNoneMatch?: string): Answer | undefined {
  const held = fake.objects.get(key)
  const ways = fake.traits.conditions ?? 'kept'
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined
  if (ways === 'unsupported') return refuse(501, 'NotImplemented')
  if (ways === 'ignored' || (ways === 'if-match-ignored' && ifMatch !== undefined)) return undefined
  const failed = ways === '304' ? { status: 304 } : refuse(412, 'PreconditionFailed')
  if (ifNoneMatch !== undefined) return held ? failed : undefined
  if (!held) return ways === '412-missing' ? failed : refuse(404, 'NoSuchKey')
  const bare = (etag = '') => etag.replaceAll('"', '')
  const holds = fake.traits.quotesCompared ? ifMatch === bare(held.etag) : bare(ifMatch) === bare(held.etag)
  return holds ? undefined : failed
}

function store(fake: FakeS3, key: string, text: string, metadata: Record<string, string>, at: number): S3Object {
  const before = fake.objects.get(key)
  const etag = `"${createHash('md5').update(text).digest('hex')}"`
  const object = { text, etag, metadata, at, ...(before && { before: { ...before } }) }
  delete object.before?.before
  fake.objects.set(key, object)
  return object
}

function list(fake: FakeS3, query: URLSearchParams): Answer {
  if (fake.traits.readForbidden) return refuse(403, 'AccessDenied')
  const prefix = query.get('prefix') ?? ''
  const after = query.get('continuation-token') ?? ''
  const keys = [...fake.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
  const page = keys.slice(0, fake.traits.pageSize ?? 1000)
  const contents = page.map((key) => {
    const at = new Date(fake.objects.get(key)?.at ?? 0).toISOString()
    const size = Buffer.byteLength(fake.objects.get(key)?.text ?? '')
    return `<Contents><Key>${escapeXml(key)}</Key><LastModified>${at}</LastModified><Size>${size}</Size></Contents>`
  })
  const more = keys.length > page.length
  const token = more ? `<NextContinuationToken>${escapeXml(page.at(-1) ?? '')}</NextContinuationToken>` : ''
  const body = `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${fake.bucket}</Name><IsTruncated>${more}</IsTruncated>${token}${contents.join('')}</ListBucketResult>`
  return { status: 200, headers: { 'content-type': 'application/xml' }, body }
}

function refuse(status: number, code: string, message = code): Answer {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`
  return { status, headers: { 'content-type': 'application/xml' }, body }
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
