import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SERVICES, type Service } from '../../src/model/config.ts'
import type { Message } from '../../src/model/message.ts'
import { CHANNELS } from '../../src/push/services.ts'
import { asEntity, asItIs, bytes, fitEscaped, seen, sent } from '../../src/push/text.ts'
import { channelAt, factOf, pushOf } from './pushing.ts'

const URLS: Record<Service, string> = {
  notifly: 'https://push.example.com',
  gotify: 'https://push.example.com',
  ntfy: 'https://ntfy.example.com/topic',
  telegram: 'https://api.telegram.org?chat=-1',
  slack: 'https://hooks.slack.com/services/T0/B0/x',
  discord: 'https://discord.com/api/webhooks/1/x',
  teams: 'https://prod.example.com/workflows/x?sig=y',
  pagerduty: 'https://events.pagerduty.com',
  alertmanager: 'http://10.0.0.9:9093',
  webhook: 'https://example.com/hook',
}

/** The body of the request that a service would get. */
function written(service: Service, message: Partial<Message>, more = {}) {
  const whole: Message = { title: 'Title', body: 'Body', priority: 8, ...message }
  const to = channelAt(service, URLS[service], { token: 't' })
  return JSON.parse(CHANNELS[service].write(pushOf(whole, more), to).request.body)
}

/** The text of a person's, wherever a service has it. */
const BODY: Partial<Record<Service, (json: ReturnType<typeof written>) => string>> = {
  notifly: (json) => json.message,
  ntfy: (json) => json.message,
  telegram: (json) => json.text.replace(/^<b>Title<\/b>\n/, ''),
  slack: (json) => json.text.replace(/^Title\n/, ''),
  discord: (json) => json.content.replace(/^\*\*Title\*\*\n/, ''),
  teams: (json) => json.attachments[0].content.body[1].text,
  pagerduty: (json) => json.payload.custom_details.message,
  webhook: (json) => json.data.message,
  alertmanager: (json) => json[0].annotations.description,
}
const bodyOf = (service: Service, body: string) => BODY[service]?.(written(service, { body })) ?? ''

describe('a text that is longer than a service takes', () => {
  test.each<[string, Service, string, (text: string) => number, number]>([
    ["Cyrillic at ntfy's 4,096 bytes", 'ntfy', 'я'.repeat(3_000), (text) => Buffer.byteLength(text), 4_096],
    ['signs of four bytes', 'ntfy', '🐌'.repeat(2_000), (text) => Buffer.byteLength(text), 4_096],
    [
      "entities at Telegram's 4,096 characters",
      'telegram',
      '<&>'.repeat(2_000),
      (text) => text.replace(/&\w+;/g, '&').length + 6,
      4_096,
    ],
    ["names at Telegram's", 'telegram', '@a'.repeat(3_000), (text) => text.length + 6, 4_096],
    ['emoji of two units', 'telegram', `a${'🐌'.repeat(3_000)}`, (text) => text.length + 6, 4_096],
    ["marks at Discord's 2,000", 'discord', '*_'.repeat(1_500), (text) => text.length + 10, 2_000],
    ['Slack', 'slack', '&'.repeat(5_000), (text) => text.length, 4_000],
  ])('%s is cut to it, and not much below', (_, service, text, size, most) => {
    const body = bodyOf(service, text)
    expect(size(body)).toBeLessThanOrEqual(most)
    expect(size(body)).toBeGreaterThan(most - 16)
    expect(body.endsWith('…')).toBe(true)
  })

  test.each<[Service, string]>([
    ['ntfy', 'я'.repeat(2_048)],
    ['telegram', '&'.repeat(4_090)],
    ['discord', 'x'.repeat(1_990)],
  ])('%s: what just fits is whole', (service, text) => {
    expect(bodyOf(service, text)).not.toContain('…')
  })

  test('a summary of PagerDuty is cut, and its details have the whole', () => {
    const json = written('pagerduty', { title: 'T'.repeat(1_500), body: 'B'.repeat(3_000) })
    expect([json.payload.summary.length, json.payload.custom_details.message.length]).toEqual([1_024, 3_000])
  })

  test('an incident whose name is longer than a dedup_key has one of its own length', () => {
    const facts = [factOf('fired', { incident: `a|x|${'s'.repeat(300)}@1` })]
    const again = [factOf('resolved', { incident: `a|x|${'s'.repeat(300)}@1` })]
    const [first, second] = [facts, again].map((facts) => written('pagerduty', {}, { facts }).dedup_key)
    expect([first.length, first === second]).toEqual([64, true])
  })
})

