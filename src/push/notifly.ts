import type { PushAuth, PushServer } from '../model/config.ts'
import type { Message } from '../model/message.ts'

/** A push as the wire carries it: POST `body` to `url`. `url` and `headers` hold the token: neither is for the log. */
export interface PushRequest {
  url: string
  headers: Record<string, string>
  body: string
}

/** As much text as all servers of this kind take. */
const MOST_BYTES = 4_096
/** For a priority that is no number: loud enough to be seen. https://github.com/gotify/server/issues/907 */
const DEFAULT_PRIORITY = 5

/**
 * Writes a message for `POST <base>/message` of a Notifly- or Gotify-style server: the fields title, message,
 * priority and, where needed, extras; nothing else, because servers refuse fields of a wrong type.
 * https://gotify.net/docs/pushmsg, https://gotify.net/docs/msgextras
 * @param markdown the reader wants markdown; a message that says it is plain stays plain.
 */
export function toRequest(message: Message, server: PushServer, auth: PushAuth, markdown: boolean): PushRequest {
  const extras = toExtras(message, markdown)
  const body = {
    ...(message.title.trim() === '' ? {} : { title: message.title }),
    message: textOf(message),
    priority: toPriority(message.priority),
    ...(extras === undefined ? {} : { extras }),
  }
  return {
    url: messageUrl(server, auth),
    headers: {
      'content-type': 'application/json; charset=utf-8',
      accept: 'application/json',
      'user-agent': 'queuebell',
      ...authHeader(server.token, auth),
    },
    body: JSON.stringify(body),
  }
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
function messageUrl(server: PushServer, auth: PushAuth): string {
  const url = new URL(server.url)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/message`
  url.hash = ''
  if (auth === 'query' && server.token !== undefined) url.searchParams.set('token', server.token)
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
