/** How a signal is read: a value of now, a total since the server's start, or buckets since the server's start. */
export type SignalKind = 'gauge' | 'counter' | 'histogram'

interface SignalSpec {
  kind: SignalKind
  /** What one unit is, as a person would say it. */
  unit: 'requests' | 'share' | 'seconds' | 'tokens' | 'tokens a second' | 'steps' | '°C' | 'code' | 'flag' | 'events'
  /** Values outside are not believable and read as unknown. */
  min: number
  max: number
  meaning: string
}

const from0 = { min: 0, max: Number.MAX_SAFE_INTEGER }
const share = { unit: 'share', min: 0, max: 1 } as const
const seconds = { kind: 'gauge', unit: 'seconds', ...from0 } as const
const histogram = { kind: 'histogram', unit: 'seconds', ...from0 } as const
const requestsTotal = { kind: 'counter', unit: 'requests', ...from0 } as const
const tokensTotal = { kind: 'counter', unit: 'tokens', ...from0 } as const
const eventsTotal = { kind: 'counter', unit: 'events', ...from0 } as const
const flag = { kind: 'gauge', unit: 'flag', min: 0, max: 1 } as const

/** Every signal: one name, one unit, the same for all backends. */
export const SIGNALS = {
  up: { ...flag, meaning: 'the scrape or canary got a usable answer' },
  waiting: { kind: 'gauge', unit: 'requests', ...from0, meaning: 'requests in the queue' },
  running: { kind: 'gauge', unit: 'requests', ...from0, meaning: 'requests being computed' },
  waiting_deferred: {
    kind: 'gauge',
    unit: 'requests',
    ...from0,
    meaning: 'those of the queue that wait for an adapter or a KV transfer, not for room',
  },
  paused: { kind: 'gauge', unit: 'requests', ...from0, meaning: 'requests held while weights are replaced' },
  asleep: { ...flag, meaning: '1 when an engine sleeps on purpose' },
  engine_healthy: { ...flag, meaning: '0 when the server itself calls an engine unhealthy' },
  kv_cache: { kind: 'gauge', ...share, meaning: 'KV cache in use; the fullest engine' },
  hit_share: {
    kind: 'gauge',
    ...share,
    meaning: "the server's own prefix hit share, where it publishes no token counters",
  },
  queue_wait: { ...histogram, meaning: 'time from arrival to first scheduling, per finished request' },
  ttft: { ...histogram, meaning: 'time to first token' },
  itl: { ...histogram, meaning: 'time per output token' },
  e2e: { ...histogram, meaning: 'whole request' },
  transfer_time: { ...histogram, meaning: 'time of one KV transfer between prefill and decode' },
  finished: { ...requestsTotal, meaning: 'requests finished since start' },
  failed: { ...requestsTotal, meaning: 'requests failed by the server since start' },
  http_failed: {
    ...requestsTotal,
    meaning: "answers of the server's own HTTP layer with 5xx since start, on paths of inference alone",
  },
  corrupted: { ...requestsTotal, meaning: 'requests whose answer was corrupt (NaN) since start' },
  transfer_failed: {
    ...eventsTotal,
    meaning: 'KV transfers between prefill and decode, or to another tier, that failed or expired since start',
  },
  preemptions: { ...requestsTotal, meaning: 'requests preempted since start' },
  prompt_tokens: { ...tokensTotal, meaning: 'prompt tokens since start' },
  generation_tokens: { ...tokensTotal, meaning: 'generated tokens since start' },
  prefix_queries: { ...tokensTotal, meaning: 'prompt tokens looked up in the prefix cache since start' },
  prefix_hits: { ...tokensTotal, meaning: 'prompt tokens found in the prefix cache since start' },
  draft_tokens: { ...tokensTotal, meaning: 'tokens proposed by speculative decoding since start' },
  draft_accepted: { ...tokensTotal, meaning: 'those of them that were accepted since start' },
  accept_share: {
    kind: 'gauge',
    ...share,
    meaning: "the server's own share of accepted draft tokens, where it publishes no counters",
  },
  steps: {
    kind: 'counter',
    unit: 'steps',
    ...from0,
    meaning: 'engine steps since start: progress before a request finishes',
  },
  decode_seconds: {
    kind: 'counter',
    unit: 'seconds',
    ...from0,
    meaning: 'time spent generating since start, added over requests',
  },
  prompt_seconds: { kind: 'counter', unit: 'seconds', ...from0, meaning: 'time spent reading prompts since start' },
  gpu_memory: { kind: 'gauge', ...share, meaning: 'used / (used + free) of one GPU or MIG instance' },
  gpu_utilisation: { kind: 'gauge', ...share, meaning: 'share of time a kernel ran on one GPU or MIG instance' },
  gpu_temperature: { kind: 'gauge', unit: '°C', min: -50, max: 150, meaning: 'temperature of one GPU' },
  gpu_xid: { kind: 'gauge', unit: 'code', min: 0, max: 1_000, meaning: 'last XID error code of one GPU; 0 is none' },
  gpu_remap_failed: { ...flag, meaning: '1 when replacing a bad memory row of one GPU by a spare one failed' },
  gpu_remapped_rows: {
    kind: 'gauge',
    unit: 'events',
    min: 0,
    max: 100_000,
    meaning: 'memory rows of one GPU that were replaced after errors that could not be corrected',
  },
  gpu_throttle: {
    kind: 'gauge',
    unit: 'code',
    min: 0,
    max: 0xffff,
    meaning: 'why the clocks of one GPU are held down, as bits',
  },
  canary_total: { ...seconds, meaning: "the whole canary by the watcher's clock" },
  canary_wait: { ...seconds, meaning: 'canary: time in the queue' },
  canary_load: { ...seconds, meaning: 'canary: time loading the model' },
  canary_prefill: { ...seconds, meaning: 'canary: time reading the prompt' },
  canary_decode: { ...seconds, meaning: 'canary: time generating' },
  canary_ttft: { ...seconds, meaning: 'canary: time to first token as a user sees it' },
  canary_rate: {
    kind: 'gauge',
    unit: 'tokens a second',
    min: 0,
    max: 100_000,
    meaning: 'canary: tokens a second after the first, where `CANARY_TOKENS` asks for several',
  },
  quota_left: {
    kind: 'gauge',
    ...share,
    meaning: "what is left of a hosted service's rate limit, by its own headers; of the fullest",
  },
  vram_share: { kind: 'gauge', ...share, meaning: "share of the canary's model that lies in GPU memory" },
  beat_age: { ...seconds, meaning: 'time since the last beat of one worker' },
  observer_degraded: { ...flag, meaning: "1 when the gateway's view of the engine is degraded" },
  upstream_health: { ...flag, meaning: '1 when the gateway holds one upstream healthy' },
  admission_rejected: { ...eventsTotal, meaning: 'requests refused at admission since start, by reason' },
  admission_parked: { ...eventsTotal, meaning: 'requests the gateway parked at admission since start' },
  engine_state_stale: { ...eventsTotal, meaning: 'times the gateway judged by a stale engine state since start' },
  queue_full: { ...eventsTotal, meaning: 'requests the gateway refused because its queue was full since start' },
} as const satisfies Record<string, SignalSpec>

