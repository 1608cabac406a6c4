import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withParameters } from '../../src/secrets/parameters.ts'
import { functionsFor } from '../../tools/deploy/functions.ts'
import { ownSecrets, removeSecrets, saveSecrets } from '../../tools/deploy/secrets.ts'
import { parseDeployment } from '../../tools/deploy/settings.ts'
import { configuredFunctions } from '../../tools/deploy/variables.ts'
import { openParameterStore, type ParameterStore } from '../secrets/parameter-store.ts'

const ENV = {
  VLLM_ENDPOINTS: 'chat/a=http://10.0.0.5:8000 chat/b=http://user:planted-in-address@10.0.0.6:8000',
  NOTIFLY_URL: 'https://push.example',
  NOTIFLY_TOKEN: ' planted-token ',
  PING_URL: 'https://hc-ping.com/planted-ping',
  VLLM_BEARER_TOKEN: 'ssm:/shared/vllm',
  HEARTBEAT_WORKERS: 'indexer=60s+30s',
  HEARTBEAT_TOKEN: 'planted-beat',
}
const PLACE = { region: 'eu-central-1', stage: 'prod' }

let store: ParameterStore
beforeEach(async () => {
  store = await openParameterStore({ '/shared/vllm': 'of-the-team' })
  for (const [name, value] of Object.entries(store.environment)) vi.stubEnv(name, value)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await store.close()
})

const secretsOf = (env: Record<string, string>) => ownSecrets(configuredFunctions(env), env)

test('the secrets of .env are saved, encrypted and over older ones; what is said has the names alone', async () => {
  const said: string[] = []
  await saveSecrets(secretsOf(ENV), PLACE, (line) => said.push(line))
  expect(store.asked).toEqual(
    [
      ['NOTIFLY_TOKEN', 'planted-token'],
      ['PING_URL', ENV.PING_URL],
      ['VLLM_ENDPOINTS', ENV.VLLM_ENDPOINTS],
      ['HEARTBEAT_TOKEN', 'planted-beat'],
    ].map(([name, Value]) => ({ Name: `/queuebell/prod/${name}`, Value, Type: 'SecureString', Overwrite: true })),
  )
  expect(said).toHaveLength(4)
  expect(said.join()).not.toContain('planted')
})

test('what was saved is what the deployed function reads', async () => {
  await saveSecrets(secretsOf(ENV), PLACE, () => {})
  const parsed = parseDeployment(ENV)
  if ('problems' in parsed) throw new Error(parsed.problems.join())
  const { environment } = functionsFor(ENV, parsed.deployment).vllm ?? { environment: {} }
  expect(JSON.stringify(environment)).not.toContain('planted')
  const settings = { ...(environment as Record<string, string>), STATE_BUCKET: 'made-by-the-stack' }
  const read = await withParameters({ ...store.environment, ...settings }, Date.now())
  expect(read).toMatchObject({
    NOTIFLY_TOKEN: 'planted-token',
    PING_URL: ENV.PING_URL,
    VLLM_ENDPOINTS: ENV.VLLM_ENDPOINTS,
    VLLM_BEARER_TOKEN: 'of-the-team',
  })
})

test('a refusal names the variable, and not its value even where AWS repeats it', async () => {
  store.refusal = "1 validation error detected: Value 'planted-token' at 'value' failed to satisfy constraint"
  const failed = await saveSecrets(secretsOf(ENV), PLACE, () => {}).catch(String)
  expect(failed).toContain('NOTIFLY_TOKEN was not saved: SSM PutParameter answered 400: ValidationException')
  expect(failed).not.toContain('planted')
})

test('without a secret nothing is asked, and no credentials are needed', async () => {
  vi.unstubAllEnvs()
  await saveSecrets(secretsOf({ VLLM_ENDPOINTS: 'a=http://h' }), PLACE, () => {})
  expect(store.asked).toEqual([])
})

test('what was saved is removed, whoever shares the store keeps theirs, and a second time is no trouble', async () => {
  await saveSecrets(secretsOf(ENV), PLACE, () => {})
  const said: string[] = []
  for (let times = 0; times < 2; times++) await removeSecrets(secretsOf(ENV), PLACE, (line) => said.push(line))
  expect(Object.keys(store.parameters)).toEqual(['/shared/vllm'])
  expect(said.slice(0, 4)).toContain('  parameter /queuebell/prod/NOTIFLY_TOKEN is gone')
  expect(said.join()).not.toContain('planted')
})
