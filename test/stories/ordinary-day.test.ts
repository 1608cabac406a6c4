import { expect, test } from 'vitest'
import { configOf, playRuns } from '../playing.ts'
import { ordinaryDay } from './ordinary-day.ts'

const MINUTE = 60_000

const days = [1, 5, 50].flatMap((perSecond) => [1, 2, 3].map((seed) => ({ perSecond, seed })))

test.each(days)(
  'a day of ordinary traffic at $perSecond a second (seed $seed) is told nothing of',
  { timeout: 600_000, tags: 'long' },
  ({ perSecond, seed }) => {
    const runs = [...ordinaryDay(perSecond, seed)].map((page, minute) => ({ at: minute * MINUTE, seen: () => page }))
    expect(runs).toHaveLength(24 * 60)
    const told = playRuns(configOf('vllm', { SLO_TTFT: '2500ms' }), runs).flatMap(({ evaluation }, minute) =>
      evaluation.notifications.map(({ reason, rule, value, usual }) => ({ minute, reason, rule, value, usual })),
    )
    expect(told).toEqual([])
  },
)
