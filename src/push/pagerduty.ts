import { createHash } from 'node:crypto'
import type { Notification } from '../model/notification.ts'
import { buttonsOf, type Channel, field, jsonRequest, type Push, under } from './channel.ts'
import { asItIs, fitEscaped, seen } from './text.ts'

/** https://developer.pagerduty.com/docs/events-api-v2/trigger-events/ */
const MOST_SUMMARY = 1_024
const MOST_KEY = 255
const MOST_SOURCE = 255

/** Its own incident is our incident: the key makes repeated events one. */
export const pagerduty: Channel = {
  together: 'incident',
  isRepeatable: true,
  write(push, to) {
    const [fact] = push.facts
    const url = under(to.url, '/v2/enqueue').href
    const event = { routing_key: to.token ?? '', dedup_key: keyOf(fact), client: 'Queuebell' }
    if (fact?.reason === 'resolved') return { request: jsonRequest(url, { ...event, event_action: 'resolve' }) }
    const request = jsonRequest(url, { ...event, event_action: 'trigger', ...payloadOf(push, fact) })
    // What is over already, was a test or tells of a silence is not left open for a person to close.
    const isPast = fact?.reason === 'late' || fact?.rule === 'test' || fact?.rule === 'silence'
    return isPast ? { request, after: [jsonRequest(url, { ...event, event_action: 'resolve' })] } : { request }
  },
  judge({ status, json, text }, { variables }) {
    if (status !== 400 || !/routing.?key/i.test(JSON.stringify(field(json, 'errors') ?? text))) return undefined
    return {
      action: 'misconfigured',
      advice: `is ${variables.token} the integration key (32 characters) of an Events API v2?`,
    }
  },
  page: {
    address: '`pagerduty+https://events.pagerduty.com`',
    token: 'routing key (integration key of Events API v2)',
    limit: '1,024 characters of summary, the whole text in the details',
    thread: 'its incident is ours (`dedup_key`); the end resolves it',
    quiet: 'priority 9–10 → critical, 7–8 → error, 5–6 → warning, below → info',
  },
}

function keyOf(fact: Notification | undefined): string {
  const incident = fact?.incident ?? ''
  return incident.length <= MOST_KEY ? incident : createHash('sha256').update(incident).digest('hex')
}

function payloadOf({ message, functionName }: Push, fact: Notification | undefined): Record<string, unknown> {
  const { title, body, priority, picture } = message
  const links = buttonsOf(message).map(({ label, url }) => ({ href: url, text: label }))
  return {
    payload: {
      summary: fitEscaped(title || body, MOST_SUMMARY, asItIs, seen),
      source: fitEscaped(fact?.endpoint ?? functionName, MOST_SOURCE, asItIs, seen),
      severity: severityOf(priority),
      ...(fact && { timestamp: new Date(fact.at).toISOString(), class: fact.rule }),
      ...(fact?.subject !== undefined && { component: fact.subject }),
      group: functionName,
      custom_details: { message: body },
    },
    ...(links.length > 0 && { links }),
    // It takes no others.
    ...(picture?.startsWith('https:') && { images: [{ src: picture, alt: title }] }),
  }
}

export function severityOf(priority: number): 'critical' | 'error' | 'warning' | 'info' {
  if (priority >= 9) return 'critical'
  if (priority >= 7) return 'error'
  return priority >= 5 ? 'warning' : 'info'
}
