import { expect, test } from 'vitest'
import { querySecrets } from '../../src/config/address.ts'
import { shownUrl } from '../../src/secrets/names.ts'

test.each([
  'token',
  'api_key',
  'access-key',
  'password',
  'pass',
  'pwd',
  'sig',
  'X-Amz-Signature',
  'auth',
  'jwt',
  'cred',
])('the value of ?%s= is a secret, and is not shown', (name) => {
  const address = `http://h:8000/metrics?${name}=planted&x=1`
  expect(querySecrets(new URL(address))).toEqual(['planted'])
  expect(shownUrl(address)).toBe(`http://h:8000/metrics?${name}=***&x=1`)
})

test('other parameters are no secrets, and an address without one is shown as it stands', () => {
  const address = 'http://h:8000/metrics?design=flat&format=text'
  expect([querySecrets(new URL(address)), shownUrl(address)]).toEqual([[], address])
})

test('what is no address is shown as it stands: a worker has a key of the store', () => {
  expect(shownUrl('beats/indexer')).toBe('beats/indexer')
})
