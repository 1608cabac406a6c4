import type { ChannelConfig } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import {
  buttonsOf,
  type Channel,
  earlierOf,
  field,
  isHeard,
  jsonRequest,
  type Push,
  type PushRequest,
  threadWith,
} from './channel.ts'
import { fitEscaped, sent } from './text.ts'

/** https://discord.com/developers/docs/resources/webhook#execute-webhook */
const MOST = 2_000
const MOST_TITLE = 256
const HEARD = 5
const SUPPRESS_EMBEDS = 1 << 2
const SUPPRESS_NOTIFICATIONS = 1 << 12
/** Messages of one incident that are brought up to date: the first, and those that said it became worse. */
const KEPT = 3

/** A webhook, whose address is the secret. A reminder and the end change the message; what is worse is a new one. */
export const discord: Channel = {
  together: 'message',
  write(push, to) {
    const content = contentOf(push)
    const anew = jsonRequest(addressOf(to, ''), { ...content, flags: content.flags | silenceOf(push) })
    const earlier = earlierOf(push)
    const [last, ...others] = [...earlier].reverse()
    if (last === undefined || isHeard(push)) return { request: anew }
    const change = (id: string): PushRequest => ({
      ...jsonRequest(addressOf(to, `/messages/${id}`), content),
      method: 'PATCH',
    })
    return { request: change(last), anew, after: others.map(change) }
  },
  judge({ status, json }, { variables }) {
    const code = field(json, 'code')
    const seconds = field(json, 'retry_after')
    if (status === 429)
      return { action: 'limited', ...(typeof seconds === 'number' && { retryAfter: Math.ceil(seconds * 1_000) }) }
    // A forum channel wants thread_id, and the like.
    if (
      status === 400 &&
      typeof code === 'number' &&
      ((code >= 220_000 && code < 221_000) || code === 10_003 || code === 50_083)
    )
      return { action: 'misconfigured', advice: `does ${variables.url} need thread_id=, or is its thread closed?` }
    return undefined
  },
  remember(answer, push, anew) {
    const id = field(answer.json, 'id')
    const earlier = anew ? [] : earlierOf(push)
    const own = typeof id === 'string' && !earlier.includes(id) ? [id] : []
    return threadWith([...earlier, ...own].slice(-KEPT), push)
  },
  page: {
    address:
      '`discord+https://discord.com/api/webhooks/<id>/<token>` (the whole address is a secret; `?thread_id=` for a thread)',
    token: '–',
    limit: '2,000 characters',
    thread: 'the message is changed; what is worse is a new one, so that it is heard',
    quiet: 'no sound below priority 5',
  },
}

/** `wait` makes Discord answer with the message and its id. */
function addressOf({ url }: ChannelConfig, path: string): string {
  const address = new URL(url)
  address.pathname = `${address.pathname.replace(/\/+$/, '')}${path}`
  if (path === '') address.searchParams.set('wait', 'true')
  return address.href
}

function contentOf({ message }: Push) {
  const title = message.title.trim() === '' ? '' : `**${fitEscaped(message.title, MOST_TITLE, marked, sent)}**\n`
  const link = linesOf(message)
  const room = MOST - title.length - link.length
  const { picture } = message
  return {
    content: `${title}${fitEscaped(message.body, room, marked, sent)}${link}`,
    allowed_mentions: { parse: [] },
    // Without it Discord shows previews of addresses in the text; with it, no picture either.
    flags: picture === undefined ? SUPPRESS_EMBEDS : 0,
    ...(picture !== undefined && { embeds: [{ image: { url: picture } }] }),
  }
}

/** Of a new message alone: a change makes no sound, and may set no other flag than that of embeds. */
function silenceOf({ message }: Push): number {
  return message.priority < HEARD ? SUPPRESS_NOTIFICATIONS : 0
}

/** Only webhooks of applications have buttons. In angle brackets no preview is made of it. */
function linesOf(message: Message): string {
  if (message.links === undefined) return message.link ? `\n<${message.link}>` : ''
  return buttonsOf(message)
    .map(({ label, url }) => `\n[${label}](<${url}>)`)
    .join('')
}

const marked = (character: string) => (/[\\*_~`|<>#[\]@]/.test(character) ? `\\${character}` : character)
