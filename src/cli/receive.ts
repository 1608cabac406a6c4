import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MOST_BODY } from '../heartbeats/beat.ts'
import type { BeatAnswer, BeatRequest } from '../heartbeats/receive.ts'
import { openReceiver } from '../heartbeats/receiver.ts'

export interface Serving {
  /** `http://127.0.0.1:8080`. */
  url: string
  port: number
  close(): Promise<void>
}

/** Bytes of a body that are read and thrown away before the connection is closed: a sender that is still sending never reads its 413. */
const MOST_DISCARDED = 2 * 1024 * 1024

/** Milliseconds. A beat is one small request: a sender that needs longer is not a worker and only holds a connection. */
const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}

/**
 * Where to listen: `8080` for this machine only, `0.0.0.0:8080` or `[::]:8080` so that workers elsewhere reach it.
 * @returns `undefined` when the text is neither.
 */
export function parseListen(text: string): { host: string; port: number } | undefined {
  const [, inBrackets, bare, port] = /^(?:(?:\[([\da-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) return undefined
  return { host: inBrackets ?? bare ?? '127.0.0.1', port: Number(port) }
}

/**
 * The receiver as an HTTP server, for a laptop, a container or a small machine:
 * `invoke heartbeat-receive --serve 8080`.
 * @param port 0 takes a free one.
 * @param options.host the address to listen on; by default this machine only.
 * @param options.limits how long a request may take.
 * @throws {ConfigError} before it listens. @throws when the port is taken.
 */
export async function serve(
  port: number,
  env: Readonly<Record<string, string | undefined>>,
  options: { host?: string; limits?: Partial<typeof LIMITS> } = {},
): Promise<Serving> {
  const host = options.host ?? '127.0.0.1'
  const receiver = openReceiver(env, { lambda: false })
  const server = createServer({ ...LIMITS, ...options.limits }, (request, response) => {
    answer(request, response, receiver).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    port: address.port,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  receiver: (request: BeatRequest) => Promise<BeatAnswer>,
): Promise<void> {
  const [path = '/', ...query] = (request.url ?? '/').split('?')
  const { text, tooLarge } = await readBody(request)
  const { authorization } = request.headers
  const { status, headers, body } = await receiver({
    method: request.method ?? 'GET',
    path,
    query: new URLSearchParams(query.join('?')),
    headers: { authorization },
    body: text,
    bodyTooLarge: tooLarge,
  })
  // The rest of a body that was not read to its end would be taken for the next request.
  response.writeHead(status, { ...headers, ...(request.complete ? {} : { connection: 'close' }) })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Keeps no more than a beat may have, whatever is sent. */
async function readBody(request: IncomingMessage): Promise<{ text: string; tooLarge: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes <= MOST_BODY) chunks.push(chunk)
    if (bytes > MOST_DISCARDED) break
  }
  return bytes > MOST_BODY
    ? { text: '', tooLarge: true }
    : { text: Buffer.concat(chunks).toString('utf8'), tooLarge: false }
}
