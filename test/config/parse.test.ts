import { describe, expect, test } from 'vitest'
import type { Backend } from '../../src/model/backend.ts'
import { ConfigError } from '../../src/model/config.ts'
import { configOf, endpointOf, problemsOf } from './outcome.ts'

const LAMBDA = {
  VLLM_ENDPOINTS: 'a=http://h',
  NOTIFLY_URL: 'https://push.example.com',
  NOTIFLY_TOKEN: 'token-1',
  STATE_BUCKET: 'bucket',
}

test('without any variable a laptop watches the local server with the defaults', () => {
  expect(configOf('vllm', {})).toMatchObject({
    backend: 'vllm',
    usedDefault: true,
    endpoints: [
      {
        name: 'vllm',
        group: undefined,
        url: 'http://localhost:8000/metrics',
        timeout: 5_000,
        model: undefined,
        authorization: undefined,
        gpuUrl: undefined,
        beat: undefined,
      },
    ],
    channels: [],
    heard: [],
    state: { kind: 'file', dir: '.queuebell' },
    language: 'en',
    pingUrl: undefined,
    logLevel: 'info',
    window: 300_000,
    interval: undefined,
    canary: { load: false, loadTimeout: 120_000 },
    secrets: [],
    warnings: [],
  })
})

test('four mistakes in four variables are one error with four problems, each naming its variable and what it may be', () => {
  const problems = problemsOf('vllm', {
    VLLM_WAITNG_LIMIT: '5',
    VLLM_KV_CACHE_LIMIT: '90',
    VLLM_ENDPOINTS: 'chat',
    NOTIFLY_URL: 'nonsense',
  })
  expect(problems.toSorted()).toEqual([
    'NOTIFLY_URL: is no address; write http:// or https:// and a server, such as https://push.example.com',
    'VLLM_ENDPOINTS: chat has no URL; write name=URL pairs, such as chat/a=http://10.0.0.5:8000',
    'VLLM_KV_CACHE_LIMIT is 90: write a share as 0.9 or 90%; a bare number above 1 could be either',
    'VLLM_WAITNG_LIMIT: unknown setting, did you mean VLLM_WAITING_LIMIT?',
  ])
  expect(new ConfigError(problems).message).toMatch(/^Configuration: 4 problems\n/)
})

describe('in Lambda', () => {
  test('what a laptop has defaults for must be set, all told at once', () => {
    expect(problemsOf('vllm', {}, true)).toEqual([
      expect.stringMatching(/^VLLM_ENDPOINTS: no endpoints are configured; .*, or METRICS_URL for a single one/),
      expect.stringMatching(/^NOTIFLY_URL: is not set; in Lambda/),
      expect.stringMatching(/^STATE_BUCKET: is not set; in Lambda/),
    ])
  })

  test('a folder for the state is refused, and one beside a bucket is not looked at', () => {
    const { STATE_BUCKET, ...rest } = LAMBDA
    expect(problemsOf('vllm', { ...rest, STATE_DIR: '/tmp/state' }, true)).toEqual([
      expect.stringMatching(/^STATE_DIR: cannot be used in Lambda, its disk does not last; set STATE_BUCKET/),
    ])
    expect(configOf('vllm', { ...rest, STATE_BUCKET, STATE_DIR: '/tmp/state' }, true).state).toMatchObject({
      kind: 's3',
    })
  })

  test('endpoints, a push server and a bucket are enough', () => {
    const config = configOf('vllm', LAMBDA, true)
    expect(config).toMatchObject({
      channels: [
        {
          name: 'notifly',
          url: 'https://push.example.com',
          token: 'token-1',
          auth: 'bearer',
          fallback: undefined,
          markdown: false,
        },
      ],
      heard: ['notifly'],
      state: { kind: 's3', bucket: 'bucket', prefix: 'queuebell/', endpoint: undefined, forcePathStyle: false },
    })
    expect(config).not.toHaveProperty('usedDefault')
  })
})

