import type { PushConfig, PushServer } from '../config/config.ts'
import type { IO } from '../io.ts'
import { createMask } from '../log.ts'
import { discard, send, withDeadline } from '../scrape/get.ts'
import { failureOf, neverSent, serverWords } from '../scrape/wire.ts'
import type { Failure } from '../state/failure.ts'
import type { Message } from './message.ts'
import { toRequest } from './notifly.ts'

export interface PushOptions {
  io: Pick<IO, 'now' | 'sleep' | 'log'>
  /** Epoch milliseconds: no try is started after it, and none lasts longer. */
  deadline: number
  /** From `openDispatcher`. */
  dispatcher: unknown
  /** It may have reached the first server in an earlier run: asking the fallback too then risks no more than it did. */
  maybeSent: boolean
  /** Ids of the notifications that the message tells, for the log. */
  about?: readonly string[]
  /** The same message in fewer words, asked for when the server finds it too large. */
  shorter(): Message
}

export interface PushOutcome {
  /**
   * `delivered`: a server took it. `waiting`: surely not taken, due again at the next run. `unanswered`: sent, and the
   * answer was lost; due again at the next run, perhaps as a repetition. `refused`: no server will ever take it.
   */
  kind: 'delivered' | 'waiting' | 'unanswered' | 'refused'
  /** A server's answer says that our configuration is wrong (401, 403, 404, 3xx): the run must end as a failure, even if the fallback delivered. */
  misconfigured: boolean
  /** Of the first server's last answer. */
  status?: number
  /** Its own words or the network's code, masked. */
  reason?: string
  /** Milliseconds for which the server asked to be left alone. */
  retryAfter?: number
  by?: 'first' | 'fallback'
}

const TRIES = 3
const PAUSES_MS = [1_000, 3_000]
const LONGEST_TRY_MS = 10_000
/** With less time than this, a try would only risk a lost answer. */
const SHORTEST_TRY_MS = 200
/** An alert is not held back longer, whatever the server asks. */
const LONGEST_WAIT_MS = 60 * 60_000
/** Share of the time that the first server may use when there is a fallback. */
const FIRST_SHARE = 2 / 3

/** Sends one message, to the first server and, if that could not take it, to the fallback. Never throws. */
export async function push(message: Message, config: PushConfig, options: PushOptions): Promise<PushOutcome> {
  const { fallback } = config
  if (fallback === undefined) return deliver(message, config, 'first', { ...options, config })
  const now = options.io.now()
  const deadline = now + (options.deadline - now) * FIRST_SHARE
  const first = await deliver(message, config, 'first', { ...options, config, deadline })
  if (first.kind === 'delivered' || (first.kind === 'unanswered' && !options.maybeSent)) return first
  const second = await deliver(message, fallback, 'fallback', { ...options, config })
  return join(first, second)
}

