import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/model/message.ts'
import { toRequest } from '../../src/push/notifly.ts'

const message: Message = { title: 'Queue is long', body: '42 requests wait', priority: 8 }
const server = { url: 'https://push.example.com', token: 'AbC' }
const bodyOf = (m: Message, markdown = false) =>
  JSON.parse(toRequest(m, { ...server, auth: 'bearer', markdown: markdown }).body)

test('case 100, case 101: the body is JSON, said to be so, with title, message and a number as priority, no more', () => {
  const request = toRequest(message, { ...server, auth: 'bearer', markdown: false })
  expect(request.headers['content-type']).toBe('application/json; charset=utf-8')
  expect(JSON.parse(request.body)).toEqual({ title: 'Queue is long', message: '42 requests wait', priority: 8 })
})

test.each([
  ['https://push.example.com', 'https://push.example.com/message'],
  ['https://push.example.com/', 'https://push.example.com/message'],
  ['https://push.example.com/gotify', 'https://push.example.com/gotify/message'],
  ['https://push.example.com/gotify//', 'https://push.example.com/gotify/message'],
  ['http://127.0.0.1:8080/a/b/?tenant=x', 'http://127.0.0.1:8080/a/b/message?tenant=x'],
])('case 103: %s is asked at %s', (url, expected) => {
  expect(toRequest(message, { ...{ url, token: undefined }, auth: 'bearer', markdown: false }).url).toBe(expected)
})

test.each([
  ['bearer', 'authorization', 'Bearer AbC'],
  ['notifly', 'x-notifly-key', 'AbC'],
  ['gotify', 'x-gotify-key', 'AbC'],
] as const)('with %s the token goes into the header %s alone', (auth, header, value) => {
  const request = toRequest(message, { ...server, auth, markdown: false })
  expect(request.headers[header]).toBe(value)
  expect(request.url).toBe('https://push.example.com/message')
  expect(Object.values(request.headers).filter((v) => v.includes('AbC'))).toHaveLength(1)
  expect(request.body).not.toContain('AbC')
})

test('case 102: with query the token is URL-encoded in the address and in no header', () => {
  const request = toRequest(message, { ...{ ...server, token: 'A b&c=d+é' }, auth: 'query', markdown: false })
  expect(request.url).not.toMatch(/[ é]|c=d/)
  expect(new URL(request.url).searchParams.get('token')).toBe('A b&c=d+é')
  expect(Object.keys(request.headers).sort()).toEqual(['accept', 'content-type', 'user-agent'])
})

test('without a token there is no credential of any form', () => {
  for (const auth of ['bearer', 'notifly', 'gotify', 'query'] as const) {
    const request = toRequest(message, { ...{ ...server, token: undefined }, auth, markdown: false })
    expect(request.url).toBe('https://push.example.com/message')
    expect(Object.keys(request.headers).sort()).toEqual(['accept', 'content-type', 'user-agent'])
  }
})

test.each([
  [0, 0],
  [10, 10],
  [99, 10],
  [-3, 0],
  [7.6, 8],
  [Number.NaN, 5],
  [Number.POSITIVE_INFINITY, 5],
])('case 106: priority %d is sent as %d', (priority, sent) => {
  expect(bodyOf({ ...message, priority }).priority).toBe(sent)
})

test.each([
  ['', 'Queue is long', 'Queue is long'],
  [' \n', 'Queue is long', 'Queue is long'],
  ['', '', 'Queuebell'],
])('case 100: the message is never empty (%j, %j)', (body, title, sent) => {
  expect(bodyOf({ ...message, body, title }).message).toBe(sent)
})

describe('case 108: extras', () => {
  const display = { 'client::display': { contentType: 'text/markdown' } }
  const click = { 'client::notification': { click: { url: 'https://wiki/runbook' } } }
  test.each([
    ['plain text has none', {}, false, undefined],
    ['markdown is said to be so', {}, true, display],
    ['a plain message among markdown stays plain', { markdown: false }, true, undefined],
    ['a markdown message to a reader of plain text has none', { markdown: true }, false, undefined],
    ['a tap opens the link', { link: 'https://wiki/runbook' }, false, click],
    ['both', { link: 'https://wiki/runbook' }, true, { ...display, ...click }],
  ])('%s', (_, more, markdown, extras) => {
    expect(bodyOf({ ...message, ...more }, markdown).extras).toEqual(extras)
  })
})

test('any text arrives as it was, also line feeds, quotes and halves of characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1 }), (text) => {
      const body = bodyOf({ ...message, body: `x${text}` })
      return body.message === `x${text}` && Object.keys(body).join() === 'title,message,priority'
    }),
    { seed: 7, numRuns: 200 },
  )
})
