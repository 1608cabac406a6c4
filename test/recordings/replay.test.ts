import { mkdtempSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import type { Scrape } from '../../src/recordings/entry.ts'
import { serve } from '../scrape/loopback.ts'
import { vllm } from '../stories/pages.ts'
import { folder, readAll, recordingOf } from './folder.ts'

const START = Date.UTC(2026, 5, 1)
const said: string[] = []
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
  vi.spyOn(console, 'error').mockImplementation((text) => said.push(String(text)))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  said.length = 0
})

/** Minute by minute what waits; `-` is no answer, `.` is no scrape. */
function queue(values: string, endpoint = 'a', offset = 0): Scrape[] {
  return values.split(' ').flatMap((value, minute): Scrape[] => {
    const head = { at: START + minute * 60_000 + offset, endpoint, took: 5 }
    if (value === '.') return []
    if (value === '-') return [{ ...head, failure: { kind: 'refused', code: 'ECONNREFUSED' } }]
    const text = vllm({ waiting: Number(value), running: 4, finished: 100 * minute, tokens: 10_000 * minute })
    return [{ ...head, page: new TextEncoder().encode(text) }]
  })
}

async function replayed(path: string, ...more: string[]) {
  const code = await runCommand(['replay', 'vllm', path, '--json', ...more])
  return { code, ...JSON.parse(said.at(-1) ?? '') } as {
    code: number
    settings: {
      set: Record<string, string>
      pushes: { at: string; title: string; priority: number }[]
      incidents: { endpoint: string; rules: string[]; from: string; to: string | null; peak: number | null }[]
    }[]
  }
}

const minutes = (at: string | null) => (at === null ? null : (Date.parse(at) - START) / 60_000)

test('says what would have been told, when, how long and how high', async () => {
  const { code, settings } = await replayed(await recordingOf(queue('1 1 25 42 15 5 5 1 1')))
  expect(code).toBe(0)
  expect(settings).toHaveLength(1)
  const [{ set, pushes, incidents } = { set: undefined, pushes: [], incidents: [] }] = settings
  expect(set).toEqual({})
  expect(pushes.map(({ at }) => minutes(at))).toEqual([2, 6])
  expect(pushes[0]?.title).toContain('a')
  expect(pushes.map(({ priority }) => priority)).toEqual([8, 4])
  expect(incidents.map((one) => ({ ...one, from: minutes(one.from), to: minutes(one.to) }))).toEqual([
    { endpoint: 'a', rules: ['waiting'], from: 2, to: 6, peak: 42 },
  ])
})

test('tries each value for itself, also where a narrower variable is configured', async () => {
  vi.stubEnv('VLLM_WAITING_LIMIT', '1000')
  const path = await recordingOf(queue('1 1 12 12 1 1 1 25 25 1 1 1 60 60 1 1'))
  const { settings } = await replayed(path, '--set', 'WAITING_LIMIT=10,20,40', '--set', 'WINDOW=5m')
  expect(settings.map(({ set, incidents }) => [set, incidents.length])).toEqual([
    [{ WAITING_LIMIT: '10', WINDOW: '5m' }, 3],
    [{ WAITING_LIMIT: '20', WINDOW: '5m' }, 2],
    [{ WAITING_LIMIT: '40', WINDOW: '5m' }, 1],
  ])
})

test('a failure is one, and time without a scrape is neither a failure nor calm', async () => {
  const down = await replayed(await recordingOf(queue('1 1 - - - - 1 1')))
  expect(down.settings[0]?.incidents.map(({ rules, from, to }) => [rules, minutes(from), minutes(to)])).toEqual([
    [['down'], 4, 7],
  ])
  const gap = await replayed(await recordingOf(queue('1 1 30 30 . . . . . . . 30 30')))
  expect(gap.settings[0]?.incidents.map(({ rules, from, to }) => [rules, minutes(from), minutes(to)])).toEqual([
    [['waiting'], 2, null],
  ])
  await runCommand(['replay', 'vllm', await recordingOf(queue('1 1 30 30 . . . . . . . 30 30'))])
  expect(said.at(-1)).toContain('nothing was recorded from 2026-06-01 00:03 for 8m')
})

