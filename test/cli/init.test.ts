import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { init } from '../../src/cli/init.ts'
import { deafUrl, serve } from '../scrape/loopback.ts'

const PAGE = 'vllm:num_requests_waiting{model_name="llama"} 3\nvllm:kv_cache_usage_perc{model_name="llama"} 0.1\n'
const said: string[] = []
let file: string

beforeEach(async () => {
  file = path.join(await mkdtemp(path.join(os.tmpdir(), 'queuebell-init-')), '.env')
  const say = (text: unknown) => void said.push(String(text))
  vi.spyOn(console, 'log').mockImplementation(say)
  vi.spyOn(console, 'error').mockImplementation(say)
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => said.push(String(text)) > 0)
})
afterEach(async () => {
  vi.restoreAllMocks()
  said.length = 0
  await rm(path.dirname(file), { recursive: true })
})

/** Answers as from a pipe, one a line. */
const answered = (...answers: string[]) => init(file, Readable.from([`${answers.join('\n')}\n`]))
const server = async () =>
  (await serve((request, response) => response.writeHead(request.url === '/metrics' ? 200 : 404).end(PAGE))).url
const inbox = (status = 200) => serve((_, response) => response.writeHead(status).end('{"id":1}'))

test('an address, a push server and a token become a .env of its owner alone, after a test push', async () => {
  const [url, push] = [await server(), await inbox()]
  expect(await answered(url, push.url, 'tok#en', 'y')).toBe(0)
  expect((await readFile(file, 'utf8')).split('\n').slice(1)).toEqual([
    `VLLM_ENDPOINTS=chat=${url}`,
    `NOTIFLY_URL=${push.url}`,
    'NOTIFLY_TOKEN="tok#en"',
    '',
  ])
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(push.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer tok#en'])
  expect(said.join('')).toMatch(
    /watched by the function vllm[\s\S]*push: delivered[\s\S]*npm run invoke -- all --every 1m/,
  )
})

test('without a push server that is said by nothing, and the file has one line', async () => {
  const url = await server()
  expect(await answered(url, '')).toBe(0)
  expect((await readFile(file, 'utf8')).split('\n').slice(1)).toEqual([`VLLM_ENDPOINTS=chat=${url}`, ''])
})

test('an address where nothing answers is told, and asked for again', async () => {
  const [deaf, url] = [await deafUrl(), await server()]
  expect(await answered('nonsense', deaf, url, '')).toBe(0)
  expect(said.join('\n')).toMatch(/is no address[\s\S]*nothing listens on the port \(ECONNREFUSED\)/)
})

test('no test push is sent to whoever does not want one', async () => {
  const push = await inbox()
  expect(await answered(await server(), push.url, 'token', 'n')).toBe(0)
  expect(push.requests).toHaveLength(0)
})

test('a push server that refuses is told; what was answered is written all the same', async () => {
  const push = await inbox(401)
  expect(await answered(await server(), push.url, 'planted-4711', 'y')).toBe(1)
  expect(said.join('\n')).toContain('push: not taken (401')
  expect(said.join('\n')).not.toContain('planted-4711')
  expect(await readFile(file, 'utf8')).toContain('NOTIFLY_TOKEN=planted-4711')
})

test.each([
  ['that end too soon', async () => [await server(), 'http://127.0.0.1:8080']],
  ['that name no push server', async () => [await server(), 'nonsense', 'token', 'y']],
])('answers %s write nothing', async (_, answers) => {
  expect(await answered(...(await answers()))).toBe(1)
  await expect(stat(file)).rejects.toThrow('ENOENT')
})

test('a .env that is there is left as it is', async () => {
  await writeFile(file, 'mine')
  expect(await answered(await server(), '')).toBe(1)
  expect(await readFile(file, 'utf8')).toBe('mine')
})
