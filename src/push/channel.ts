import type { ChannelConfig } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import type { Notification } from '../model/notification.ts'
import type { Thread } from '../state/schema.ts'

/** What one channel is to be told with one message. */
export interface Push {
  /** In the channel's language, not yet cut to its measure. */
  message: Message
  /** The newest fact of each incident that the message tells; never empty. */
  facts: readonly Notification[]
  /** One of them as a message of its own, for services that keep incidents apart. */
  tell(fact: Notification): Message
  /** What the channel remembers of an incident. */
  threadOf(incident: string): Thread | undefined
  /** `vllm`, or `vllm.2-of-8`. */
  functionName: string
  /** Milliseconds between runs, as far as known. */
  interval: number
  /** Epoch milliseconds. */
  now: number
}

/** As the wire carries it. `url` and `headers` may hold a secret: neither is for the log. */
export interface PushRequest {
  method: 'POST' | 'PATCH'
  url: string
  headers: Record<string, string>
  body: string
}

/** The requests of one push. */
export interface Parcel {
  request: PushRequest
  /** Sent before it, to change an earlier message. When the service refuses that, `anew` takes the place of `request`. */
  before?: PushRequest
  /** Where `request` goes on from an earlier message, what is sent instead when the service refuses that: it may have been deleted. */
  anew?: PushRequest
  /** Sent when it was taken; what comes of them changes nothing. */
  after?: readonly PushRequest[]
}

/** A complete answer. */
export interface Answer {
  status: number
  /** The beginning of the body, 64 KB at most. */
  text: string
  /** The body as JSON; `undefined` where it is none. */
  json: unknown
}

/**
 * What is to be done after a try. `misconfigured`: kept until we are put right. `limited`: once a run, at growing
 * pauses. `shorter` and `bare`: it is the message that was refused, for its size or otherwise.
 */
export type Action = 'delivered' | 'again' | 'limited' | 'unanswered' | 'misconfigured' | 'shorter' | 'bare' | 'refused'

/** What an answer means, where its status alone does not say it. */
export interface Judgement {
  action: Exclude<Action, 'refused'>
  /** What to look at. */
  advice?: string
  /** Milliseconds. */
  retryAfter?: number | undefined
  /** It is the token that was refused: nothing else that is sent with it would be taken. */
  isTokenRefused?: boolean
}

/** How one service is spoken to. Adding one: its file, its row in `services.ts`, its contract test. */
export interface Channel {
  /** Which notifications one push tells: those of one message, those of one incident, or all that are due. */
  together: 'message' | 'incident' | 'all'
  /** The service knows a repeated request by its id, so that a lost answer is no reason to wait or to say "possible duplicate". */
  isRepeatable?: true
  write(push: Push, to: ChannelConfig): Parcel
  /** @returns `undefined` where the status says it all, as it does for every service in the same way. */
  judge?(answer: Answer, to: ChannelConfig): Judgement | undefined
  /** What to remember of a push that was taken. @param anew it did not go on from the earlier message. */
  remember?(answer: Answer, push: Push, anew: boolean): Thread
  /** Of the table in `docs/push.md`; `token` is also what advice says is wanted. */
  page: { address: string; token: string; limit: string; thread: string; quiet: string }
}

/** Field by field into JSON that may be anything. */
export function field(json: unknown, ...names: string[]): unknown {
  let value = json
  for (const name of names) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<string, unknown>)[name]
  }
  return value
}

export function jsonRequest(url: string, body: unknown, headers: Record<string, string> = {}): PushRequest {
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      accept: 'application/json',
      'user-agent': 'queuebell',
      ...headers,
    },
    body: JSON.stringify(body),
  }
}

/** `Basic` for `user:password`, else `Bearer`. */
export function authorization(token: string | undefined): Record<string, string> {
  if (token === undefined) return {}
  const isPair = token.includes(':')
  const value = isPair ? `Basic ${Buffer.from(token, 'utf8').toString('base64')}` : `Bearer ${token}`
  return { authorization: value }
}

/** What a message opens, each with its words: first what can be done about it, then its own link by the name of its host. */
export function buttonsOf({ link, links = [] }: Message): { label: string; url: string }[] {
  const isThere = link === undefined || links.some(({ url }) => url === link)
  return isThere ? links : [...links, { label: new URL(link).host, url: link }]
}

/** A path after the one that is there, so that a reverse proxy's sub-path stays; the query goes. */
export function under(base: string, path: string): URL {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}${path}`
  url.search = ''
  url.hash = ''
  return url
}

/**
 * The earlier message that a push goes on from, as the service calls it, newest last: only where that message tells
 * these incidents, no more and no fewer. An update would else say of the others what does not hold.
 */
export function earlierOf({ facts, threadOf }: Push): string[] {
  const [first, ...others] = facts.map(({ incident }) => threadOf(incident))
  if (first?.id === undefined || (first.of ?? 1) !== facts.length) return []
  return others.every((thread) => thread?.id === first.id) ? first.id.split(' ') : []
}

/** A thread of these messages, newest last. */
export function threadWith(ids: readonly string[], { facts }: Push): Thread {
  return { ...(ids.length > 0 && { id: ids.join(' ') }), ...(facts.length > 1 && { of: facts.length }) }
}

/** It is to be heard; a reminder and an end may be quiet. */
export function isHeard({ facts }: Push): boolean {
  return facts.some(({ reason }) => reason === 'worse' || reason === 'fired')
}
