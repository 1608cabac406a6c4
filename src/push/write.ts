import { compose } from '../messages/compose.ts'
import { type ChannelConfig, type Config, functionName } from '../model/config.ts'
import type { Message } from '../model/message.ts'
import type { Notification } from '../model/notification.ts'
import { withPageLinks } from '../page/push-links.ts'

export const SHORT_BYTES = 1_024

/** A message that cannot be written, by a fault of ours, is told in bare words: it may not hold back itself and all others for ever. */
export function writeOrSay(
  facts: readonly Notification[],
  config: Config,
  channel: ChannelConfig | undefined,
  now: number,
  problem: (text: string) => void,
  maxBytes?: number,
): Message {
  try {
    return textOf(facts, config, channel, now, maxBytes)
  } catch (error) {
    problem(
      `a message could not be written (${error instanceof Error ? error.message : error}); its bare facts were sent`,
    )
    return bare(facts, 8)
  }
}

/**
 * Facts as a message in the language of a channel (of the printed one, where there is none), with what the page can do
 * about them, where there is one.
 */
export function textOf(
  facts: readonly Notification[],
  config: Config,
  channel: ChannelConfig | undefined,
  now: number,
  maxBytes?: number,
): Message {
  const language = channel?.language ?? config.language
  const message = compose(facts, language, {
    markdown: channel?.markdown ?? false,
    link: (name) => {
      const endpoint = config.endpoints.find((e) => e.name === name)
      return endpoint?.runbookUrl ?? endpoint?.dashboardUrl
    },
    now,
    timezone: config.timezone,
    ...(maxBytes === undefined ? {} : { maxBytes }),
  })
  const { page } = config
  return page ? withPageLinks(message, facts, page, { name: functionName(config), language, now }) : message
}

/** What is to be told in letters that no server can object to. */
export function bare(facts: readonly Notification[], priority: number): Message {
  const lines = facts.map(({ rule, endpoint, subject, reason, value, limit }) => {
    const number = value === undefined ? undefined : `${value}${limit === undefined ? '' : ` (limit ${limit})`}`
    return [endpoint, rule, subject, reason, number].filter(Boolean).join(', ')
  })
  const body = lines.join('\n').replace(/[^\n\x20-\x7e]/g, '?')
  return { title: 'Queuebell', body: body.slice(0, SHORT_BYTES), priority }
}
