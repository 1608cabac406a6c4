import type { IncomingMessage, ServerResponse } from 'node:http'
import { serveOnLoopback } from './loopback.ts'

/** One push as it arrived. */
export interface Received {
  title: string
  message: string
  priority: number
  extras?: Record<string, unknown>
  /** Path and query as requested. */
  path: string
  headers: IncomingMessage['headers']
}

/**
 * What happens to a request instead of being taken.
 * `hang`: read, never answered. `lost`: taken, but the connection ends before the answer. `reset`: not taken, the connection ends.
 */
export type InboxFault =
  | { kind: 'status'; status: number; headers?: Record<string, string>; body?: string }
  | { kind: 'hang' }
  | { kind: 'lost' }
  | { kind: 'reset' }

export interface Inbox {
  /** Base URL for `NOTIFLY_URL`. */
  url: string
  /** Taken messages, oldest first. */
  received: readonly Received[]
  /** Requests so far, refused ones too. */
  attempts(): number
  /** The next `times` requests meet this fault; once, when it is not said. */
  meet(fault: InboxFault, times?: number): void
  /** Takes messages again, whatever faults were still to be met. */
  recover(): void
  close(): Promise<void>
}

/**
 * A push server on loopback that answers as Gotify and Notifly do. It asks for a token, and takes any.
 * @param port a free one, when it is not said. @param onTaken told of each push.
 */
export async function openInbox(port = 0, onTaken: (push: Received) => void = () => {}): Promise<Inbox> {
  const received: Received[] = []
  const faults: InboxFault[] = []
  let attempts = 0

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request)
    attempts += 1
    const fault = faults.shift()
    if (fault && fault.kind !== 'lost') return fail(fault, response)
    const refusal = refuse(request, text)
    if (refusal) return answer(response, refusal.status, { error: refusal.error, errorCode: refusal.status })
    const body = JSON.parse(text) as Pick<Received, 'title' | 'message' | 'priority' | 'extras'>
    const push = { ...body, path: request.url ?? '', headers: request.headers }
    received.push(push)
    onTaken(push)
    if (fault) return void response.destroy()
    answer(response, 200, { id: received.length, appid: 1, date: new Date(0).toISOString(), ...body })
  }

  const server = await serveOnLoopback((request, response) => {
    take(request, response).catch(() => response.destroy())
  }, port)
  return {
    url: server.url,
    received,
    attempts: () => attempts,
    meet(fault, times = 1) {
      for (let time = 0; time < times; time += 1) faults.push(fault)
    },
    recover() {
      faults.length = 0
    },
    close: server.close,
  }
}

function fail(fault: Exclude<InboxFault, { kind: 'lost' }>, response: ServerResponse): void {
  switch (fault.kind) {
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
      response.end(fault.body ?? JSON.stringify(fault.status < 300 ? {} : refusalOf(fault.status)))
      return
    case 'hang':
      return
    case 'reset':
      response.destroy()
      return
    default:
      fault satisfies never
  }
}

function refusalOf(status: number) {
  return { error: `asked to answer ${status}`, errorCode: status }
}

function refuse(request: IncomingMessage, text: string): { status: number; error: string } | undefined {
  const url = new URL(request.url ?? '/', 'http://inbox')
  if (request.method !== 'POST' || !url.pathname.endsWith('/message')) return { status: 404, error: 'page not found' }
  const { authorization, 'x-gotify-key': gotify, 'x-notifly-key': notifly } = request.headers
  if (!authorization?.startsWith('Bearer ') && !gotify && !notifly && !url.searchParams.has('token')) {
    return { status: 401, error: 'you need to provide a valid access token or user credentials to access this api' }
  }
  return isMessage(text) ? undefined : { status: 400, error: 'a message is JSON text with a body in "message"' }
}

function isMessage(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && 'message' in parsed && Boolean(parsed.message)
  } catch {
    return false
  }
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
