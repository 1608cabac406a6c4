import type { ChannelConfig } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import {
  authorization,
  buttonsOf,
  type Channel,
  earlierOf,
  field,
  isHeard,
  type Judgement,
  jsonRequest,
  threadWith,
  under,
} from './channel.ts'
import { asEntity, fitEscaped, joined, sent } from './text.ts'

/** https://api.slack.com/methods/chat.postMessage#truncating; what is longer is cut by Slack in the middle of a word. */
const MOST = 4_000
const MOST_LABEL = 75

/** An incoming webhook, whose address is the secret, or a bot (`…/api?channel=C123` with a token), which has threads. */
export const slack: Channel = {
  together: 'message',
  write(push, to) {
    const { message } = push
    const text = fitEscaped(joined(message), MOST, asEntity, sent) + (message.links ? '' : linkOf(message.link))
    // Entities are all that a plain text needs; `mrkdwn` would read the marks in a model's name.
    const attachments = attachmentsOf(message)
    const content = {
      text,
      mrkdwn: false,
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
      ...(attachments.length > 0 && { attachments }),
    }
    const channel = channelOf(to)
    if (channel === undefined) return { request: jsonRequest(to.url, content) }
    const call = (method: string, more: Record<string, unknown>) =>
      jsonRequest(under(to.url, `/${method}`).href, { channel, ...content, ...more }, authorization(to.token))
    const [first] = earlierOf(push)
    if (first === undefined) return { request: call('chat.postMessage', {}) }
    return {
      // What is over has nothing to press: an update without attachments would keep those that were there.
      before: call('chat.update', { ts: first, attachments }),
      request: call('chat.postMessage', { thread_ts: first, ...(isHeard(push) && { reply_broadcast: true }) }),
      anew: call('chat.postMessage', {}),
    }
  },
  judge({ status, json, text }, to) {
    if (channelOf(to) === undefined) return ofWebhook(status, text, to)
    if (status !== 200 || field(json, 'ok') === true) return undefined
    const error = field(json, 'error')
    return typeof error === 'string' ? ofBot(error, to) : undefined
  },
  remember(answer, push, anew) {
    const [first] = anew ? [] : earlierOf(push)
    const ts = field(answer.json, 'ts')
    return threadWith(first !== undefined ? [first] : typeof ts === 'string' ? [ts] : [], push)
  },
  page: {
    address:
      '`slack+https://hooks.slack.com/services/…` (the whole address is a secret), or `slack+https://slack.com/api?channel=C123`',
    token: "the bot's token, for the second form",
    limit: '4,000 characters',
    thread: 'with a bot a thread, and the first message is brought up to date; with a webhook a message each',
    quiet: 'the thread stays in the thread, but for what is worse',
  },
}

function channelOf({ url }: ChannelConfig): string | undefined {
  return new URL(url).searchParams.get('channel') ?? undefined
}

function linkOf(link: string | undefined): string {
  return link ? `\n${link.replace(/[&<>]/g, asEntity)}` : ''
}

/**
 * Buttons, and the picture. As attachments: Slack refuses a whole message for an image block that it cannot fetch at
 * once. https://api.slack.com/reference/messaging/attachments
 */
function attachmentsOf(message: Message): Record<string, unknown>[] {
  if (message.links === undefined) return []
  const elements = buttonsOf(message).map(({ label, url }) => ({
    type: 'button',
    text: { type: 'plain_text', text: label.slice(0, MOST_LABEL) },
    url,
  }))
  const { picture: image_url, title: fallback } = message
  return [
    { fallback, blocks: [{ type: 'actions', elements }] },
    ...(image_url === undefined ? [] : [{ fallback, image_url }]),
  ]
}

/** https://api.slack.com/messaging/webhooks#handling_errors */
function ofWebhook(status: number, text: string, { variables }: ChannelConfig): Judgement | undefined {
  if (status === 400 && /invalid_token|no_team|channel/i.test(text))
    return { action: 'misconfigured', advice: `is ${variables.url} still the whole address of the webhook?` }
  return undefined
}

/** https://api.slack.com/methods/chat.postMessage#errors: the status is 200 whatever came of it. */
function ofBot(error: string, { variables }: ChannelConfig): Judgement {
  if (/^(ratelimited|rate_limited|message_limit_exceeded)$/.test(error)) return { action: 'limited' }
  if (/^(internal_error|fatal_error|service_unavailable|request_timeout|team_added_to_org)$/.test(error))
    return { action: 'again' }
  if (/^msg_(too_long|blocks_too_long)$/.test(error)) return { action: 'shorter' }
  if (/^(no_text|invalid_blocks|invalid_arg|invalid_json|markdown_text)/.test(error)) return { action: 'bare' }
  if (/channel|is_archived|restricted|thread|message/.test(error))
    return { action: 'misconfigured', advice: `is channel= in ${variables.url} the channel's id, and the bot in it?` }
  const advice = `is ${variables.token} the bot's token (xoxb-…), with the scope chat:write?`
  return { action: 'misconfigured', advice, isTokenRefused: true }
}
