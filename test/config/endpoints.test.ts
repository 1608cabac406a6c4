import { createRequire } from 'node:module'
import { describe, expect, test } from 'vitest'
import { BAD_PORTS } from '../../src/config/address.ts'
import type { Backend } from '../../src/model/backend.ts'
import { configOf, endpointOf, problemsOf } from './outcome.ts'

const names = (text: string) =>
  configOf('vllm', { VLLM_ENDPOINTS: text }).endpoints.map(({ name, group, url }) => [name, group, url])

describe('pairs', () => {
  const both = [
    ['chat/a', 'chat', 'http://h1:8000/metrics'],
    ['embed', undefined, 'http://h2/metrics'],
  ]
  test.each([
    ['blanks', 'chat/a=http://h1:8000 embed=http://h2'],
    ['commas', 'chat/a=http://h1:8000,embed=http://h2'],
    ['line ends and indentation', '\n  chat/a=http://h1:8000\r\n  embed=http://h2\n'],
    ['a mixture, with one too many', ' chat/a=http://h1:8000 ,, \tembed=http://h2, '],
  ])('are separated by %s', (_, text) => expect(names(text)).toEqual(both))

  test.each([
    ['no URL', 'chat', ['VLLM_ENDPOINTS: chat has no URL; write name=URL pairs, such as chat/a=http://10.0.0.5:8000']],
    [
      'an empty URL',
      'chat=',
      ['VLLM_ENDPOINTS: chat has no URL; write name=URL pairs, such as chat/a=http://10.0.0.5:8000'],
    ],
    ['no name', 'http://h:8000/?a=b', [/^VLLM_ENDPOINTS: item 1 has no name; write name=URL pairs/]],
    [
      'blanks around =',
      'chat = http://h',
      [/chat has no URL/, /item 2 has no name; there may be no blanks/, /item 3 has no name/],
    ],
    ['capitals', 'Chat=http://h', [/item 1, Chat, is no name: a name has a-z, 0-9 and -/]],
    ['an underscore', 'chat_a=http://h', [/item 1, chat_a, is no name/]],
    ['three levels', 'a/b/c=http://h', [/item 1, a\/b\/c, is no name/]],
    ['a hyphen at the end', 'chat-=http://h', [/item 1, chat-, is no name/]],
    ['nothing but commas', ', ,', [/VLLM_ENDPOINTS: is empty/]],
    ['the same name twice', 'chat=http://h chat=http://h2', [/chat is there twice/]],
    ['no scheme', 'chat=localhost:8000', [/VLLM_ENDPOINTS: the URL of chat is no address; write http:\/\//]],
    ['another scheme', 'chat=ftp://h/metrics', [/the URL of chat is no address/]],
    ['no host', 'chat=http:///metrics', [/the URL of chat is no address/]],
    ['a port that does not exist', 'chat=http://h:99999', [/the URL of chat is no address/]],
    ['a port that fetch refuses', 'chat=http://h:6000', [/the URL of chat has a port that is refused: port 6000/]],
    ['a bad escape in the password', 'chat=http://u:%zz@h', [/has a % that begins no code in its user or password/]],
  ])('with %s are refused', (_, text, expected) => {
    const problems = problemsOf('vllm', { VLLM_ENDPOINTS: text })
    expect(problems).toHaveLength(expected.length)
    for (const [i, like] of expected.entries()) expect(problems[i]).toMatch(like)
  })

  test('a password with a blank or comma in it is not shown, not even in pieces', () => {
    for (const password of ['first second', 'first,second', 'first second=third', 'first, second, third']) {
      const text = problemsOf('vllm', { VLLM_ENDPOINTS: `chat=http://user:${password}@h:8000` }).join('\n')
      expect(text).toContain('write a blank as %20 and a comma as %2C')
      expect(text).not.toMatch(/first|third/)
    }
  })
})

describe('names', () => {
  test.each([
    [
      'endpoint and replica',
      'chat/a=http://h chat-a=http://h',
      /endpoint chat\/a and endpoint chat-a would share the variables VLLM_CHAT_A_…/,
    ],
    [
      'group and endpoint',
      'chat/a=http://h chat=http://h',
      /group chat and endpoint chat would share the variables VLLM_CHAT_…/,
    ],
    [
      'group and replica',
      'chat-a/b=http://h chat/a=http://h',
      /group chat-a and endpoint chat\/a would share the variables VLLM_CHAT_A_…/,
    ],
  ])('that share variables are refused: %s', (_, text, problem) => {
    expect(problemsOf('vllm', { VLLM_ENDPOINTS: text })).toEqual([expect.stringMatching(problem)])
  })

  test.each([
    ['vllm', 'waiting', 'VLLM_WAITING_LIMIT'],
    ['vllm', 'kv-cache', 'VLLM_KV_CACHE_LIMIT'],
    ['vllm', 'kv', 'VLLM_KV_CACHE_LIMIT'],
    ['vllm', 'queue/a', 'VLLM_QUEUE_WAIT_LIMIT'],
    ['vllm', 'model', 'VLLM_MODEL'],
    ['vllm', 'gpu', 'VLLM_GPU_URL'],
    ['vllm', 'endpoints', 'VLLM_ENDPOINTS'],
    ['vllm', 'chat/waiting', 'VLLM_CHAT_WAITING_LIMIT'],
    ['dcgm', 'gpu-memory', 'DCGM_GPU_MEMORY_LIMIT'],
    ['openai', 'canary', 'OPENAI_CANARY_LIMIT'],
  ] as const)('%s: %s reads like the beginning of a setting and is refused', (backend, name, setting) => {
    const variables = { [`${backend.toUpperCase()}_ENDPOINTS`]: `${name}=http://h`, OPENAI_MODEL: 'm' }
    expect(problemsOf(backend, variables)).toEqual([
      expect.stringContaining(`reads like the beginning of the setting ${setting}`),
    ])
  })

  test.each(['waiting-x', 'wait', 'a', '7b', 'llama-3-1-8b', 'kv2', 'gpu-1', 'chat/a', 'prod-eu/replica-10'])(
    '%s is a good name',
    (name) => expect(names(`${name}=http://h`)).toHaveLength(1),
  )

  test('a rule that the backend does not have does not spoil a name', () => {
    expect(names('canary=http://h')).toHaveLength(1)
  })
})

describe('addresses', () => {
  test.each([
    ['http://h:8000', 'http://h:8000/metrics'],
    ['http://h:8000/', 'http://h:8000/metrics'],
    ['https://h', 'https://h/metrics'],
    ['http://h:8000/metrics', 'http://h:8000/metrics'],
    ['http://h:8000/?token=x', 'http://h:8000/metrics?token=x'],
    ['http://h/federate?match[]=a', 'http://h/federate?match[]=a'],
    ['http://[::1]:8000', 'http://[::1]:8000/metrics'],
    ['http://h:8000/metrics#top', 'http://h:8000/metrics'],
  ])('%s is scraped at %s', (url, page) => expect(names(`a=${url}`)).toEqual([['a', undefined, page]]))

  test('case 80: a base address with a path keeps it when it ends in a slash, and stands as it is when it does not', () => {
    expect(names('a=http://h:8000/vllm/')[0]?.[2]).toBe('http://h:8000/vllm/metrics')
    expect(names('a=http://h:8000/vllm')[0]?.[2]).toBe('http://h:8000/vllm')
  })

  test.each([
    ['http://h:11434', 'http://h:11434'],
    ['http://h:11434/', 'http://h:11434'],
    ['https://h/ollama/', 'https://h/ollama'],
    ['https://h/ollama?key=1', 'https://h/ollama?key=1'],
  ])('a canary keeps the base address: %s', (url, base) => {
    const config = configOf('ollama', { OLLAMA_ENDPOINTS: `a=${url}`, OLLAMA_MODEL: 'm' })
    expect(endpointOf(config, 'a').url).toBe(base)
  })

  test('user and password are taken out of the address into the authorization, and are secrets', () => {
    const config = configOf('vllm', { VLLM_ENDPOINTS: 'a=http://user:p%40ss@h:8000' })
    const { url, authorization } = endpointOf(config, 'a')
    expect(url).toBe('http://h:8000/metrics')
    expect(authorization).toBe(`Basic ${Buffer.from('user:p@ss').toString('base64')}`)
    expect(config.secrets).toEqual(expect.arrayContaining([authorization, 'user:p@ss', 'p@ss']))
  })

  test('a key in the query stays in the address and is a secret', () => {
    const config = configOf('vllm', { VLLM_ENDPOINTS: 'a=http://h/metrics?api_key=abcdef&x=1' })
    expect(config.secrets).toEqual(['abcdef'])
  })

  test('the refused ports are those of the fetch that sends our requests', async () => {
    // Node's own list is not exported; the package that Node's fetch is made of has the same one.
    const constants: unknown = createRequire(import.meta.url)('undici/lib/web/fetch/constants.js')
    const { badPorts } = constants as { badPorts: readonly string[] }
    expect(badPorts.map(Number).filter((port) => !BAD_PORTS.has(port))).toEqual([])
    await expect(fetch('http://127.0.0.1:6667/')).rejects.toMatchObject({ cause: { message: 'bad port' } })
  })
})

describe('the one endpoint of a one-endpoint set-up', () => {
  test.each([
    ['vllm', {}, 'http://localhost:8000/metrics', true],
    ['vllm', { METRICS_URL: 'http://h:9000' }, 'http://h:9000/metrics', undefined],
    ['tgi', { METRICS_URL: 'http://h:9000/metrics' }, 'http://h:9000/metrics', undefined],
    ['ollama', { OLLAMA_MODEL: 'm' }, 'http://localhost:11434', true],
    ['ollama', { OLLAMA_MODEL: 'm', OLLAMA_URL: 'http://h:11434/' }, 'http://h:11434', undefined],
  ] as const)('%s with %o is named after the backend', (backend, variables, url, usedDefault) => {
    const config = configOf(backend, variables)
    expect(config.endpoints.map((endpoint) => [endpoint.name, endpoint.url])).toEqual([[backend, url]])
    expect(config.usedDefault).toBe(usedDefault)
  })

  test('is not used beside a list, and a warning says so', () => {
    const config = configOf('vllm', { METRICS_URL: 'http://h1', VLLM_ENDPOINTS: 'a=http://h2' })
    expect(config.endpoints.map(({ name }) => name)).toEqual(['a'])
    expect(config.warnings).toEqual(['METRICS_URL is not used, because VLLM_ENDPOINTS is set'])
  })

  test.each([
    ['vllm', true],
    ['ollama', true],
    ['tgi', false],
    ['openai', false],
    ['gateway', true],
  ] as [Backend, boolean][])('%s without any endpoint (in Lambda: %s) says what to set', (backend, lambda) => {
    const problems = problemsOf(
      backend,
      { NOTIFLY_URL: 'http://p', NOTIFLY_TOKEN: 't', STATE_BUCKET: 'bucket', OLLAMA_MODEL: 'm', OPENAI_MODEL: 'm' },
      lambda,
    )
    expect(problems).toEqual([
      expect.stringContaining(`${backend.toUpperCase()}_ENDPOINTS: no endpoints are configured; write name=URL`),
    ])
  })

  test('a broken METRICS_URL names itself', () => {
    expect(problemsOf('vllm', { METRICS_URL: 'localhost:8000' })).toEqual([
      'METRICS_URL: is no address; write http:// or https:// and a server, such as http://10.0.0.5:8000',
    ])
  })
})
