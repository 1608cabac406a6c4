import type { Backend } from '../model/backend.ts'
import type { Measure, RuleUnit } from '../model/rule.ts'

export interface RuleSpec {
  measure: Measure
  unit: RuleUnit
  /** Which side of the limit is a breach: beyond it, or already at it. */
  breach: 'above' | 'at-or-above'
  /** `undefined`: off unless a limit is set. */
  limit: number | undefined
  /** `undefined`: clear as soon as it is not a breach. */
  clear?: number
  for: number
  /** Milliseconds between reminders while firing; `undefined`: none. */
  repeat: number | undefined
  priority: number
  backends: readonly Backend[]
  /** Closes as idle when no traffic came for 15 minutes. */
  idles?: boolean
}

const MINUTE = 60_000
const REPEAT = 4 * 60 * MINUTE
const QUEUES = ['vllm', 'tgi', 'tei', 'sglang', 'llamacpp'] as const
const CANARIES = ['ollama', 'openai'] as const
const ALL = [...QUEUES, ...CANARIES, 'dcgm', 'gateway', 'heartbeat-check'] as const
const base = { breach: 'above', for: 0, repeat: REPEAT } as const
const once = { ...base, unit: 'switch', breach: 'at-or-above', limit: 1 } as const

/** Every rule with its defaults: the table of the documentation, `docs/rules.md`. */
export const RULES = {
  waiting: {
    ...base,
    measure: { kind: 'gauge', signal: 'waiting' },
    unit: 'requests',
    limit: 20,
    clear: 10,
    priority: 8,
    backends: QUEUES,
  },
  inflight: {
    ...base,
    measure: { kind: 'inflight' },
    unit: 'requests',
    breach: 'at-or-above',
    limit: undefined,
    priority: 8,
    backends: [...QUEUES, 'gateway'],
  },
  growth: {
    ...base,
    measure: { kind: 'growth', runs: 5 },
    unit: 'requests',
    breach: 'at-or-above',
    limit: 5,
    priority: 7,
    backends: QUEUES,
  },
  queue_wait: {
    ...base,
    measure: { kind: 'mean', signal: 'queue_wait' },
    unit: 'seconds',
    limit: 2,
    clear: 1,
    priority: 8,
    backends: ['vllm', 'tgi', 'tei', 'sglang'],
    idles: true,
  },
  kv_cache: {
    ...base,
    measure: { kind: 'gauge', signal: 'kv_cache' },
    unit: 'share',
    breach: 'at-or-above',
    limit: 0.9,
    clear: 0.85,
    for: 5 * MINUTE,
    priority: 7,
    backends: ['vllm', 'sglang', 'llamacpp', 'gateway'],
  },
  ttft: {
    ...base,
    measure: { kind: 'quantile', signal: 'ttft', q: 0.99 },
    unit: 'seconds',
    limit: 3,
    clear: 2,
    priority: 8,
    backends: ['vllm', 'sglang'],
    idles: true,
  },
  itl: {
    ...base,
    measure: { kind: 'quantile', signal: 'itl', q: 0.99 },
    unit: 'seconds',
    limit: undefined,
    for: 5 * MINUTE,
    priority: 6,
    backends: ['vllm', 'tgi', 'sglang'],
    idles: true,
  },
  prefix_hits: {
    ...base,
    measure: { kind: 'fall', of: 'prefix_hit_share' },
    unit: 'fall',
    breach: 'at-or-above',
    limit: 0.5,
    clear: 0.25,
    for: 10 * MINUTE,
    priority: 6,
    backends: ['vllm', 'sglang'],
    idles: true,
  },
  throughput: {
    ...base,
    measure: { kind: 'fall', of: 'tokens_per_second' },
    unit: 'fall',
    breach: 'at-or-above',
    limit: 0.5,
    clear: 0.25,
    for: 5 * MINUTE,
    priority: 7,
    backends: ['vllm', 'tgi', 'sglang', 'llamacpp'],
    idles: true,
  },
  stalled: {
    ...base,
    measure: { kind: 'stalled' },
    unit: 'runs',
    breach: 'at-or-above',
    limit: 2,
    priority: 9,
    backends: ['vllm', 'tgi', 'sglang', 'llamacpp'],
  },
  errors: {
    ...base,
    measure: { kind: 'failed-share', atLeast: 20 },
    unit: 'share',
    limit: 0.05,
    clear: 0.01,
    priority: 8,
    backends: ['vllm', 'tgi', 'tei', 'sglang', 'gateway'],
    idles: true,
  },
  preemptions: {
    ...base,
    measure: { kind: 'rate', signal: 'preemptions' },
    unit: 'per-second',
    limit: 1,
    clear: 0.1,
    for: 5 * MINUTE,
    priority: 5,
    backends: ['vllm', 'sglang'],
  },
  sibling: {
    ...base,
    measure: { kind: 'sibling' },
    unit: 'times',
    breach: 'at-or-above',
    limit: 1.5,
    clear: 1.2,
    for: 10 * MINUTE,
    priority: 6,
    backends: [...QUEUES],
    idles: true,
  },
  down: {
    ...base,
    measure: { kind: 'failures' },
    unit: 'runs',
    breach: 'at-or-above',
    limit: 3,
    priority: 9,
    backends: ALL,
  },
  blind: {
    ...base,
    measure: { kind: 'blind' },
    unit: 'runs',
    breach: 'at-or-above',
    limit: 2,
    priority: 6,
    backends: ALL,
  },
  gpu_memory: {
    ...base,
    measure: { kind: 'subject-gauge', signal: 'gpu_memory' },
    unit: 'share',
    limit: 0.95,
    clear: 0.93,
    repeat: undefined,
    priority: 8,
    backends: ['dcgm'],
  },
  gpu_temperature: {
    ...base,
    measure: { kind: 'subject-gauge', signal: 'gpu_temperature' },
    unit: '°C',
    limit: 85,
    clear: 80,
    for: 5 * MINUTE,
    priority: 7,
    backends: ['dcgm'],
  },
  gpu_xid: { ...once, measure: { kind: 'xid' }, priority: 9, backends: ['dcgm'] },
  gpu_lost: { ...once, measure: { kind: 'lost' }, priority: 9, backends: ['dcgm'] },
  observer: { ...once, measure: { kind: 'flag', signal: 'observer_degraded' }, priority: 8, backends: ['gateway'] },
  upstream: { ...once, measure: { kind: 'unhealthy-upstream' }, priority: 8, backends: ['gateway'] },
  rejected: {
    ...base,
    measure: { kind: 'increase', signal: 'admission_rejected' },
    unit: 'requests',
    limit: 0,
    priority: 8,
    backends: ['gateway'],
  },
  stale: {
    ...base,
    measure: { kind: 'increase', signal: 'engine_state_stale' },
    unit: 'requests',
    limit: 0,
    priority: 8,
    backends: ['gateway'],
  },
  queue_full: {
    ...base,
    measure: { kind: 'increase', signal: 'queue_full' },
    unit: 'requests',
    limit: 0,
    priority: 8,
    backends: ['gateway'],
  },
  parked: {
    ...base,
    measure: { kind: 'increase', signal: 'admission_parked' },
    unit: 'requests',
    limit: undefined,
    priority: 8,
    backends: ['gateway'],
  },
  canary: {
    ...base,
    measure: { kind: 'canary', ollama: 'canary_wait', openai: 'canary_ttft' },
    unit: 'seconds',
    limit: 5,
    clear: 3,
    priority: 7,
    backends: CANARIES,
    idles: true,
  },
  busy: { ...once, measure: { kind: 'refused' }, priority: 8, backends: CANARIES },
  cold_load: {
    ...base,
    measure: { kind: 'canary-load' },
    unit: 'seconds',
    limit: undefined,
    priority: 4,
    backends: ['ollama'],
    idles: true,
  },
  heartbeat: { ...once, measure: { kind: 'beat' }, priority: 8, backends: ['heartbeat-check'] },
  gap: { ...base, measure: { kind: 'gap' }, unit: 'times', limit: 3, repeat: undefined, priority: 6, backends: ALL },
} as const satisfies Record<string, RuleSpec>

export type RuleId = keyof typeof RULES
export const RULE_IDS = Object.keys(RULES) as RuleId[]

export function specOf(id: string): RuleSpec {
  return RULES[id as RuleId]
}

/** The ids of the rules that a backend has, in catalogue order. */
export function rulesOf(backend: Backend): RuleId[] {
  return RULE_IDS.filter((id) => specOf(id).backends.includes(backend))
}
