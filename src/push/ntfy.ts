import { createHash } from 'node:crypto'
import type { Message } from '../model/message.ts'
import {
  authorization,
  buttonsOf,
  type Channel,
  earlierOf,
  field,
  jsonRequest,
  type Push,
  threadWith,
} from './channel.ts'
import { asItIs, bytes, fitEscaped } from './text.ts'

/** Longer becomes an attachment. https://docs.ntfy.sh/publish/#limitations */
const MOST_BYTES = 4_096
const MOST_TITLE_BYTES = 250
const MOST_ACTIONS = 3

/** https://docs.ntfy.sh/publish/#publish-as-json, https://docs.ntfy.sh/publish/#updating-deleting-notifications */
export const ntfy: Channel = {
  together: 'message',
  write(push, to) {
    const { message } = push
    const { server, topic } = placeOf(to.url)
    const body = {
      topic,
      title: fitEscaped(message.title, MOST_TITLE_BYTES, asItIs, bytes),
      message: fitEscaped(message.body, MOST_BYTES, asItIs, bytes),
      priority: priorityOf(message.priority),
      sequence_id: sequenceOf(push),
      ...(message.link && { click: message.link }),
      ...(message.links && { actions: actionsOf(message) }),
      // The phone fetches it: the message does not wait for it.
      ...(message.picture && { attach: message.picture, filename: 'chart.png' }),
    }
    return { request: jsonRequest(server, body, authorization(to.token)) }
  },
  judge({ status, json }, { variables }) {
    const code = field(json, 'code')
    // A topic name that is none, one that is reserved, and the like: https://github.com/binwiederhier/ntfy/blob/main/server/errors.go
    if (status === 400 && (code === 40009 || code === 40010))
      return { action: 'misconfigured', advice: `is the end of ${variables.url} a topic?` }
    return undefined
  },
  remember: (_answer, push) => threadWith([sequenceOf(push)], push),
  page: {
    address: '`ntfy+https://ntfy.sh/topic`',
    token: 'access token, or `user:password`',
    limit: '4,096 bytes',
    thread: 'the same `sequence_id`: the phone shows one notification, brought up to date',
    quiet: 'priority 9–10 → 5, 7–8 → 4, 4–6 → 3, 2–3 → 2, 0–1 → 1',
  },
}

/** https://docs.ntfy.sh/publish/#action-buttons: the app itself sends what is pressed. */
function actionsOf(message: Message): Record<string, unknown>[] {
  const { press } = message
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const once = press && {
    action: 'http',
    label: press.label,
    url: press.url,
    method: 'POST',
    headers: form,
    body: press.body,
  }
  const opened = buttonsOf(message).map(({ label, url }) => ({ action: 'view', label, url }))
  return [...(once ? [once] : []), ...opened].slice(0, MOST_ACTIONS)
}

/** The topic is the last part of the path; JSON is posted to what comes before it. */
function placeOf(address: string): { server: string; topic: string } {
  const url = new URL(address)
  const parts = url.pathname.split('/').filter((part) => part !== '')
  const topic = parts.pop() ?? ''
  url.pathname = `/${parts.join('/')}`
  url.search = ''
  return { server: url.href, topic }
}

/** That of the earlier message, else one made of what is told now: a repeated try has the same. */
function sequenceOf(push: Push): string {
  const [earlier] = earlierOf(push)
  if (earlier !== undefined) return earlier
  const ids = push.facts.map(({ incident }) => incident).join('\n')
  // Letters and digits: it may stand in a path. A later message about other incidents too is not this one.
  const again = push.facts.some(({ incident }) => push.threadOf(incident) !== undefined) ? push.facts[0]?.id : ''
  return createHash('sha256').update(`${ids}\n${again}`).digest('hex').slice(0, 24)
}

function priorityOf(priority: number): number {
  if (priority >= 9) return 5
  if (priority >= 7) return 4
  if (priority >= 4) return 3
  return priority >= 2 ? 2 : 1
}
