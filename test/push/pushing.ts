import type { ChannelConfig, Service } from '../../src/model/config.ts'
import type { Message } from '../../src/model/message.ts'
import type { Notification, Reason } from '../../src/model/notification.ts'
import type { Push } from '../../src/push/channel.ts'

export const AT = Date.UTC(2026, 10, 30, 12)

/** A channel as the configuration would give it, called as its service. */
export function channelAt(service: Service, url: string, more: Partial<ChannelConfig> = {}): ChannelConfig {
  const variable = `PUSH_${service.toUpperCase()}`
  return {
    name: service,
    service,
    url,
    token: undefined,
    variables: { url: variable, token: `${variable}_TOKEN` },
    language: 'en',
    minPriority: 0,
    fallback: undefined,
    auth: 'bearer',
    markdown: false,
    ...more,
  }
}

/** A fact of one incident of `chat/a`. */
export function factOf(reason: Reason, more: Partial<Notification> = {}): Notification {
  const incident = more.incident ?? `chat/a|waiting|@${AT}`
  const at = more.at ?? AT
  return {
    id: `${incident}/${reason}/${at}`,
    incident,
    reason,
    rule: 'waiting',
    endpoint: 'chat/a',
    priority: 8,
    at,
    firedAt: AT,
    value: 42,
    limit: 20,
    ...(reason === 'resolved' ? { endedAt: at } : {}),
    ...more,
  }
}

/** A push of a message, of the beginning of one incident unless others are told. */
export function pushOf(message: Message, more: Partial<Push> = {}): Push {
  return {
    message,
    facts: [factOf('fired')],
    tell: () => message,
    threadOf: () => undefined,
    functionName: 'vllm',
    interval: 60_000,
    now: AT,
    ...more,
  }
}
