import { writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTlsServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { type Connections, openDispatcher, type Ways } from '../../src/http/connections.ts'
import { get } from '../../src/http/get.ts'
import { tlsProblems } from '../../src/http/tls.ts'
import { endpointWays, outwardWays, pushWays } from '../../src/http/ways.ts'
import type { TlsFiles } from '../../src/model/reach.ts'
import { type Certificates, makeCertificates, read } from './certificates.ts'
import { openProxy, type TestProxy } from './proxy.ts'

let made: Certificates
beforeAll(() => {
  made = makeCertificates()
})

const makeServer = (names: string) => made.issue('other', names)

const page: RequestListener = (_, answer) => void answer.end('waiting 3\n')

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const plain = () => listen(createServer(page))
const secure = (options: ServerOptions = {}) =>
  listen(createTlsServer({ ...read(made.server), ...options }, page) as unknown as ReturnType<typeof createServer>)

async function proxy(...args: Parameters<typeof openProxy>): Promise<TestProxy> {
  const opened = await openProxy(...args)
  onTestFinished(() => opened.close())
  return opened
}

async function ask(url: string, ways: Ways) {
  const connections: Connections = openDispatcher(ways)
  let text = ''
  const got = await get(url, {
    timeout: 3_000,
    dispatcher: connections.dispatcher,
    onChunk: (chunk) => {
      text += Buffer.from(chunk).toString()
    },
  })
  await connections.close()
  return got.ok ? text : got.failure
}

const by = (url: string, ...except: string[]): Ways => outwardWays({ proxies: { http: url, https: url, except } })
const trusting = (files: TlsFiles): Ways => outwardWays({ tls: files })
const file = (path: string, variable = 'TLS_CA') => ({ variable, path })

describe('by a proxy', () => {
  test('a plain address that only the proxy knows is handed to it whole', async () => {
    const port = await plain()
    const { url, asked } = await proxy({ 'vllm.corp.invalid:8000': `127.0.0.1:${port}` })
    expect(await ask('http://vllm.corp.invalid:8000/metrics?x=1', by(url))).toBe('waiting 3\n')
    expect(asked).toEqual(['GET http://vllm.corp.invalid:8000/metrics?x=1'])
  })

  test('an https address goes through a tunnel, and its certificate is checked against its own name', async () => {
    const port = await secure()
    const { url, asked } = await proxy({ 'push.corp.invalid:443': `127.0.0.1:${port}` })
    const ways = outwardWays({ proxies: { https: url, except: [] }, tls: { ca: file(made.ca) } })
    expect(await ask('https://push.corp.invalid/message', ways)).toMatchObject({
      kind: 'tls',
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    expect(asked).toEqual(['CONNECT push.corp.invalid:443'])
  })

  test('a tunnel leads to the server whose certificate has the name', async () => {
    const port = await listen(createTlsServer(read(makeServer('DNS:push.corp.invalid')), page) as never)
    const { url } = await proxy({ 'push.corp.invalid:443': `127.0.0.1:${port}` })
    const ways = outwardWays({ proxies: { https: url, except: [] }, tls: { ca: file(made.ca) } })
    expect(await ask('https://push.corp.invalid/message', ways)).toBe('waiting 3\n')
  })

  test('NO_PROXY and loopback are reached directly', async () => {
    const port = await plain()
    const { url, asked } = await proxy({})
    expect(await ask(`http://127.0.0.1:${port}/`, by(url))).toBe('waiting 3\n')
    expect(await ask('http://vllm.corp.invalid/', by(url, 'corp.invalid'))).toMatchObject({ kind: 'name-not-found' })
    expect(asked).toEqual([])
  })

  test('its user and password are sent to it, and to it alone', async () => {
    const seen: (string | undefined)[] = []
    const port = await listen(
      createServer((incoming, answer) => {
        seen.push(incoming.headers['proxy-authorization'])
        answer.end('waiting 3\n')
      }),
    )
    const { url } = await proxy({ 'a.corp.invalid': `127.0.0.1:${port}` }, { user: 'me:p@ss' })
    const withUser = url.replace('//', '//me:p%40ss@')
    expect(await ask('http://a.corp.invalid/', by(withUser))).toBe('waiting 3\n')
    expect(seen).toEqual([undefined])
  })

  test.each([
    ['http://a.corp.invalid/', 407, { kind: 'proxy', status: 407 }],
    ['https://a.corp.invalid/', 407, { kind: 'proxy', status: 407 }],
    ['https://a.corp.invalid/', 502, { kind: 'proxy', status: 502 }],
    ['https://a.corp.invalid/', 403, { kind: 'proxy', status: 403 }],
    ['http://a.corp.invalid/', 502, { kind: 'proxy', status: 502 }],
  ])("%s: its own refusal with %i is told as the proxy's", async (address, refuse, failure) => {
    const { url } = await proxy({}, { refuse })
    expect(await ask(address, by(url))).toMatchObject(failure)
  })

  test('a proxy that is not there is told as such, with its address and without its password', async () => {
    const { url, close } = await openProxy({})
    await close()
    const failure = await ask('http://a.corp.invalid/', by(url.replace('//', '//me:secret@')))
    expect(failure).toEqual({ kind: 'proxy', code: 'ECONNREFUSED', detail: url.slice('http://'.length) })
  })
})

describe('by TLS', () => {
  test("a CA of one's own is trusted where it is named, and not elsewhere", async () => {
    const port = await secure()
    const address = `https://localhost:${port}/`
    expect(await ask(address, {})).toMatchObject({ kind: 'tls', code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
    expect(await ask(address, trusting({ ca: file(made.ca) }))).toBe('waiting 3\n')
    expect(await ask(address, trusting({ skipVerify: true }))).toBe('waiting 3\n')
  })

  test('a server that wants a client certificate gets it', async () => {
    const { readFileSync } = await import('node:fs')
    const wanting = { ca: readFileSync(made.ca), requestCert: true, rejectUnauthorized: true }
    const port = await secure(wanting)
    const address = `https://localhost:${port}/`
    const ca = file(made.ca)
    expect(await ask(address, trusting({ ca }))).toEqual({
      kind: 'tls',
      code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    })
    const older = await secure({ ...wanting, maxVersion: 'TLSv1.2' })
    expect(await ask(`https://localhost:${older}/`, trusting({ ca }))).toMatchObject({
      kind: 'tls',
      code: expect.stringContaining('HANDSHAKE_FAILURE'),
    })
    const own = { cert: file(made.client.cert), key: file(made.client.key) }
    expect(await ask(address, trusting({ ca, ...own }))).toBe('waiting 3\n')
  })

  test('case 302: http in front of a TLS port, and the reverse, are told apart from a dead server', async () => {
    const [tls, http] = [await secure(), await plain()]
    expect(await ask(`http://localhost:${tls}/`, {})).toEqual({ kind: 'tls', code: 'HTTP_ON_TLS' })
    expect(await ask(`https://localhost:${http}/`, {})).toMatchObject({
      kind: 'tls',
      code: expect.stringMatching(/WRONG_VERSION_NUMBER|PACKET_LENGTH/),
    })
  })

  test.each([
    ['<html><head><title>400 The plain HTTP request was sent to HTTPS port</title>', 'HTTP_ON_TLS'],
    ['Client sent an HTTP request to an HTTPS server.\n', 'HTTP_ON_TLS'],
    ['<html><head><title>400 No required SSL certificate was sent</title>', 'CERTIFICATE_REQUIRED'],
  ])('a server that says so with 400 is told the same: %s', async (words, code) => {
    const port = await listen(createServer((_, answer) => void answer.writeHead(400).end(words)))
    expect(await ask(`http://localhost:${port}/`, {})).toEqual({ kind: 'tls', code })
  })

  test('a file that is missing, no PEM, or of another key is a problem that names its variable', () => {
    const noPem = join(made.folder, 'none.pem')
    writeFileSync(noPem, 'hello')
    const problems = tlsProblems([
      { ca: file('/nowhere/ca.pem') },
      { ca: file(noPem, 'VLLM_TLS_CA') },
      { cert: file(made.client.cert, 'TLS_CERT'), key: file(made.server.key, 'TLS_KEY') },
      { ca: file(made.ca), cert: file(made.client.cert), key: file(made.client.key) },
    ])
    expect(problems).toEqual([
      'TLS_CA: /nowhere/ca.pem cannot be read (ENOENT); write the path of a PEM file',
      `VLLM_TLS_CA: ${noPem} holds no "CERTIFICATE" in PEM form; convert it, for example with openssl`,
      `TLS_KEY: ${made.server.key} is not the key of the certificate in TLS_CERT`,
    ])
  })
})

describe('as the variables say', () => {
  const config = (env: Record<string, string>) => {
    const parsed = parseConfig('vllm', env, { lambda: false })
    if (!parsed.ok) throw new Error(parsed.problems.join('\n'))
    return parsed.config
  }

  test('the most specific setting of an endpoint holds, the bare one for all others', () => {
    const { endpoints, tls } = config({
      VLLM_ENDPOINTS: 'chat/a=https://a chat/b=https://b code=https://c',
      TLS_CA: '/ca.pem',
      VLLM_CHAT_TLS_CA: '/chat.pem',
      VLLM_CHAT_A_TLS_CA: '/a.pem',
      VLLM_CODE_PROXY: 'yes',
    })
    expect(endpoints.map(({ reach }) => [reach?.tls?.ca?.path, reach?.byProxy])).toEqual([
      ['/a.pem', undefined],
      ['/chat.pem', undefined],
      ['/ca.pem', true],
    ])
    expect(tls?.ca).toEqual({ variable: 'TLS_CA', path: '/ca.pem' })
  })

  test('an endpoint at a private address goes by the proxy only where it is told to', async () => {
    const port = await plain()
    const { url, asked } = await proxy({ '10.9.9.9:8000': `127.0.0.1:${port}` })
    const env = { VLLM_ENDPOINTS: 'a=http://10.9.9.9:8000', HTTP_PROXY: url, VLLM_PROXY: 'yes' }
    expect(await ask('http://10.9.9.9:8000/metrics', endpointWays(config(env)))).toBe('waiting 3\n')
    expect(asked).toHaveLength(1)
    expect(endpointWays(config({ ...env, VLLM_PROXY: 'no' }))).toMatchObject({ direct: 'private' })
  })

  test('the push server and each channel have settings of their own; a password of the proxy is a secret', () => {
    const { channels, proxies, secrets } = config({
      VLLM_ENDPOINTS: 'a=http://a',
      NOTIFLY_URL: 'https://push.example',
      NOTIFLY_TLS_CA: '/push.pem',
      PUSH_AM: 'alertmanager+https://am.example',
      PUSH_AM_TLS_CA: '/am.pem',
      https_proxy: 'proxy.example:3128',
      HTTP_PROXY: 'http://me:s3cret@proxy.example:3128',
      NO_PROXY: 'a.example, b.example',
    })
    const { reachOf } = pushWays({ channels })
    expect(reachOf?.('https://push.example')).toEqual({
      tls: { ca: { variable: 'NOTIFLY_TLS_CA', path: '/push.pem' } },
    })
    expect(reachOf?.('https://am.example')).toEqual({ tls: { ca: { variable: 'PUSH_AM_TLS_CA', path: '/am.pem' } } })
    expect(proxies).toMatchObject({ https: 'http://proxy.example:3128/', except: ['a.example', 'b.example'] })
    expect(secrets).toContain('s3cret')
  })

  test("a proxy's password is read as it was meant, and a % that begins no code is a problem that names the variable", () => {
    const { secrets } = config({ VLLM_ENDPOINTS: 'a=http://a', HTTPS_PROXY: 'me:p%40ss%25@proxy.example:3128' })
    expect(secrets).toContain('p@ss%')
    for (const [name, text] of [
      ['HTTP_PROXY', '%@!'],
      ['https_proxy', 'http://me:s3cret%@proxy.example:3128'],
    ] as const)
      expect(parseConfig('vllm', { VLLM_ENDPOINTS: 'a=http://a', [name]: text }, { lambda: false })).toMatchObject({
        problems: [`${name}: has a % that begins no code in its user or password; write % as %25`],
      })
  })

  test('a certificate without its key is a problem, a check that is switched off a warning', () => {
    const parsed = parseConfig('vllm', { VLLM_ENDPOINTS: 'a=http://a', VLLM_TLS_CERT: '/c.pem' }, { lambda: false })
    expect(parsed).toMatchObject({
      problems: ['VLLM_TLS_KEY: is not set, but VLLM_TLS_CERT is; write the path of its key'],
    })
    const { warnings } = config({ VLLM_ENDPOINTS: 'a=http://a', VLLM_TLS_SKIP_VERIFY: 'yes' })
    expect(warnings.join()).toContain('VLLM_TLS_SKIP_VERIFY=yes takes any certificate')
  })
})

afterAll(async () => {
  const { rmSync } = await import('node:fs')
  rmSync(made.folder, { recursive: true, force: true })
})