test('endpoints that another watcher asked at times of their own are one run', async () => {
  const both = [...queue('1 1 30 30 1 1 1'), ...queue('1 . 30 30 1 1 1', 'b', 20_000)].sort((a, b) => a.at - b.at)
  const { settings } = await replayed(await recordingOf(both))
  expect(settings[0]?.incidents.map(({ endpoint }) => endpoint).sort()).toEqual(['a', 'b'])
  // Both at the same run, with the clock of its last scrape.
  expect(new Set(settings[0]?.pushes.map(({ at }) => minutes(at)))).toEqual(new Set([2 + 1 / 3, 5 + 1 / 3]))
})

test('what cannot be used is said, and ends with 1', async () => {
  const path = await recordingOf(queue('1 1'))
  const commands = [
    ['replay', 'vllm'],
    ['replay', 'tgi', path],
    ['replay', 'vllm', `${path}.not`],
    ['replay', 'vllm', path, '--set', 'waiting=1'],
    ['replay', 'vllm', path, '--set', 'WAITING_LIMIT=lots'],
    ['record', 'heartbeat-check'],
    ['record', 'vllm', '--every', '5'],
  ]
  for (const command of commands) expect([command, await runCommand(command)]).toEqual([command, 1])
  expect(said.map((text) => text.split('\n')[0])).toEqual([
    'replay vllm needs a recording: a file or a folder',
    expect.stringContaining('no recording of tgi is there'),
    expect.stringContaining('is not there'),
    expect.stringContaining('1 problem'),
    expect.stringContaining('1 problem'),
    expect.stringContaining('1 problem'),
    '--every 5: may be a time with its unit, above 0 and at most 24h, as in 15s or 1m',
  ])
})

describe('recording a server', () => {
  test('keeps pages and failures, a file an endpoint and day, and no secret', async () => {
    const server = await serve((request, response) => {
      if (request.url?.startsWith('/down')) response.writeHead(503).end('no, s3cr3t-token')
      else response.end(`${vllm({ waiting: 33, running: 1 })}x{user="anna",note="s3cr3t-token"} 1\n`)
    })
    const url = server.url.replace('://', '://anna:s3cr3t-word@')
    vi.stubEnv('VLLM_ENDPOINTS', `chat/a=${url} chat/b=${server.url}/down?api_key=s3cr3t-query`)
    vi.stubEnv('VLLM_CHAT_B_BEARER_TOKEN', 's3cr3t-token')
    vi.stubEnv('NOTIFLY_URL', server.url)
    vi.stubEnv('NOTIFLY_TOKEN', 's3cr3t-push')
    const to = await folder()
    vi.stubEnv('STATE_DIR', mkdtempSync(join(tmpdir(), 'state-')))
    expect(await runCommand(['record', 'vllm', '--every', '1s', '--to', to, '--times', '2'])).toBe(0)
    const day = new Date().toISOString().slice(0, 10)
    const files = (await readdir(to)).sort()
    expect(files).toEqual([`vllm.chat.a.${day}.qb`, `vllm.chat.b.${day}.qb`])
    const [a, b] = await Promise.all(files.map((file) => readAll(join(to, file))))
    expect(a).toHaveLength(2)
    expect(Buffer.from(a?.[0]?.page ?? []).toString()).toContain('num_requests_waiting{engine="0",model_name="m"} 33')
    expect(b?.[0]?.failure).toMatchObject({ kind: 'http', status: 503 })
    expect(a?.[0]?.at).toBe(b?.[0]?.at)
    const kept = JSON.stringify([a, b], (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString() : value,
    )
    expect(kept).not.toMatch(/s3cr3t|anna/)
    // Nothing was pushed: the only requests are scrapes.
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true)
    const { settings } = await replayed(to)
    expect(settings[0]?.incidents.map(({ endpoint, rules }) => [endpoint, rules])).toEqual([['chat/a', ['waiting']]])
    expect((await readFile(join(to, files[0] ?? ''))).subarray(0, 20).toString()).toBe('QUEUEBELL-RECORDING ')
  })
})