export type Signal = keyof typeof SIGNALS
type OfKind<K extends SignalKind> = { [S in Signal]: (typeof SIGNALS)[S]['kind'] extends K ? S : never }[Signal]
export type GaugeSignal = OfKind<'gauge'>
export type CounterSignal = OfKind<'counter'>
export type HistogramSignal = OfKind<'histogram'>

/** A label set as text, sorted by label name, without `le` and without labels that only repeat a series: `engine="0",model_name="m"`. */
export type LabelSet = string

/** Buckets of one label set since the server's start. `bounds` ascend and end before +Inf; `counts` has one more entry (the last is +Inf), each the observations at or below its bound. */
export interface HistogramReading {
  bounds: readonly number[]
  counts: readonly number[]
  /** Seconds, summed over all observations; absent where the server published none. */
  sum?: number
  /** Unix seconds of the series' `_created` sample. */
  created?: number
}

export interface CounterReading {
  value: number
  /** Unix seconds of the series' `_created` sample. */
  created?: number
}

/** A gauge over the whole endpoint; `at` names the engine or rank that holds a maximum, where there are several. */
export interface GaugeReading {
  value: number
  at?: string
  /** The same of each engine or rank, where the labels name two or more: `engine 1` → 3. */
  byEngine?: Readonly<Record<string, number>>
  /** Of the queue and of what runs: the same of each model and priority class, where the labels name two or more. */
  byPart?: Readonly<Record<Part, number>>
}

/** A model (or adapter, which servers name as one), or a priority class: `model m`, `priority 5`. */
export type Part = string

/** A value that cannot be, or a line that could not be read: told, never judged. */
export interface DataFault {
  signal?: Signal
  series: string
  what:
    | 'not-a-number'
    | 'out-of-range'
    | 'stale-sample'
    | 'summary-not-histogram'
    | 'cut-histogram'
    | 'falling-sum'
    | 'buckets-fall'
    | 'outlier-in-sum'
    | 'not-seconds'
}

/** What one good scrape, canary or beat of one endpoint said. A signal that is unknown is absent. */
export interface Readings {
  gauges: Partial<Record<GaugeSignal, GaugeReading>>
  counters: Partial<Record<CounterSignal, Record<LabelSet, CounterReading>>>
  histograms: Partial<Record<HistogramSignal, Record<LabelSet, HistogramReading>>>
  /** Per GPU or MIG instance (`GPU-…`, `GPU-…/mig 3`), or per upstream: the gauges that belong to it. */
  subjects: Record<string, Partial<Record<GaugeSignal, number>>>
  /** What a person calls a subject, where the labels say so: `gpu 0, NVIDIA L4`. */
  subjectNames?: Record<string, string>
  /** Unix seconds, `process_start_time_seconds`. */
  startedAt?: number
  /** The model for display, where the server names it. */
  model?: string
  /** All that the page names, where they are several and none was chosen. */
  models?: readonly string[]
  /** Which server, and roughly which version, the names on the page belong to. */
  server?: string
  /** The server's own settings, as published (`vllm:cache_config_info`). */
  settings: Record<string, string>
  /** Which series fed which signal: `waiting` → `vllm:num_requests_waiting`. */
  sources: Partial<Record<Signal, string>>
  /** The failed requests are counted among the finished ones, although by another series. */
  failedAmong?: true
  /** Significant digits to which counters are printed, where they are few. */
  digits?: number
  faults: DataFault[]
  /** Lines that could not be read. */
  malformed: number
  /** The body held no sample at all. */
  empty: boolean
  /** The body held samples, but none of this backend. */
  foreign: boolean
  /** `false` when series of models are there, but none of the configured model. */
  modelFound: boolean
}