/** What is to be done after an answer or a failure. The one place that decides. */
export function classify(
  answer: number | Failure,
): 'delivered' | 'again' | 'unanswered' | 'misconfigured' | 'shorter' | 'refused' {
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

/** Both servers were asked: what counts for the message as a whole. */
function join(first: PushOutcome, second: PushOutcome): PushOutcome {
  const misconfigured = first.misconfigured || second.misconfigured
  if (second.kind === 'delivered') return { ...second, misconfigured }
  const kinds = [first.kind, second.kind]
  const kind = (['unanswered', 'waiting', 'refused'] as const).find((k) => kinds.includes(k)) ?? first.kind
  return { ...first, kind, misconfigured }
}

/** One server, up to three tries. */
async function deliver(
  message: Message,
  server: PushServer,
  by: 'first' | 'fallback',
  options: PushOptions & { config: PushConfig },
): Promise<PushOutcome> {
  const { io } = options
  let text = message
  let shortened = false
  let last: Try | undefined
  for (let tries = 1; tries <= TRIES; ) {
    const left = options.deadline - io.now()
    if (left < SHORTEST_TRY_MS) break
    last = await attempt(text, server, Math.min(LONGEST_TRY_MS, left), options)
    const action = classify(last.answer)
    report(action, last, { by, try: tries, title: text.title, server, io })
    if (action === 'shorter' && !shortened) {
      text = options.shorter()
      shortened = true
      continue
    }
    if (action !== 'again') return outcome(action === 'shorter' ? 'refused' : action, last, by)
    const pause = last.retryAfter ?? PAUSES_MS[tries - 1] ?? 0
    tries++
    if (tries > TRIES || io.now() + pause + SHORTEST_TRY_MS > options.deadline) break
    await io.sleep(pause)
  }
  if (last === undefined) return { kind: 'waiting', misconfigured: false, reason: 'no time was left in this run' }
  return outcome('again', last, by)
}

/** What came of one request. */
interface Try {
  answer: number | Failure
  reason?: string
  retryAfter?: number
  /** Milliseconds. */
  took: number
}

async function attempt(
  message: Message,
  server: PushServer,
  timeout: number,
  { io, config, dispatcher }: PushOptions & { config: PushConfig },
): Promise<Try> {
  const started = io.now()
  const took = () => io.now() - started
  const secrets = secretsOf(config)
  let request: ReturnType<typeof toRequest>
  try {
    request = toRequest(message, server, config.auth, config.markdown)
    new Request(request.url, { headers: request.headers })
  } catch {
    // The exception's own words would show the token or the address.
    const reason = 'the address or the token cannot be sent: it holds characters or parts that HTTP forbids'
    return { answer: { kind: 'other', code: 'INVALID_REQUEST' }, reason, took: took() }
  }
  const signal = withDeadline(timeout)
  try {
    const { url, headers, body } = request
    const response = await send(url, { method: 'POST', headers, body, signal, dispatcher })
    if (response.ok) {
      discard(response.body)
      return { answer: response.status, took: took() }
    }
    const reason = redirection(response, secrets) ?? (await serverWords(response, secrets))
    const retryAfter = retryAfterOf(response.headers, io.now())
    return {
      answer: response.status,
      ...(reason === undefined ? {} : { reason }),
      ...(retryAfter === undefined ? {} : { retryAfter }),
      took: took(),
    }
  } catch (error) {
    const answer: Failure = signal.aborted ? { kind: 'timeout' } : failureOf(error, false)
    return { answer, reason: answer.code ?? answer.kind, took: took() }
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
  return createMask(secrets)(`redirects to ${location.replace(/[?#].*$/s, '').slice(0, 150)}`)
}

/** `Retry-After` as seconds or as a date, the latter against the server's own clock where it tells it. @returns milliseconds. */
export function retryAfterOf(headers: Headers, now: number): number | undefined {
  const text = headers.get('retry-after')?.trim()
  if (!text) return undefined
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1_000, LONGEST_WAIT_MS)
  const until = Date.parse(text)
  if (Number.isNaN(until)) return undefined
  const serverNow = Date.parse(headers.get('date') ?? '')
  const wait = until - (Number.isNaN(serverNow) ? now : serverNow)
  return Math.min(Math.max(0, wait), LONGEST_WAIT_MS)
}

function outcome(
  action: Exclude<ReturnType<typeof classify>, 'shorter'>,
  { answer, reason, retryAfter }: Try,
  by: 'first' | 'fallback',
): PushOutcome {
  const facts = {
    misconfigured: action === 'misconfigured',
    ...(typeof answer === 'number' ? { status: answer } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(retryAfter === undefined ? {} : { retryAfter }),
  }
  switch (action) {
    case 'delivered':
      return { kind: 'delivered', ...facts, by }
    case 'again':
    case 'misconfigured':
      return { kind: 'waiting', ...facts }
    case 'unanswered':
    case 'refused':
      return { kind: action, ...facts }
    default:
      return action satisfies never
  }
}

/** One line a try: whom, with which result, never with the token or the whole address. */
function report(
  action: ReturnType<typeof classify>,
  { answer, reason, took }: Try,
  {
    by,
    title,
    server,
    io,
    ...facts
  }: { by: string; try: number; title: string; server: PushServer } & Pick<PushOptions, 'io'>,
): void {
  const fields = {
    server: by,
    host: URL.canParse(server.url) ? new URL(server.url).host : undefined,
    ...facts,
    ...(typeof answer === 'number' ? { status: answer } : { failure: answer.kind }),
    reason,
    took,
    title,
  }
  const [level, text] = TOLD[action]
  io.log[level](action === 'misconfigured' ? `${text}: ${advice(answer, by)}` : text, fields)
}

const TOLD = {
  delivered: ['info', 'push delivered'],
  again: ['warn', 'push not taken, to be tried again'],
  shorter: ['warn', 'push too large for the server'],
  unanswered: ['warn', 'push sent, but its answer was lost'],
  misconfigured: ['error', 'push not taken'],
  refused: ['error', 'push refused and dropped'],
} as const satisfies Record<ReturnType<typeof classify>, readonly ['info' | 'warn' | 'error', string]>

/** What to look at when the server's answer is about our configuration. */
function advice(answer: number | Failure, by: string): string {
  const variable = by === 'first' ? 'NOTIFLY' : 'NOTIFLY_FALLBACK'
  if (answer === 401 || answer === 403)
    return `is ${variable}_TOKEN still valid, and NOTIFLY_AUTH the right way to send it?`
  if (answer === 404) return `is ${variable}_URL the base address of the push server?`
  if (typeof answer === 'number')
    return `${variable}_URL redirects, and a redirected POST loses its body: set the address it points to`
  return `${variable}_URL or ${variable}_TOKEN cannot be used as it is`
}
