import { describe, expect, test } from 'vitest'
import { DEPLOY_NAMES, misspeltIn } from '../../src/config/known-names.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { DEPLOY_DEFAULTS } from '../../tools/deploy/settings.ts'
import { configOf, problemsOf } from './outcome.ts'

const SET = { VLLM_ENDPOINTS: 'chat/a=http://10.0.0.5:8000' }

describe('a variable of the environment that was meant to be ours is a problem', () => {
  test.each([
    ['NOTIFY_URL', 'NOTIFLY_URL'],
    ['NOTIFLY_TOKNE', 'NOTIFLY_TOKEN'],
    ['ALERT_LANG', 'ALERT_LANGUAGE'],
    ['VLLM_CHAT_A_WAITING_LIMT', 'VLLM_CHAT_A_WAITING_LIMIT'],
    ['VLLM_CHAT_WAITNG_LIMTI', 'VLLM_CHAT_WAITING_LIMIT'],
    ['VLLM_ENDPOINT', 'VLLM_ENDPOINTS'],
    ['VLM_ENDPOINTS', 'VLLM_ENDPOINTS'],
    ['TGI_ENDPOINT', 'TGI_ENDPOINTS'],
    ['OLLAMA_MODLE', 'OLLAMA_MODEL'],
    ['PING_ULR', 'PING_URL'],
    ['STATE_BUCKT', 'STATE_BUCKET'],
    ['QUEUE_WAITE_LIMIT', 'QUEUE_WAIT_LIMIT'],
    ['HEARTBEAT_WORKER', 'HEARTBEAT_WORKERS'],
  ])('%s', (name, meant) => {
    expect(problemsOf('vllm', { ...SET, [name]: 'x' })).toEqual([`${name}: unknown setting, did you mean ${meant}?`])
  })
})

describe('what others own, or is near to nothing, is let be', () => {
  test.each([
    'PATH',
    'PUSH',
    'PAGER',
    'HOME',
    'BASE_URL',
    'LOGLEVEL',
    'OLLAMA_MODELS',
    'OLLAMA_HOST',
    'VLLM_USE_V1',
    'VLLM_PORT',
    'VLLM_API_KEY',
    'AWS_REGION',
    'AWS_ENDPOINT_URL_S3',
    'NODE_OPTIONS',
    'KUBERNETES_SERVICE_HOST',
    'CHAT_SERVICE_PORT',
    'DATABASE_URL',
    'MEMORY_LIMIT',
    'TTFT',
  ])('%s', (name) => {
    expect(problemsOf('vllm', { ...SET, [name]: 'x' })).toEqual([])
  })
})

test('a thousand endpoints and a full environment take no time', () => {
  const endpoints = Array.from({ length: 1_000 }, (_, i) => `g${i}/r=http://h${i}`).join(' ')
  const others = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`SOME_OTHER_PROGRAM_${i}`, 'x']))
  const started = performance.now()
  expect(misspeltIn({ VLLM_ENDPOINTS: endpoints, ...others, VLLM_G7_WAITNG_LIMIT: '1' })).toEqual([
    { name: 'VLLM_G7_WAITNG_LIMIT', meant: 'VLLM_G7_WAITING_LIMIT' },
  ])
  expect(performance.now() - started).toBeLessThan(5_000)
})

test('quotation marks that a container kept are taken off, with a warning that names the variable', () => {
  const config = configOf('vllm', {
    VLLM_ENDPOINTS: '"chat=http://h"',
    NOTIFLY_URL: "'https://push.example.com'",
    NOTIFLY_TOKEN: '"Tok"',
    WAITING_LIMIT: '"30"',
    SOMETHING: '"else"',
  })
  expect(config.channels).toMatchObject([{ url: 'https://push.example.com', token: 'Tok' }])
  expect(config.endpoints[0]?.rules.find(({ id }) => id === 'waiting')?.limit).toBe(30)
  expect(config.warnings.map((warning) => warning.split(' ')[0])).toEqual([
    'VLLM_ENDPOINTS',
    'NOTIFLY_URL',
    'NOTIFLY_TOKEN',
    'WAITING_LIMIT',
  ])
  expect(config.warnings[0]).toContain("docker's --env-file keeps them, so write none")
})

test.each([
  ['VLLM_TTFT_LIMIT', '3000', 'VLLM_TTFT_LIMIT is 3000 seconds, 50 minutes: write 3000ms for milliseconds'],
  ['QUEUE_WAIT_LIMIT', '2000', 'QUEUE_WAIT_LIMIT is 2000 seconds, 33 minutes: write 2000ms for milliseconds'],
  ['VLLM_TTFT_LIMIT', '3000s', undefined],
  ['VLLM_TTFT_LIMIT', '10', undefined],
])('%s=%s', (name, text, warning) => {
  expect(configOf('vllm', { ...SET, [name]: text }).warnings).toEqual(warning === undefined ? [] : [warning])
})

test('every variable of a deployment is known', () => {
  expect([...DEPLOY_NAMES].sort()).toEqual(Object.keys(DEPLOY_DEFAULTS).sort())
  expect(parseConfig('vllm', { ...SET, DEPLOY_REGION: 'eu-west-1' }, { lambda: false }).ok).toBe(true)
})
