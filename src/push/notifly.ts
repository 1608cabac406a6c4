import type { ChannelConfig, PushAuth } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import { type Channel, jsonRequest, type PushRequest } from './channel.ts'

const PAGE = {
  token: 'app token',
  limit: '4,096 bytes',
  thread: 'a message each: the service changes none',
  quiet: 'priorities go as they are; the app decides which make a sound',
} as const

/** A Notifly or Gotify server: the same protocol. */
export const notifly: Channel = {
  together: 'message',
  write: ({ message }, to) => ({ request: toRequest(message, to) }),
  page: { ...PAGE, address: '`notifly+https://push.example.com`' },
}

export const gotify: Channel = { ...notifly, page: { ...PAGE, address: '`gotify+https://push.example.com/sub`' } }

/** As much text as all servers of this kind take. */
const MOST_BYTES = 4_096
/** For a priority that is no number: loud enough to be seen. https://github.com/gotify/server/issues/907 */
const DEFAULT_PRIORITY = 5

/**
 * Writes a message for `POST <base>/message` of a Notifly- or Gotify-style server: the fields title, message,
 * priority and, where needed, extras; nothing else, because servers refuse fields of a wrong type.
 * https://gotify.net/docs/pushmsg, https://gotify.net/docs/msgextras
 * Where the reader wants markdown, a message that says it is plain stays plain.
 */
export function toRequest(
  message: Message,
  to: Pick<ChannelConfig, 'url' | 'token' | 'auth' | 'markdown'>,
): PushRequest {
  const extras = toExtras(message, to.markdown)
  const body = {
    ...(message.title.trim() === '' ? {} : { title: message.title }),
    message: textOf(message),
    priority: toPriority(message.priority),
    ...(extras === undefined ? {} : { extras }),
  }
  return jsonRequest(messageUrl(to), body, authHeader(to.token, to.auth))
}

/** The servers require `message` and answer 400 when it is empty. */
function textOf(message: Message): string {
  if (message.body.trim() !== '') return [message.body, ...linesOf(message)].join('\n')
  return message.title.trim() === '' ? 'Queuebell' : message.title
}

/** These servers have no buttons: what a tap does not open stands in the text, where there is room. */
function linesOf({ body, link, links = [] }: Message): string[] {
  const lines = links.filter(({ url }) => url !== link).map(({ label, url }) => `${label}: ${url}`)
  return Buffer.byteLength([body, ...lines].join('\n')) <= MOST_BYTES ? lines : []
}

function toPriority(priority: number): number {
  return Number.isFinite(priority) ? Math.min(10, Math.max(0, Math.round(priority))) : DEFAULT_PRIORITY
}

function toExtras(message: Message, markdown: boolean): Record<string, unknown> | undefined {
  const shown = markdown && message.markdown !== false
  const shownByPhone = {
    ...(message.link ? { click: { url: message.link } } : {}),
    ...(message.picture ? { bigImageUrl: message.picture } : {}),
  }
  const extras = {
    ...(shown ? { 'client::display': { contentType: 'text/markdown' } } : {}),
    ...(Object.keys(shownByPhone).length > 0 ? { 'client::notification': shownByPhone } : {}),
  }
  return Object.keys(extras).length === 0 ? undefined : extras
}

/** Appends to the path that is there: `new URL('/message', base)` would drop a reverse proxy's sub-path, and `//message` is 404. */
function messageUrl({ url: base, token, auth }: Pick<ChannelConfig, 'url' | 'token' | 'auth'>): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/message`
  url.hash = ''
  if (auth === 'query' && token !== undefined) url.searchParams.set('token', token)
  return url.href
}

function authHeader(token: string | undefined, auth: PushAuth): Record<string, string> {
  if (token === undefined) return {}
  switch (auth) {
    case 'bearer':
      return { authorization: `Bearer ${token}` }
    case 'notifly':
      return { 'x-notifly-key': token }
    case 'gotify':
      return { 'x-gotify-key': token }
    case 'query':
      return {}
    default:
      return auth satisfies never
  }
}
