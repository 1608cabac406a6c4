import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { serve } from '../scrape/loopback.ts'
import { openParameterStore } from '../secrets/parameter-store.ts'

const said: string[] = []
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
  vi.spyOn(console, 'error').mockImplementation((text) => said.push(String(text)))
})
afterEach(() => {
  vi.restoreAllMocks()
  said.length = 0
})

describe('what is typed wrong is said in the first line, with the usage below, and ends with 1', () => {
  test.each([
    ['invok vllm', 'there is no command invok; did you mean invoke?'],
    ['docter vllm', 'there is no command docter; did you mean doctor?'],
    ['invoke', 'invoke needs the name of a function'],
    ['invoke vlm', 'there is no function vlm; did you mean vllm?'],
    ['doctor olama', 'there is no function olama; did you mean ollama?'],
    ['invoke heartbeat', 'there is no function heartbeat; did you mean heartbeat-check?'],
    ['invoke vllm tgi', 'invoke takes one function, and nothing after it: tgi'],
    ['invoke vllm --push', 'invoke has no option --push'],
    ['invoke vllm --evry 5s', 'invoke has no option --evry; did you mean --every?'],
    ['invoke vllm --dryrun', 'invoke has no option --dryrun; did you mean --dry-run?'],
    ['invoke vllm -n', 'invoke has no option -n'],
    ['invoke vllm --json=yes', '--json takes no value: leave out yes'],
    ['invoke vllm --every --json', '--every needs a value, as in --every 30s'],
    ['invoke vllm --every', '--every needs a value, as in --every 30s'],
    ['invoke heartbeat-receive --json', 'invoke heartbeat-receive has no option --json'],
    ['invoke heartbeat-receive --serve x', '--serve x: neither a port nor an address with one'],
    ['doctor vllm --dry-run', 'doctor has no option --dry-run'],
    ['doctor heartbeat-receive', 'heartbeat-receive has nothing to check'],
  ])('%s', async (line, words) => {
    expect(await runCommand(line.split(' '))).toBe(1)
    expect(said.join('\n').split('\n')[0]).toContain(words)
    expect(said.join('\n')).toMatch(/^ {2}queuebell (invoke|doctor) /m)
  })

  test.each(['5', '0s', '25d', 'often'])('--every %s says what it may be', async (every) => {
    expect(await runCommand(['invoke', 'vllm', '--every', every])).toBe(1)
    expect(said).toEqual([`--every ${every}: may be a time with its unit, above 0 and at most 24d, as in 30s or 5m`])
  })
})

describe('a value that lies in the parameter store', () => {
  afterEach(() => vi.unstubAllEnvs())

  test('is read there, as a function does', async () => {
    const store = await openParameterStore({ '/prod/token': 'planted-4711' })
    const { url, requests } = await serve((_, response) => response.end('{}'))
    const variables = { VLLM_ENDPOINTS: `chat=${url}`, NOTIFLY_URL: url, NOTIFLY_TOKEN: 'ssm:/prod/token' }
    for (const [name, value] of Object.entries({ ...store.environment, ...variables })) vi.stubEnv(name, value)
    await runCommand(['doctor', 'vllm', '--push'])
    await store.close()
    expect(requests.at(-1)?.headers.authorization).toBe('Bearer planted-4711')
  })

  test('and cannot be is a failure that names the variable', async () => {
    const store = await openParameterStore()
    const variables = { NOTIFLY_URL: 'http://h', NOTIFLY_TOKEN: 'ssm:/prod/nothing' }
    for (const [name, value] of Object.entries({ ...store.environment, ...variables })) vi.stubEnv(name, value)
    expect(await runCommand(['invoke', 'vllm', '--dry-run'])).toBe(1)
    await store.close()
    expect(said).toEqual(['NOTIFLY_TOKEN: there is no SSM parameter /prod/nothing'])
  })
})

test('a flag that npm took is refused before anything is read', async () => {
  for (const [name, value] of [
    ['npm_command', 'run'],
    ['npm_config_dry_run', 'true'],
  ] as const)
    vi.stubEnv(name, value)
  expect(await runCommand(['invoke', 'vllm'])).toBe(1)
  vi.unstubAllEnvs()
  expect(said.join()).toContain('\n  npm run invoke -- vllm --dry-run')
})

test('without a command, or asked for help, the usage is the answer', async () => {
  expect([await runCommand([]), await runCommand(['invoke', '--help'])]).toEqual([0, 0])
  expect(said).toHaveLength(2)
})

test('each command has its own help, and says its version', async () => {
  for (const line of ['invoke --help', 'help doctor', '--version', 'doctor -v'])
    expect(await runCommand(line.split(' '))).toBe(0)
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
  expect(said.map((text) => /^ {2}queuebell (\w+)/m.exec(text)?.[1] ?? text)).toEqual([
    'invoke',
    'doctor',
    version,
    version,
  ])
  expect(said[0]).toMatch(/--shard 2\/8 +only the second of eight parts/)
})
