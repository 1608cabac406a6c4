import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openInbox } from '../../tools/simulator/inbox.ts'
import { type Bundles, buildBundles } from '../bundles.ts'
import { serve } from '../scrape/loopback.ts'
import { CREDENTIALS, startS3 } from '../store/s3-server.ts'
import { openProxy } from './proxy.ts'

/* The built command line on a machine whose only way out is a proxy. */

let bundles: Bundles
beforeAll(() => {
  bundles = buildBundles()
}, 180_000)
afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))

/** `queuebell.mjs invoke vllm`, watching a server on this machine where 60 requests wait. */
async function watch(env: Record<string, string>): Promise<{ code: number | null; said: string }> {
  const { url } = await serve((_, answer) => answer.end('vllm:num_requests_waiting 60\nvllm:num_requests_running 4\n'))
  const child = spawn(process.execPath, [join(bundles.dist, 'queuebell.mjs'), 'invoke', 'vllm'], {
    cwd: bundles.root,
    env: { PATH: process.env.PATH, VLLM_ENDPOINTS: `chat=${url}`, NOTIFLY_TOKEN: 't', ...env },
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (said += String(bytes)))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, said }
}

/** The push server, the store and the ping, whose names the proxy alone knows. */
async function corporate(refuse?: number) {
  const [inbox, s3] = [await openInbox(), await startS3()]
  const ping = await serve((_, answer) => answer.end('OK'))
  const hostOf = (url: string) => new URL(url).host
  const proxy = await openProxy(
    {
      'push.corp.invalid': hostOf(inbox.url),
      's3.corp.invalid': hostOf(s3.endpoint),
      'ping.corp.invalid': hostOf(ping.url),
    },
    refuse === undefined ? {} : { refuse },
  )
  onTestFinished(() => Promise.all([inbox.close(), s3.close(), proxy.close()]).then(() => {}))
  const env = {
    ...CREDENTIALS,
    HTTP_PROXY: proxy.url,
    NOTIFLY_URL: 'http://push.corp.invalid',
    PING_URL: 'http://ping.corp.invalid/a-key-of-a-check',
    S3_ENDPOINT: 'http://s3.corp.invalid',
    S3_FORCE_PATH_STYLE: 'yes',
    STATE_BUCKET: s3.bucket,
  }
  return { inbox, s3, ping, proxy, env }
}

test('case 300: push server, store and ping are reached by the proxy, the server on this machine directly', async () => {
  const { inbox, s3, ping, proxy, env } = await corporate()
  const { code, said } = await watch(env)
  expect([code, said]).toEqual([0, expect.stringContaining('pushes: 1 delivered')])
  expect(inbox.received).toHaveLength(1)
  expect([...s3.objects.keys()]).toContain('queuebell/vllm.json')
  expect(ping.requests).toHaveLength(1)
  const hosts = new Set(proxy.asked.map((line) => new URL(line.split(' ')[1] ?? '').host))
  expect([...hosts].sort()).toEqual(['ping.corp.invalid', 'push.corp.invalid', 's3.corp.invalid'])
})

const own = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address

test.skipIf(own === undefined)('what NO_PROXY names is asked directly', { tags: ['long'] }, async () => {
  const proxy = await openProxy({})
  const direct: (string | undefined)[] = []
  const push = createServer((request, answer) => {
    direct.push(request.url)
    answer.end('{"id":1}')
  })
  await new Promise<void>((done) => push.listen(0, done))
  onTestFinished(() => proxy.close().then(() => void push.close()))
  const url = `http://${own}:${(push.address() as AddressInfo).port}`
  const env = { HTTP_PROXY: proxy.url, NOTIFLY_URL: url, STATE_DIR: join(bundles.root, 'direct') }
  expect(await watch({ ...env, NO_PROXY: own ?? '' })).toMatchObject({ code: 0 })
  expect([direct, proxy.asked]).toEqual([['/message'], []])
  await watch({ ...env, STATE_DIR: join(bundles.root, 'by-proxy') })
  expect(proxy.asked[0]).toBe(`POST ${url}/message`)
})

test.each([407, 502])("the proxy's own refusal with %i is told as the proxy's", { tags: ['long'] }, async (refuse) => {
  const { env } = await corporate(refuse)
  const { code, said } = await watch(env)
  expect([code, said]).toEqual([1, expect.stringMatching(/state: cannot read s3:.*the proxy did not let the request/)])
  const file = await watch({ ...env, STATE_BUCKET: '', STATE_DIR: join(bundles.root, `refused-${refuse}`) })
  expect(file.said).toMatch(/push not taken, to be tried again: (The proxy wants a user|Check HTTP_PROXY)/)
  expect(file.said).not.toMatch(/ENOTFOUND|VPC|firewall/)
})
