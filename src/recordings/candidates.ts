import type { RuleUnit } from '../model/rule.ts'
import type { RuleId } from '../rules/rules.ts'

/**
 * Below these nobody would call it trouble, however calm the server was: five requests wait in any busy minute, half a
 * second to the first token is what users expect, and half of its own past is how an engine comes and goes. Rules that are not here have no limit that a past could teach.
 */
const FLOORS: Partial<Record<RuleId | 'queue_tail' | 'e2e' | 'token_time' | 'cpu_fallback', number>> = {
  waiting: 5,
  inflight: 5,
  growth: 5,
  queue_wait: 0.5,
  queue_tail: 1,
  kv_cache: 0.8,
  ttft: 0.5,
  itl: 0.05,
  e2e: 5,
  token_time: 1.5,
  prefix_hits: 0.5,
  throughput: 0.5,
  errors: 0.01,
  preemptions: 0.1,
  sibling: 1.3,
  cpu_fallback: 0.3,
  gpu_memory: 0.9,
  gpu_temperature: 75,
  canary: 1,
  cold_load: 10,
}

/** Limits as a person would write them. */
const STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8] as const
const SHARES = [0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99]
const TIMES = [1.2, 1.3, 1.5, 1.8, 2, 2.5, 3, 4, 5, 8, 10, 20]
const DEGREES = [70, 75, 80, 83, 85, 87, 90, 93, 95, 100]
const LARGEST_EXPONENT = 6

export function isTeachable(id: string): boolean {
  return Object.hasOwn(FLOORS, id)
}

/** Round limits of a rule from the lowest that makes sense, ascending. */
export function candidatesOf(id: string, unit: RuleUnit): number[] {
  const floor = FLOORS[id as RuleId] ?? Number.POSITIVE_INFINITY
  return roundNumbers(unit).filter((limit) => limit >= floor)
}

function roundNumbers(unit: RuleUnit): readonly number[] {
  switch (unit) {
    case 'requests':
      return decades(0).filter(Number.isInteger)
    case 'seconds':
    case 'per-second':
      return decades(-3)
    case 'share':
    case 'fall':
      return SHARES
    case 'times':
      return TIMES
    case '°C':
      return DEGREES
    case 'runs':
    case 'count':
    case 'days': // of no recording
    case 'switch':
      return []
    default:
      return unit satisfies never
  }
}

function decades(from: number): number[] {
  const exponents = Array.from({ length: LARGEST_EXPONENT - from }, (_, i) => from + i)
  return exponents.flatMap((exponent) => STEPS.map((step) => Number((step * 10 ** exponent).toPrecision(6))))
}
