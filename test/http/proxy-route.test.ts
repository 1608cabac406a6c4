import { expect, test } from 'vitest'
import { proxyOf } from '../../src/http/proxy-route.ts'

const proxies = (no = '') => ({ http: 'http://p:3128', https: 'http://s:3128', except: no.split(',').filter(Boolean) })

test.each([
  // address, NO_PROXY, who asks, by
  ['http://push.example.com/x', '', 'loopback', 'http://p:3128'],
  ['https://push.example.com/x', '', 'loopback', 'http://s:3128'],
  ['http://push.example.com', 'example.com', 'loopback', undefined],
  ['http://push.example.com', '.example.com', 'loopback', undefined],
  ['http://push.example.com', '*.example.com', 'loopback', undefined],
  ['http://notexample.com', 'example.com', 'loopback', 'http://p:3128'],
  ['http://PUSH.example.com.', 'push.EXAMPLE.com', 'loopback', undefined],
  ['http://push.example.com:8080', 'push.example.com:8080', 'loopback', undefined],
  ['http://push.example.com:8081', 'push.example.com:8080', 'loopback', 'http://p:3128'],
  ['https://push.example.com', 'push.example.com:443', 'loopback', undefined],
  ['http://push.example.com', '*', 'loopback', undefined],
  ['http://10.1.2.3', '10.0.0.0/8', 'loopback', undefined],
  ['http://11.1.2.3', '10.0.0.0/8', 'loopback', 'http://p:3128'],
  ['http://10.1.2.3', '10.1.2.3', 'loopback', undefined],
  ['http://[2001:db8::1]:80', '2001:db8::1', 'loopback', undefined],
  ['http://[2001:db8::1]', '[2001:db8::1]', 'loopback', undefined],
  ['http://127.0.0.1:9', '', 'loopback', undefined],
  ['http://localhost:9', '', 'loopback', undefined],
  ['http://[::1]:9', '', 'loopback', undefined],
  ['http://10.1.2.3:8000', '', 'loopback', 'http://p:3128'],
  ['http://10.1.2.3:8000', '', 'private', undefined],
  ['http://172.20.0.4', '', 'private', undefined],
  ['http://172.32.0.4', '', 'private', 'http://p:3128'],
  ['http://vllm:8000', '', 'private', undefined],
  ['http://vllm.default.svc:8000', '', 'private', undefined],
  ['http://[fd00::5]', '', 'private', undefined],
  ['http://8.8.8.8', '', 'private', 'http://p:3128'],
] as const)('%s, NO_PROXY=%s, direct: %s → %s', (address, no, direct, by) => {
  expect(proxyOf(address, proxies(no), direct)).toBe(by)
})

test('without a proxy for its scheme an address is reached directly', () => {
  expect(proxyOf('https://a.example', { http: 'http://p:1', except: [] }, 'loopback')).toBeUndefined()
  expect(proxyOf('https://a.example', undefined, 'loopback')).toBeUndefined()
})
