import type { PushConfig, PushServer } from '../model/config.ts'
import { defined } from '../model/defined.ts'
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
  /** Answers of 429 in a row, in runs before this one. */
  limits?: number | undefined
  /** The same message in fewer words, asked for when the server finds it too large. */
  shorter(): Message
  /** Its facts alone, asked for when the server refuses the message as it is. */
  bare(): Message
}

export interface PushOutcome {
  /**
   * `delivered`: a server took it. `waiting`: surely not taken, due again at the next run. `unanswered`: sent, and the
   * answer was lost; due again at the next run, perhaps as a repetition. `refused`: no server will ever take it, as bare
   * facts neither.
   */
  kind: 'delivered' | 'waiting' | 'unanswered' | 'refused'
  /** A server's answer says that our configuration is wrong (most of 4xx, 3xx, a web page): the run must end as a failure, even if the fallback delivered. */
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
  /** The first server's answers of 429 in a row, this one among them. */
  limits?: number
}

const TRIES = 3
const PAUSES_MS = [1_000, 3_000]
const LONGEST_TRY_MS = 10_000
/** With less time than this, a try would only risk a lost answer. */
const SHORTEST_TRY_MS = 200
/** Share of the time that the first server may use when there is a fallback. */
const FIRST_SHARE = 2 / 3
/** Between runs, while a server answers 429 without saying until when. */
const LIMITED_MINUTES = [1, 2, 5, 10] as const
/** A schedule is not exact to the second: a pause ends a little before the run that is meant. */
const EARLY_MS = 30_000

/** Sends one message, to the first server and, if that could not take it, to the fallback. Never throws. */
export async function push(message: Message, config: PushConfig, options: PushOptions): Promise<PushOutcome> {
  const { fallback } = config
  const now = options.io.now()
  const share = fallback === undefined ? 1 : FIRST_SHARE
  const deadline = now + (options.deadline - now) * share
  const first =
    options.firstAt !== undefined && options.firstAt > now
      ? leftAlone(options.firstAt - now, options.limits)
      : await pushTo(message, config, 'first', { ...options, config, deadline })
  if (fallback === undefined || first.kind === 'delivered' || (first.kind === 'unanswered' && !options.maybeSent))
    return first
  const asked = options.io.now()
  const second = await pushTo(message, fallback, 'fallback', { ...options, config, limits: 0 })
  return join(first, second, options.io.now() - asked)
}

function leftAlone(retryAfter: number, limits: number | undefined): PushOutcome {
  const reason = 'the push server asked to be left alone'
  return { kind: 'waiting', misconfigured: false, reason, retryAfter, ...defined({ limits }) }
}

/**
 * Both servers were asked: what counts for the message as a whole, with the facts of the one that needs looking at.
 * @param passed milliseconds that the second took.
 */
function join(first: PushOutcome, second: PushOutcome, passed: number): PushOutcome {
  const {
    kind: _,
    retryAfter: __,
    limits: ___,
    ...told
  } = second.misconfigured && !first.misconfigured ? second : first
  const facts = { ...told, ...defined({ limits: first.limits }) }
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

/** One server, up to three tries; a message that it refuses is sent again in other words, which is no try. Never throws. */
export async function pushTo(
  message: Message,
  server: PushServer,
  by: 'first' | 'fallback',
  options: PushOptions & { config: PushConfig },
): Promise<PushOutcome> {
  const { io, config, dispatcher, about, limits } = options
  const now = () => io.now()
  let form: Form = 'whole'
  let text = message
  let last: Try | undefined
  for (let tries = 1; tries <= TRIES; ) {
    const left = options.deadline - io.now()
    if (left < SHORTEST_TRY_MS) break
    last = await attempt(text, server, { config, dispatcher, timeout: Math.min(LONGEST_TRY_MS, left), now })
    const action = inForm(classify(last.answer, last.stranger), form)
    report(io.log, action, last, { server, by, try: tries, title: text.title, about })
    if (action === 'shorter' || action === 'bare') {
      form = action
      text = options[form]()
      continue
    }
    // What a server asks for in seconds is waited for; a limit without a time is not tested again in this run.
    if (action !== 'again' && !(action === 'limited' && last.retryAfter !== undefined))
      return outcome(action, last, by, limits)
    const pause = last.retryAfter ?? PAUSES_MS[tries - 1] ?? 0
    tries++
    if (tries > TRIES || io.now() + pause + SHORTEST_TRY_MS > options.deadline) break
    await io.sleep(pause)
  }
  if (last === undefined) return { kind: 'waiting', misconfigured: false, reason: 'no time was left in this run' }
  return outcome(classify(last.answer) === 'limited' ? 'limited' : 'again', last, by, limits)
}

/** How much of the message is sent: less each time that the message itself is refused. */
type Form = 'whole' | 'shorter' | 'bare'

function inForm(action: ReturnType<typeof classify>, form: Form): Action {
  if (action !== 'shorter' && action !== 'bare') return action
  if (form === 'bare') return 'refused'
  return action === 'shorter' && form === 'whole' ? 'shorter' : 'bare'
}

function outcome(
  action: Exclude<Action, 'shorter' | 'bare'>,
  { answer, stranger, reason, retryAfter }: Try,
  by: 'first' | 'fallback',
  limits = 0,
): PushOutcome {
  const facts = {
    misconfigured: action === 'misconfigured',
    ...defined({
      advice: action === 'misconfigured' ? advice(answer, by, stranger) : undefined,
      status: typeof answer === 'number' ? answer : undefined,
      reason,
    }),
  }
  switch (action) {
    case 'delivered':
      return { kind: 'delivered', ...facts, by }
    case 'limited':
      return { kind: 'waiting', ...facts, retryAfter: retryAfter ?? pauseOf(limits), limits: limits + 1 }
    case 'again':
      return { kind: 'waiting', ...facts, ...defined({ retryAfter }) }
    case 'misconfigured': // tried at each run, whatever the server asks, so that each fails until it is mended
      return { kind: 'waiting', ...facts }
    case 'unanswered':
    case 'refused':
      return { kind: action, ...facts }
    default:
      return action satisfies never
  }
}

/** @param limits answers of 429 in a row before this one. */
function pauseOf(limits: number): number {
  const minutes = LIMITED_MINUTES[Math.min(limits, LIMITED_MINUTES.length - 1)] ?? 1
  return minutes * 60_000 - EARLY_MS
}
