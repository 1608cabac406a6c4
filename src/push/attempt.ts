import { discard } from '../http/body.ts'
import { startDeadline } from '../http/deadline.ts'
import { send } from '../http/get.ts'
import { failureOf, neverSent } from '../http/network-failure.ts'
import { serverWords } from '../http/server-words.ts'
import { mask } from '../log.ts'
import type { PushConfig, PushServer } from '../model/config.ts'
import type { Failure } from '../model/failure.ts'
import type { Message } from '../model/message.ts'
import { type PushRequest, toRequest } from './notifly.ts'

/** An alert is not held back longer, whatever the server asks. */
const LONGEST_WAIT_MS = 60 * 60_000

/** What is to be done after a try. */
export type Action = 'delivered' | 'again' | 'unanswered' | 'misconfigured' | 'shorter' | 'refused'

/** Decides by the status, or by why there was none. The one place that does. */
export function classify(answer: number | Failure): Action {
  if (typeof answer !== 'number') {
    if (answer.code === 'BAD_PORT' || answer.code === 'INVALID_REQUEST') return 'misconfigured'
    return neverSent(answer) ? 'again' : 'unanswered'
  }
  if (answer >= 200 && answer < 300) return 'delivered'
  if (answer >= 300 && answer < 400) return 'misconfigured'
  if (answer === 401 || answer === 403 || answer === 404) return 'misconfigured'
  if (answer === 408 || answer === 429 || answer >= 500) return 'again'
  return answer === 413 ? 'shorter' : 'refused'
}

/** What came of one request. */
export interface Try {
  /** The status, or why there was none. */
  answer: number | Failure
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
      discard(response.body)
      return { answer }
    }
    const reason = redirection(response, secrets) ?? (await serverWords(response, secrets))
    const retryAfter = retryAfterOf(response.headers, now())
    return {
      answer,
      ...(reason === undefined ? {} : { reason }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
    }
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
