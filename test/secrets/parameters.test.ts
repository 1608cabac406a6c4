import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { withParameters } from '../../src/secrets/parameters.ts'
import { type Loopback, serveOnLoopback } from '../../src/simulator/loopback.ts'

const SECRET_KEY = 'example-secret-key'
/** A Parameter Store on loopback; it takes only requests whose signature it comes to by its own arithmetic. */
let store: Loopback
let parameters: Record<string, string>
let asked: { Names: string[]; WithDecryption: boolean }[]
let now = 0

beforeEach(async () => {
  parameters = { '/queuebell/prod/NOTIFLY_TOKEN': 'the-token', '/shared/vllm': 'another' }
  asked = []
  // Further on each time: what was read is kept for 15 minutes.
  now += 60 * 60_000
  store = await serveOnLoopback(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    if (request.headers.authorization !== signatureOf(request, body)) {
      response.writeHead(400).end('{"__type":"com.amazon#InvalidSignatureException","message":"no"}')
      return
    }
    const input = JSON.parse(body) as (typeof asked)[number]
    asked.push(input)
    const found = input.Names.filter((name) => name in parameters).map((Name) => ({ Name, Value: parameters[Name] }))
    response.writeHead(200).end(JSON.stringify({ Parameters: found }))
  })
})
afterEach(() => store.close())

function environment(more: Record<string, string>) {
  return {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    AWS_SESSION_TOKEN: 'session',
    AWS_ENDPOINT_URL_SSM: store.url,
    ...more,
  }
}

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, written down again. */
function signatureOf({ headers }: IncomingMessage, body: string): string {
  const sha = (text: string) => createHash('sha256').update(text).digest('hex')
  const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const date = String(headers['x-amz-date'])
  const scope = `${date.slice(0, 8)}/eu-central-1/ssm/aws4_request`
  const signed = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? ''
  const lines = signed.split(';').map((name) => `${name}:${headers[name]}\n`)
  const canonical = ['POST', '/', '', lines.join(''), signed, sha(body)].join('\n')
  const key = scope.split('/').reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${SECRET_KEY}`)
  const signature = hmac(key, ['AWS4-HMAC-SHA256', date, scope, sha(canonical)].join('\n')).toString('hex')
  return `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/${scope}, SignedHeaders=${signed}, Signature=${signature}`
}

test('a variable that names a parameter gets its value, decrypted; all others stay', async () => {
  const env = environment({
    NOTIFLY_TOKEN: 'ssm:/queuebell/prod/NOTIFLY_TOKEN',
    VLLM_BEARER_TOKEN: 'ssm: /shared/vllm',
    NOTIFLY_URL: 'https://push.example',
  })
  expect(await withParameters(env, now)).toEqual({ ...env, NOTIFLY_TOKEN: 'the-token', VLLM_BEARER_TOKEN: 'another' })
  expect(asked).toEqual([{ Names: ['/queuebell/prod/NOTIFLY_TOKEN', '/shared/vllm'], WithDecryption: true }])
})

test('without such a variable nothing is asked, and nothing is needed', async () => {
  const env = { NOTIFLY_TOKEN: 'plain' }
  expect(await withParameters(env, now)).toBe(env)
  expect(asked).toEqual([])
})

test('values are kept for 15 minutes, then a rotated one is seen', async () => {
  const env = environment({ NOTIFLY_TOKEN: 'ssm:/queuebell/prod/NOTIFLY_TOKEN' })
  await withParameters(env, now)
  parameters['/queuebell/prod/NOTIFLY_TOKEN'] = 'rotated'
  expect((await withParameters(env, now + 14 * 60_000)).NOTIFLY_TOKEN).toBe('the-token')
  expect((await withParameters(env, now + 15 * 60_000)).NOTIFLY_TOKEN).toBe('rotated')
  expect(asked).toHaveLength(2)
})

test('more than ten parameters are asked for in several requests', async () => {
  const many = Array.from({ length: 23 }, (_, index) => [`V${index}_TOKEN`, `ssm:/p/${index}`] as const)
  for (const [, name] of many) parameters[name.slice(4)] = `value of ${name}`
  const resolved = await withParameters(environment(Object.fromEntries(many)), now)
  expect(resolved.V22_TOKEN).toBe('value of ssm:/p/22')
  expect(asked.map(({ Names }) => Names.length)).toEqual([10, 10, 3])
})

test('parameters that are not there are named with their variables, all at once, and asked for anew', async () => {
  const env = environment({ NOTIFLY_TOKEN: 'ssm:/gone', PING_URL: 'ssm:/lost', VLLM_BEARER_TOKEN: 'ssm:/shared/vllm' })
  const failed = await withParameters(env, now).catch(String)
  expect(failed).toContain('NOTIFLY_TOKEN: there is no SSM parameter /gone')
  expect(failed).toContain('PING_URL: there is no SSM parameter /lost')
  expect(failed).not.toContain('another')
  Object.assign(parameters, { '/gone': 'a', '/lost': 'b' })
  expect((await withParameters(env, now)).PING_URL).toBe('b')
})

test("a refusal shows AWS's reason and no credential", async () => {
  const env = environment({ NOTIFLY_TOKEN: 'ssm:/x', AWS_SECRET_ACCESS_KEY: 'wrong-key' })
  const failed = await withParameters(env, now).catch(String)
  expect(failed).toContain('SSM GetParameters answered 400: InvalidSignatureException no')
  expect(failed).not.toContain('wrong-key')
})

test('without credentials or an answer it says what is missing', async () => {
  await expect(withParameters({ NOTIFLY_TOKEN: 'ssm:/y' }, now)).rejects.toThrow(/AWS_REGION or the AWS credentials/)
  await store.close()
  await expect(withParameters(environment({ NOTIFLY_TOKEN: 'ssm:/y' }), now)).rejects.toThrow(/no answer .* VPC/)
})
