import { type Config, functionName } from '../model/config.ts'
import type { Notification } from '../model/notification.ts'
import type { State } from '../state/schema.ts'
import { ALL, base, ruleset } from './rule.ts'

export const watcherRules = ruleset({
  gap: {
    ...base,
    firesWhen:
      'the watcher itself did not run for more than this many of its usual intervals; told once, by the first run after it',
    sign: '⏸️',
    about: 'watcher',
    unit: 'times',
    limit: 3,
    repeat: undefined,
    priority: 6,
    backends: ALL,
  },
})

/** A second copy, or a tick that came late beside the next one, says nothing about the schedule. Milliseconds. */
const SHORTEST_GAP = 10_000
/** A gap that differs by less than this share from the one before is a schedule that became rarer: it was told once. */
const SAME_GAP = 0.1
const GAPS = 10

/** Milliseconds between the last runs, with this one. */
export function gapsWith({ ranAt, gaps }: State, now: number): number[] {
  return ranAt !== undefined && now - ranAt >= SHORTEST_GAP ? [...gaps, now - ranAt].slice(-GAPS) : gaps
}

/** The schedule's period, learned from the gaps between runs, where they are regular. Milliseconds. */
export function usualInterval(gaps: readonly number[]): number | undefined {
  if (gaps.length < 3) return undefined
  const sorted = [...gaps].sort((a, b) => a - b)
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0
  const regular = gaps.filter((gap) => gap >= median / 2 && gap <= median * 2)
  return median > 0 && regular.length >= gaps.length * 0.6 ? median : undefined
}

/** The watcher itself did not run for a while: told by the first run after it, once. */
export function gapNotification(
  previous: State,
  config: Config,
  interval: number | undefined,
  now: number,
): Notification[] {
  const rule = config.endpoints.flatMap((e) => e.rules).find((r) => r.id === 'gap')
  if (!rule || interval === undefined || previous.ranAt === undefined) return []
  // A run is on until its slowest answer is there.
  const length = now - previous.ranAt - (previous.asked ?? 0)
  const limit = rule.limit * interval
  const last = previous.gaps.at(-1)
  const isNewSchedule = last !== undefined && last > limit && Math.abs(length - last) <= SAME_GAP * last
  if (length <= limit || isNewSchedule) return []
  const subject = functionName(config)
  const incident = `|gap|${subject}@${previous.ranAt}`
  return [
    {
      id: `${incident}/told-once/${now}`,
      incident,
      reason: 'told-once',
      rule: 'gap',
      subject,
      priority: rule.priority,
      at: now,
      firedAt: previous.ranAt,
      endedAt: now,
      gap: { length, interval },
    },
  ]
}
