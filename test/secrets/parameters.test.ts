import { afterEach, beforeEach, expect, test } from 'vitest'
import { withParameters } from '../../src/secrets/parameters.ts'
import { openParameterStore, type ParameterStore } from './parameter-store.ts'

let store: ParameterStore
let now = 0

beforeEach(async () => {
  store = await openParameterStore({ '/queuebell/prod/NOTIFLY_TOKEN': 'the-token', '/shared/vllm': 'another' })
  // Further on each time: what was read is kept for 15 minutes.
  now += 60 * 60_000
})
afterEach(() => store.close())

function environment(more: Record<string, string>) {
  return { ...store.environment, ...more }
}

test('a variable that names a parameter gets its value, decrypted; all others stay', async () => {
  const env = environment({
    NOTIFLY_TOKEN: 'ssm:/queuebell/prod/NOTIFLY_TOKEN',
    VLLM_BEARER_TOKEN: 'ssm: /shared/vllm',
    NOTIFLY_URL: 'https://push.example',
  })
  expect(await withParameters(env, now)).toEqual({ ...env, NOTIFLY_TOKEN: 'the-token', VLLM_BEARER_TOKEN: 'another' })
  expect(store.asked).toEqual([{ Names: ['/queuebell/prod/NOTIFLY_TOKEN', '/shared/vllm'], WithDecryption: true }])
})

test('without such a variable nothing is asked, and nothing is needed', async () => {
  const env = { NOTIFLY_TOKEN: 'plain' }
  expect(await withParameters(env, now)).toBe(env)
  expect(store.asked).toEqual([])
})

test('values are kept for 15 minutes, then a rotated one is seen', async () => {
  const env = environment({ NOTIFLY_TOKEN: 'ssm:/queuebell/prod/NOTIFLY_TOKEN' })
  await withParameters(env, now)
  store.parameters['/queuebell/prod/NOTIFLY_TOKEN'] = 'rotated'
  expect((await withParameters(env, now + 14 * 60_000)).NOTIFLY_TOKEN).toBe('the-token')
  expect((await withParameters(env, now + 15 * 60_000)).NOTIFLY_TOKEN).toBe('rotated')
  expect(store.asked).toHaveLength(2)
})

test('more than ten parameters are asked for in several requests', async () => {
  const many = Array.from({ length: 23 }, (_, index) => [`V${index}_TOKEN`, `ssm:/p/${index}`] as const)
  for (const [, name] of many) store.parameters[name.slice(4)] = `value of ${name}`
  const resolved = await withParameters(environment(Object.fromEntries(many)), now)
  expect(resolved.V22_TOKEN).toBe('value of ssm:/p/22')
  expect(store.asked.map(({ Names }) => (Names as string[]).length)).toEqual([10, 10, 3])
})

test('parameters that are not there are named with their variables, all at once, and asked for anew', async () => {
  const env = environment({ NOTIFLY_TOKEN: 'ssm:/gone', PING_URL: 'ssm:/lost', VLLM_BEARER_TOKEN: 'ssm:/shared/vllm' })
  const failed = await withParameters(env, now).catch(String)
  expect(failed).toContain('NOTIFLY_TOKEN: there is no SSM parameter /gone')
  expect(failed).toContain('PING_URL: there is no SSM parameter /lost')
  expect(failed).not.toContain('another')
  Object.assign(store.parameters, { '/gone': 'a', '/lost': 'b' })
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
