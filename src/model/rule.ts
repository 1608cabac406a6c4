/** What a rule's number is, which decides how its limit may be written and how it is shown. */
export type RuleUnit = 'requests' | 'seconds' | 'share' | 'fall' | 'times' | 'per-second' | 'runs' | '°C' | 'switch'

/** How a rule gets its number for a subject; `measure.ts` has one small function a kind. */
export type Measure =
  | { kind: 'gauge'; signal: 'waiting' | 'kv_cache' }
  | { kind: 'inflight' }
  | { kind: 'growth'; runs: number }
  | { kind: 'mean'; signal: 'queue_wait' }
  | { kind: 'quantile'; signal: 'ttft' | 'itl'; q: number }
  | { kind: 'fall'; of: 'prefix_hit_share' | 'tokens_per_second' }
  | { kind: 'stalled' }
  | { kind: 'failed-share'; atLeast: number }
  | { kind: 'rate'; signal: 'preemptions' }
  | { kind: 'sibling' }
  | { kind: 'failures' }
  | { kind: 'blind' }
  | { kind: 'subject-gauge'; signal: 'gpu_memory' | 'gpu_temperature' }
  | { kind: 'xid' }
  | { kind: 'lost' }
  | { kind: 'flag'; signal: 'observer_degraded' }
  | { kind: 'unhealthy-upstream' }
  | { kind: 'increase'; signal: 'admission_rejected' | 'engine_state_stale' | 'queue_full' | 'admission_parked' }
  | { kind: 'canary'; ollama: 'canary_wait'; openai: 'canary_ttft' }
  | { kind: 'refused' }
  | { kind: 'canary-load' }
  | { kind: 'beat' }
  | { kind: 'gap' }

/** A rule as it holds for one endpoint: the catalogue's row after its variables. Times in milliseconds. */
export interface Rule {
  /** Of the catalogue in `rules/`, which is the one list of them. */
  id: string
  measure: Measure
  unit: RuleUnit
  breach: 'above' | 'at-or-above'
  limit: number
  clear: number | undefined
  for: number
  repeat: number | undefined
  priority: number
  idles: boolean
}
