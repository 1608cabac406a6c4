import { expect, test } from 'vitest'
import { isAbout, isNotification } from '../../src/model/notification.ts'
import { samples } from '../../tools/docs/samples.ts'

const whole = {
  id: 'chat/a|down|@1/fired/1',
  incident: 'chat/a|down|@1',
  reason: 'fired',
  rule: 'down',
  priority: 9,
  at: 1,
  firedAt: 1,
  failure: { kind: 'timeout' },
  context: { backend: 'vllm', url: 'http://h:8000/metrics', numbers: { waiting: 4 }, of: 3 },
}

test('every notification that we write can be read again', () => {
  const written = samples().flatMap((sample) => sample.notifications)
  expect(written.length).toBeGreaterThan(100)
  expect(written.filter((notification) => !isNotification(JSON.parse(JSON.stringify(notification))))).toEqual([])
})

test.each([
  ['nothing else', {}, true],
  ['a field that we do not know', { mood: { level: 3 } }, true],
  ['a rule that we do not know', { rule: 'of_tomorrow' }, true],
  ['an end that we do not know', { ended: 'expired' }, true],
  ['an unchecked field of another type', { maybeSent: 'perhaps' }, true],
  [
    'a backend and a number that we do not know',
    { context: { ...whole.context, backend: 'x', numbers: { y: 1 } } },
    true,
  ],
  ['a reason that we do not know', { reason: 'forgotten' }, false],
  ['a priority in words', { priority: 'high' }, false],
  ['a number in words', { context: { ...whole.context, numbers: { waiting: 'four' } } }, false],
  ['a failure without a kind', { failure: {} }, false],
  ['no context, but null', { context: null }, false],
])('a notification with %s', (_, over, readable) => {
  expect(isNotification({ ...whole, ...over })).toBe(readable)
})

test.each([
  ['nothing at all', {}, true],
  ['what is missing', { missing: ['ttft'] }, true],
  ['a beat with more than we know', { beat: { interval: 1, grace: 1, never: true, host: 'x' } }, true],
  ['a beat without its interval', { beat: { grace: 1, never: true } }, false],
  ['one name in place of a list', { missing: 'ttft' }, false],
])('an alert that was about %s', (_, about, readable) => {
  expect(isAbout(about)).toBe(readable)
})
