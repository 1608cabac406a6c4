import { discard, send, startDeadline } from '../http/get.ts'
import { failureOf, neverSent, opening, serverWords, toWords } from '../http/network-failure.ts'
import { mask } from '../log.ts'
import type { PushConfig, PushServer } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import type { Message } from '../model/message.ts'
import { type PushRequest, toRequest } from './notifly.ts'
import { type Stranger, strangerIn } from './stranger.ts'

/** An alert is not held back longer, whatever the server asks. */
const LONGEST_WAIT_MS = 60 * 60_000

/**
 * What is to be done after a try. `misconfigured`: kept until we are put right. `limited`: once a run, at growing
 * pauses. `shorter` and `bare`: it is the message that was refused, for its size or otherwise.
 */
export type Action = 'delivered' | 'again' | 'limited' | 'unanswered' | 'misconfigured' | 'shorter' | 'bare' | 'refused'

/**
 * Decides by the status, or by why there was none. The one place that does.
 * @param stranger what the body of a 2xx shows.
 */
export function classify(answer: number | Failure, stranger?: Stranger): Exclude<Action, 'refused'> {
  if (typeof answer !== 'number') {
    if (answer.code === 'BAD_PORT' || answer.code === 'INVALID_REQUEST') return 'misconfigured'
    return neverSent(answer) ? 'again' : 'unanswered'
  }
  if (answer >= 200 && answer < 300) return stranger === undefined ? 'delivered' : 'misconfigured'
  if (answer === 408 || answer >= 500) return 'again'
  if (answer === 429) return 'limited'
  if (answer === 413) return 'shorter'
  return answer === 400 || answer === 422 ? 'bare' : 'misconfigured'
}

/** What came of one request. */
export interface Try {
  /** The status, or why there was none. */
  answer: number | Failure
  /** What answered in the server's place, although with 2xx. */
  stranger?: Stranger
  /** The server's own words or the network's code, masked. */
  reason?: string
  /** Milliseconds. */
  retryAfter?: number
  /** Milliseconds. */
  took: number
}

export interface AttemptOptions {
  config: PushConfig
  dispatcher: unknown
  /** Milliseconds. */
  timeout: number
  /** Epoch milliseconds: how long it took, and what a date in `Retry-After` means. */
  now(): number
}

/** Sends a message to one server, once. Never throws. */
export async function attempt(message: Message, server: PushServer, options: AttemptOptions): Promise<Try> {
  const { config, now } = options
  const started = now()
  const request = prepare(message, server, config)
  const tried =
    request === undefined
      ? { answer: { kind: 'other' as const, code: 'INVALID_REQUEST' }, reason: UNUSABLE }
      : await exchange(request, secretsOf(config), options)
  return { ...tried, took: now() - started }
}

/** More than any push server answers. Bytes. */
const MOST_ANSWER = 64 * 1024
/** The status says that it was taken: its body is not waited for longer. */
const PATIENCE_MS = 2_000

const OF: Record<Stranger, string> = {
  'web-page': 'a web page',
  failure: 'JSON with a failure',
  ntfy: 'an ntfy server',
}

const UNUSABLE = 'the address or the token cannot be sent: it holds characters or parts that HTTP forbids'

/** @returns `undefined` when no such request can be made; the exception's own words would show the token. */
function prepare(message: Message, server: PushServer, config: PushConfig): PushRequest | undefined {
  try {
    const request = toRequest(message, server, config.auth, config.markdown)
    new Request(request.url, { headers: request.headers })
    return request
  } catch {
    return undefined
  }
}

async function exchange(
  { url, headers, body }: PushRequest,
  secrets: readonly string[],
  { timeout, dispatcher, now }: AttemptOptions,
): Promise<Omit<Try, 'took'>> {
  const deadline = startDeadline(timeout)
  const { signal } = deadline
  try {
    const response = await send(url, { method: 'POST', headers, body, signal, dispatcher })
    const answer = response.status
    if (response.ok) {
      const text = await opening(response.body, { most: MOST_ANSWER, patience: Math.min(PATIENCE_MS, timeout / 2) })
      const stranger = strangerIn(text, response.headers.get('content-type') ?? '')
      if (stranger === undefined) return { answer }
      const words = toWords(text, secrets)
      return { answer, stranger, reason: words ? `${OF[stranger]} answered: ${words}` : `${OF[stranger]} answered` }
    }
    const reason = redirection(response, secrets) ?? (await serverWords(response, secrets))
    const retryAfter = retryAfterOf(response.headers, now())
    return { answer, ...defined({ reason, retryAfter }) }
  } catch (error) {
    const answer: Failure = signal.aborted ? { kind: 'timeout' } : failureOf(error, false)
    return { answer, reason: answer.code ?? answer.kind }
  } finally {
    deadline.clear()
  }
}

function secretsOf(config: PushConfig): string[] {
  return [config.token, config.fallback?.token].filter((token) => token !== undefined)
}

/** Where a redirect points, since that is usually the address that should have been configured. Its body is let go of. */
function redirection(response: Response, secrets: readonly string[]): string | undefined {
  const location = response.headers.get('location')
  if (response.status < 300 || response.status > 399 || location === null) return undefined
  discard(response.body)
  return mask(`redirects to ${location.replace(/[?#].*$/s, '').slice(0, 150)}`, secrets)
}

/** `Retry-After` as seconds or as a date, the latter against the server's own clock where it tells it. @returns milliseconds. */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (!text) return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_WAIT_MS)
  // `Date.parse` takes `1.5` and `5 seconds` for days of some year; a date of HTTP has a time of day.
  const until = text.includes(':') ? Date.parse(text) : Number.NaN
  if (Number.isNaN(until)) return undefined
  const serverNow = Date.parse(headers.get('date') ?? '')
  const wait = until - (Number.isNaN(serverNow) ? now : serverNow)
  return Math.min(Math.max(0, wait), LONGEST_WAIT_MS)
}
