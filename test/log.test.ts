import { describe, expect, test } from 'vitest'
import { createLog, mask } from '../src/log.ts'
import type { LogLevel } from '../src/model/config.ts'

function logInto(lines: string[], { level = 'debug', secrets = [] }: { level?: LogLevel; secrets?: string[] } = {}) {
  return createLog(
    level,
    secrets,
    (line) => lines.push(line),
    () => Date.UTC(2026, 10, 30, 12),
  )
}

const written = (fields: Record<string, unknown>, secrets: string[] = []) => {
  const lines: string[] = []
  logInto(lines, { secrets }).info('told', fields)
  return JSON.parse(lines[0] ?? '')
}

describe('a line', () => {
  test('is one JSON object with time, level, message and fields, in this order', () => {
    const lines: string[] = []
    logInto(lines).warn('scrape failed', { endpoint: 'chat/a', took: 12.5 })
    expect(lines).toEqual([
      '{"time":"2026-11-30T12:00:00.000Z","level":"warn","message":"scrape failed","endpoint":"chat/a","took":12.5}',
    ])
  })

  test('stays one line whatever a text holds', () => {
    const lines: string[] = []
    logInto(lines).info('two\nlines', { model: 'a\r\n{"level":"error"}' })
    expect(lines[0]?.split(/[\r\n]/)).toHaveLength(1)
  })

  test('keeps its own time, level and message against fields of the same name', () => {
    expect(written({ level: 'silent', message: 'forged', time: 0, a: 1 })).toEqual({
      time: '2026-11-30T12:00:00.000Z',
      level: 'info',
      message: 'told',
      a: 1,
    })
  })

  test.each<[LogLevel, string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
    ['silent', []],
  ])('at level %s writes %j', (level, expected) => {
    const lines: string[] = []
    const log = logInto(lines, { level })
    log.debug('debug')
    log.info('info')
    log.warn('warn')
    log.error('error')
    expect(lines.map((line) => JSON.parse(line).message)).toEqual(expected)
  })

  test('shows an error with its code and causes, but no stack', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    const inner = new AggregateError([cause], 'all failed')
    expect(written({ error: new TypeError('fetch failed', { cause: inner }) }).error).toEqual({
      name: 'TypeError',
      message: 'fetch failed',
      cause: {
        name: 'AggregateError',
        message: 'all failed',
        errors: [{ name: 'Error', message: 'connect ECONNREFUSED', code: 'ECONNREFUSED' }],
      },
    })
  })

  test('survives what JSON cannot carry', () => {
    const circle: Record<string, unknown> = {
      n: Number.NaN,
      big: 10n,
      at: new Date(0),
      none: undefined,
      map: new Map([['a', 1]]),
    }
    circle.self = circle
    expect(written({ circle }).circle).toMatchObject({
      n: 'NaN',
      big: '10',
      at: '1970-01-01T00:00:00.000Z',
      map: { a: 1 },
    })
  })
})

describe('secrets', () => {
  const token = 'A/b+c d&=é"ü'
  const basic = `Basic ${Buffer.from('alice:hunter2secret').toString('base64')}`

  test.each([
    ['as it is', `token is ${token}.`, [token]],
    ['URL-encoded', `https://push/message?x=${encodeURIComponent(token)}&y=1`, [token]],
    ['as a form writes it', new URLSearchParams({ x: token }).toString(), [token]],
    ['inside a JSON text', JSON.stringify({ x: token }), [token]],
    ['in base64', `got ${Buffer.from('alice:hunter2secret').toString('base64')}`, ['alice:hunter2secret']],
    ['the password of a pair', 'wrong password hunter2secret', ['alice:hunter2secret']],
    ['the password inside a Basic value', 'wrong password hunter2secret', [basic]],
    ['the base64 inside a Basic value', basic.slice(6), [basic]],
    ['the token inside a Bearer value', 'invalid token t0ps3cret', ['Bearer t0ps3cret']],
    ['one secret inside another', 'abcdef-ghi', ['abcdef', 'abcdef-ghi']],
  ])('%s', (_, text, secrets) => {
    const masked = mask(text, secrets)
    expect(masked).toContain('***')
    expect(masked).not.toMatch(/hunter2secret|YWxpY2U6|t0ps3cret|c d&|c%20d|c\+d|abcdef|ghi/)
  })

  test.each([
    ['https://alice:hunter2@push.example.com/message', 'https://***@push.example.com/message'],
    ['http://alice:p@ss@h:8000/metrics and http://h/b@c', 'http://***@h:8000/metrics and http://h/b@c'],
    ['case 102: POST https://push/message?token=AbC failed', 'case 102: POST https://push/message?token=*** failed'],
    ['/x?a=1&api_key=AbC&b=2#c', '/x?a=1&api_key=***&b=2#c'],
    [
      '"https://s3/x?X-Amz-Signature=abc&X-Amz-Credential=d"',
      '"https://s3/x?X-Amz-Signature=***&X-Amz-Credential=***"',
    ],
    ['access_token=AbC', 'access_token=***'],
    ['POST /x?session_pass=AbC&cred=d&max_tokens=***', 'POST /x?session_pass=***&cred=***&max_tokens=***'],
    ['api_key=AbC, sig=d; PGPASSWORD=e', 'api_key=*** sig=***; PGPASSWORD=***'],
  ])('an address in a text shows nothing secret: %s', (text, expected) => {
    expect(mask(text, [])).toBe(expected)
  })

  test.each([
    'max_tokens=5 prompt_tokens=7 passed=3 design=flat',
    'http://h/metrics?design=flat&format=text',
    'key=vllm.json is the state object',
    'http://10.0.0.5:8000/metrics answered 404; alice@example.com was told',
    'a/b@c',
  ])('leaves alone what is none: %s', (text) => {
    expect(mask(text, ['', 'x'])).toBe(text)
  })

  test('a long word without an end is read once', () => {
    const started = performance.now()
    mask('a'.repeat(200_000), [])
    expect(performance.now() - started).toBeLessThan(1_000)
  })

  test('no planted secret leaves in any field, at any depth, in keys, errors or the message', () => {
    const secrets = ['plant-one-1111', basic, 'Bearer plant-two-2222']
    const cause = Object.assign(new Error('bad plant-one-1111'), { code: 'plant-two-2222' })
    const lines: string[] = []
    logInto(lines, { secrets }).error('plant-one-1111 leaked', {
      'plant-one-1111': 1,
      list: [['plant-two-2222'], new Set(['plant-one-1111'])],
      error: new AggregateError([cause], 'x hunter2secret', { cause }),
      url: new URL('http://u:plant-two-2222@h/?t=plant-one-1111'),
      headers: { Authorization: 'something else', 'x-gotify-key': 'never seen before' },
    })
    expect(lines.join()).not.toMatch(/plant-|hunter2|something else|never seen|YWxpY2U6/)
  })
})
