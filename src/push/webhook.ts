import { createHmac } from 'node:crypto'
import type { Notification } from '../model/notification.ts'
import { type Channel, jsonRequest, type Push } from './channel.ts'

/**
 * A receiver of one's own: one notification a request as JSON, signed as Standard Webhooks say. Any body of a 2xx will do.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export const webhook: Channel = {
  together: 'incident',
  isRepeatable: true,
  write(push, to) {
    const [fact] = push.facts
    const id = headerOf(fact?.id ?? push.message.title)
    const timestamp = String(Math.floor(push.now / 1_000))
    const request = jsonRequest(to.url, bodyOf(push, fact), { 'webhook-id': id, 'webhook-timestamp': timestamp })
    if (to.token === undefined) return { request }
    const signature = signatureOf(to.token, `${id}.${timestamp}.${request.body}`)
    return { request: { ...request, headers: { ...request.headers, 'webhook-signature': signature } } }
  },
  judge: ({ status }) => (status >= 200 && status < 300 ? { action: 'delivered' } : undefined),
  page: {
    address: '`webhook+https://host/path`',
    token: 'signing secret of Standard Webhooks, `whsec_…`',
    limit: '–',
    thread: 'a request a notification; `incident` says what belongs together, `webhook-id` what is a repetition',
    quiet: 'priority 0–10 in the body',
  },
}

/** An id as a header may carry it, and without the full stop that parts what is signed. */
function headerOf(id: string): string {
  return id.replace(/[^\x21-\x2d\x2f-\x7e]/gu, (character) =>
    character === '.' ? '%2E' : encodeURIComponent(character),
  )
}

/** The key is base64 after `whsec_`; a secret of another form is its own bytes. */
function signatureOf(secret: string, content: string): string {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret, 'utf8')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

/** What a program wants to know, and the message as a person reads it. The context's numbers are as in `--json`. */
function bodyOf({ message, functionName, now }: Push, fact: Notification | undefined): Record<string, unknown> {
  const time = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString())
  return {
    type: `incident.${fact?.reason ?? 'test'}`,
    timestamp: new Date(now).toISOString(),
    data: {
      id: fact?.id,
      incident: fact?.incident,
      reason: fact?.reason ?? 'test',
      function: functionName,
      endpoint: fact?.endpoint,
      rule: fact?.rule,
      subject: fact?.subject,
      priority: message.priority,
      at: time(fact?.at),
      firedAt: time(fact?.firedAt),
      endedAt: time(fact?.endedAt),
      value: fact?.value,
      limit: fact?.limit,
      peak: fact?.peak,
      model: fact?.context?.model,
      signals: fact?.context?.numbers,
      verdict: fact?.context?.verdict?.kind,
      title: message.title,
      message: message.body,
      link: message.link,
      links: message.links,
      picture: message.picture,
    },
  }
}
