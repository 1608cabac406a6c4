import { describe, expect, test } from 'vitest'
import { rulesOf } from '../../src/rules/rules.ts'
import { SERVER_STORIES, SERVERS } from './servers.ts'

/** No page tells when a certificate ends: its stories are in test/http/certificate-ends.test.ts. */
const BY_THE_CONNECTION = 'tls_expiry'

describe.each(SERVERS)('%s', (backend) => {
  const own = SERVER_STORIES.filter((story) => story.backend === backend)

  test('has a story of each of its rules', () => {
    const told = new Set(own.flatMap(({ pushes }) => pushes.map(([, , rule]) => rule)))
    expect(rulesOf(backend).filter((rule) => !told.has(rule) && rule !== BY_THE_CONNECTION)).toEqual([])
  })
})