describe('the push server', () => {
  test.each([
    ['https://push.example.com', 'https://push.example.com'],
    ['https://push.example.com/', 'https://push.example.com'],
    ['https://push.example.com/gotify/', 'https://push.example.com/gotify'],
    ['http://10.0.0.9:8080//', 'http://10.0.0.9:8080'],
  ])('case 103: %s has the base address %s, to which one slash is added', (text, url) => {
    expect(configOf('vllm', { NOTIFLY_URL: text, NOTIFLY_TOKEN: 't' }).channels[0]?.url).toBe(url)
  })

  test('a second one and another way of sending the token', () => {
    const { channels, secrets } = configOf('vllm', {
      NOTIFLY_URL: 'https://p1',
      NOTIFLY_TOKEN: 'first',
      NOTIFLY_AUTH: 'Gotify',
      NOTIFLY_MARKDOWN: 'yes',
      NOTIFLY_FALLBACK_URL: 'https://p2/',
      NOTIFLY_FALLBACK_TOKEN: 'second',
    })
    const second = { url: 'https://p2', token: 'second', auth: 'gotify', markdown: true, isSpare: true }
    expect(channels).toMatchObject([
      { url: 'https://p1', token: 'first', auth: 'gotify', markdown: true, fallback: second },
    ])
    expect(secrets).toEqual(['first', 'second'])
  })

  test('a token pasted with the address is taken out of it, and is a secret', () => {
    const { channels, secrets } = configOf('vllm', { NOTIFLY_URL: 'https://p1/?token=abc' })
    expect(channels).toMatchObject([{ url: 'https://p1', token: 'abc' }])
    expect(secrets).toEqual(['abc'])
  })

  test('without a token there is a warning', () => {
    expect(configOf('vllm', { NOTIFLY_URL: 'https://p1' }).warnings).toEqual([
      expect.stringMatching(/^NOTIFLY_TOKEN is not set/),
    ])
  })

  test.each([
    [{ NOTIFLY_TOKEN: 't' }, /^NOTIFLY_URL: is not set, but NOTIFLY_TOKEN is/],
    [
      { NOTIFLY_FALLBACK_URL: 'http://p2', NOTIFLY_FALLBACK_TOKEN: 't' },
      /^NOTIFLY_URL: is not set, but NOTIFLY_FALLBACK_URL is/,
    ],
    [
      { NOTIFLY_URL: 'http://p1', NOTIFLY_TOKEN: 't', NOTIFLY_FALLBACK_TOKEN: 't' },
      /^NOTIFLY_FALLBACK_URL: is not set, but NOTIFLY_FALLBACK_TOKEN is/,
    ],
    [{ NOTIFLY_URL: 'push.example.com', NOTIFLY_TOKEN: 't' }, /^NOTIFLY_URL: is no address; write http:/],
    [{ NOTIFLY_URL: 'http://u:p@push', NOTIFLY_TOKEN: 't' }, /^NOTIFLY_URL: may not carry a user and a password/],
    [{ NOTIFLY_URL: 'http://push:25', NOTIFLY_TOKEN: 't' }, /^NOTIFLY_URL: port 25 is blocked/],
    [{ NOTIFLY_URL: 'http://push/message', NOTIFLY_TOKEN: 't' }, /^NOTIFLY_URL: .*leave out \/message/],
    [{ NOTIFLY_URL: 'http://push/?a=b', NOTIFLY_TOKEN: 't' }, /^NOTIFLY_URL: may have no query but/],
    [
      { NOTIFLY_URL: 'http://push/?token=b', NOTIFLY_TOKEN: 't' },
      /^NOTIFLY_URL: has a token in it, and NOTIFLY_TOKEN is set as well/,
    ],
    [{ NOTIFLY_URL: 'http://push', NOTIFLY_TOKEN: 'Bearer t' }, /^NOTIFLY_TOKEN: write the token alone/],
    [{ NOTIFLY_URL: 'http://push', NOTIFLY_TOKEN: 'two words' }, /^NOTIFLY_TOKEN: may be a token/],
    [{ NOTIFLY_AUTH: 'basic' }, /^NOTIFLY_AUTH: may be bearer, notifly, gotify or query$/],
    [{ NOTIFLY_MARKDOWN: 'sometimes' }, /^NOTIFLY_MARKDOWN: may be yes or no$/],
  ])('%o is one problem', (variables, problem) => {
    expect(problemsOf('vllm', variables)).toEqual([expect.stringMatching(problem)])
  })
})

