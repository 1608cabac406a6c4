import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { type LastWrite, receive } from '../../src/heartbeats/receive.ts'
import type { IO } from '../../src/model/io.ts'
import { run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'

const START = Date.parse('2026-11-30T12:00:00Z')
const SECOND = 1_000

/** Worker, receiver and checker on one clock: what is told, and when, in seconds from the start. */
function world(workers: string) {
  let now = START
  const store = createMemoryStore(() => now)
  const parsed = parseConfig('heartbeat-check', { HEARTBEAT_WORKERS: workers, STATE_DIR: 'nowhere' }, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join())
  const { config } = parsed
  const quiet = () => {}
  const io: IO = {
    now: () => now,
    sleep: async () => {},
    store,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    runId: () => `run-${now}`,
    print: quiet,
  }
  const names = config.endpoints.map(({ name, beat }) => ({ name, interval: beat?.interval ?? 0 }))
  const lastWrites = new Map<string, LastWrite>()
  const told: [number, string][] = []
  const bodies: string[] = []
  return {
    told,
    bodies,
    at(seconds: number) {
      now = START + seconds * SECOND
    },
    async beat(path: string, body = '') {
      const request = {
        method: 'POST',
        path,
        query: new URLSearchParams('token=t'),
        headers: {},
        body,
        bodyTooLarge: false,
      }
      const answer = await receive(request, { token: 't', workers: names }, { now, lastWrites, put: store.put })
      expect(answer.status).toBe(204)
    },
    async check() {
      const { messages, result } = await run({ config, io, deadline: now + 50_000 })
      for (const { title, body } of messages) {
        told.push([(now - START) / SECOND, title])
        bodies.push(body)
      }
      return result
    },
  }
}

describe('the life of a worker', () => {
  test('one of 50 workers stops: exactly one alert, at interval + grace, and one when it is back', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `w${index}`)
    const { at, beat, check, told } = world(names.map((name) => `${name}=60s+30s`).join(' '))
    for (let second = 0; second <= 900; second += 10) {
      at(second)
      for (const name of names) {
        const stopped = name === 'w7' && second > 300 && second < 600
        if (!stopped) await beat(`/${name}`)
      }
      await check()
    }
    // Its last beat was at 300; 390 is not yet later than interval + grace. Back at 600, clear at two runs in a row.
    expect(told.map(([second]) => second)).toEqual([400, 610])
    expect(told.map(([, title]) => title.includes('w7'))).toEqual([true, true])
  })

  test('case 128: never seen is told once, after interval + grace from when it was first expected', async () => {
    const { at, check, told } = world('indexer=9m+1m')
    for (let minute = 0; minute <= 30; minute += 1) {
      at(minute * 60)
      await check()
    }
    expect(told.map(([second]) => second)).toEqual([600])
    expect(told[0]?.[1]).toContain('indexer')
  })

  test('a failure is told at once, with what the worker said, and is over with its next beat', async () => {
    const { at, beat, check, told } = world('indexer=60s+30s')
    await beat('/indexer')
    await check()
    at(20)
    await beat('/indexer/137', 'killed for want of memory')
    const result = await check()
    expect(result.endpoints[0]?.alerts).toEqual({ heartbeat: 'firing' })
    for (const second of [40, 50, 60]) {
      at(second)
      await beat('/indexer/start')
      await check()
    }
    expect(told.map(([second]) => second)).toEqual([20, 50])
  })

  test('a failure is told at once also of a worker that was told as silent or never seen, and once', async () => {
    for (const first of ['/nightly', undefined]) {
      const { at, beat, bodies, check, told } = world('nightly=60s+30s')
      if (first) await beat(first)
      const story: [number, string | undefined][] = [
        [0, undefined],
        [100, undefined],
        [120, '/nightly/3'],
        [140, '/nightly/4'],
        [160, '/nightly'],
        [180, undefined],
      ]
      for (const [second, path] of story) {
        at(second)
        if (path) await beat(path)
        await check()
      }
      expect(told.map(([second]) => second)).toEqual([100, 120, 180])
      expect(told.map(([, title]) => title)).toEqual([
        expect.stringMatching(first ? /silent/ : /never reported/),
        expect.stringMatching(/failed/),
        expect.stringMatching(/^✅/),
      ])
      expect(bodies[2]).toContain('“Worker failed” lasted 1 min')
    }
  })

  test('what a worker said with its last beat is in the message when it falls silent', async () => {
    const { at, beat, bodies, check } = world('indexer=60s+30s')
    await beat('/indexer/start', 'batch 17 of 40')
    at(100)
    await check()
    expect(bodies).toEqual([expect.stringContaining('Worker says: “batch 17 of 40”')])
  })

  test("case 127: a worker whose own clock is slow is not told: the receiver's time counts", async () => {
    const { at, beat, check, told } = world('indexer=9m+1m')
    for (let minute = 0; minute <= 60; minute += 1) {
      at(minute * 60)
      await beat('/indexer', `sent at ${new Date(START + (minute - 15) * 60_000).toISOString()}`)
      await check()
    }
    expect(told).toEqual([])
  })
})
