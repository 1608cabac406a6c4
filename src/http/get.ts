import { setMaxListeners } from 'node:events'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import { mask } from '../log.ts'
import type { Failure } from '../model/failure.ts'
import { watchGzipEnd } from './gzip-end.ts'
import { failureOf, serverWords } from './network-failure.ts'
import { type Dispatching, unpaused } from './no-pause-dispatcher.ts'

export interface GetOptions {
  headers?: Record<string, string>
  /** Milliseconds over everything: name, connection, redirects, headers and body. */
  timeout: number
  /** The run's own end. */
  signal?: AbortSignal
  /** From {@link openDispatcher}. */
  dispatcher: unknown
  /** Decoded bytes; 16 MiB unless told. */
  maxBytes?: number
  /** Receives the decoded body piece by piece. What it received counts only if the answer is `ok`. */
  onChunk(chunk: Uint8Array): void
}

export type Got = { ok: true; contentType: string; headers: Headers; bytes: number } | { ok: false; failure: Failure }

const MAX_BYTES = 16 * 1024 * 1024
const MAX_HOPS = 5

/**
 * Gets a text page: one deadline over headers and body, a limit on its decoded size, redirects within the origin only.
 * Every failure is a result, never an exception, and shows nothing of the request's credentials.
 */
export async function get(url: string, options: GetOptions): Promise<Got> {
  const deadline = startDeadline(options.timeout, options.signal)
  const { signal } = deadline
  const headers = {
    accept: 'text/plain;version=0.0.4',
    'accept-encoding': 'identity',
    'user-agent': 'queuebell',
    ...options.headers,
  }
  const gzipEnd = watchGzipEnd(options.dispatcher)
  let last: number | undefined
  const onChunk = (chunk: Uint8Array) => {
    last = chunk.at(-1) ?? last
    options.onChunk(chunk)
  }
  let inBody = false
  try {
    const response = await follow(url, { headers, signal, dispatcher: gzipEnd.dispatcher })
    if ('kind' in response) return { ok: false, failure: response }
    if (!response.ok) return { ok: false, failure: await refusal(response, headers) }
    inBody = true
    const read = await readBody(response.body, options.maxBytes ?? MAX_BYTES, onChunk, signal)
    if (typeof read !== 'number') return { ok: false, failure: read }
    if (gzipEnd.isMissing(response.headers.get('content-encoding'), read, last))
      return { ok: false, failure: { kind: 'cut' } }
    const contentType = response.headers.get('content-type') ?? ''
    return { ok: true, contentType, headers: response.headers, bytes: read }
  } catch (error) {
    return { ok: false, failure: signal.aborted ? { kind: 'timeout' } : failureOf(error, inBody) }
  } finally {
    deadline.clear()
  }
}

const SETTINGS = {
  pipelining: 0,
  allowH2: false,
  // Our own deadline decides; these limits are coarse and a trickle defeats them.
  headersTimeout: 0,
  bodyTimeout: 0,
  // On the wire; the limit that is told counts decoded bytes.
  maxResponseSize: MAX_BYTES + 1024 * 1024,
}

const CONNECTING = {
  // Shorter than a try, so that an address that swallows packets is known as "never sent".
  timeout: 4_000,
  // Node gives each address 250 ms, less than a slow handshake takes. https://github.com/nodejs/node/issues/54359
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 1_000,
}

/**
 * The connections of one run. Closed at its end: a socket kept while the process is frozen is dead when it wakes.
 * Nothing is kept alive inside a run either, since a POST on a socket that the server is just closing is lost or doubled.
 * So each request has a client of its own: undici's Agent adds a pool an origin, and each pool 16 KB of empty queue.
 */
export function openDispatcher(): { dispatcher: unknown; close(): Promise<void> } {
  let connect: ReturnType<typeof buildConnector> | undefined
  const clients = new Set<Client>()
  const oneByOne: Dispatching = {
    dispatch(options, handler) {
      connect ??= buildConnector(CONNECTING)
      const client = new Client(options.origin, { ...SETTINGS, connect })
      clients.add(client)
      const dispatched = (client as unknown as Dispatching).dispatch(options, handler)
      // It takes no other request, and is gone when it has answered this one.
      void client.close().then(() => clients.delete(client))
      return dispatched
    },
  }
  const close = async () => void (await Promise.all([...clients].map((client) => client.destroy())))
  return { dispatcher: unpaused(oneByOne), close }
}

