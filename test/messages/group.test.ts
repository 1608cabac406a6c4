import { expect, test } from 'vitest'
import { group } from '../../src/messages/group.ts'
import type { Notification } from '../../src/model/notification.ts'
import { downNotification, NOW, queueNotification } from './notifications.ts'

const at = (endpoint: string, over: Partial<Notification> = {}) =>
  queueNotification({ endpoint, id: `${endpoint}${over.rule ?? ''}`, ...over })
const shape = (notifications: Notification[]) =>
  group(notifications).map((told) => told.map(({ endpoint, rule }) => `${endpoint ?? 'watcher'} ${rule}`))

/** [story, notifications, the messages] */
const STORIES: [string, Notification[], string[][]][] = [
  ['nothing to tell', [], []],
  ['two rules of one endpoint are one message', [at('a'), at('a', { rule: 'ttft' })], [['a waiting', 'a ttft']]],
  ['three endpoints are three messages', [at('a'), at('b'), at('c')], [['a waiting'], ['b waiting'], ['c waiting']]],
  [
    'four endpoints are one digest',
    [at('a'), at('b'), at('c'), at('d')],
    [['a waiting', 'b waiting', 'c waiting', 'd waiting']],
  ],
  ['all of two gone alike are one message', [downNotification('a'), downNotification('b')], [['a down', 'b down']]],
  [
    'all of twenty gone alike are one message',
    Array.from({ length: 20 }, (_, i) => downNotification(`r${i}`, {}, 20)),
    [Array.from({ length: 20 }, (_, i) => `r${i} down`)],
  ],
  [
    'two of three gone are two messages',
    [downNotification('a', {}, 3), downNotification('b', {}, 3)],
    [['a down'], ['b down']],
  ],
  [
    'two gone for different causes are two messages',
    [downNotification('a'), downNotification('b', { failure: { kind: 'refused' } })],
    [['a down'], ['b down']],
  ],
  [
    'two gone with different codes are two messages',
    [
      downNotification('a', { failure: { kind: 'other', code: 'X' } }),
      downNotification('b', { failure: { kind: 'other', code: 'Y' } }),
    ],
    [['a down'], ['b down']],
  ],
  [
    'an address that swallows packets is one cause, whichever time limit met it',
    [downNotification('a'), downNotification('b', { failure: { kind: 'timeout', code: 'UND_ERR_CONNECT_TIMEOUT' } })],
    [['a down', 'b down']],
  ],
  [
    'two gone in different runs are two messages',
    [downNotification('a'), downNotification('b', { at: NOW + 60_000 })],
    [['a down'], ['b down']],
  ],
  ['the only endpoint gone is its own message', [downNotification('a', {}, 1)], [['a down']]],
  [
    'both back alike are one message',
    [downNotification('a', { reason: 'resolved' }), downNotification('b', { reason: 'resolved' })],
    [['a down', 'b down']],
  ],
  [
    'what else those endpoints have to tell stays apart',
    [downNotification('a'), downNotification('b'), at('a', { reason: 'resolved' })],
    [['a down', 'b down'], ['a waiting']],
  ],
  [
    'the more urgent endpoint comes first',
    [at('a'), at('b', { rule: 'stalled', priority: 9 })],
    [['b stalled'], ['a waiting']],
  ],
  [
    'what is over comes after what lasts',
    [at('a', { reason: 'resolved', priority: 9 }), at('b', { priority: 5 })],
    [['b waiting'], ['a waiting']],
  ],
]

test.each(STORIES)('%s', (_, notifications, messages) => {
  expect(shape(notifications)).toEqual(messages)
})

test('what concerns the watcher stands alone, beside a digest of its endpoints', () => {
  const { endpoint: _, ...gap } = queueNotification({ rule: 'gap', reason: 'told-once', priority: 6 })
  const groups = shape([gap, at('a'), at('b'), at('c'), at('d')])
  expect(groups).toHaveLength(2)
  expect(groups[1]).toEqual(['watcher gap'])
})
