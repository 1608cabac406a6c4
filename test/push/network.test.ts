import { rmSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openDispatcher } from '../../src/http/connections.ts'
import { outwardWays } from '../../src/http/ways.ts'
import { createLog } from '../../src/log.ts'
import type { ChannelConfig } from '../../src/model/config.ts'
import type { Proxies } from '../../src/model/reach.ts'
import { pushTo } from '../../src/push/push-to.ts'
import { type Certificates, makeCertificates, read } from '../http/certificates.ts'
import { openProxy } from '../http/proxy.ts'
import { deafUrl, serve } from '../scrape/loopback.ts'
import { channelAt, pushOf } from './pushing.ts'

/* A push server that cannot be talked to is told in the words of the messages about endpoints, with the channel's variables. */

let made: Certificates
beforeAll(() => {
  made = makeCertificates()
})
afterAll(() => rmSync(made.folder, { recursive: true, force: true }))

const NOTIFLY = { name: 'notifly', variables: { url: 'NOTIFLY_URL', token: 'NOTIFLY_TOKEN' } }
const message = { title: 'Queue is long', body: '42 requests wait', priority: 8 }

/** The outcome, and the line of the log for the first try. */
async function pushed(url: string, channel: Partial<ChannelConfig> = NOTIFLY, proxies?: Proxies) {
  const connections = openDispatcher(outwardWays(proxies ? { proxies } : {}))
  onTestFinished(() => connections.close())
  const lines: string[] = []
  const log = createLog('debug', [], (line) => void lines.push(line), Date.now)
  const outcome = await pushTo(pushOf(message), channelAt('notifly', url, channel), 'first', {
    io: { now: Date.now, sleep: async () => {}, log },
    deadline: Date.now() + 10_000,
    dispatcher: connections.dispatcher,
    secrets: [],
    inForm: () => pushOf(message),
  })
  return { ...outcome, said: (JSON.parse(lines[0] ?? '{}') as { message: string }).message }
}

async function secure(options = {}): Promise<number> {
  const server = createServer({ ...read(made.server), ...options }, (_, answer) => void answer.end('{"id":1}'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('where no answer came, the log and the outcome say what to change', () => {
  test.each([
    [NOTIFLY, 'NOTIFLY_TLS_CA'],
    [{ name: 'team', variables: { url: 'PUSH_TEAM', token: 'PUSH_TEAM_TOKEN' } }, 'PUSH_TEAM_TLS_CA'],
  ])('case 303: a certificate of an authority of its own: %j', async (channel, variable) => {
    const { kind, advice, said } = await pushed(`https://localhost:${await secure()}`, channel)
    expect([kind, advice]).toEqual(['waiting', `Name the CA that signed it in ${variable}, the path of a PEM file`])
    expect(said).toBe(`push not taken, to be tried again: ${advice}`)
  })

  test('case 302: http in front of a TLS port, which nothing was sent to', async () => {
    const { kind, advice } = await pushed(`http://localhost:${await secure()}`)
    expect([kind, advice]).toEqual(['waiting', 'Write https:// in the address'])
  })

  test('the same where the server says so, which is no fault of the message', async () => {
    const { url } = await serve((_, answer) =>
      answer.writeHead(400).end('<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>'),
    )
    expect(await pushed(url)).toMatchObject({
      kind: 'waiting',
      misconfigured: true,
      advice: 'Write https:// in the address',
    })
  })

  test('a host that is not known, and a port that nothing listens on', async () => {
    expect((await pushed('http://push.corp.invalid')).advice).toMatch(/is the host in NOTIFLY_URL right/)
    expect((await pushed(await deafUrl())).advice).toMatch(/is the port in NOTIFLY_URL right/)
  })

  test.each([
    [407, /^The proxy wants a user: .* HTTP_PROXY/],
    [502, /^Check HTTP_PROXY and HTTPS_PROXY, or name the server in NO_PROXY/],
  ])("case 300: a proxy's own refusal with %i is told as the proxy's", async (refuse, words) => {
    const proxy = await openProxy({}, { refuse })
    onTestFinished(() => proxy.close())
    const proxies = { http: proxy.url, https: proxy.url, except: [] }
    for (const url of ['http://push.corp.invalid', 'https://push.corp.invalid']) {
      const { kind, advice } = await pushed(url, NOTIFLY, proxies)
      expect([url, kind, advice]).toEqual([url, 'waiting', expect.stringMatching(words)])
    }
  })
})
