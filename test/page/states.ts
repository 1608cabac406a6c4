import type { About } from '../../src/model/notification.ts'
import type { Incident } from '../../src/state/incident-schema.ts'
import type { Alert, EndpointState, State } from '../../src/state/schema.ts'
import { emptyState, newEndpointState } from '../../src/state/schema.ts'

export const NOW = Date.UTC(2026, 10, 30, 12, 5)
const MINUTE = 60_000
const RUNS = 15

/** What an endpoint of vLLM did at its last runs. */
export interface Course {
  /** Requests waiting, the last run's last; null is a failed scrape. */
  waiting: readonly (number | null)[]
  kvCache?: number
  running?: number
  model?: string
  alerts?: Record<string, Partial<Alert> & { about?: About }>
  failure?: EndpointState['failure']
  /** Requests by their time to first token: up to 0.5 s, 1 s, 2.5 s, 5 s, more. */
  ttft?: readonly number[]
}

/** A state as a run at `at` leaves it. */
export function stateOf(courses: Readonly<Record<string, Course>>, more: Partial<State> = {}, at = NOW): State {
  return {
    ...emptyState(),
    ranAt: at,
    runs: ['r1'],
    gaps: Array.from({ length: 10 }, () => MINUTE),
    endpoints: Object.fromEntries(
      Object.entries(courses).map(([name, course]) => [name, endpointOf(name, course, at)]),
    ),
    ...more,
  }
}

export function calm(seed: number): Course {
  const wave = Array.from({ length: RUNS }, (_, i) => Math.max(0, Math.round(3 + 3 * Math.sin((i + seed * 3) / 2))))
  return {
    waiting: wave,
    running: 12 + (seed % 5),
    kvCache: 0.4 + (seed % 7) / 20,
    model: 'llama-3.1-8b-instruct',
    ttft: [80, 12, 5, 1, 0],
  }
}

export function queueing(firedAgo = 12): Course {
  return {
    ...calm(1),
    waiting: [2, 3, 2, 4, 6, 9, 14, 19, 24, 27, 31, 34, 38, 40, 42],
    running: 16,
    kvCache: 0.93,
    ttft: [10, 10, 20, 40, 20],
    alerts: { waiting: { firedAt: NOW - firedAgo * MINUTE, peak: 42 } },
  }
}

export function down(firedAgo = 40): Course {
  return {
    waiting: [3, 2, 4, ...Array.from({ length: RUNS - 3 }, () => null)],
    model: 'qwen2.5-32b',
    failure: { kind: 'refused', code: 'ECONNREFUSED' },
    alerts: {
      down: { firedAt: NOW - firedAgo * MINUTE, about: { failure: { kind: 'refused', code: 'ECONNREFUSED' } } },
    },
  }
}

function endpointOf(name: string, course: Course, at: number): EndpointState {
  const { waiting, running = 8, kvCache = 0.5, model, alerts = {}, failure, ttft } = course
  const times = waiting.map((_, i) => at - (waiting.length - 1 - i) * MINUTE)
  const good = times.filter((_, i) => waiting[i] !== null)
  const goodAt = good.at(-1)
  const kept = good.slice(-6)
  const failures = waiting.length - 1 - waiting.findLastIndex((value) => value !== null)
  const counter = (step: number) => ({ '': { last: step * 500, steps: kept.slice(1).map(() => step) } })
  const of = (step: readonly number[]) => ({
    bounds: [0.5, 1, 2.5, 5],
    last: step.map((n) => n * 50),
    steps: kept.slice(1).map(() => [...step]),
    sums: kept.slice(1).map(() => step.reduce((sum, n) => sum + n, 0)),
    sum: 1_000,
  })
  return {
    ...newEndpointState(at - 86_400_000),
    recent: waiting.map((value, i) => [times[i] ?? at, value, value === null ? null : kvCache]),
    failures,
    inside: Object.fromEntries(kept.map((time) => [time, running + (waiting[times.indexOf(time)] ?? 0)])),
    alerts: Object.fromEntries(
      Object.entries(alerts).map(([key, { about: _, ...alert }]) => [
        key,
        {
          phase: 'firing',
          activeAt: alert.firedAt ?? at,
          firedAt: at,
          seenAt: at,
          clearRuns: 0,
          ...alert,
        } satisfies Alert,
      ]),
    ),
    incidents: Object.fromEntries(
      Object.entries(alerts).flatMap(([key, alert]) =>
        alert.phase === 'pending' ? [] : [[key, incidentOf(name, key, alert, at)]],
      ),
    ),
    ...(goodAt === undefined ? {} : { goodAt }),
    ...(model === undefined ? {} : { model }),
    ...(failure === undefined ? {} : { failure }),
    ...(kept.length === 0
      ? {}
      : {
          history: {
            times: kept,
            counters: { finished: counter(98), generation_tokens: counter(7_200), prompt_tokens: counter(20_000) },
            histograms: ttft ? { ttft: { '': of(ttft) } } : {},
          },
        }),
  }
}

/** So many endpoints in groups of four, the first `troubled` of them not well. */
export function many(count: number, troubled = 0): Record<string, Course> {
  const groups = ['chat', 'code', 'embed', 'draft', 'long', 'vision', 'rerank', 'tools']
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => {
      const group = `${groups[Math.floor(i / 4) % groups.length]}${i >= 32 ? Math.floor(i / 32) : ''}`
      const name = count === 1 ? 'chat' : `${group}/${'abcd'[i % 4]}`
      return [name, i >= troubled ? calm(i) : i % 3 === 1 ? down() : queueing(5 + i)]
    }),
  )
}

/** As the run that told of it left it; one for each alert. */
function incidentOf(name: string, key: string, alert: Partial<Alert> & { about?: About }, at: number): Incident {
  const firedAt = alert.firedAt ?? at
  const [rule, subject = ''] = key.split('@')
  const { about, peak } = alert
  return {
    id: `${name}|${rule}|${subject}@${firedAt}`,
    openedAt: firedAt,
    lastSentAt: firedAt,
    verdicts: [],
    symptoms: { [key]: { times: 1, ...(about ? { about } : {}), ...(peak === undefined ? {} : { peak }) } },
    begins: [firedAt],
  }
}
