import type { ChannelConfig } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import {
  buttonsOf,
  type Channel,
  earlierOf,
  field,
  type Judgement,
  jsonRequest,
  type Push,
  threadWith,
  under,
} from './channel.ts'
import { asEntity, fitEscaped, seen } from './text.ts'

/** Characters after entities were read. https://core.telegram.org/bots/api#sendmessage */
const MOST = 4_096
const MOST_TITLE = 256
/** Takes no room and parts no line. */
const WORD_JOINER = '\u2060'

/** What begins below this makes no sound. */
const HEARD = 5

/** A bot's message in a chat; what follows is a reply to it, because an edit tells nobody. */
export const telegram: Channel = {
  together: 'message',
  write(push, to) {
    const url = under(to.url, `/bot${to.token ?? ''}/sendMessage`).href
    const content = contentOf(push, to)
    const [first] = earlierOf(push)
    if (first === undefined) return { request: jsonRequest(url, content) }
    const reply = { message_id: Number(first), allow_sending_without_reply: true }
    return { request: jsonRequest(url, { ...content, reply_parameters: reply }), anew: jsonRequest(url, content) }
  },
  judge({ status, json, text }, to) {
    if (status >= 200 && status < 300 && field(json, 'ok') !== false) return undefined
    const seconds = field(json, 'parameters', 'retry_after')
    const code = Number(field(json, 'error_code') ?? status)
    if (code === 429) return { action: 'limited', ...(typeof seconds === 'number' && { retryAfter: seconds * 1_000 }) }
    if (code === 401 || code === 404)
      return {
        action: 'misconfigured',
        advice: `is ${to.variables.token} the bot's token, whole, as @BotFather gives it?`,
        isTokenRefused: true,
      }
    return code === 400 || code === 403 ? refusalOf(String(field(json, 'description') ?? text), to) : undefined
  },
  remember(answer, push, anew) {
    // Without the message that it should reply to, it stands for itself and begins the thread anew.
    const isReply = !anew && field(answer.json, 'result', 'reply_to_message') !== undefined
    const [first] = isReply ? earlierOf(push) : []
    const id = field(answer.json, 'result', 'message_id')
    const own = typeof id === 'number' ? [String(id)] : []
    return threadWith(first === undefined ? own : [first], push)
  },
  page: {
    address: '`telegram+https://api.telegram.org?chat=-100123&thread=7`',
    token: "the bot's token",
    limit: '4,096 characters',
    thread: 'replies to the first message',
    quiet: 'no sound below priority 5',
  },
}

/** Telegram names the chat's faults and the text's by the same status. */
function refusalOf(words: string, { variables }: ChannelConfig): Judgement {
  if (/too long/i.test(words)) return { action: 'shorter' }
  if (/parse entities|message text is empty|button_url|wrong http url|BUTTON/i.test(words)) return { action: 'bare' }
  if (/replied|reply message/i.test(words)) return { action: 'bare' }
  return {
    action: 'misconfigured',
    advice: `is chat= in ${variables.url} the right chat (and thread= its topic), and may the bot write there?`,
  }
}

function contentOf({ message }: Push, to: ChannelConfig): Record<string, unknown> {
  const query = new URL(to.url).searchParams
  const buttons = buttonsOf(message)
  const thread = query.get('thread')
  const title = message.title.trim() === '' ? '' : message.title
  const room = MOST - (title === '' ? 0 : Math.min(title.length, MOST_TITLE) + 1)
  const body = fitEscaped(message.body, room, unmentioned, shown)
  const heading = fitEscaped(title, MOST_TITLE, unmentioned, shown)
  return {
    chat_id: query.get('chat') ?? '',
    ...(thread !== null && { message_thread_id: Number(thread) }),
    text: heading === '' ? body : `<b>${heading}</b>\n${body}`,
    parse_mode: 'HTML',
    disable_notification: message.priority < HEARD,
    link_preview_options: previewOf(message),
    ...(buttons.length > 0 && {
      reply_markup: { inline_keyboard: buttons.map(({ label, url }) => [{ text: label, url }]) },
    }),
  }
}

/** In whatever parse mode, Telegram makes a mention of `@name`, which calls that member of the chat. */
const unmentioned = (character: string) => (character === '@' ? `@${WORD_JOINER}` : asEntity(character))
const shown = (character: string) => seen(character) + (character === '@' ? WORD_JOINER.length : 0)

/**
 * The picture as the message's preview: Telegram fetches it when the message is there. `sendPhoto` would wait for the
 * picture, fail with it, and cut the text at 1,024 characters.
 */
function previewOf({ picture }: Message): Record<string, unknown> {
  if (picture === undefined) return { is_disabled: true }
  return { url: picture, prefer_large_media: true, show_above_text: false }
}
