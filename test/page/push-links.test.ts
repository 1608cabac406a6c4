import { expect, test } from 'vitest'
import type { Service } from '../../src/model/config.ts'
import type { Message } from '../../src/model/message.ts'
import type { Notification } from '../../src/model/notification.ts'
import { withPageLinks } from '../../src/page/push-links.ts'
import { readToken } from '../../src/page/tokens.ts'
import { toRequest } from '../../src/push/notifly.ts'
import { CHANNELS } from '../../src/push/services.ts'
import { channelAt, factOf, pushOf } from '../push/pushing.ts'
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

const ADDRESSES: Record<Exclude<Service, 'notifly' | 'gotify'>, string> = {
  ntfy: 'https://ntfy.example/topic',
  telegram: 'https://api.telegram.org?chat=1',
  slack: 'https://hooks.slack.com/services/a/b/c',
  discord: 'https://discord.com/api/webhooks/1/x',
  teams: 'https://flow.example/x',
  pagerduty: 'https://events.pagerduty.com',
  alertmanager: 'http://alertmanager:9093',
  webhook: 'https://hook.example/x',
}

/** What a channel is sent of a message with links, and of the same with a runbook. */
function sentTo(service: keyof typeof ADDRESSES, own?: string) {
  const facts = [factOf('fired')]
  const message = withPageLinks({ ...MESSAGE, ...(own && { link: own }) }, facts, BASE, about)
  const { request } = CHANNELS[service].write(
    pushOf(message, { facts }),
    channelAt(service, ADDRESSES[service], { token: 'token' }),
  )
  const { links, picture } = message
  return { body: JSON.parse(request.body), act: links?.[0]?.url, picture }
}

const WIKI = 'https://wiki.example/queue'

test('ntfy: one tap acknowledges, another opens what else can be done; the phone fetches the picture', () => {
  const { body, act, picture } = sentTo('ntfy', WIKI)
  expect(body).toMatchObject({
    click: WIKI,
    attach: picture,
    filename: 'chart.png',
    actions: [
      {
        action: 'http',
        label: 'Acknowledge',
        url: act,
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'do=acknowledge',
      },
      { action: 'view', label: 'Acknowledge or silence', url: act },
      { action: 'view', label: 'wiki.example', url: WIKI },
    ],
  })
})

test('Telegram: buttons below, and the picture as preview, so that no text is cut for it', () => {
  const { body, act, picture } = sentTo('telegram', WIKI)
  expect(body.link_preview_options).toMatchObject({ url: picture, prefer_large_media: true })
  expect(body.reply_markup.inline_keyboard).toEqual([
    [{ text: 'Acknowledge or silence', url: act }],
    [{ text: 'wiki.example', url: WIKI }],
  ])
})

test('Slack: buttons and the picture in attachments, which cannot fail the message', () => {
  const { body, act, picture } = sentTo('slack', WIKI)
  const [buttons, chart] = body.attachments
  expect(buttons.blocks[0].elements.map(({ url }: { url: string }) => url)).toEqual([act, WIKI])
  expect(chart.image_url).toBe(picture)
  expect(body).not.toHaveProperty('blocks')
})

test('Slack: at the end an update takes the buttons away', () => {
  const to = channelAt('slack', 'https://slack.com/api?channel=C1', { token: 'xoxb' })
  const facts = [factOf('resolved')]
  const { before } = CHANNELS.slack.write(pushOf(MESSAGE, { facts, threadOf: () => ({ id: '1.2' }) }), to)
  expect(JSON.parse(before?.body ?? '')).toMatchObject({ ts: '1.2', attachments: [] })
})

test('Discord: named links in the text, and the picture as embed', () => {
  const { body, act, picture } = sentTo('discord', WIKI)
  expect(body.content).toBe(`**t**\nb\n[Acknowledge or silence](<${act}>)\n[wiki.example](<${WIKI}>)`)
  expect(body).toMatchObject({ embeds: [{ image: { url: picture } }], flags: 0 })
})

test('Teams: actions and an image', () => {
  const { body, act, picture } = sentTo('teams')
  const { content } = body.attachments[0]
  expect(content.body.at(-1)).toMatchObject({ type: 'Image', url: picture })
  expect(content.actions).toEqual([{ type: 'Action.OpenUrl', title: 'Acknowledge or silence', url: act }])
})

test('PagerDuty: links and images, pictures of https alone', () => {
  const { body, act, picture } = sentTo('pagerduty', WIKI)
  expect(body.links).toEqual([
    { href: act, text: 'Acknowledge or silence' },
    { href: WIKI, text: 'wiki.example' },
  ])
  expect(body.images).toEqual([{ src: picture, alt: 't' }])
  const message = { ...MESSAGE, picture: 'http://127.0.0.1/i/x.png' }
  const plain = CHANNELS.pagerduty.write(pushOf(message), channelAt('pagerduty', ADDRESSES.pagerduty)).request
  expect(JSON.parse(plain.body)).not.toHaveProperty('images')
})

test('a webhook gets them as they are', () => {
  const { body, act, picture } = sentTo('webhook')
  expect(body.data).toMatchObject({ link: act, links: [{ label: 'Acknowledge or silence', url: act }], picture })
})

test('what Alertmanager is posted lies in the state: no token is in it, a runbook is', () => {
  expect(JSON.stringify(sentTo('alertmanager').body)).not.toContain('page.example')
  expect(sentTo('alertmanager', WIKI).body[0].generatorURL).toBe(WIKI)
})
