import type { Backend } from './backend.ts'
import type { Failure } from './failure.ts'

/**
 * Why something is told. `worse`: while it lasts, it became more urgent. `late`: it came and went before its `fired` could be delivered. `told-once`: a fact
 * without an end (the watcher's own gap, a state that had to be put aside).
 */
export type Reason = 'fired' | 'worse' | 'repeated' | 'resolved' | 'late' | 'told-once'

export type VerdictKind = 'load-grew' | 'broke' | 'heavier' | 'cache-full' | 'stalled' | 'restarted'

/** What this window shows against the endpoint's own past. A ratio is now / past: 3 is three times the usual. */
export interface Verdict {
  kind: VerdictKind
  arrivals?: number
  tokensPerSecond?: number
  timePerToken?: number
  promptTokens?: number
  outputTokens?: number
  preemptions?: number
}

/** Names of the numbers in the result and in messages; units as in `signals.ts`, rates per second. */
export type DerivedSignal =
  | 'up'
  | 'waiting'
  | 'running'
  | 'kv_cache'
  | 'queue_wait'
  | `${'ttft' | 'itl' | 'e2e'}_${'p50' | 'p90' | 'p99'}`
  | 'tokens_per_second'
  | 'requests_per_second'
  | 'prefix_hit_share'
  | 'preemptions_per_second'
  | 'failed_share'
  | 'finished'
  | 'failed'
  | 'preemptions'
  | 'prompt_tokens'
  | 'generation_tokens'
  | 'prefix_queries'
  | 'prefix_hits'
  | 'gpu_memory'
  | 'gpu_utilisation'
  | 'gpu_temperature'
  | 'gpu_xid'
  | 'canary_total'
  | 'canary_wait'
  | 'canary_load'
  | 'canary_prefill'
  | 'canary_decode'
  | 'canary_ttft'
  | 'beat_age'
  | 'observer_degraded'
  | 'upstream_health'
  | 'admission_rejected'
  | 'admission_parked'
  | 'engine_state_stale'
  | 'queue_full'

export type Numbers = Partial<Record<DerivedSignal, number>>

/** What a canary met, beside its times. */
export type CanaryStatus =
  | 'answered'
  | 'cold-load' // answered, but the model had to be loaded first
  | 'not-loaded' // not asked: the model is not loaded and we do not load it
  | 'other-model' // not asked: another model holds the memory
  | 'busy' // refused because the queue is full
  | 'model-missing'
  | 'skipped' // not asked: the queue is known to be deep
  | 'parked' // keep-alive lines only: a gateway holds the request
  | 'failed' // asked, without a usable answer: the failure says why

/** The endpoint at the moment of the fact: what the message may say about it. Each part only when known. */
export interface AlertContext {
  backend: Backend
  /** The endpoint's address without credentials. */
  url: string
  model?: string
  numbers: Numbers
  /** Numbers that are only known to be at least this: quantiles in the last bucket. */
  atLeast?: DerivedSignal[]
  /** The engine or rank that holds the fullest KV cache, where there are several: `engine 1`. */
  kvAt?: string
  /** Where or how more than half of the failed requests failed: an upstream, or the server's own word for the error. */
  failedBy?: string
  verdict?: Verdict
  /** The server restarted inside the window. */
  restarted?: boolean
  /** Nothing finished and no token was generated since the last run although work is reported. */
  noProgress?: boolean
  /** The last values of the endpoint's main signal, oldest first; null is unknown. At most 15. */
  spark?: (number | null)[]
  /** Minutes that the sparkline spans. */
  sparkMinutes?: number
  /** Share of the KV cache that fills a minute, and requests a minute that the queue changes by: only while the trend is clear of the noise. */
  kvPerMinute?: number
  waitingPerMinute?: number
  /** The server's own settings that matter for advice, as published. */
  settings?: Record<string, string>
  /** GPUs beside this server, where an exporter was named: the busiest. */
  gpu?: { utilisation?: number; temperature?: number; xid?: number }
  canary?: { status: CanaryStatus; requestId?: string; detail?: string; vramShare?: number }
  /** Endpoints of this function at that moment: to tell "all of them" from "some". */
  of: number
  /** Of these, the others that were told as down before and fail with this one's cause now. */
  downBefore?: number
}

/** What an alert was about, beyond its rule: of some rules it makes the headline. */
export interface About {
  /** `down`: why. */
  failure?: Failure
  /** `blind`: the signals that are missing, or the model that is not there. */
  missing?: string[]
  /** `blind`: those that are there with a value that cannot be. */
  doubted?: string[]
  modelMissing?: string
  /** `blind`, of the endpoint that stands for the sources of endpoints: those that could not be used. */
  unread?: string[]
  /** `heartbeat`: milliseconds; `never`: no beat ever came. */
  beat?: {
    age?: number
    interval: number
    grace: number
    never: boolean
    failed?: { exit?: number; body?: string }
    body?: string
  }
}

/** The fact to tell, complete in itself: the message is written from it, perhaps runs later. */
export interface Notification extends About {
  /** `<incident>/<reason>/<at>`: unique. */
  id: string
  /** `<endpoint>|<rule>|<subject>@<firedAt>`; one span from fired to resolved. */
  incident: string
  reason: Reason
  rule: string
  /** Absent for what concerns the watcher itself. */
  endpoint?: string
  /** A GPU, an upstream or a reason, where the rule has one; of the watcher itself its function, or the copy of its state. */
  subject?: string
  /** What a person calls it, where the page said so: `gpu 0, NVIDIA L4`. */
  subjectName?: string
  priority: number
  /** Epoch milliseconds. */
  at: number
  firedAt: number
  endedAt?: number
  /** `late`: that many incidents as one, from the beginning of the first to the end of the last. */
  times?: number
  /** The rule's number and limit, in the rule's unit. */
  value?: number
  atLeast?: boolean
  limit?: number
  /** The worst value of the incident. */
  peak?: number
  /** How a resolved one ended. */
  ended?: 'clear' | 'idle' | 'restarted'
  /** For falls and siblings: the past or the siblings' median that the value was compared with. */
  usual?: number
  /** `gap`: milliseconds without a run, and the usual interval. */
  gap?: { length: number; interval: number }
  /** It was sent before, but the answer was lost: this may be a repetition. */
  maybeSent?: boolean
  context?: AlertContext
}