/**
 * `fetch` as it is at the moment of the call, through a dispatcher. Redirects are left to the caller.
 * The cast is here alone: the types of Node's own undici and of the package differ.
 */
export function send(url: string, init: Omit<RequestInit, 'dispatcher'> & { dispatcher: unknown }): Promise<Response> {
  return globalThis.fetch(url, { redirect: 'manual', ...init } as RequestInit)
}

/** The end of a request: after some milliseconds, or with the signal of something larger. */
export interface Deadline {
  signal: AbortSignal
  /** To be called when the request is over, whatever came of it. */
  clear(): void
}

/**
 * Aborts with a TimeoutError after `ms`, or when `outer` aborts.
 *
 * Not `AbortSignal.any([AbortSignal.timeout(ms), outer])`: the collector may take the combined signal while a request
 * waits for it, and then the deadline never comes. https://github.com/nodejs/node/issues/57736
 */
export function startDeadline(ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController()
  const late = () => controller.abort(new DOMException('The time for this request is over', 'TimeoutError'))
  const timer = setTimeout(late, Math.max(0, ms))
  if (outer !== undefined) {
    // The end of one run is waited for by all of its requests.
    setMaxListeners(0, outer)
    outer.addEventListener('abort', late)
    if (outer.aborted) late()
  }
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', late)
    },
  }
}

/** Lets go of a body that nobody reads, so that its socket is freed. Not awaited: a copied body waits for its other half. */
export function discard(body: ReadableStream | null): void {
  void body?.cancel().catch(() => {})
}

/** The answer at the end of a few redirects within the origin, which keep the request's headers. */
async function follow(
  start: string,
  init: { headers: Record<string, string>; signal: AbortSignal; dispatcher: unknown },
): Promise<Response | Failure> {
  let url = new URL(start)
  for (let hops = 0; ; hops++) {
    const response = await send(url.href, init)
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || response.status === 304 || location === null) return response
    discard(response.body)
    const next = URL.canParse(location, url.href) ? new URL(location, url.href) : undefined
    if (next?.origin !== url.origin) {
      const detail = next === undefined ? undefined : mask(next.origin + next.pathname, secretsOf(init.headers))
      return { kind: 'redirected', status: response.status, ...(detail === undefined ? {} : { detail }) }
    }
    if (hops === MAX_HOPS) return { kind: 'redirect-loop', status: response.status }
    url = next
  }
}

async function refusal(response: Response, headers: Record<string, string>): Promise<Failure> {
  const { status } = response
  const detail = await serverWords(response, secretsOf(headers))
  const kind = status === 401 || status === 403 ? 'not-authorised' : status === 404 ? 'not-found' : 'http'
  return { kind, status, ...(detail === undefined ? {} : { detail }) }
}

function secretsOf(headers: Record<string, string>): string[] {
  return Object.entries(headers).flatMap(([name, value]) => (/authorization|key|token/i.test(name) ? [value] : []))
}

/** Reads to the end. @returns the number of decoded bytes, or why they are of no use. @throws what the stream throws. */
async function readBody(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  onChunk: (chunk: Uint8Array) => void,
  signal: AbortSignal,
): Promise<number | Failure> {
  if (body === null) return 0
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => {})
  // fetch rejects the read by itself, except where its decoder got stuck (plain text declared as gzip, one byte first).
  signal.addEventListener('abort', cancel)
  let bytes = 0
  let opening = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      signal.throwIfAborted()
      if (done) return bytes
      bytes += value.byteLength
      if (bytes > maxBytes) return { kind: 'too-large' }
      if (opening.length < LONGEST_MAGIC) opening += Buffer.from(value.subarray(0, LONGEST_MAGIC)).toString('latin1')
      if (MAGICS.some((magic) => opening.startsWith(magic))) return { kind: 'compressed' }
      onChunk(value)
    }
  } finally {
    signal.removeEventListener('abort', cancel)
    cancel()
  }
}

/**
 * How gzip, compress, zstd and deflate (by its level) begin; text never does. fetch decodes what is declared, so what
 * still begins so was not.
 */
const MAGICS = ['\x1f\x8b', '\x1f\x9d', '\x28\xb5\x2f\xfd', 'x\x01', 'x\x5e', 'x\x9c', 'x\xda']
const LONGEST_MAGIC = 4
