import { mask } from '../log.ts'
import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import type { Fallible } from '../model/fallible.ts'
import { answersFor, isGateway, MAX_BYTES } from './connections.ts'
import { withDeadline } from './deadline.ts'
import { watchGzipEnd } from './gzip-end.ts'
import { failureOf } from './network-failure.ts'
import { type Answered, type Asking, request } from './request.ts'
import { tlsRefusal, withTls } from './scheme.ts'
import { openingOf, toWords } from './server-words.ts'

export interface GetOptions {
  headers?: Record<string, string>
  /** Milliseconds over everything: name, connection, redirects, headers and body. */
  timeout: number
  /** The run's own end. */
  signal?: AbortSignal
  /** From `openDispatcher`. */
  dispatcher: unknown
  /** Decoded bytes; @default 16 MiB. */
  maxBytes?: number
  /** Receives the decoded body piece by piece. What it received counts only if the answer is `ok`. */
  onChunk(chunk: Uint8Array): void
}

export type Got = Fallible<{ contentType: string; bytes: number }, { failure: Failure }>

const MAX_HOPS = 5

/**
 * Gets a text page: one deadline over headers and body, a limit on its decoded size, redirects within the origin only.
 * Every failure is a result, never an exception, and shows nothing of the request's credentials.
 */
export function get(url: string, options: GetOptions): Promise<Got> {
  return withDeadline(options.timeout, (signal) => getUntil(signal, url, options), { outer: options.signal })
}

async function getUntil(signal: AbortSignal, url: string, options: GetOptions): Promise<Got> {
  const headers = {
    accept: 'text/plain;version=0.0.4',
    'accept-encoding': 'identity',
    'user-agent': 'queuebell',
    ...options.headers,
  }
  const gzipEnd = watchGzipEnd()
  let last: number | undefined
  const onChunk = (chunk: Uint8Array) => {
    last = chunk.at(-1) ?? last
    options.onChunk(chunk)
  }
  let begun: Answered | undefined
  try {
    const { dispatcher } = options
    const found = await follow(url, { headers, signal, dispatcher, onBytes: gzipEnd.onBytes })
    if ('kind' in found) return { ok: false, failure: found }
    const { answer, at } = found
    if (answer.status < 200 || answer.status > 299)
      return { ok: false, failure: await refusal(answer, headers, answersFor(at, dispatcher)) }
    begun = answer
    const read = await readBody(answer.body(), options.maxBytes ?? MAX_BYTES, onChunk)
    if (typeof read !== 'number') return { ok: false, failure: read }
    if (gzipEnd.isMissing(answer.header('content-encoding'), read, last)) return { ok: false, failure: { kind: 'cut' } }
    return { ok: true, contentType: answer.header('content-type') ?? '', bytes: read }
  } catch (error) {
    if (signal.aborted) return { ok: false, failure: { kind: 'timeout' } }
    const failure = failureOf(error, begun !== undefined)
    if (failure.kind === 'cut' && begun) return { ok: false, failure: twoLengths(begun) ?? failure }
    return { ok: false, failure: await withTls(url, failure, { signal, dispatcher: options.dispatcher }) }
  }
}

/** A body that has two lengths ends where it should by neither, though all of it came. https://www.rfc-editor.org/rfc/rfc9112#section-6.3 */
function twoLengths({ header }: Answered): Failure | undefined {
  const length = header('content-length')
  if (length?.includes(',')) return { kind: 'not-http', detail: 'Content-Length stands twice' }
  return length !== null && header('transfer-encoding') !== null
    ? { kind: 'not-http', detail: 'Content-Length beside Transfer-Encoding' }
    : undefined
}

/**
 * `fetch` as it is at the moment of the call, through a dispatcher. Redirects are left to the caller.
 * The only cast: the types of Node's own undici and of the package differ.
 */
export function send(url: string, init: Omit<RequestInit, 'dispatcher'> & { dispatcher: unknown }): Promise<Response> {
  return globalThis.fetch(url, { redirect: 'manual', ...init } as RequestInit)
}

/** The answer at the end of a few redirects within the origin, which keep the request's headers, and its address. */
async function follow(start: string, asking: Asking): Promise<{ answer: Answered; at: string } | Failure> {
  let url = new URL(start)
  for (let hops = 0; ; hops++) {
    const answer = await request(url.href, asking)
    const { status } = answer
    const location = answer.header('location')
    if (status < 300 || status > 399 || status === 304 || location === null) return { answer, at: url.href }
    answer.discard()
    const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
    if (next?.origin !== url.origin) {
      const detail = next === undefined ? undefined : mask(next.origin + next.pathname, secretsOf(asking.headers))
      return defined({ kind: 'redirected' as const, status, detail })
    }
    if (hops === MAX_HOPS) return { kind: 'redirect-loop', status }
    url = next
  }
}

async function refusal(answer: Answered, headers: Record<string, string>, proxy: string | undefined): Promise<Failure> {
  const { status } = answer
  const detail = toWords(await openingOf(() => answer.body()), secretsOf(headers))
  answer.discard()
  const tls = proxy === undefined ? tlsRefusal(status, detail) : undefined
  if (tls !== undefined) return tls
  if (proxy !== undefined && isGateway(status))
    return { kind: 'proxy', status, detail: [proxy, detail].filter(Boolean).join(': ') }
  const kind: Failure['kind'] =
    status === 401 || status === 403 ? 'not-authorised' : status === 404 ? 'not-found' : 'http'
  return defined({ kind, status, detail })
}

function secretsOf(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (/authorization|key|token/i.test(name) ? [value] : []))
}

/** Reads to the end. @returns the number of decoded bytes, or why they are of no use. @throws what the stream throws. */
async function readBody(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  onChunk: (chunk: Uint8Array) => void,
): Promise<number | Failure> {
  let bytes = 0
  let opening = ''
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) return { kind: 'too-large' }
    if (opening.length < LONGEST_MAGIC) opening += Buffer.from(chunk.subarray(0, LONGEST_MAGIC)).toString('latin1')
    if (MAGICS.some((magic) => opening.startsWith(magic))) return { kind: 'compressed' }
    onChunk(chunk)
  }
  return bytes
}

/**
 * How gzip, compress, zstd and deflate (by its level) begin; text never does. fetch decodes what is declared, so
 * bytes that still begin this way were not declared.
 */
const MAGICS = ['\x1f\x8b', '\x1f\x9d', '\x28\xb5\x2f\xfd', 'x\x01', 'x\x5e', 'x\x9c', 'x\xda']
const LONGEST_MAGIC = 4