describe('the general variables', () => {
  test.each([
    [{ ALERT_LANGUAGE: 'RU' }, { language: 'ru' }],
    [{ LOG_LEVEL: 'Debug' }, { logLevel: 'debug' }],
    [
      { WINDOW: '10m', INTERVAL: '30s' },
      { window: 600_000, interval: 30_000 },
    ],
    [{ CANARY_LOAD: 'yes', CANARY_LOAD_TIMEOUT: '5m' }, { canary: { load: true, loadTimeout: 300_000 } }],
    [{ PING_URL: 'https://hc-ping.com/abc' }, { pingUrl: 'https://hc-ping.com/abc' }],
    [{ STATE_DIR: '/var/lib/queuebell' }, { state: { kind: 'file', dir: '/var/lib/queuebell' } }],
    [
      { STATE_BUCKET: 'b-1', STATE_PREFIX: 'prod/', S3_ENDPOINT: 'https://s3.example.com/', S3_FORCE_PATH_STYLE: '1' },
      {
        state: { kind: 's3', bucket: 'b-1', prefix: 'prod/', endpoint: 'https://s3.example.com', forcePathStyle: true },
      },
    ],
    [{ S3_ENDPOINT: 'http://store:6000', STATE_BUCKET: 'b-1' }, { state: { endpoint: 'http://store:6000' } }],
  ])('%o', (variables, expected) => expect(configOf('vllm', variables)).toMatchObject(expected))

  test.each([
    [{ ALERT_LANGUAGE: 'de' }, 'ALERT_LANGUAGE: may be en or ru'],
    [{ LOG_LEVEL: 'verbose' }, 'LOG_LEVEL: may be debug, info, warn, error or silent'],
    [{ WINDOW: '5' }, 'WINDOW is 5: may be a time with its unit, such as 5m, from 1s to 1d'],
    [{ WINDOW: '0s' }, 'WINDOW is 0s: may be a time with its unit, such as 5m, from 1s to 1d'],
    [{ INTERVAL: '1 minute' }, 'INTERVAL is 1 minute: may be a time with its unit, such as 1m, from 1s to 1d'],
    [{ INTERVAL: 'whenever it suits' }, 'INTERVAL: may be a time with its unit, such as 1m, from 1s to 1d'],
    [{ STATE_BUCKET: 's3://bucket/x' }, 'STATE_BUCKET: may be the name of a bucket alone, such as queuebell-state'],
    [{ STATE_PREFIX: '/x' }, 'STATE_PREFIX: may be the beginning of a key without a leading slash, such as queuebell/'],
    [
      { S3_ENDPOINT: 's3.example.com' },
      'S3_ENDPOINT: is no address; write http:// or https:// and a server, such as https://s3.example.com',
    ],
    [{ S3_FORCE_PATH_STYLE: 'maybe' }, 'S3_FORCE_PATH_STYLE: may be yes or no'],
    [
      { PING_URL: 'hc-ping.com/uuid' },
      'PING_URL: is no address; write http:// or https:// and a server, such as https://hc-ping.com/<uuid>',
    ],
    [{ VLLM_TIMEOUT: '10' }, 'VLLM_TIMEOUT is 10: may be a time with its unit, such as 5s, from 1ms to 15m'],
  ])('%o', (variables, problem) => expect(problemsOf('vllm', variables)).toEqual([problem]))
})

