import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Serving {
  /** `http://127.0.0.1:8080`. */
  url: string
  port: number
  close(): Promise<void>
}

/** One request as a function URL gives it too. */
export interface Asked {
  method: string
  /** As requested, nothing decoded. */
  path: string
  query: URLSearchParams
  /** Names in small letters. */
  headers: Readonly<Record<string, string | undefined>>
  body: string
  bodyTooLarge: boolean
}

export interface Answered {
  status: number
  headers?: Record<string, string>
  body?: string | Buffer
}

/** Bytes of a body that are read and thrown away before the connection is closed: a sender that is still sending never reads its 413. */
const MOST_DISCARDED = 2 * 1024 * 1024

/** Milliseconds. What is asked here is small: who needs longer only holds a connection. */
export const LIMITS = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 1_000,
}

/**
 * Where to listen: `8080` for this machine alone, `0.0.0.0:8080` or `[::]:8080` so that others reach it.
 * @returns `undefined` when the text is neither.
 */
export function parseListen(text: string): { host: string; port: number } | undefined {
  const [, inBrackets, bare, port] = /^(?:(?:\[([\da-f:.]+)\]|([\w.-]+)):)?(\d{1,5})$/i.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535) return undefined
  return { host: inBrackets ?? bare ?? '127.0.0.1', port: Number(port) }
}

/**
 * A small HTTP server, for a laptop, a container or a small machine.
 * @param port 0 takes a free one.
 * @param options.host the address to listen on; this machine alone unless told.
 * @param options.mostBody bytes of a body that are kept.
 * @throws when the port is taken.
 */
export async function serveHttp(
  port: number,
  answer: (asked: Asked) => Promise<Answered>,
  options: { host?: string | undefined; mostBody: number; limits?: Partial<typeof LIMITS> | undefined },
): Promise<Serving> {
  const host = options.host ?? '127.0.0.1'
  const server = createServer({ ...LIMITS, ...options.limits }, (request, response) => {
    respond(request, response, answer, options.mostBody).catch(() => response.destroy())
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

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  answer: (asked: Asked) => Promise<Answered>,
  mostBody: number,
): Promise<void> {
  const [path = '/', ...query] = (request.url ?? '/').split('?')
  const { text, tooLarge } = await readBody(request, mostBody)
  const { status, headers, body } = await answer({
    method: request.method ?? 'GET',
    path,
    query: new URLSearchParams(query.join('?')),
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, value?.toString()])),
    body: text,
    bodyTooLarge: tooLarge,
  })
  // What is left of a body that was not read to its end would be taken for the next request.
  response.writeHead(status, { ...headers, ...(request.complete ? {} : { connection: 'close' }) })
  response.end(request.method === 'HEAD' ? undefined : body)
}

/** Keeps no more than is wanted, whatever is sent. */
async function readBody(request: IncomingMessage, most: number): Promise<{ text: string; tooLarge: boolean }> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength
    if (bytes <= most) chunks.push(chunk)
    if (bytes > MOST_DISCARDED) break
  }
  return bytes > most ? { text: '', tooLarge: true } : { text: Buffer.concat(chunks).toString('utf8'), tooLarge: false }
}
