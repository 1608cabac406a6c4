import type { IncomingMessage, ServerResponse } from 'node:http'

/** A request as it came, for looking at afterwards. */
export interface Asked {
  method: string
  path: string
  headers: IncomingMessage['headers']
  /** Parsed JSON; an empty object where there was none. */
  body: Record<string, unknown>
}

/**
 * What happens to a generation instead of an answer.
 * `hang`: headers never come. `stall`: headers come, then nothing. `cut`: the connection ends in the middle.
 * `error`: an error inside the stream, with status 200. `unfinished`: the stream ends without its last part.
 * `parked`: comment lines only, one each `every` milliseconds of real time, as a gateway holds a request.
 */
export type CanaryFault =
  | { kind: 'status'; status: number; body?: string; headers?: Record<string, string> }
  | { kind: 'hang' | 'stall' | 'cut' | 'unfinished' }
  | { kind: 'error'; words: string }
  | { kind: 'parked'; every: number }

export async function readAsked(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: parse(Buffer.concat(chunks).toString('utf8')),
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export function answerJson(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

/**
 * Sends a stream in two pieces, broken in the middle of its first character that takes more than one byte, so that
 * whoever reads it has to put characters and lines together.
 */
export async function sendStream(
  response: ServerResponse,
  type: string,
  text: string,
  end: 'whole' | 'cut',
): Promise<void> {
  const bytes = Buffer.from(text)
  const wide = bytes.findIndex((byte) => byte >= 0x80)
  const half = wide === -1 ? Math.floor(bytes.length / 2) : wide + 1
  response.writeHead(200, { 'content-type': type })
  await new Promise((resolve) => response.write(bytes.subarray(0, half), resolve))
  if (end === 'cut') {
    response.destroy()
    return
  }
  // The next turn of the event loop, so that the pieces do not travel together.
  await new Promise((resolve) => setImmediate(resolve))
  response.end(bytes.subarray(half))
}

/** Sends a comment line again and again until the client has gone. */
export function park(response: ServerResponse, every: number): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const beat = () => response.write(': keep-alive\n\n')
  beat()
  const timer = setInterval(beat, every)
  response.once('close', () => clearInterval(timer))
}
