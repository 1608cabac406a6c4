import { answersFor, isGateway } from '../http/connections.ts'
import { startDeadline } from '../http/deadline.ts'
import { send } from '../http/get.ts'
import { failureOf, neverSent } from '../http/network-failure.ts'
import { tlsRefusal, withTls } from '../http/scheme.ts'
import { opening, toWords } from '../http/server-words.ts'
import { mask } from '../log.ts'
import type { ChannelConfig } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import type { Action, Answer, Judgement, PushRequest } from './channel.ts'
import { CHANNELS } from './services.ts'
import { type Stranger, strangerIn } from './stranger.ts'

/** An alert is not held back longer, whatever the server asks. */
const LONGEST_WAIT_MS = 60 * 60_000

/** Decides by the status, or by why there was none: what holds for every service. */
export function classify(answer: number | Failure): Judgement['action'] {
  if (typeof answer !== 'number') {
    if (answer.code === 'BAD_PORT' || answer.code === 'INVALID_REQUEST') return 'misconfigured'
    return neverSent(answer) ? 'again' : 'unanswered'
  }
  if (answer >= 200 && answer < 300) return 'delivered'
  if (answer === 408 || answer >= 500) return 'again'
  if (answer === 429) return 'limited'
  if (answer === 413) return 'shorter'
  return answer === 400 || answer === 422 ? 'bare' : 'misconfigured'
}

/** What came of one request. */
export interface Try {
  action: Action
  /** The status, or why there was none. */
  answer: number | Failure
  /** What answered in the server's place, although with 2xx. */
  stranger?: Stranger
  /** What to look at, where the service's own words say it. */
  advice?: string
  /** Nothing else that is sent with this token would be taken. */
  isTokenRefused?: boolean
  /** The server's own words or the network's code, masked. */
  reason?: string
  /** Milliseconds. */
  retryAfter?: number
  /** Of an answer that came whole. */
  body?: Answer
  /** Milliseconds. */
  took: number
}

export interface AttemptOptions {
  /** What may not be shown. */
  secrets: readonly string[]
  dispatcher: unknown
  /** Milliseconds. */
  timeout: number
  /** Epoch milliseconds: how long it took, and what a date in `Retry-After` means. */
  now(): number
}

/** Sends one request, once. Never throws. @param write makes the request; what it throws would show the token. */
export async function attempt(write: () => PushRequest, to: ChannelConfig, options: AttemptOptions): Promise<Try> {
  const started = options.now()
  const request = prepare(write)
  const tried = request === undefined ? UNUSABLE : await exchange(request, to, options)
  return { ...tried, took: options.now() - started }
}

/** More than any push server answers. Bytes. */
const MOST_ANSWER = 64 * 1024
/** The status is what counts: a body is not waited for longer. */
const PATIENCE_MS = 2_000

const OF: Record<Stranger, string> = {
  'web-page': 'a web page',
  failure: 'JSON with a failure',
  ntfy: 'an ntfy server',
}

const UNUSABLE: Omit<Try, 'took'> = {
  action: 'misconfigured',
  answer: { kind: 'other', code: 'INVALID_REQUEST' },
  reason: 'the address or the token cannot be sent: it holds characters or parts that HTTP forbids',
}

/** @returns `undefined` when no such request can be made. */
function prepare(write: () => PushRequest): PushRequest | undefined {
  try {
    const request = write()
    new Request(request.url, { headers: request.headers })
    return request
  } catch {
    return undefined
  }
}

async function exchange(
  { method, url, headers, body }: PushRequest,
  to: ChannelConfig,
  { timeout, dispatcher, secrets, now }: AttemptOptions,
): Promise<Omit<Try, 'took'>> {
  const deadline = startDeadline(timeout)
  const { signal } = deadline
  try {
    const response = await send(url, { method, headers, body, signal, dispatcher })
    const patience = Math.min(PATIENCE_MS, timeout / 2)
    const text = await opening(response.body, { most: MOST_ANSWER, patience })
    const tried = meaningOf(response, text, to)
    const words = redirection(response, secrets) ?? toWords(text, secrets)
    if (isGateway(response.status) && answersFor(url, dispatcher) !== undefined)
      return { action: 'again', answer: { kind: 'proxy', status: response.status }, ...defined({ reason: words }) }
    const tls = tlsRefusal(response.status, words)
    if (tls !== undefined) return { action: 'misconfigured', answer: tls, ...defined({ reason: words }) }
    const retryAfter = tried.retryAfter ?? retryAfterOf(response.headers, now())
    if (tried.action === 'delivered') return tried
    const reason = tried.stranger ? [`${OF[tried.stranger]} answered`, words].filter(Boolean).join(': ') : words
    return { ...tried, ...defined({ reason, retryAfter }) }
  } catch (error) {
    const answer: Failure = signal.aborted
      ? { kind: 'timeout' }
      : await withTls(url, failureOf(error, false), { signal, dispatcher })
    return { action: classify(answer), answer, reason: answer.code ?? answer.kind }
  } finally {
    deadline.clear()
  }
}

/** What the service itself makes of an answer; else its status, and of a 2xx whether it is such a service's. */
function meaningOf(response: Response, text: string, to: ChannelConfig): Omit<Try, 'took'> {
  const { status, headers } = response
  const body: Answer = { status, text, json: jsonOf(text) }
  const judged = CHANNELS[to.service].judge?.(body, to)
  if (judged) {
    const { action, advice, retryAfter, isTokenRefused } = judged
    const longest = retryAfter === undefined ? undefined : Math.min(retryAfter, LONGEST_WAIT_MS)
    return { action, answer: status, body, ...defined({ advice, retryAfter: longest, isTokenRefused }) }
  }
  const found = response.ok ? strangerIn(text, headers.get('content-type') ?? '') : undefined
  const stranger = found === 'ntfy' && to.service === 'ntfy' ? undefined : found
  return stranger
    ? { action: 'misconfigured', answer: status, body, stranger }
    : { action: classify(status), answer: status, body, isTokenRefused: status === 401 }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Where a redirect points, since that is usually the address that should have been configured. */
function redirection(response: Response, secrets: readonly string[]): string | undefined {
  const location = response.headers.get('location')
  if (response.status < 300 || response.status > 399 || location === null) return undefined
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
