import type { Transform } from 'node:stream'
import type { Dispatching } from './no-pause-dispatcher.ts'

export interface Asking {
  headers: Readonly<Record<string, string>>
  signal: AbortSignal
  /** From `openDispatcher`. */
  dispatcher: unknown
  /** Receives the body as it comes over the wire, before it is decoded. */
  onBytes?: (bytes: Uint8Array) => void
}

export interface Answered {
  status: number
  /** A header's values, joined by commas; `null` where it is not there. The name in small letters. */
  header(name: string): string | null
  /**
   * The decoded body as it arrives. Who stops early ends the connection.
   * @throws what the connection or the decoder throws, or the signal's reason once it has aborted.
   */
  body(): AsyncIterable<Uint8Array>
  /** The body is not wanted. */
  discard(): void
}

/**
 * One GET through undici alone: Node's own `fetch` is a second undici, which takes longer to load than the rest of a run.
 * Redirects are left to the caller. @throws what undici throws, or the signal's reason.
 */
export function request(address: string, { headers, signal, dispatcher, onBytes }: Asking): Promise<Answered> {
  const { origin, pathname, search, username, password } = new URL(address)
  if (username !== '' || password !== '')
    return Promise.reject(new TypeError('an address with a password is not asked'))
  return new Promise((resolve, reject) => {
    let controller: Controller | undefined
    const chunks = createQueue()
    const fail = (error: unknown) => {
      signal.removeEventListener('abort', onAbort)
      chunks.fail(error)
      reject(error)
    }
    const onAbort = () => {
      fail(signal.reason)
      controller?.abort(asError(signal.reason))
    }
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) return onAbort()
    const discard = () => {
      signal.removeEventListener('abort', onAbort)
      controller?.abort(new Error('no longer wanted'))
    }
    const handler: Handler = {
      onRequestStart(started) {
        controller = started
        if (signal.aborted) started.abort(asError(signal.reason))
      },
      onResponseStart(_, status, fields) {
        if (status < 200) return // 103 Early Hints
        const header = (name: string) => textOf(fields[name])
        resolve({ status, header, discard, body: () => decoded(chunks, header('content-encoding'), discard) })
      },
      onResponseData(_, chunk) {
        onBytes?.(chunk)
        chunks.push(chunk)
      },
      onResponseEnd() {
        signal.removeEventListener('abort', onAbort)
        chunks.end()
      },
      onResponseError: (_, error) => fail(error),
    }
    try {
      ;(dispatcher as Dispatching).dispatch(
        { origin, path: pathname + search, method: 'GET', headers } as never,
        handler,
      )
    } catch (error) {
      fail(error)
    }
  })
}

interface Controller {
  abort(reason: Error): void
}

/** https://undici.nodejs.org, Dispatcher.dispatch */
interface Handler {
  onRequestStart(controller: Controller): void
  onResponseStart(
    controller: Controller,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void
  onResponseData(controller: Controller, chunk: Uint8Array): void
  onResponseEnd(): void
  onResponseError(controller: Controller, error: unknown): void
}

function textOf(value: string | string[] | undefined): string | null {
  return value === undefined ? null : typeof value === 'string' ? value : value.join(', ')
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}

interface Queue extends AsyncIterable<Uint8Array> {
  push(chunk: Uint8Array): void
  end(): void
  fail(error: unknown): void
}

/** Chunks wait here for their reader: see `noPauseDispatcher`. */
function createQueue(): Queue {
  let chunks: Uint8Array[] = []
  let end: { error?: unknown } | undefined
  let wake = () => {}
  return {
    push(chunk) {
      chunks.push(chunk)
      wake()
    },
    end() {
      end ??= {}
      wake()
    },
    fail(error) {
      end ??= { error }
      wake()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        // What came before a failure is no page.
        if (end && 'error' in end) throw end.error
        const ready = chunks
        chunks = []
        yield* ready
        if (chunks.length > 0) continue
        if (end && !('error' in end)) return
        if (end) continue
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

async function* decoded(
  chunks: AsyncIterable<Uint8Array>,
  encoding: string | null,
  discard: () => void,
): AsyncGenerator<Uint8Array> {
  let isWhole = false
  try {
    const names = (encoding ?? '')
      .toLowerCase()
      .split(',')
      .map((name) => name.trim())
      .reverse() // the last was applied last
    const decoders = await decodersOf(names)
    if (decoders.length === 0) yield* chunks
    else yield* await through(chunks, decoders)
    isWhole = true
  } finally {
    if (!isWhole) discard()
  }
}

async function through(chunks: AsyncIterable<Uint8Array>, decoders: Transform[]): Promise<AsyncIterable<Uint8Array>> {
  const { pipeline, Readable } = await import('node:stream')
  const [last] = decoders.slice(-1) as [Transform]
  pipeline([Readable.from(chunks), ...decoders], () => {}) // an error reaches the reader of the last
  return last
}

/** As fetch decodes: what ends early is decoded as far as it came. None for a coding that is not known: the bytes stay as they are. */
async function decodersOf(codings: readonly string[]): Promise<Transform[]> {
  if (codings.every((coding) => coding === '' || coding === 'identity')) return []
  const zlib = await import('node:zlib')
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  const decoders: Transform[] = []
  for (const coding of codings) {
    if (coding === 'gzip' || coding === 'x-gzip')
      decoders.push(zlib.createGunzip({ flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH }))
    else if (coding === 'deflate') decoders.push(zlib.createInflate({ flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH }))
    else if (coding === 'br')
      decoders.push(zlib.createBrotliDecompress({ flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH }))
    else return []
  }
  return decoders
}
