import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compose } from '../../src/messages/compose.ts'
import { bytesOf } from '../../src/messages/fit.ts'
import { group } from '../../src/messages/group.ts'
import type { Language } from '../../src/model/config.ts'
import type { Notification } from '../../src/model/notification.ts'
import { anyNotification, HOSTILE, NOW, queueNotification } from './notifications.ts'

const options = { markdown: false, link: () => undefined, now: NOW }
const LANGUAGES: readonly Language[] = ['en', 'ru']
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u

/** What holds for every message whatever the notifications. */
function isFit(notifications: readonly Notification[], language: Language, markdown: boolean, maxBytes: number) {
  const message = compose(notifications, language, { ...options, markdown, maxBytes })
  const lines = message.body.split('\n')
  expect(message.title.length).toBeLessThanOrEqual(80)
  expect(message.title.trim()).not.toBe('')
  expect(message.title).not.toMatch(/\n/)
  expect(message.body.trim()).not.toBe('')
  expect(lines.length).toBeLessThanOrEqual(12)
  expect(bytesOf(message.body)).toBeLessThanOrEqual(maxBytes)
  for (const line of [message.title, ...lines]) expect(line.replaceAll('\uFE0F', '')).not.toMatch(INVISIBLE)
  expect(message.title + message.body).not.toMatch(/\b(undefined|NaN|null|Infinity|\[object)\b|не число|∞/)
  expect(message.title + message.body).not.toContain('hunter2')
  expect(message.priority).toBeGreaterThanOrEqual(0)
  expect(message.priority).toBeLessThanOrEqual(10)
}

test('whatever the notifications: 12 lines, the bytes asked for, a title of one line and 80 characters, no secret, nothing unknown', () => {
  const notifications = fc.array(anyNotification, { minLength: 1, maxLength: 8 })
  const bytes = fc.constantFrom(4096, 1024, 300, 100)
  fc.assert(
    fc.property(
      notifications,
      fc.constantFrom(...LANGUAGES),
      fc.boolean(),
      bytes,
      (notifications, language, markdown, maxBytes) => {
        for (const notesOfOne of group(notifications)) isFit(notesOfOne, language, markdown, maxBytes)
        isFit(notifications, language, markdown, maxBytes)
      },
    ),
    { numRuns: 300 },
  )
})

test('every notification is in exactly one group, and the most urgent group comes first', () => {
  fc.assert(
    fc.property(fc.array(anyNotification, { maxLength: 12 }), (notifications) => {
      const groups = group(notifications)
      expect(groups.flat().length).toBe(notifications.length)
      expect(new Set(groups.flat())).toEqual(new Set(notifications))
    }),
  )
})

/** Every place where text from outside enters. */
const PLACES: [string, (text: string) => Notification][] = [
  ['the model', (text) => queueNotification({}, { model: text })],
  ['the fullest engine', (text) => queueNotification({ rule: 'kv_cache', value: 0.95, limit: 0.9 }, { kvAt: text })],
  ['a subject', (text) => queueNotification({ rule: 'upstream', subject: text }, { backend: 'gateway' })],
  [
    "the server's words",
    (text) => queueNotification({ rule: 'down', failure: { kind: 'http', status: 500, detail: text } }),
  ],
  ["the network's code", (text) => queueNotification({ rule: 'down', failure: { kind: 'other', code: text } })],
  ['a missing model', (text) => queueNotification({ rule: 'blind', modelMissing: text })],
  ['missing signals', (text) => queueNotification({ rule: 'blind', missing: [text, text] })],
  [
    'the body of a beat',
    (text) =>
      queueNotification({
        rule: 'heartbeat',
        beat: { interval: 60_000, grace: 30_000, never: false, failed: { exit: 1, body: text } },
      }),
  ],
  [
    "the canary's answer",
    (text) => queueNotification({ rule: 'busy' }, { backend: 'ollama', canary: { status: 'busy', detail: text } }),
  ],
  [
    'a setting',
    (text) =>
      queueNotification(
        { rule: 'kv_cache' },
        { settings: { gpu_memory_utilization: text, num_gpu_blocks: text, block_size: text } },
      ),
  ],
  ['the address', (text) => queueNotification({}, { url: `http://h/${text}` })],
]

test.each(PLACES)('case 108: hostile text in %s changes nothing but itself', (_, notificationWith) => {
  for (const language of LANGUAGES) {
    const tame = compose([notificationWith('tame')], language, options)
    for (const text of HOSTILE) {
      const notification = notificationWith(text)
      isFit([notification], language, false, 4096)
      const hostile = compose([notification], language, options)
      if (text.trim() === '') continue // what is not there is not told: other words may take its place
      const changed = hostile.body.split('\n').filter((line) => !tame.body.split('\n').includes(line))
      expect(changed.length).toBeLessThanOrEqual(1)
      expect(hostile.body.split('\n').length).toBe(tame.body.split('\n').length)
    }
  }
})

test('case 108: when markdown is rendered, text from outside is escaped and our own lines keep their ends', () => {
  const notification = queueNotification({
    rule: 'down',
    failure: { kind: 'http', status: 500, detail: '![x](http://evil/i.png) <b> `c`' },
  })
  const message = compose([notification], 'en', { ...options, markdown: true })
  expect(message.markdown).toBe(true)
  expect(message.body).toContain('\\!\\[x\\]\\(http\\://evil')
  expect(message.body.replace('<http://10.0.0.5:8000/metrics>', '')).not.toMatch(/(?<!\\)[[<`]/)
  for (const line of message.body.split('\n').slice(0, -1)) expect(line).toMatch(/ {2}$/)
})

test('plain messages say nothing about markdown and show names as they are', () => {
  const message = compose([queueNotification({}, { model: 'org/my_model' })], 'en', options)
  expect(message).not.toHaveProperty('markdown')
  expect(message.body).toContain('org/my_model')
})

test('a text of 10,000 characters is cut between characters', () => {
  const message = compose(
    [queueNotification({ rule: 'down', failure: { kind: 'http', detail: '👩‍👩‍👧‍👦'.repeat(2000) } })],
    'ru',
    options,
  )
  expect(message.body).toContain('…')
  expect(message.body).not.toMatch(/\uFFFD/)
})

test('when room is short the first line stays and the rest goes', () => {
  const notification = queueNotification(
    {},
    { verdict: { kind: 'load-grew', arrivals: 3 }, spark: [1, 2, 3], sparkMinutes: 3 },
  )
  const body = (maxBytes: number) => compose([notification], 'en', { ...options, maxBytes }).body
  expect(body(120)).toBe('42 requests are waiting (limit 20), 16 are running. A new request waits about 50 s.')
  expect(body(40)).toBe('42 requests are waiting (limit 20), 1…')
  expect(bytesOf(body(300))).toBeGreaterThan(200)
})
