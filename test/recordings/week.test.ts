import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { parseConfig } from '../../src/config/parse.ts'
import type { IO } from '../../src/model/io.ts'
import { createRecorder } from '../../src/recordings/record.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { serve } from '../scrape/loopback.ts'
import { folder } from './folder.ts'
import { backfill, HAS_PROMETHEUS, startPrometheus } from './prometheus.ts'
import { type Answered, HAPPENED, NEARLY, simulatedWeek, WEEK_MINUTES, WEEK_START } from './simulated-week.ts'

const MINUTE = 60_000
const said: string[] = []
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  said.length = 0
})

interface Incident {
  rules: string[]
  from: string
  to: string | null
  peak: number
}

async function incidentsOf(path: string): Promise<Incident[]> {
  expect(await runCommand(['replay', 'vllm', path, '--json'])).toBe(0)
  return JSON.parse(said.at(-1) ?? '').settings[0].incidents
}

/** Minutes of the week at which something began that then was told. */
const beginnings = (incidents: readonly Incident[]) =>
  incidents.map(({ from }) => Math.round((Date.parse(from) - WEEK_START) / MINUTE))

/** Told within a quarter of an hour of what happened. */
const isOf = (minute: number, { from }: { from: number }) => minute >= from && minute <= from + 15

describe('a simulated week with four incidents and two near misses', { tags: ['long'] }, () => {
  const week: { at: number; answered: Answered }[] = []
  let recorded: Incident[] = []
  beforeAll(() => void week.push(...simulatedWeek()), 300_000)

  test('recorded by us: all four are told, each once, and the suggested limits tell nothing else', {
    timeout: 600_000,
  }, async () => {
    let now = WEEK_START
    let answered: Answered | undefined
    const server = await serve((request, response) => {
      if (answered && 'page' in answered) response.end(answered.page)
      else request.socket.destroy()
    })
    const parsed = parseConfig('vllm', { VLLM_ENDPOINTS: `chat/a=${server.url}` }, { lambda: false })
    if (!parsed.ok) throw new Error(parsed.problems.join())
    const log = { debug() {}, info() {}, warn() {}, error() {} }
    const io: IO = {
      now: () => now,
      sleep: async () => {},
      store: createMemoryStore(),
      log,
      runId: () => 'r',
      print() {},
    }
    const to = await folder()
    const recorder = createRecorder({ config: parsed.config, io, folder: to })
    for (const one of week) {
      now = one.at
      answered = one.answered
      await recorder.once(now + 50_000)
    }
    await recorder.close()
    const bytes = readdirSync(to).reduce((sum, name) => sum + statSync(join(to, name)).size, 0)
    expect(bytes / WEEK_MINUTES).toBeLessThan(1024)
    const started = performance.now()
    recorded = await incidentsOf(to)
    console.error(`replayed in ${((performance.now() - started) / 1000).toFixed(1)} s; ${(bytes / 1e6).toFixed(1)} MB`)
    for (const happened of HAPPENED)
      expect(
        beginnings(recorded).filter((minute) => isOf(minute, happened)),
        happened.what,
      ).toHaveLength(1)
    // The lines of `suggest`, as if they stood in .env.
    expect(await runCommand(['suggest', 'vllm', to, '--per-week', '2'])).toBe(0)
    const lines =
      said
        .at(-1)
        ?.split('\n')
        .filter((line) => /^VLLM_\w+=/.test(line)) ?? []
    expect(lines.length).toBeGreaterThan(5)
    for (const line of lines) vi.stubEnv(line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1))
    const told = beginnings(await incidentsOf(to))
    expect(told).toHaveLength(HAPPENED.length)
    for (const near of NEARLY)
      expect(
        told.filter((minute) => isOf(minute, near)),
        near.what,
      ).toHaveLength(0)
  })

  test.skipIf(!HAS_PROMETHEUS)(
    'imported from a real Prometheus: the same table (needs Debian’s prometheus)',
    { timeout: 600_000 },
    async () => {
      const place = await folder()
      backfill(place, openMetrics(week))
      const url = await startPrometheus(place)
      const out = join(place, 'week.qb')
      const from = new Date(WEEK_START).toISOString()
      const to = new Date(WEEK_START + (WEEK_MINUTES + 1) * MINUTE).toISOString()
      const command = ['import', 'prometheus', url, '--match', '{job="chat"}', '--from', from, '--to', to, '--out', out]
      expect(await runCommand(command)).toBe(0)
      vi.stubEnv('VLLM_ENDPOINTS', 'chat/a=http://10.0.0.5:8000')
      expect(await incidentsOf(out)).toEqual(recorded)
    },
  )
})

/** The week as a database has it: `up`, and each sample with its time, series by series. */
function openMetrics(week: readonly { at: number; answered: Answered }[]): string {
  const on = 'instance="10.0.0.5:8000",job="chat"'
  const series = new Map<string, string[]>()
  const add = (name: string, value: string, at: number) => {
    const lines = series.get(name) ?? []
    series.set(name, lines)
    lines.push(`${name} ${value} ${at / 1000}`)
  }
  for (const { at, answered } of week) {
    add(`up{${on}}`, 'page' in answered ? '1' : '0', at)
    if (!('page' in answered)) continue
    for (const line of answered.page.split('\n')) {
      const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
      if (!found) continue
      const [, name = '', labels, value = ''] = found
      add(`${name}{${labels ? `${labels},` : ''}${on}}`, value, at)
    }
  }
  return `${[...series.values()].flat().join('\n')}\n# EOF\n`
}
