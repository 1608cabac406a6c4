import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Inbox, openInbox } from '../../tools/simulator/inbox.ts'

let inbox: Inbox
beforeEach(async () => {
  inbox = await openInbox()
})
afterEach(() => inbox.close())

function push(body: string, options: { path?: string; headers?: Record<string, string>; timeout?: number } = {}) {
  return fetch(inbox.url + (options.path ?? '/message'), {
    method: 'POST',
    headers: { authorization: 'Bearer t', ...options.headers },
    body,
    signal: AbortSignal.timeout(options.timeout ?? 5_000),
  })
}
const MESSAGE = JSON.stringify({ title: 'Queue', message: '42 waiting', priority: 8 })

test('a message is taken and answered as Gotify answers', async () => {
  const response = await push(MESSAGE)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ id: 1, appid: 1, title: 'Queue', message: '42 waiting', priority: 8 })
  expect(inbox.received).toMatchObject([{ title: 'Queue', path: '/message', headers: { authorization: 'Bearer t' } }])
})

test('without a token, without a body and on another path it is refused and not taken', async () => {
  const statuses = [
    await push(MESSAGE, { headers: { authorization: '' } }),
    await push('{}'),
    await push('no json'),
    await push(MESSAGE, { path: '/other' }),
  ].map(({ status }) => status)
  expect(statuses).toEqual([401, 400, 400, 404])
  expect([inbox.received.length, inbox.attempts()]).toEqual([0, 4])
})

test('a token may also stand in the query or in a header of its own', async () => {
  const none = { authorization: '' }
  await push(MESSAGE, { path: '/message?token=t', headers: none })
  await push(MESSAGE, { headers: { ...none, 'x-gotify-key': 't' } })
  await push(MESSAGE, { headers: { ...none, 'x-notifly-key': 't' } })
  expect(inbox.received.length).toBe(3)
})

test('faults come once each, in order; then it takes messages again', async () => {
  inbox.meet({ kind: 'status', status: 429, headers: { 'retry-after': '7' } })
  inbox.meet({ kind: 'status', status: 503 }, 2)
  const answers = [await push(MESSAGE), await push(MESSAGE), await push(MESSAGE), await push(MESSAGE)]
  expect(answers.map(({ status }) => status)).toEqual([429, 503, 503, 200])
  expect(answers[0]?.headers.get('retry-after')).toBe('7')
  expect([inbox.received.length, inbox.attempts()]).toEqual([1, 4])
})

test('a lost answer was taken, a reset and a hang were not', async () => {
  inbox.meet({ kind: 'lost' })
  await expect(push(MESSAGE)).rejects.toThrow()
  expect(inbox.received.length).toBe(1)
  inbox.meet({ kind: 'reset' })
  await expect(push(MESSAGE)).rejects.toThrow()
  inbox.meet({ kind: 'hang' })
  await expect(push(MESSAGE, { timeout: 100 })).rejects.toThrow(/timeout/i)
  expect(inbox.received.length).toBe(1)
})
