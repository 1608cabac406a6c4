import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { vllm } from '../stories/pages.ts'
import { recordingOf } from './folder.ts'

/** Minutes. */
const DAY = 1_440
const STEP = 30
const START = Date.UTC(2026, 5, 1)
const said: string[] = []
beforeEach(() => {
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
  vi.spyOn(console, 'error').mockImplementation((text) => said.push(String(text)))
})
afterEach(() => {
  vi.restoreAllMocks()
  said.length = 0
})

/** A week, a run each half hour: queues of these lengths for an hour each, a day apart; else what `usual` says. */
async function weekWith(peaks: readonly number[], usual = 0): Promise<string> {
  const runs = Array.from({ length: (7 * DAY) / STEP + 1 }, (_, i) => i)
  return recordingOf(
    runs.map((i) => {
      const minute = (i * STEP) % DAY
      const inPeak = minute >= 10 * 60 && minute < 11 * 60
      const waiting = inPeak ? (peaks[Math.floor((i * STEP) / DAY)] ?? usual) : usual
      const text = vllm({ waiting, running: 4, finished: i * 1_000, tokens: i * 100_000 })
      return { at: START + i * STEP * 60_000, endpoint: 'a', took: 5, page: new TextEncoder().encode(text) }
    }),
  )
}

async function waitingOf(path: string, perWeek: string) {
  expect(await runCommand(['suggest', 'vllm', path, '--per-week', perWeek, '--json'])).toBe(0)
  const { suggestions } = JSON.parse(said.at(-1) ?? '')
  return suggestions.find(({ rule }: { rule: string }) => rule === 'waiting')
}

describe('the suggested limit', () => {
  test.each([
    // queues of the week, incidents a week, and the smallest round limit that tells no more
    [[12, 35, 70, 15], '4', 5],
    [[12, 35, 70, 15], '3', 12],
    [[12, 35, 70, 15], '2', 15],
    [[12, 35, 70, 15], '1', 40],
    [[3, 4, 2], '2', 5],
    [[], '2', 5],
  ])('after queues of %j, at most %s a week: %d', async (peaks, perWeek, least) => {
    const { suggested, tried } = await waitingOf(await weekWith(peaks), perWeek)
    const round = tried.map(({ limit }: { limit: number }) => limit)
    expect(suggested).toBe(round.find((limit: number) => limit >= least))
  })

  test('is above what is usual, however rarely a long queue begins', async () => {
    expect((await waitingOf(await weekWith([90], 12), '2')).suggested).toBe(15)
  })
})

test('tells how the signal was spread and how long it stayed', async () => {
  const { spread, longest } = await waitingOf(await weekWith([12, 35, 70, 15]), '2')
  expect(spread).toMatchObject({ p50: 0, highest: 70 })
  expect(longest).toBe(STEP * 60_000)
})

test('prints lines for .env and what they would have told', async () => {
  expect(await runCommand(['suggest', 'vllm', await weekWith([12, 35, 70, 15]), '--per-week', '2'])).toBe(0)
  expect(said.at(-1)).toMatch(/^VLLM_WAITING_LIMIT=15$/m)
  expect(said.at(-1)).toMatch(/^# off: VLLM_INFLIGHT_LIMIT=\d+$/m)
  expect(said.at(-1)).toContain('would have told 2 incidents')
  expect(await runCommand(['suggest', 'vllm', 'x', '--per-week', 'few'])).toBe(1)
})