describe('marks of a model name or a server', () => {
  const NASTY = '@everyone <!channel> <@U1> <b>bold</b> *stars* _under_ [link](http://x) `code` &amp; ~s~ |s| #h'
  test.each<[Service, string]>([
    ['notifly', NASTY],
    ['ntfy', NASTY],
    ['pagerduty', NASTY],
    ['webhook', NASTY],
    [
      'telegram',
      '@\u2060everyone &lt;!channel&gt; &lt;@\u2060U1&gt; &lt;b&gt;bold&lt;/b&gt; *stars* _under_ [link](http://x) `code` &amp;amp; ~s~ |s| #h',
    ],
    [
      'slack',
      '@everyone &lt;!channel&gt; &lt;@U1&gt; &lt;b&gt;bold&lt;/b&gt; *stars* _under_ [link](http://x) `code` &amp;amp; ~s~ |s| #h',
    ],
    [
      'discord',
      '\\@everyone \\<!channel\\> \\<\\@U1\\> \\<b\\>bold\\</b\\> \\*stars\\* \\_under\\_ \\[link\\](http://x) \\`code\\` &amp; \\~s\\~ \\|s\\| \\#h',
    ],
    [
      'teams',
      '@everyone \\<!channel\\> \\<@U1\\> \\<b\\>bold\\</b\\> \\*stars\\* \\_under\\_ \\[link\\]\\(http://x\\) \\`code\\` &amp; \\~s\\~ |s| \\#h',
    ],
  ])('%s', (service, expected) => {
    expect(bodyOf(service, NASTY)).toBe(expected)
  })

  test('mentions are off where a service could read them', () => {
    expect(written('discord', {}).allowed_mentions).toEqual({ parse: [] })
    expect(written('slack', {})).toMatchObject({ mrkdwn: false, link_names: false })
    expect(written('telegram', {})).toMatchObject({ parse_mode: 'HTML', link_preview_options: { is_disabled: true } })
    expect(written('teams', {}).attachments[0].content.msteams).toEqual({ width: 'Full' })
  })
})

test('whatever the text, no request is longer than its service takes, and none is cut in the middle of anything', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 6_000 }),
      fc.string({ unit: 'grapheme', maxLength: 200 }),
      (body, title) => {
        for (const service of SERVICES) expect(() => JSON.stringify(written(service, { body, title }))).not.toThrow()
        const ntfy = written('ntfy', { body, title })
        expect(Buffer.byteLength(ntfy.message)).toBeLessThanOrEqual(4_096)
        expect(written('discord', { body, title }).content.length).toBeLessThanOrEqual(2_000)
        const { text } = written('telegram', { body, title })
        expect(text.replace(/<\/?b>/g, '')).not.toMatch(/[<>]|&(?!(amp|lt|gt);)/)
        expect(text.replace(/<\/?b>/g, '').replace(/&\w+;/g, '&').length).toBeLessThanOrEqual(4_096)
        expect(written('slack', { body, title }).text).not.toMatch(/[<>]|&(?!(amp|lt|gt);)/)
        for (const whole of [ntfy.message, text]) expect(whole.isWellFormed()).toBe(true)
      },
    ),
    { numRuns: 100 },
  )
})

test('a piece is counted as its service counts it', () => {
  expect(fitEscaped('&&&', 3, asEntity, seen)).toBe('&amp;&amp;&amp;')
  expect(fitEscaped('&&&', 11, asEntity, sent)).toBe('&amp;&amp;…')
  expect(fitEscaped('яяя', 5, asItIs, bytes)).toBe('я…')
  expect(fitEscaped('🐌🐌', 3, asItIs, seen)).toBe('🐌…')
  expect(fitEscaped('', 3, asItIs, seen)).toBe('')
  expect(fitEscaped('a\ud83d', 9, asItIs, seen)).toBe('a\ufffd')
})

test('priorities are those of each service', () => {
  const at = (service: Service, shown: (json: ReturnType<typeof written>) => unknown) =>
    [0, 2, 4, 5, 7, 8, 9, 10].map((priority) => shown(written(service, { priority })))
  expect(at('ntfy', (json) => json.priority)).toEqual([1, 2, 3, 3, 4, 4, 5, 5])
  expect(at('telegram', (json) => json.disable_notification)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ])
  expect(at('discord', (json) => json.flags >= 4096)).toEqual([true, true, true, false, false, false, false, false])
  expect(at('pagerduty', (json) => json.payload.severity)).toEqual([
    'info',
    'info',
    'info',
    'warning',
    'error',
    'error',
    'critical',
    'critical',
  ])
  expect(at('gotify', (json) => json.priority)).toEqual([0, 2, 4, 5, 7, 8, 9, 10])
})

test('a title too long for a heading is cut between characters, and says that it was', () => {
  const { text } = written('telegram', { body: 'x', title: `a${'🐌'.repeat(300)}` })
  expect(text).toMatch(/^<b>a(🐌)+…<\/b>\nx$/u)
})
