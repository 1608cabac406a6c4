import { expect, test } from 'vitest'
import type { Message } from '../../src/model/message.ts'
import type { Notification } from '../../src/model/notification.ts'
import { withPageLinks } from '../../src/page/push-links.ts'
import { readToken } from '../../src/page/tokens.ts'
import { toRequest } from '../../src/push/notifly.ts'
import { BASE, SECRET } from './asking.ts'
import { NOW } from './states.ts'

const MESSAGE: Message = { title: 't', body: 'b', priority: 8 }
const about = { name: 'vllm', language: 'en', now: NOW } as const

function notification(endpoint: string | undefined, more: Partial<Notification> = {}): Notification {
  const rule = more.rule ?? 'waiting'
  const incident = `${endpoint ?? ''}|${rule}|@1`
  return {
    id: `${incident}/fired/1`,
    incident,
    reason: 'fired',
    rule,
    priority: 8,
    at: 1,
    firedAt: 1,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...more,
  }
}

function claimOf(url: string | undefined, purpose: 'act' | 'image') {
  const token = /\/(?:a|i)\/([\w.-]+?)(?:\.png)?$/.exec(url ?? '')?.[1] ?? ''
  return readToken([SECRET], purpose, token, NOW)
}

test('a push carries the link of its incidents and the picture of the worst, for as long as each is worth', () => {
  const facts = [notification('chat/a', { rule: 'kv_cache', priority: 7 }), notification('chat/a')]
  const { link, links, picture } = withPageLinks(MESSAGE, facts, BASE, about)
  expect(links).toEqual([{ label: 'Acknowledge or silence', url: link }])
  expect(claimOf(link, 'act')).toEqual({
    function: 'vllm',
    subject: 'chat/a|waiting|@1\nchat/a|kv_cache|@1',
    end: NOW + 24 * 3_600_000,
  })
  expect(claimOf(picture, 'image')).toEqual({
    function: 'vllm',
    subject: 'chat/a|waiting|@1',
    end: NOW + 7 * 24 * 3_600_000,
  })
})

test.each([
  ['is over', notification('chat/a', { reason: 'resolved' })],
  ['was told late', notification('chat/a', { reason: 'late' })],
  ['concerns the watcher', notification(undefined, { rule: 'gap', reason: 'told-once' })],
])('one that %s has none', (_, fact) => {
  expect(withPageLinks(MESSAGE, [fact], BASE, about)).toEqual(MESSAGE)
})

test('of a thousand endpoints the ten worst are in the link, so that it still is one', () => {
  const facts = Array.from({ length: 1_000 }, (_, i) => notification(`chat/replica-${i}`))
  const { link = '' } = withPageLinks(MESSAGE, facts, BASE, about)
  expect(claimOf(link, 'act')?.subject.split('\n')).toHaveLength(10)
  expect(link.length).toBeLessThan(1_000)
})

test('a server that does not answer has no picture', () => {
  expect(withPageLinks(MESSAGE, [notification('chat/a', { rule: 'down' })], BASE, about).picture).toBeUndefined()
})

test('Gotify shows the picture and opens the link; a runbook keeps its tap, and the link stands in the text', () => {
  const body = (message: Message) =>
    JSON.parse(toRequest(message, { url: 'http://push', token: 't', auth: 'bearer', markdown: false }).body)
  const plain = withPageLinks(MESSAGE, [notification('chat/a')], BASE, about)
  expect(body(plain)).toMatchObject({
    message: 'b',
    extras: { 'client::notification': { click: { url: plain.link }, bigImageUrl: plain.picture } },
  })
  const runbook = withPageLinks({ ...MESSAGE, link: 'https://wiki' }, [notification('chat/a')], BASE, about)
  expect(body(runbook).extras['client::notification'].click.url).toBe('https://wiki')
  expect(body(runbook).message).toBe(`b\nAcknowledge or silence: ${runbook.links?.[0]?.url}`)
  expect(body({ ...runbook, body: 'x'.repeat(4_000) }).message).toBe('x'.repeat(4_000))
})
