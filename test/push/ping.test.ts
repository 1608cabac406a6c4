import { describe, expect, test, vi } from 'vitest'
import { createLog } from '../../src/log.ts'
import { ping, pingUrl } from '../../src/push/ping.ts'
import { deafUrl, serve, serveRaw } from '../scrape/loopback.ts'

const KEY = '5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278'

function options() {
  const lines: string[] = []
  return {
    lines,
    io: {
      log: createLog(
        'debug',
        [],
        (line) => lines.push(line),
        () => 0,
      ),
    },
    secrets: [],
    timeout: 5_000,
  }
}

describe('the address', () => {
  test.each([
    // configured, after a good run, after a failed one
    [`https://hc-ping.com/${KEY}`, `https://hc-ping.com/${KEY}`, `https://hc-ping.com/${KEY}/fail`],
    [`https://hc-ping.com/${KEY}/`, `https://hc-ping.com/${KEY}/`, `https://hc-ping.com/${KEY}/fail`],
    [
      'https://hc-ping.com/key/queuebell?create=1',
      'https://hc-ping.com/key/queuebell?create=1',
      'https://hc-ping.com/key/queuebell/fail?create=1',
    ],
    [
      `https://checks.example.com/ping/${KEY}`,
      `https://checks.example.com/ping/${KEY}`,
      `https://checks.example.com/ping/${KEY}/fail`,
    ],
    [
      'https://push.example.com/heartbeat/abc',
      'https://push.example.com/heartbeat/abc',
      'https://push.example.com/heartbeat/abc/fail',
    ],
    [
      'https://uptime.betterstack.com/api/v1/heartbeat/abc',
      'https://uptime.betterstack.com/api/v1/heartbeat/abc',
      'https://uptime.betterstack.com/api/v1/heartbeat/abc/fail',
    ],
    [
      'https://kuma.example.com/api/push/abc?status=up&msg=OK',
      'https://kuma.example.com/api/push/abc?status=up&msg=OK',
      undefined,
    ],
    ['https://example.com/', 'https://example.com/', undefined],
    ['https://example.com/ping', 'https://example.com/ping', undefined],
    ['nonsense', undefined, undefined],
  ])('%s', (url, good, failed) => {
    expect(pingUrl(url, true)).toBe(good)
    expect(pingUrl(url, false)).toBe(failed)
  })
})

test('a good run pings, a failed one pings /fail, each with one GET', async () => {
  const server = await serve((_, response) => response.end('OK'))
  await ping(`${server.url}/ping/${KEY}?rid=1`, true, options())
  await ping(`${server.url}/ping/${KEY}?rid=1`, false, options())
  expect(server.requests.map((r) => [r.method, r.url])).toEqual([
    ['GET', `/ping/${KEY}?rid=1`],
    ['GET', `/ping/${KEY}/fail?rid=1`],
  ])
  await vi.waitFor(() => expect(server.open()).toBe(0), 10_000)
})

test('a plain address hears nothing of a failed run, so that its own alarm goes off', async () => {
  const server = await serve((_, response) => response.end('OK'))
  await ping(`${server.url}/alive`, false, options())
  expect(server.requests).toEqual([])
})

test.each<[string, 'warn' | 'debug']>([
  ['OK', 'debug'],
  ['OK (created)', 'debug'],
  ['', 'debug'],
  ['{"ok":true}', 'debug'],
  ['<html>my own page</html>', 'debug'],
  ['OK (not found)', 'warn'],
  ['OK (rate limited)', 'warn'],
  ['{"ok":false,"msg":"Monitor not found or not active."}', 'warn'],
])('a 200 that says %j is a %s', async (body, level) => {
  const server = await serve((_, response) => response.end(body))
  const to = options()
  await ping(`${server.url}/ping/${KEY}`, true, to)
  expect(to.lines.map((line) => JSON.parse(line).level)).toEqual([level])
})

test('a redirect is followed', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/a') response.writeHead(301, { location: '/b' }).end()
    else response.end('OK')
  })
  await ping(`${server.url}/a`, true, options())
  expect(server.requests.map((r) => r.url)).toEqual(['/a', '/b'])
})

describe('a ping that fails spoils nothing, is told, and shows no key', () => {
  test.each<[string, () => Promise<string>, string]>([
    ['refused', deafUrl, 'ECONNREFUSED'],
    ['hanging', async () => (await serveRaw(() => {})).url, 'timeout'],
    [
      'answered 404 with its own address',
      async () => (await serve((request, response) => response.writeHead(404).end(`no ${request.url}`))).url,
      '404',
    ],
  ])('%s', async (_, start, expected) => {
    const to = options()
    await ping(`${await start()}/ping/${KEY}?token=s3cret`, true, { ...to, timeout: 300 })
    expect(to.lines).toHaveLength(1)
    expect(to.lines[0]).toContain('"level":"warn"')
    expect(to.lines[0]).toContain(expected)
    expect(to.lines[0]).not.toMatch(/5bf66975|s3cret/)
  })
})
