import { expect, test } from 'vitest'
import { badgeLink, statusLink } from '../../src/page/links.ts'
import { writeState } from '../../src/state/schema.ts'
import { BASE, openTestPage } from './asking.ts'
import { calm, down, many, NOW, queueing, stateOf } from './states.ts'

const STATUS = statusLink(BASE)

async function textOf(states: Parameters<typeof openTestPage>[0], options?: Parameters<typeof openTestPage>[1]) {
  const { ask } = await openTestPage(states, options)
  const { status, body } = await ask(STATUS)
  expect(status).toBe(200)
  return String(body)
}

test('what fires stands before all endpoints: sign, endpoint, value, limit, since when, model', async () => {
  const html = await textOf({ vllm: stateOf({ 'chat/a': queueing(12), 'chat/b': calm(2) }) })
  const card = html.slice(html.indexOf('What fires'), html.indexOf('Endpoints</h2>'))
  for (const part of ['🐌', 'chat/a', '42 requests are waiting (limit 20)', '16 are running', '12 min', 'llama-3.1-8b'])
    expect(card).toContain(part)
  expect(card).toContain('<time datetime="2026-11-30T11:53:00Z">11:53</time>')
  expect(card).toContain('aria-label="waiting 2 → 42 in 14 min, limit 20"')
  expect(html).toContain('Trouble at 1 of 2 endpoints')
})

test('limits are those of the configuration, looked up as the watcher does', async () => {
  const env = { WAITING_LIMIT: '30', VLLM_CHAT_WAITING_LIMIT: '25', VLLM_CHAT_A_WAITING_LIMIT: '7' }
  const html = await textOf(
    { vllm: stateOf({ 'chat/a': queueing(), 'chat/b': queueing(), code: queueing() }) },
    { env },
  )
  for (const limit of ['limit 7', 'limit 25', 'limit 30']) expect(html).toContain(limit)
})

test('in Russian, at the clock of TIMEZONE', async () => {
  const html = await textOf(
    { vllm: stateOf({ 'chat/a': queueing(12), b: down() }) },
    { language: 'ru', timezone: 'Asia/Tokyo' },
  )
  expect(html).toContain('<html lang="ru">')
  for (const part of ['Что сработало', 'В очереди 42 запроса (порог 20)', '20:53</time>, 12 мин', 'Сервер лежит'])
    expect(html).toContain(part)
})

test('all well is one calm line', async () => {
  expect(await textOf({ vllm: stateOf(many(10)) })).toContain('<p class="ok">All is well at 10 endpoints</p>')
})

test.each([
  ['is not JSON', '{ half'],
  ['is empty', ''],
  ['was written by a newer version', '{"v":99}'],
  ['endpoints', JSON.stringify({ ...stateOf({}), endpoints: 3 })],
])('a state that cannot be read (%s) leaves the page up, with a line about it', async (why, broken) => {
  const html = await textOf({ tgi: broken, vllm: stateOf({ 'chat/a': queueing() }) })
  expect(html).toContain('<b>tgi</b>: The state cannot be read:')
  expect(html).toContain(why)
  expect(html).toContain('42 requests are waiting')
})

test('a watcher that does not run any more is told before all else', async () => {
  const html = await textOf({ vllm: stateOf({ 'chat/a': calm(1) }, {}, NOW - 20 * 60_000) })
  expect(html).toContain('does not run: what is shown is old')
})

test('copies that were put aside, and beats, are no functions', async () => {
  const html = await textOf({
    vllm: stateOf({ 'chat/a': calm(1) }),
    'vllm.broken-2026-11-30T12-00-00.000Z': '{',
    'beats/indexer': '{}',
    'vllm.2-of-8': stateOf({ 'chat/z': calm(1) }),
  })
  expect(html).not.toContain('broken-2026')
  expect(html).toContain('vllm.2-of-8')
})

test('texts from outside are only ever text', async () => {
  const evil = `<script>alert(1)</script>"'><img src=x>`
  const state = stateOf({
    'chat/a': { ...calm(1), model: evil },
    'chat/b': { ...queueing(), model: evil, alerts: { 'waiting@<b>"': { firedAt: NOW - 1 } } },
    'chat/c': { ...down(), failure: { kind: 'http', status: 500, detail: evil } },
  })
  const silences = [
    { id: '1', scope: 'endpoint' as const, name: 'chat/a', from: 0, until: NOW + 9, by: evil, comment: evil },
  ]
  const html = await textOf({ vllm: writeState({ ...state, silences }) })
  expect(html).not.toMatch(/<script|<img|<b>"/)
})

test('100 endpoints take at most 60 KB, well or not', async () => {
  for (const troubled of [0, 10, 100]) {
    const html = await textOf({ vllm: stateOf(many(100, troubled)) })
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(60 * 1024)
  }
})

test('1,000 endpoints are folded by group', async () => {
  const html = await textOf({ vllm: stateOf(many(1_000, 30)) })
  expect(html).toContain('<details')
  expect(html).not.toContain('<details open')
})

test('no script, no foreign address, no style attribute; it asks for itself again', async () => {
  const html = await textOf({ vllm: stateOf(many(30, 3)) })
  expect(html).not.toMatch(/<script|javascript:|\son\w+=|\sstyle=|@import|url\(/i)
  const addresses = [...html.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, address]) => address)
  expect(addresses.filter((one) => !/^(#|data:image|https:\/\/page\.example\/)/.test(one ?? ''))).toEqual([])
  expect(html).toContain('<meta http-equiv="refresh" content="60">')
})

test('the status page shows no link that acts, and links its badges', async () => {
  const html = await textOf({ vllm: stateOf(many(10, 5)) })
  expect(html).not.toContain('/a/')
  expect(html).toContain(badgeLink(BASE, 'vllm'))
})

test.each([
  ['ok', many(4), 'ok'],
  ['trouble', many(4, 2), '2 of 4 firing'],
])('the badge says %s in one line', async (_, courses, words) => {
  const { ask } = await openTestPage({ vllm: stateOf(courses) })
  for (const link of [badgeLink(BASE), badgeLink(BASE, 'vllm')]) {
    const { status, headers, body } = await ask(link)
    expect([status, headers['content-type']]).toEqual([200, 'image/svg+xml'])
    expect(String(body).trim().split('\n')).toHaveLength(1)
    expect(String(body)).toContain(words)
  }
})
