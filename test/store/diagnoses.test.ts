import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Store } from '../../src/model/store.ts'
import { openS3Store } from '../../src/store/s3.ts'
import { openProxy } from '../http/proxy.ts'
import { CREDENTIALS, type FakeS3, startS3 } from './s3-server.ts'

let s3: FakeS3
beforeEach(async () => {
  for (const [name, value] of Object.entries(CREDENTIALS)) vi.stubEnv(name, value)
  s3 = await startS3()
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await s3.close()
})

const failure = (work: Promise<unknown>) =>
  work.then(
    () => 'worked',
    (error: Error) => error.message,
  )

describe('where the state cannot be reached, the error names what to change', () => {
  test('case 310: a store by name that knows no host names of buckets', async () => {
    const store = openS3Store({ ...s3.config(), endpoint: 'http://minio.invalid:9000', forcePathStyle: false })
    expect(await failure(store.load('vllm.json'))).toMatch(
      /\(ENOTFOUND\): .*\.minio\.invalid:9000 cannot be reached; .* set S3_FORCE_PATH_STYLE=yes/,
    )
  })

  test.each([
    [
      'a profile that does not exist',
      { AWS_PROFILE: 'missing' },
      /AWS_PROFILE=missing cannot be had; .*aws sso login --profile missing/,
    ],
    [
      'case 315: STS refuses the role',
      { AWS_ROLE_ARN: 'arn:aws:iam::1:role/watch', AWS_WEB_IDENTITY_TOKEN_FILE: 'package.json' },
      /AWS gave no credentials for AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE/,
    ],
  ])('case 317: %s is told as trouble of the credentials, not of the store', async (_, env, words) => {
    const sts = createServer((_request, answer) => {
      answer.writeHead(403, { 'content-type': 'text/xml' })
      answer.end(
        '<ErrorResponse><Error><Code>AccessDenied</Code><Message>arn:aws:sts::1:x</Message></Error></ErrorResponse>',
      )
    })
    await new Promise<void>((done) => sts.listen(0, '127.0.0.1', done))
    onTestFinished(() => void sts.close())
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' }
    const nowhere = {
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_CONFIG_FILE: '/nowhere',
      AWS_SHARED_CREDENTIALS_FILE: '/nowhere',
    }
    const endpoint = `http://127.0.0.1:${(sts.address() as AddressInfo).port}`
    const all = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...nowhere, AWS_ENDPOINT_URL_STS: endpoint, ...env }
    for (const [name, value] of Object.entries(all)) vi.stubEnv(name, value)
    const said = await failure(openS3Store(s3.config()).load('vllm.json'))
    expect(said).toMatch(words)
    expect(said).not.toMatch(/VPC|s3:GetObject|arn:aws:sts/)
    expect(s3.requests.GET).toBe(0)
  })
})

describe('case 311: a bucket with Object Lock', () => {
  test('gets Content-MD5 once it has asked for it, and again from the next process at once', async () => {
    s3.traits.digestWanted = true
    const first = openS3Store(s3.config())
    const saved = await first.save('vllm.json', '{"v":1}', undefined)
    expect(saved).not.toBe('conflict')
    const puts = s3.requests.PUT
    const next: Store = openS3Store(s3.config())
    const stored = await next.load('vllm.json')
    await next.save('vllm.json', '{"v":2}', stored?.version)
    expect(s3.requests.PUT).toBe(puts + 1)
    expect(s3.objects.get('queuebell/vllm.json')?.text).toBe('{"v":2}')
  })
})

describe('behind a proxy', () => {
  test('case 300: a store whose name the proxy alone knows is read and written, conditions and all', async () => {
    const { host } = new URL(s3.endpoint)
    const proxy = await openProxy({ 's3.corp.invalid': host })
    onTestFinished(() => proxy.close())
    const store = openS3Store({
      ...s3.config(),
      endpoint: 'http://s3.corp.invalid',
      proxies: { http: proxy.url, except: [] },
    })
    const first = await store.save('vllm.json', '{"v":1}', undefined)
    if (first === 'conflict') throw new Error('conflict')
    expect(await store.load('vllm.json')).toMatchObject({ text: '{"v":1}', version: first.version })
    expect(await store.save('vllm.json', '{"v":2}', first.version)).not.toBe('conflict')
    expect(await store.save('vllm.json', '{"v":3}', first.version)).toBe('conflict')
    expect(proxy.asked.length).toBeGreaterThan(3)
  })

  test.each([407, 502])("its own refusal with %i is told as the proxy's", async (refuse) => {
    const proxy = await openProxy({}, { refuse })
    onTestFinished(() => proxy.close())
    const config = { ...s3.config(), endpoint: 'http://s3.corp.invalid', proxies: { http: proxy.url, except: [] } }
    expect(await failure(openS3Store(config).load('vllm.json'))).toMatch(/the proxy did not let the request through/)
  })
})
