import { expect, test } from 'vitest'
import { makeToken, type Purpose, readToken } from '../../src/page/tokens.ts'
import { NOW } from './states.ts'

const SECRET = 'one-secret-that-nobody-can-guess-at-all'
const OTHER = 'another-secret-that-nobody-can-guess-at'
const claim = { function: 'vllm', subject: 'chat/a|waiting|@1', end: NOW + 60_000 }
const token = makeToken(SECRET, 'act', claim)
const [body = '', mac = ''] = token.split('.')

/** The same claim with another part, signed as before. */
function withPart(change: (claim: unknown[]) => void): string {
  const parts = JSON.parse(Buffer.from(body, 'base64url').toString()) as unknown[]
  change(parts)
  return `${Buffer.from(JSON.stringify(parts)).toString('base64url')}.${mac}`
}

test('a token says what it was made for, until its end', () => {
  expect(readToken([SECRET], 'act', token, NOW)).toEqual(claim)
  expect(readToken([SECRET], 'act', token, NOW + 59_999)).toEqual(claim)
  expect(readToken([SECRET], 'act', token, NOW + 60_000)).toBeUndefined()
})

test('one without an end holds until the secret changes', () => {
  const status = makeToken(SECRET, 'status', { function: '*', subject: '' })
  expect(readToken([SECRET], 'status', status, NOW + 10 ** 12)).toEqual({ function: '*', subject: '' })
  expect(readToken([OTHER], 'status', status, NOW)).toBeUndefined()
})

test('while the secret is changed, both hold', () => {
  expect(readToken([OTHER, SECRET], 'act', token, NOW)).toEqual(claim)
  expect(readToken([SECRET, OTHER], 'act', makeToken(OTHER, 'act', claim), NOW)).toEqual(claim)
})

test.each<[string, string, Purpose]>([
  ['for another purpose', token, 'image'],
  ['for the status page', token, 'status'],
  ['with another function', withPart((parts) => parts.splice(0, 1, 'tgi')), 'act'],
  ['with another subject', withPart((parts) => parts.splice(1, 1, 'chat/b|waiting|@1')), 'act'],
  ['with a later end', withPart((parts) => parts.splice(2, 1, NOW + 10 ** 10)), 'act'],
  ['without an end', withPart((parts) => parts.splice(2, 1, 0)), 'act'],
  ['with one letter of the signature changed', `${body}.${mac.startsWith('A') ? 'B' : 'A'}${mac.slice(1)}`, 'act'],
  ['with a cut signature', token.slice(0, -1), 'act'],
  ['with more after the signature', `${token}A`, 'act'],
  ['without a signature', body, 'act'],
  ['of nothing', '', 'act'],
  ['of dots', '...', 'act'],
  ['of words', 'let-me-in', 'act'],
  ['too long to look at', `${'A'.repeat(5_000)}.${mac}`, 'act'],
])('a token %s is worth nothing', (_, forged, purpose) => {
  expect(readToken([SECRET], purpose, forged, NOW)).toBeUndefined()
})

test('each single letter of a token counts', () => {
  for (let i = 0; i < token.length; i++) {
    const changed = `${token.slice(0, i)}${token[i] === 'x' ? 'y' : 'x'}${token.slice(i + 1)}`
    expect(readToken([SECRET], 'act', changed, NOW)).toBeUndefined()
  }
})
