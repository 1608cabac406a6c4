import { BACKENDS, TABLES } from '../backends/backends.ts'
import type { Backend, BackendTable, ScrapedBackend } from '../model/backend.ts'
import type { Notification } from '../model/notification.ts'
import type { Signal } from '../model/signals.ts'
import { ofCause, spelt, wantsVersion } from '../verdict/advice.ts'
import type { Advice } from '../verdict/advice-kinds.ts'
import { cacheRules } from './cache.ts'
import { canaryRules } from './canary.ts'
import { certificateRules } from './certificates.ts'
import { failureRules } from './failures.ts'
import { gatewayRules } from './gateway.ts'
import { gpuRules } from './gpu.ts'
import { heartbeatRules } from './heartbeat.ts'
import { latencyRules } from './latency.ts'
import { poolRules } from './pool.ts'
import { progressRules } from './progress.ts'
import { queueRules } from './queue.ts'
import { reachabilityRules } from './reachability.ts'
import { restartRules } from './restarts.ts'
import type { RuleSpec } from './rule.ts'
import { siblingRules } from './siblings.ts'
import { watcherRules } from './watcher.ts'

const { kv_cache, prefix_hits, ...otherCacheRules } = cacheRules

/** Every rule in the order of the documentation. */
export const RULES = {
  ...queueRules,
  kv_cache,
  ...latencyRules,
  prefix_hits,
  ...progressRules,
  ...failureRules,
  ...otherCacheRules,
  ...siblingRules,
  ...reachabilityRules,
  ...poolRules,
  ...certificateRules,
  ...restartRules,
  ...gpuRules,
  ...gatewayRules,
  ...canaryRules,
  ...heartbeatRules,
  ...watcherRules,
}

export type RuleId = keyof typeof RULES
export const RULE_IDS = Object.keys(RULES) as RuleId[]

/** Of a configured rule, whose id is known to be one. */
export function specOf(id: string): RuleSpec {
  return RULES[id as RuleId]
}

/** Of what a notification names: it may be of another version, or no rule (`state-broken`, `silence`). */
export function ruleNamed(id: string): RuleSpec | undefined {
  return Object.hasOwn(RULES, id) ? specOf(id) : undefined
}

/** The ids of the rules that a backend has, in the order of the documentation. */
export function rulesOf(backend: Backend): RuleId[] {
  return RULE_IDS.filter((id) => isOn(specOf(id), backend))
}

/** The backends that have a rule, in the order of the documentation. */
export function backendsOf(id: RuleId): Backend[] {
  return BACKENDS.filter((backend) => isOn(specOf(id), backend))
}

function isOn(spec: RuleSpec, backend: Backend): boolean {
  if (spec.backends) return spec.backends.includes(backend)
  const table: BackendTable | undefined = TABLES[backend as ScrapedBackend]
  return table !== undefined && !spec.except?.includes(backend) && canFeed(table, spec)
}

/** Whether a table has what a rule needs; a mean of two counters has no quantiles. */
function canFeed({ signals }: BackendTable, { needs, decidedBy, with: beside }: RuleSpec): boolean {
  const has = (signal: Signal) => {
    const row = signals[signal]
    const needsBuckets = decidedBy !== undefined && decidedBy.as !== 'mean' && decidedBy.histogram === signal
    return row !== undefined && (!needsBuckets || row.from.some(({ count }) => count === undefined))
  }
  if (!needs || needs.signals.length === 0 || (beside && !has(beside))) return false
  const events: readonly Signal[] = needs.absentUntilFirst ?? []
  const others = needs.signals.filter((signal) => !events.includes(signal))
  if (needs.oneIsEnough) return needs.signals.some(has)
  return others.every(has) && (events.length === 0 || events.some(has))
}

/** Rules that hold others back, the one that holds all first. */
export const HOLDING: readonly string[] = RULE_IDS.filter((id) => specOf(id).holds !== undefined).sort(
  (a, b) => Number(specOf(b).holds === 'all') - Number(specOf(a).holds === 'all'),
)

export function signOf(id: string): string {
  if (id === 'silence') return '🔕'
  return id === 'state-broken' ? '🧩' : specOf(id).sign
}

/** At most two pieces of advice, the most useful first; none where nothing is known to help. */
export function advice(notification: Notification): Advice[] {
  return pieces(notification).map((piece) => spelt(piece, notification))
}

/** Whether the server's version, which is not known, would say more of what helps. */
export function lacksVersion(notification: Notification): boolean {
  return pieces(notification).some((piece) => wantsVersion(piece, notification))
}

function pieces(notification: Notification): Advice[] {
  const below = ofCause(notification)
  if (below.length > 0) return below
  return ruleNamed(notification.rule)?.advise?.(notification).slice(0, 2) ?? []
}
