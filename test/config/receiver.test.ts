import { describe, expect, test } from 'vitest'
import { parseReceiver } from '../../src/config/receiver.ts'
import { configOf, endpointOf, problemsOf } from './outcome.ts'

const GOOD = { HEARTBEAT_TOKEN: 'a-token-that-is-long', HEARTBEAT_WORKERS: 'indexer=60s+30s, nightly=24h+1h' }
const LAMBDA = { ...GOOD, STATE_BUCKET: 'bucket', NOTIFLY_URL: 'https://p', NOTIFLY_TOKEN: 't' }

function problemsOfReceiver(variables: Record<string, string>, lambda = false): string[] {
  const parsed = parseReceiver(variables, { lambda })
  return 'problems' in parsed ? parsed.problems : []
}

test('the receiver knows its token, its workers and where beats are kept', () => {
  expect(parseReceiver(LAMBDA, { lambda: true })).toEqual({
    ok: true,
    config: {
      token: 'a-token-that-is-long',
      workers: [
        { name: 'indexer', interval: 60_000, grace: 30_000 },
        { name: 'nightly', interval: 86_400_000, grace: 3_600_000 },
      ],
      state: { kind: 's3', bucket: 'bucket', prefix: 'queuebell/', endpoint: undefined, forcePathStyle: false },
      logLevel: 'info',
      secrets: ['a-token-that-is-long'],
      warnings: [],
    },
  })
})

test('a token that can be guessed is a warning', () => {
  expect(parseReceiver({ ...GOOD, HEARTBEAT_TOKEN: 'short' }, { lambda: false })).toMatchObject({
    config: { warnings: [expect.stringMatching(/^HEARTBEAT_TOKEN is shorter than 16/)] },
  })
})

test('without variables the receiver names all that it needs', () => {
  expect(problemsOfReceiver({}, true)).toEqual([
    expect.stringMatching(/^HEARTBEAT_TOKEN: is not set/),
    expect.stringMatching(/^HEARTBEAT_WORKERS: no workers are configured; write name=interval\+grace/),
    expect.stringMatching(/^STATE_BUCKET: is not set/),
  ])
})

describe('workers', () => {
  test('are the endpoints of the checker', () => {
    const config = configOf('heartbeat-check', LAMBDA, true)
    expect(config.endpoints.map(({ name, url, beat, rules }) => [name, url, beat, rules.map(({ id }) => id)])).toEqual([
      [
        'indexer',
        'beats/indexer',
        { interval: 60_000, grace: 30_000 },
        ['down', 'blind', 'heartbeat', 'overrun', 'gap'],
      ],
      [
        'nightly',
        'beats/nightly',
        { interval: 86_400_000, grace: 3_600_000 },
        ['down', 'blind', 'heartbeat', 'overrun', 'gap'],
      ],
    ])
  })

  test('have links of their own', () => {
    const config = configOf('heartbeat-check', { ...GOOD, HEARTBEAT_INDEXER_RUNBOOK_URL: 'https://wiki/indexer' })
    expect(endpointOf(config, 'indexer').runbookUrl).toBe('https://wiki/indexer')
    expect(endpointOf(config, 'nightly').runbookUrl).toBeUndefined()
  })

  test.each([
    ['indexer', /indexer has no interval\+grace; write name=interval\+grace pairs, such as indexer=60s\+30s/],
    ['indexer=60s', /indexer needs two times with their units/],
    ['indexer=60+30', /indexer needs two times with their units/],
    ['indexer=0s+30s', /indexer needs two times with their units, the interval above 0/],
    ['indexer=60s+30s+5s', /indexer needs two times with their units/],
    ['team/indexer=60s+30s', /item 1, team\/indexer, is no name/],
    ['../x=60s+30s', /item 1, \.\.\/x, is no name/],
    ['a=60s+30s a=60s+30s', /a is there twice/],
    [',', /is empty/],
    ['heartbeat=60s+30s', /endpoint heartbeat reads like the beginning of the setting HEARTBEAT_HEARTBEAT_LIMIT/],
    ['for=60s+30s', /endpoint for reads like the beginning of the setting HEARTBEAT_FOR/],
    ['token=60s+30s', /endpoint token reads like the beginning of the setting HEARTBEAT_TOKEN/],
  ])('%s is refused', (text, problem) => {
    expect(problemsOf('heartbeat-check', { HEARTBEAT_WORKERS: text })).toEqual([expect.stringMatching(problem)])
  })

  test('an interval with a grace of nothing is taken', () => {
    expect(problemsOfReceiver({ ...GOOD, HEARTBEAT_WORKERS: 'a=1m+0s' })).toEqual([])
  })

  test('settings of workers whose times are wrong are no further problem, a misspelt one is', () => {
    const broken = { HEARTBEAT_WORKERS: 'indexer=60', HEARTBEAT_INDEXER_HEARTBEAT_PRIORITY: '9' }
    expect(problemsOf('heartbeat-check', broken)).toHaveLength(1)
    expect(problemsOf('heartbeat-check', { ...broken, HEARTBEAT_INDXER_HEARTBEAT_PRIORITY: '9' })).toContain(
      'HEARTBEAT_INDXER_HEARTBEAT_PRIORITY: unknown setting, did you mean HEARTBEAT_INDEXER_HEARTBEAT_PRIORITY?',
    )
  })
})
