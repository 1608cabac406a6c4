import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { loadEnvFile } from '../../src/cli/env-file.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { reachOf } from '../../tools/deploy/reach.ts'

/*
 * Forty mistakes of a first hour, and what is said. Each answer names the word, variable, line or address, and what is
 * right; none shows a secret.
 */

let said: string[] = []
let dir: string
beforeEach(async () => {
  said = []
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-mistakes-'))
  vi.stubEnv('STATE_DIR', dir)
  const say = (text: unknown) => void said.push(String(text))
  vi.spyOn(console, 'log').mockImplementation(say)
  vi.spyOn(console, 'error').mockImplementation(say)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await rm(dir, { recursive: true })
})

describe('typed', () => {
  test.each([
    ['1', 'invok vllm', {}, 'there is no command invok; did you mean invoke?'],
    ['2', 'docter', {}, 'there is no command docter; did you mean doctor?'],
    ['3', 'invoke', {}, 'invoke needs the name of a function'],
    ['4', 'invoke vlm', {}, 'there is no function vlm; did you mean vllm?'],
    ['5', 'invoke llama-cpp', {}, 'did you mean llamacpp?'],
    ['6', 'invoke vllm tgi', {}, 'invoke takes one function, and nothing after it: tgi'],
    ['7', 'invoke vllm --dryrun', {}, 'invoke has no option --dryrun; did you mean --dry-run?'],
    ['8', 'invoke vllm --every', {}, '--every needs a value, as in --every 30s'],
    ['9', 'invoke vllm --every 5', {}, '--every 5: may be a time with its unit'],
    ['10', 'invoke vllm --shard 9/8', {}, '--shard 9/8'],
    ['11', 'invoke vllm --push', {}, 'invoke has no option --push'],
    ['12', 'invoke vllm --json=yes', {}, '--json takes no value: leave out yes'],
    ['13', 'invoke vllm', { npm_config_dry_run: 'true' }, 'npm run invoke -- vllm --dry-run'],
    ['14', 'invoke vllm 1m', { npm_config_every: 'true' }, 'npm run invoke -- vllm --every 1m'],
    ['15', 'doctor vllm', { npm_config_push: 'true' }, 'npm run doctor -- vllm --push'],
    ['16', 'doctor heartbeat-receive', {}, 'heartbeat-receive has nothing to check'],
    ['17', 'invoke all', {}, 'npm run init writes a first .env'],
    ['18', 'doctor http://', {}, 'is no address; write http:// or https:// and a server'],
    ['19', 'doctor http://10.0.0.5:6000', {}, 'port 6000 is blocked for every fetch'],
  ])('%s. %s', async (_, line, env, words) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    expect(await runCommand(line.split(' '))).toBe(1)
    expect(said.join('\n')).toContain(words)
  })
})

describe('a line of .env', () => {
  test.each([
    ['20', 'NOTIFY_URL=https://push', 'line 1: NOTIFY_URL: unknown setting, did you mean NOTIFLY_URL?'],
    ['21', 'ALERT_LANG=ru', 'did you mean ALERT_LANGUAGE?'],
    ['22', 'VLLM_ENDPOINT=chat=http://h', 'did you mean VLLM_ENDPOINTS?'],
    ['23', 'VLLM_ENDPOINTS=chat/a=http://h\nVLLM_CHAT_A_WAITING_LIMT=3', 'line 2: VLLM_CHAT_A_WAITING_LIMT: unknown'],
    ['24', 'just some words', 'line 1: is no NAME=value'],
    ['25', '// VLLM_ENDPOINTS=x', 'line 1: is no NAME=value'],
    ['26', 'NOTIFLY_TOKEN="planted-4711', 'line 1: NOTIFLY_TOKEN opens a quotation mark'],
    ['27', 'DEPLOY_REGON=eu-west-1', 'did you mean DEPLOY_REGION?'],
    ['28', 'SOMETHING_ELSE=1', 'SOMETHING_ELSE: no variable of Queuebell; take it out'],
    ['29', 'NOTIFLY_TOKEN=planted-4711#x', 'line 1: NOTIFLY_TOKEN is cut off at #'],
    ['30', 'WAITING_LIMIT=3\nWAITING_LIMIT=4', 'line 2: WAITING_LIMIT is there twice: line 1 is not used'],
  ])('%s. %j', async (_, text, words) => {
    const file = path.join(dir, '.env')
    await writeFile(file, text)
    const warned: string[] = []
    const refused = loadEnvFile(file, (line) => warned.push(line))
    expect([refused, ...warned].join('\n')).toContain(words)
    expect([refused, ...warned].join('\n')).not.toContain('planted-4711')
  })
})

const CHAT = { VLLM_ENDPOINTS: 'chat=http://10.0.0.5:8000' }

describe('a variable', () => {
  test.each([
    ['31', { VLLM_ENDPOINTS: '"chat=http://h"' }, 'VLLM_ENDPOINTS begins and ends with a quotation mark'],
    ['32', { VLLM_ENDPOINTS: 'http://h:8000' }, 'VLLM_ENDPOINTS: item 1 has no name'],
    ['33', { VLLM_ENDPOINTS: 'chat=10.0.0.5:8000' }, 'VLLM_ENDPOINTS: the URL of chat is no address'],
    ['34', { ...CHAT, VLLM_TTFT_LIMIT: '3000' }, 'VLLM_TTFT_LIMIT is 3000 seconds, 50 minutes: write 3000ms'],
    ['35', { ...CHAT, KV_CACHE_LIMIT: '90' }, 'KV_CACHE_LIMIT is 90: write a share as 0.9 or 90%'],
    ['36', { ...CHAT, NOTIFLY_URL: 'push.example.com' }, 'NOTIFLY_URL: is no address; write http:// or https://'],
    ['37', { ...CHAT, NOTIFLY_TOKEN: 'planted-4711' }, 'NOTIFLY_URL: is not set, but NOTIFLY_TOKEN is'],
    ['38', { ...CHAT, NOTIFLY_URL: 'https://h/message', NOTIFLY_TOKEN: 't' }, 'leave out /message, it is appended'],
    ['39', { ...CHAT, NOTIFLY_URL: 'https://h', NOTIFLY_TOKEN: 'Bearer planted-4711' }, 'write the token alone'],
    ['40', { ...CHAT, VLLM_SUMMARY_WAITING_LIMIT: '9' }, 'no endpoint or group of that name is configured'],
    ['41', { OLLAMA_URL: 'http://h', VLLM_ENDPOINTS: 'queue=http://h' }, 'reads like the beginning of the setting'],
  ])('%s. %j', (_, variables, words) => {
    const parsed = parseConfig('vllm', variables, { lambda: false })
    const told = 'problems' in parsed ? parsed.problems : parsed.config.warnings
    expect(told.join('\n')).toContain(words)
    expect(told.join('\n')).not.toContain('planted-4711')
  })
})

describe('what is deployed', () => {
  test.each([
    ['42', { VLLM_ENDPOINTS: 'chat=http://localhost:8000' }, 'VLLM_ENDPOINTS: localhost is the function itself'],
    ['43', CHAT, 'set DEPLOY_SUBNETS and DEPLOY_SECURITY_GROUPS'],
  ])('%s. %j', (_, variables, words) => {
    const { problems, warnings } = reachOf(['vllm'], variables, false)
    expect([...problems, ...warnings].join('\n')).toContain(words)
  })
})
