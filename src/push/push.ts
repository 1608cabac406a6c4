import type { ChannelConfig } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Push } from './channel.ts'
import { type PushOutcome, pushTo, type SendOptions } from './push-to.ts'

export interface PushOptions extends SendOptions {
  /** It may have reached the channel in an earlier run: asking the fallback too then risks no more than it did. */
  maybeSent: boolean
  /** Epoch milliseconds: the channel, for this message, not to be asked before. The fallback may be. */
  firstAt?: number | undefined
  /** Asked once the channel could not take it: what the fallback is to be told instead; `undefined` where it is not concerned. */
  forFallback?(fallback: ChannelConfig): { push: Push; inForm: PushOptions['inForm'] } | undefined
}

/** Share of the time that the first server may use when there is a fallback. */
const FIRST_SHARE = 2 / 3

/** Sends one push, to a channel and, if that could not take it, to its fallback. Never throws. */
export async function push(what: Push, to: ChannelConfig, options: PushOptions): Promise<PushOutcome> {
  const { fallback } = to
  const now = options.io.now()
  const share = fallback === undefined ? 1 : FIRST_SHARE
  const deadline = now + (options.deadline - now) * share
  const first =
    options.firstAt !== undefined && options.firstAt > now
      ? leftAlone(options.firstAt - now, options.limits)
      : await pushTo(what, to, 'first', { ...options, deadline })
  if (!fallback || first.kind === 'delivered' || (first.kind === 'unanswered' && !options.maybeSent)) return first
  const instead = options.forFallback ? options.forFallback(fallback) : { push: what, ...options }
  if (instead === undefined) return first
  const asked = options.io.now()
  const second = await pushTo(instead.push, fallback, 'fallback', { ...options, inForm: instead.inForm, limits: 0 })
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
  if (second.kind === 'delivered')
    return {
      ...facts,
      kind: 'delivered',
      by: 'fallback',
      ...defined({ thread: second.thread }),
      ...waits(first.retryAfter && first.retryAfter - passed),
    }
  const kinds = [first.kind, second.kind]
  const kind = (['unanswered', 'waiting'] as const).find((one) => kinds.includes(one)) ?? 'refused'
  return { ...facts, kind, ...waits(first.retryAfter && first.retryAfter - passed, second.retryAfter) }
}

/** One server that wants to be left alone does not keep the message from the other. */
function waits(first: number | undefined, second?: number): Partial<PushOutcome> {
  if (first === undefined) return {}
  return { firstAfter: first, ...(second === undefined ? {} : { retryAfter: Math.min(first, second) }) }
}
