import type { AlertContext, Notification } from '../../src/model/notification.ts'
import { type RuleId, specOf } from '../../src/rules/rules.ts'

/** A message as a reader may get it: what it shows, and the notifications of its group. */
export interface Sample {
  name: string
  notifications: Notification[]
}

/** The moment of all samples. */
export const SAMPLE_NOW = Date.UTC(2026, 10, 30, 3, 12)
export const MINUTE = 60_000

export const SPARK = [3, 3, 4, 5, 4, 6, 9, 12, 15, 19, 24, 28, 33, 38, 42]

export function context(over: Partial<AlertContext> = {}): AlertContext {
  return {
    backend: 'vllm',
    url: 'http://10.0.0.5:8000/metrics',
    model: 'llama-3.1-8b',
    numbers: { up: 1 },
    of: 3,
    // Their curve is of memory, or of a KV cache.
    spark: over.backend === 'dcgm' || over.backend === 'gateway' ? SPARK.map((value) => value / 50) : SPARK,
    sparkMinutes: 15,
    window: 300,
    ...over,
  }
}

/** A believable number of a rule so many times beyond its limit. */
export function beyondLimit(rule: RuleId, times: number): number {
  const { limit = 1, breach, unit } = specOf(rule)
  const value = breach === 'below' ? limit / times : limit * times
  switch (unit) {
    case 'share':
    case 'fall':
      return Math.min(value, 0.97)
    case 'requests':
    case 'runs':
    case 'count':
      return Math.max(1, Math.ceil(value))
    case '°C':
      return limit + 5 * times
    default:
      return value
  }
}

export function notification(rule: Notification['rule'], over: Partial<Notification> = {}): Notification {
  const spec = rule === 'state-broken' ? undefined : specOf(rule)
  const endpoint = over.endpoint ?? 'chat/a'
  const at = over.at ?? SAMPLE_NOW
  const base: Notification = {
    id: `${endpoint}|${rule}|@${at}/fired/${at}`,
    incident: `${endpoint}|${rule}|${over.subject ?? ''}@${over.firedAt ?? at}`,
    reason: 'fired',
    rule,
    endpoint,
    priority: over.reason === 'resolved' ? 4 : (spec?.priority ?? 7),
    at,
    firedAt: at,
    context: context(),
  }
  return { ...base, ...(spec?.limit === undefined ? {} : { limit: spec.limit }), ...over }
}