describe('the settings of an endpoint', () => {
  const ENDPOINTS = { VLLM_ENDPOINTS: 'chat/a=http://h1 chat/b=http://h2 embed=http://h3' }
  const of = (variables: Record<string, string>) => {
    const config = configOf('vllm', { ...ENDPOINTS, ...variables })
    return ['chat/a', 'chat/b', 'embed'].map((name) => endpointOf(config, name))
  }

  test('are looked up from the endpoint to the group to the backend, and have no bare form', () => {
    const found = of({
      VLLM_CHAT_A_MODEL: 'm1',
      VLLM_CHAT_MODEL: 'm2',
      VLLM_MODEL: 'm3',
      MODEL: 'm4',
      VLLM_CHAT_TIMEOUT: '9s',
    })
    expect(found.map(({ model, timeout }) => [model, timeout])).toEqual([
      ['m1', 9_000],
      ['m2', 9_000],
      ['m3', 5_000],
    ])
  })

  test('name a GPU exporter, a runbook and a dashboard', () => {
    const [a, , embed] = of({
      VLLM_CHAT_A_GPU_URL: 'http://h1:9400',
      VLLM_GPU_URL: 'http://h9:9400/gpu',
      VLLM_RUNBOOK_URL: 'https://wiki/x#queue',
      VLLM_DASHBOARD_URL: 'https://grafana/d/1?var-a=b',
    })
    expect(a).toMatchObject({
      gpuUrl: 'http://h1:9400/metrics',
      runbookUrl: 'https://wiki/x#queue',
      dashboardUrl: 'https://grafana/d/1?var-a=b',
    })
    expect(embed?.gpuUrl).toBe('http://h9:9400/gpu')
  })

  test.each([
    [{ VLLM_GPU_URL: 'h1:9400' }, /^VLLM_GPU_URL: is no address/],
    [{ VLLM_GPU_URL: 'http://u:p@h1:9400' }, /^VLLM_GPU_URL: may not carry a user and a password/],
    [{ VLLM_RUNBOOK_URL: 'javascript:alert(1)' }, /^VLLM_RUNBOOK_URL: may be an http or https address/],
    [{ VLLM_DASHBOARD_URL: 'https://u:p@grafana' }, /^VLLM_DASHBOARD_URL: may be an http or https address/],
    [{ VLLM_CHAT_BASIC_AUTH: 'nocolon' }, /^VLLM_CHAT_BASIC_AUTH: may be user:password$/],
  ])('%o is one problem, for however many endpoints', (variables, problem) => {
    expect(problemsOf('vllm', { ...ENDPOINTS, ...variables })).toEqual([expect.stringMatching(problem)])
  })

  test('credentials: the most specific counts, of whichever kind', () => {
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`
    const found = of({
      VLLM_BEARER_TOKEN: 'all',
      VLLM_CHAT_BASIC_AUTH: 'me:päss:word',
      VLLM_CHAT_B_BEARER_TOKEN: 'b-only',
    })
    expect(found.map(({ authorization }) => authorization)).toEqual([
      basic('me:päss:word'),
      'Bearer b-only',
      'Bearer all',
    ])
    const config = configOf('vllm', { VLLM_ENDPOINTS: 'a=http://u:p@h b=http://h', VLLM_BEARER_TOKEN: 'all' })
    expect(config.endpoints.map(({ authorization }) => authorization)).toEqual([basic('u:p'), 'Bearer all'])
  })

  test.each([
    [
      { VLLM_CHAT_BEARER_TOKEN: 't', VLLM_CHAT_BASIC_AUTH: 'u:p' },
      'VLLM_CHAT_BASIC_AUTH: cannot go with VLLM_CHAT_BEARER_TOKEN; leave one out',
    ],
    [
      { VLLM_ENDPOINTS: 'x=http://u:p@h', VLLM_X_BEARER_TOKEN: 't' },
      'VLLM_X_BEARER_TOKEN: cannot go with the user in the URL of VLLM_X; leave one out',
    ],
  ])('two at the same level are refused', (variables, problem) => {
    expect(problemsOf('vllm', { ...ENDPOINTS, ...variables })).toEqual([problem])
  })
})

describe('canaries', () => {
  test.each(['ollama', 'openai'] as const)('%s needs a model, for the backend or for each endpoint', (backend) => {
    const prefix = backend.toUpperCase()
    const two = { [`${prefix}_ENDPOINTS`]: 'a=http://h1 b=http://h2' }
    expect(problemsOf(backend, two)).toEqual([
      expect.stringMatching(`^${prefix}_MODEL: is not set; it names the model`),
    ])
    expect(problemsOf(backend, { ...two, [`${prefix}_A_MODEL`]: 'm' })).toEqual([
      expect.stringMatching(`^${prefix}_MODEL: `),
    ])
    expect(problemsOf(backend, { ...two, [`${prefix}_A_MODEL`]: 'm', [`${prefix}_B_MODEL`]: 'n' })).toEqual([])
    expect(configOf(backend, { ...two, [`${prefix}_MODEL`]: 'm' }).endpoints.map((e) => [e.model, e.timeout])).toEqual([
      ['m', 30_000],
      ['m', 30_000],
    ])
  })

  test('a limit that the time for a canary never lets it reach is refused', () => {
    const canary = { OLLAMA_MODEL: 'm', OLLAMA_CANARY_LIMIT: '10s' }
    expect(problemsOf('ollama', { ...canary, OLLAMA_TIMEOUT: '10s' })).toEqual([
      'OLLAMA_CANARY_LIMIT of 10 s can never be reached: OLLAMA_TIMEOUT cuts the canary off after 10 s',
    ])
    expect(problemsOf('ollama', { OLLAMA_MODEL: 'm', OLLAMA_ENDPOINTS: 'a=http://h', CANARY_LIMIT: '40' })).toEqual([
      'CANARY_LIMIT of 40 s can never be reached: OLLAMA_TIMEOUT cuts the canary off after 30 s',
    ])
    expect(problemsOf('ollama', { ...canary, OLLAMA_TIMEOUT: '11s' })).toEqual([])
    expect(problemsOf('ollama', { ...canary, OLLAMA_TIMEOUT: '11' })).toEqual([
      expect.stringMatching(/^OLLAMA_TIMEOUT is 11: may be a time/),
    ])
    expect(problemsOf('ollama', { OLLAMA_MODEL: 'm', COLD_LOAD_LIMIT: '2m', CANARY_LOAD: 'yes' })).toEqual([
      expect.stringMatching(/^COLD_LOAD_LIMIT of 120 s can never be reached: CANARY_LOAD_TIMEOUT/),
    ])
  })

  test('a time below the default limit is taken, with a warning that names its variable', () => {
    const two = { OPENAI_ENDPOINTS: 'chat/a=http://h1 chat/b=http://h2', OPENAI_MODEL: 'm' }
    const { warnings, endpoints } = configOf('openai', { ...two, OPENAI_CHAT_A_TIMEOUT: '5s' })
    expect(endpoints.map(({ timeout }) => timeout)).toEqual([5_000, 30_000])
    expect(warnings).toEqual([
      expect.stringMatching(
        /^OPENAI_CHAT_A_TIMEOUT cuts the canary off after 5 s, before its limit of 5 s: .*CANARY_LIMIT/,
      ),
    ])
  })

  test('a limit on loading has no effect while nothing is loaded, and a warning says so', () => {
    const cold = { OLLAMA_MODEL: 'm', OLLAMA_COLD_LOAD_LIMIT: '30s' }
    expect(configOf('ollama', cold).warnings).toEqual([
      expect.stringMatching(/^OLLAMA_COLD_LOAD_LIMIT has no effect unless CANARY_LOAD=yes/),
    ])
    expect(configOf('ollama', { ...cold, CANARY_LOAD: 'yes' }).warnings).toEqual([])
  })
})

test('case 102: no secret appears in any problem, whatever else is wrong with it', () => {
  const marker = 'SeCrEt'
  const broken: Record<string, string> = {
    NOTIFLY_URL: `ftp://user:${marker}@push/?token=${marker}`,
    NOTIFLY_TOKEN: `${marker} ${marker}`,
    NOTIFLY_FALLBACK_URL: `https://user:${marker}@push/message?token=${marker}&x=${marker}`,
    NOTIFLY_FALLBACK_TOKEN: `Bearer ${marker}`,
    NOTIFLY_AUTH: marker,
    PING_URL: `hc-ping.com/${marker}`,
    S3_ENDPOINT: `https://key:${marker}@s3`,
    VLLM_ENDPOINTS: `a=htp://u:${marker}@h b=http://u:${marker}@h:6000 http://u:${marker}@h c=http://u:${marker}%@h`,
    VLLM_BEARER_TOKEN: `${marker}\u0007`,
    VLLM_BASIC_AUTH: marker,
    VLLM_GPU_URL: `http://u:${marker}@gpu`,
    VLLM_RUNBOOK_URL: `https://u:${marker}@wiki`,
    HEARTBEAT_TOKEN: `${marker} ${marker}`,
  }
  const problems = problemsOf('vllm', broken)
  expect(problems.length).toBeGreaterThan(10)
  expect(problems.join('\n')).not.toContain(marker)
})

test('every secret is listed, as it stands and as it is sent', () => {
  const { secrets } = configOf('vllm', {
    VLLM_ENDPOINTS: 'a=http://user:url-pass@h b=http://h',
    VLLM_B_BASIC_AUTH: 'me:basic-pass',
    VLLM_BEARER_TOKEN: 'bearer-token',
    NOTIFLY_URL: 'https://p',
    NOTIFLY_TOKEN: 'push-token',
    NOTIFLY_FALLBACK_URL: 'https://q',
    NOTIFLY_FALLBACK_TOKEN: 'fall-token',
    PING_URL: 'https://status.example.com/ping/1234-key?x=1',
  })
  for (const secret of [
    'url-pass',
    'user:url-pass',
    'basic-pass',
    'me:basic-pass',
    'push-token',
    'fall-token',
    '/ping/1234-key',
    '1234-key',
    'https://status.example.com/ping/1234-key?x=1',
  ]) {
    expect(secrets).toContain(secret)
  }
  expect(secrets).not.toContain('ping')
  expect(secrets).toContain(`Basic ${Buffer.from('me:basic-pass').toString('base64')}`)
  expect(secrets).not.toContain('')
})

describe('a thousand endpoints', () => {
  const text = Array.from({ length: 1_000 }, (_, i) => `g${i % 100}/r${i}=http://h${i}:8000`).join(' ')

  test('share their rules where nothing sets them apart', () => {
    const { endpoints } = configOf('vllm', {
      VLLM_ENDPOINTS: text,
      VLLM_G7_WAITING_LIMIT: '7',
      VLLM_G7_R107_WAITING_LIMIT: '8',
    })
    expect(new Set(endpoints.map(({ rules }) => rules)).size).toBe(3)
    expect(endpointOf({ endpoints } as ReturnType<typeof configOf>, 'g7/r107').rules[0]?.limit).toBe(8)
  })

  test('with one mistake for all of them are one problem', () => {
    expect(
      problemsOf('vllm' satisfies Backend, { VLLM_ENDPOINTS: text, VLLM_TIMEOUT: '5', VLLM_WAITING_CLEAR: '50' }),
    ).toHaveLength(2)
  })
})
