import type { ChannelConfig } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { IO } from '../model/io.ts'
import type { Thread } from '../state/schema.ts'
import { attempt, type Try } from './attempt.ts'
import { type Action, isHeard, type Parcel, type Push, type PushRequest } from './channel.ts'
import { adviceOf, isOurs, report } from './report.ts'
import { CHANNELS } from './services.ts'

export interface SendOptions {
  io: Pick<IO, 'now' | 'sleep' | 'log'>
  /** Epoch milliseconds: no try is started after it, and none lasts longer. */
  deadline: number
  /** From `openDispatcher`. */
  dispatcher: unknown
  /** What may not be shown, of whatever the server repeats. */
  secrets: readonly string[]
  /** Ids of the notifications that the message tells, for the log. */
  about?: readonly string[]
  /** Answers of 429 in a row, in runs before this one. */
  limits?: number | undefined
  /** The same in fewer words, for when the server finds it too large; its facts alone, for when it refuses it as it is. */
  inForm(form: 'shorter' | 'bare'): Push
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
  /** What to look at, where it is misconfigured or was never reached. */
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
  /** What to remember where it was delivered. */
  thread?: Thread
  /** The first server's answers of 429 in a row, this one among them. */
  limits?: number
}

const TRIES = 3
const PAUSES_MS = [1_000, 3_000]
const LONGEST_TRY_MS = 10_000
/** With less time than this, a try would only risk a lost answer. */
const SHORTEST_TRY_MS = 200
/** Between runs, while a server answers 429 without saying until when. */
const LIMITED_MINUTES = [1, 2, 5, 10] as const
/** A schedule is not exact to the second: a pause ends a little before the run that is meant. */
const EARLY_MS = 30_000

/** One channel, up to three tries; a message that it refuses is sent again in other words, which is no try. Never throws. */
export async function pushTo(
  what: Push,
  to: ChannelConfig,
  by: 'first' | 'fallback',
  options: SendOptions,
): Promise<PushOutcome> {
  const { io, about, limits } = options
  let form: Form = 'whole'
  let told = what
  let anew = false
  let last: Try | undefined
  for (let tries = 1; tries <= TRIES; ) {
    if (options.deadline - io.now() < SHORTEST_TRY_MS) break
    const sent = await sendParcel(told, to, anew, options)
    last = sent.tried
    const action: Action = sent.canRenew ? 'bare' : inForm(last.action, form, to)
    report(io.log, action, last, { to, by, try: tries, title: told.message.title, about })
    if (sent.canRenew) {
      anew = true // what it would have gone on from is gone: it becomes a message of its own
      continue
    }
    if (action === 'shorter' || action === 'bare') {
      form = action
      told = options.inForm(form)
      continue
    }
    if (action === 'delivered') return delivered(last, told, to, { by, anew: anew || sent.anew })
    // What a server asks for in seconds is waited for; a limit without a time is not tested again in this run.
    if (action !== 'again' && !(action === 'limited' && last.retryAfter !== undefined))
      return outcome(action, last, to, limits)
    const pause = last.retryAfter ?? PAUSES_MS[tries - 1] ?? 0
    tries++
    if (tries > TRIES || io.now() + pause + SHORTEST_TRY_MS > options.deadline) break
    await io.sleep(pause)
  }
  if (last === undefined) return { kind: 'waiting', misconfigured: false, reason: 'no time was left in this run' }
  return outcome(last.action === 'limited' ? 'limited' : 'again', last, to, limits)
}

/**
 * The requests of one push, in their order.
 * @param anew it is not to go on from an earlier message.
 * @returns `anew`: the earlier message was found gone before; `canRenew`: it can be sent as a message of its own instead.
 */
async function sendParcel(
  told: Push,
  to: ChannelConfig,
  anew: boolean,
  options: SendOptions,
): Promise<{ tried: Try; anew: boolean; canRenew: boolean }> {
  const { io, secrets, dispatcher, deadline } = options
  const write = () => CHANNELS[to.service].write(told, to)
  const parcel = safely(write)
  const ask = (request: () => PushRequest) => {
    const timeout = Math.min(LONGEST_TRY_MS, Math.max(SHORTEST_TRY_MS, deadline - io.now()))
    return attempt(request, to, { secrets, dispatcher, timeout, now: () => io.now() })
  }
  const before = anew ? undefined : parcel?.before
  const changed = before && (await ask(() => before))
  if (changed?.isTokenRefused) return { tried: changed, anew, canRenew: false }
  // Else the first message would say for good what held before; what is worse does not wait for that.
  if (changed && isPassing(changed.action) && !isHeard(told))
    return { tried: { ...changed, action: changed.action === 'limited' ? 'limited' : 'again' }, anew, canRenew: false }
  const renewed = anew || (changed !== undefined && isRefusal(changed.action))
  const tried = await ask(() => {
    const { request, anew: instead } = parcel ?? write()
    return renewed ? (instead ?? request) : request
  })
  const canRenew = !renewed && parcel?.anew !== undefined && !tried.isTokenRefused && isRefusal(tried.action)
  if (tried.action === 'delivered' && !renewed)
    for (const request of parcel?.after ?? []) await patiently(() => ask(() => request), options)
  return { tried, anew: renewed, canRenew }
}

/** What only follows is asked for a second time where the service wants to be asked later in this run. */
async function patiently(ask: () => Promise<Try>, { io, deadline }: SendOptions): Promise<void> {
  const { action, retryAfter = PAUSES_MS[0] ?? 0 } = await ask()
  if (!isPassing(action) || io.now() + retryAfter + SHORTEST_TRY_MS > deadline) return
  await io.sleep(retryAfter)
  await ask()
}

/** A message that cannot be written is found so where its request is made. */
function safely(write: () => Parcel): Parcel | undefined {
  try {
    return write()
  } catch {
    return undefined
  }
}

/** The service will not do this, now or later. */
function isRefusal(action: Action): boolean {
  return action === 'misconfigured' || action === 'bare'
}

/** The service would do this later; a change that is made twice is made once. */
function isPassing(action: Action): boolean {
  return action === 'again' || action === 'limited' || action === 'unanswered'
}

/** How much of the message is sent: less each time that the message itself is refused. */
type Form = 'whole' | 'shorter' | 'bare'

function inForm(action: Action, form: Form, to: ChannelConfig): Action {
  // What the service knows by its id may be sent again at once.
  if (action === 'unanswered' && CHANNELS[to.service].isRepeatable) return 'again'
  if (action !== 'shorter' && action !== 'bare') return action
  if (form === 'bare') return 'refused'
  return action === 'shorter' && form === 'whole' ? 'shorter' : 'bare'
}

function delivered(
  { answer, body }: Try,
  told: Push,
  to: ChannelConfig,
  { by, anew }: { by: 'first' | 'fallback'; anew: boolean },
): PushOutcome {
  const { remember } = CHANNELS[to.service]
  const thread = body && remember?.(body, told, anew)
  const status = typeof answer === 'number' ? answer : undefined
  return { kind: 'delivered', misconfigured: false, ...defined({ status, thread }), by }
}

function outcome(
  action: Exclude<Action, 'delivered' | 'shorter' | 'bare'>,
  tried: Try,
  to: ChannelConfig,
  limits = 0,
): PushOutcome {
  const { answer, reason, retryAfter } = tried
  const facts = {
    misconfigured: action === 'misconfigured',
    ...defined({
      advice: isOurs(action, tried) ? adviceOf(tried, to) : undefined,
      status: typeof answer === 'number' ? answer : undefined,
      reason,
    }),
  }
  switch (action) {
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
