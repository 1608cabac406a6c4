import { describe, expect, test } from 'vitest'
import { reachOf } from '../../tools/deploy/reach.ts'

describe('loopback in what is deployed is refused by the name of its variable', () => {
  test.each([
    ['VLLM_ENDPOINTS', 'chat/a=http://localhost:8000 chat/b=http://10.0.0.6:8000', 'localhost'],
    ['VLLM_ENDPOINTS', 'chat=http://u:planted-4711@127.0.0.1:8000', '127.0.0.1'],
    ['VLLM_ENDPOINTS', 'chat=http://[::1]:8000', '::1'],
    ['VLLM_ENDPOINTS', 'chat=dns+http://vllm.localhost:8000', 'vllm.localhost'],
    ['METRICS_URL', 'http://0.0.0.0:8000/metrics', '0.0.0.0'],
    ['NOTIFLY_URL', 'http://localhost:8080', 'localhost'],
    ['PING_URL', 'http://localhost/ping/abc', 'localhost'],
    ['VLLM_GPU_URL', 'http://host.docker.internal:9400', 'host.docker.internal'],
  ])('%s=%s', (variable, text, host) => {
    expect(reachOf(['vllm'], { [variable]: text }, true).problems).toEqual([
      `${variable}: ${host} is the function itself once it is deployed; write an address that it can reach from AWS`,
    ])
  })
})

describe('a private address without subnets is a warning that names what to set', () => {
  test.each([
    '10.0.0.5',
    '192.168.1.7',
    '172.20.0.1',
    '100.64.0.1',
    '[fd00::5]',
    'vllm',
    'gpu.internal',
    'a.svc.cluster.local',
  ])('%s', (host) => {
    const env = { VLLM_ENDPOINTS: `chat=http://${host}:8000` }
    const { problems, warnings } = reachOf(['vllm'], env, false)
    expect(problems).toEqual([])
    expect(warnings).toEqual([expect.stringMatching(/^VLLM_ENDPOINTS: .*DEPLOY_SUBNETS and DEPLOY_SECURITY_GROUPS/)])
    expect(reachOf(['vllm'], env, true).warnings).toEqual([])
  })
})

test('a file of this machine is none of the function, but for one of a layer', () => {
  const env = { TLS_CA: '/etc/ca.pem', VLLM_CHAT_TLS_KEY: 'key.pem', NOTIFLY_TLS_CA: '/opt/ca.pem' }
  expect(reachOf(['vllm'], env, false).problems).toEqual([
    'TLS_CA: is a file of this machine; a function has only what a layer puts below /opt',
    'VLLM_CHAT_TLS_KEY: is a file of this machine; a function has only what a layer puts below /opt',
  ])
})

test.each([
  ['a public address', { VLLM_ENDPOINTS: 'chat=https://gpu.example.com', NOTIFLY_URL: 'https://172.99.0.1' }],
  ['what a person opens', { VLLM_RUNBOOK_URL: 'http://localhost/wiki' }],
  ['a variable of another function', { TGI_ENDPOINTS: 'a=http://localhost' }],
])('%s is neither', (_, env) => {
  expect(reachOf(['vllm'], env, false)).toEqual({ problems: [], warnings: [] })
})
