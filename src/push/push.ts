import type { PushConfig, PushServer } from '../model/config.ts'
import type { IO } from '../model/io.ts'
import type { Message } from '../model/message.ts'
import { type Action, attempt, classify, type Try } from './attempt.ts'
import { advice, report } from './report.ts'

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
  /** Epoch milliseconds: the first server asked, for this message, not to be asked before. The fallback may be. */
  firstAt?: number | undefined
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
  /** What to look at, where it is misconfigured. */
  advice?: string
  /** The first server's last answer; the fallback's where that one alone is misconfigured. */
  status?: number
  /** Its own words or the network's code, masked. */
  reason?: string
  /** Milliseconds for which no server wants to be asked. */
  retryAfter?: number
  /** Milliseconds for which the first server asked to be left alone, where the fallback did not. */
  firstAfter?: number
  by?: 'first' | 'fallback'
}

const TRIES = 3
const PAUSES_MS = [1_000, 3_000]
const LONGEST_TRY_MS = 10_000
/** With less time than this, a try would only risk a lost answer. */
const SHORTEST_TRY_MS = 200
/** Share of the time that the first server may use when there is a fallback. */
const FIRST_SHARE = 2 / 3

/** Sends one message, to the first server and, if that could not take it, to the fallback. Never throws. */
export async function push(message: Message, config: PushConfig, options: PushOptions): Promise<PushOutcome> {
  const { fallback } = config
  const now = options.io.now()
  const share = fallback === undefined ? 1 : FIRST_SHARE
  const deadline = now + (options.deadline - now) * share
  const first =
    options.firstAt !== undefined && options.firstAt > now
      ? leftAlone(options.firstAt - now)
      : await pushTo(message, config, 'first', { ...options, config, deadline })
  if (fallback === undefined || first.kind === 'delivered' || (first.kind === 'unanswered' && !options.maybeSent))
    return first
  const asked = options.io.now()
  const second = await pushTo(message, fallback, 'fallback', { ...options, config })
  return join(first, second, options.io.now() - asked)
}

function leftAlone(retryAfter: number): PushOutcome {
  return { kind: 'waiting', misconfigured: false, reason: 'the push server asked to be left alone', retryAfter }
}

/**
 * Both servers were asked: what counts for the message as a whole, with the facts of the one that needs looking at.
 * @param passed milliseconds that the second took.
 */
function join(first: PushOutcome, second: PushOutcome, passed: number): PushOutcome {
  const { kind: _, retryAfter: __, ...facts } = second.misconfigured && !first.misconfigured ? second : first
  if (second.kind === 'delivered') return { ...facts, kind: 'delivered', by: 'fallback' }
  const kinds = [first.kind, second.kind]
  const kind = (['unanswered', 'waiting'] as const).find((one) => kinds.includes(one)) ?? 'refused'
  return { ...facts, kind, ...waits(first.retryAfter && first.retryAfter - passed, second.retryAfter) }
}

/** One server that wants to be left alone does not keep the message from the other. */
function waits(first: number | undefined, second: number | undefined): Partial<PushOutcome> {
  if (first === undefined) return {}
  return { firstAfter: first, ...(second === undefined ? {} : { retryAfter: Math.min(first, second) }) }
}

/** One server, up to three tries. Never throws. */
export async function pushTo(
  message: Message,
  server: PushServer,
  by: 'first' | 'fallback',
  options: PushOptions & { config: PushConfig },
): Promise<PushOutcome> {
  const { io, config, dispatcher, about } = options
  const now = () => io.now()
  let text = message
  let shortened = false
  let last: Try | undefined
  for (let tries = 1; tries <= TRIES; ) {
    const left = options.deadline - io.now()
    if (left < SHORTEST_TRY_MS) break
    last = await attempt(text, server, { config, dispatcher, timeout: Math.min(LONGEST_TRY_MS, left), now })
    const action = classify(last.answer)
    report(io.log, action, last, { server, by, try: tries, title: text.title, about })
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

function outcome(
  action: Exclude<Action, 'shorter'>,
  { answer, reason, retryAfter }: Try,
  by: 'first' | 'fallback',
): PushOutcome {
  const facts = {
    misconfigured: action === 'misconfigured',
    ...(action === 'misconfigured' ? { advice: advice(answer, by) } : {}),
    ...(typeof answer === 'number' ? { status: answer } : {}),
    ...(reason === undefined ? {} : { reason }),
    // What we must mend is tried at each run, so that each fails until it is.
    ...(retryAfter === undefined || action !== 'again' ? {} : { retryAfter }),
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
