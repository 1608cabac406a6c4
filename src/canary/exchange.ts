import { chunksOf } from '../http/body.ts'
import { send } from '../http/get.ts'
import { failureOf } from '../http/network-failure.ts'
import { withTls } from '../http/scheme.ts'
import { toWords } from '../http/server-words.ts'
import type { CanaryConfig, Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import type { CanaryMemory } from '../model/observation.ts'

/** Bytes of one canary's answer: a token and its frame are a few hundred; a longer body is something else. */
const MOST_BYTES = 1024 * 1024

/** What a canary is given beside its endpoint. */
export interface CanaryOptions {
  canary: CanaryConfig
  /** A stopwatch in milliseconds, from any beginning. */
  clock(): number
  /** Sent as `X-Request-Id`, so that the server's own logs show the canary. */
  requestId: string
  /** The canary's span where runs are traced; else one of its own. */
  traceparent?: string
  /** The run's time, epoch milliseconds. */
  now: number
  /** What is known of the canaries before. */
  memory?: CanaryMemory | undefined
  /** From `openDispatcher`: its own time-outs are off, so that our deadline decides. */
  dispatcher: unknown
  /** Ends the canary early: the run's own deadline. */
  signal?: AbortSignal
  /** Milliseconds left in the run: a load that cannot finish in them is not started, or every run would abort it again. */
  timeLeft?: number
}

/** The canary got no usable answer; carries why. */
export class CanaryFailed extends Error {
  override name = 'CanaryFailed'
  constructor(readonly failure: Failure) {
    super(failure.kind)
  }
}

interface Exchange {
  url: string
  /** JSON body; with one it is a POST, without a GET. */
  body?: unknown
  headers: Record<string, string>
  /** Ends the whole exchange, headers and body. */
  signal: AbortSignal
  dispatcher: unknown
}

/** The headers of every request of one canary. */
export function headersOf(
  endpoint: Endpoint,
  { requestId, traceparent }: Pick<CanaryOptions, 'requestId' | 'traceparent'>,
): Record<string, string> {
  return {
    'user-agent': 'queuebell',
    // A proxy that compresses a stream also gathers it, and the first token would wait for the last.
    'accept-encoding': 'identity',
    'x-request-id': requestId,
    ...defined({ authorization: endpoint.authorization, traceparent }),
  }
}

/**
 * Sends one request; redirects are not followed, since a redirected POST loses its body.
 * @throws {CanaryFailed} when no headers came.
 */
export async function exchange(request: Exchange): Promise<Response> {
  const { url, body, headers, signal, dispatcher } = request
  try {
    if (body === undefined) return await send(url, { headers, signal, dispatcher })
    return await send(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
      dispatcher,
    })
  } catch (error) {
    if (signal.aborted) throw new CanaryFailed({ kind: 'timeout' })
    throw new CanaryFailed(await withTls(url, failureOf(error, false), { signal, dispatcher }))
  }
}

/**
 * The lines of an answer as they come; chunks may end anywhere, also inside a character. CR, LF and CRLF end a line,
 * and so does the end of the body.
 * @throws {CanaryFailed} when the body is cut, late or too long.
 */
export async function* lines(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  let rest = ''
  let halfBreak = false
  for await (const text of textOf(response, signal)) {
    // A long line in many small chunks must not be searched from its beginning for each of them.
    if (!halfBreak && !/[\r\n]/.test(text)) {
      rest += text
      continue
    }
    // A CR at the very end may be half of a CRLF: it waits for the next chunk.
    const parts = (rest + text).split(/\r\n|\n|\r(?!$)/)
    rest = parts.pop() ?? ''
    halfBreak = rest.endsWith('\r')
    yield* parts
  }
  if (rest !== '') yield rest.replace(/\r$/, '')
}

/**
 * The whole text of an answer.
 * @throws {CanaryFailed} as {@link lines}.
 */
export async function wholeText(response: Response, signal: AbortSignal): Promise<string> {
  let whole = ''
  for await (const text of textOf(response, signal)) whole += text
  return whole
}

async function* textOf(response: Response, signal: AbortSignal): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let bytes = 0
  try {
    for await (const chunk of chunksOf(response.body, signal)) {
      bytes += chunk.byteLength
      if (bytes > MOST_BYTES) throw new CanaryFailed({ kind: 'too-large' })
      yield decoder.decode(chunk, { stream: true })
    }
  } catch (error) {
    if (error instanceof CanaryFailed) throw error
    throw new CanaryFailed(signal.aborted ? { kind: 'timeout' } : bodyFailure(error))
  }
  yield decoder.decode()
}

/** A body that breaks off without a code of the network is cut all the same. */
function bodyFailure(error: unknown): Failure {
  const failure = failureOf(error, true)
  return failure.kind === 'other' ? { ...failure, kind: 'cut' } : failure
}

/** The server's words for people: one line, without our credentials, which some servers repeat when they refuse them. */
export function wordsFrom(text: string, endpoint: Endpoint): string {
  return toWords(text.slice(0, 8_192), endpoint.authorization === undefined ? [] : [endpoint.authorization]) ?? ''
}
