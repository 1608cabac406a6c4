import * as z from 'zod/mini'
import type { Backend } from './backend.ts'
import { CAUSE, VERDICT } from './explanation.ts'
import { FAILURE_KINDS } from './failure.ts'
import { maybeNumber, maybeText, maybeTexts, name, number, open, text, texts, unchecked } from './open-schema.ts'

const REASONS = ['fired', 'worse', 'repeated', 'resolved', 'late', 'told-once'] as const

/**
 * Why something is told. `worse`: while it lasts, it became more urgent. `late`: it came and went before its `fired` could be delivered. `told-once`: it has no end
 * (the watcher's own gap, a state that had to be put aside).
 */
export type Reason = (typeof REASONS)[number]

/** Names of the numbers in the result and in messages; units as in `signals.ts`, rates per second. */
export type DerivedSignal =
  | 'up'
  | 'waiting'
  | 'running'
  | 'waiting_deferred'
  | 'paused'
  | 'asleep'
  | 'kv_cache'
  | 'queue_wait'
  | 'queue_wait_p95'
  | `${'ttft' | 'itl' | 'e2e'}_${'p50' | 'p90' | 'p99'}`
  | 'tokens_per_second'
  | 'requests_per_second'
  | 'prefix_hit_share'
  | 'preemptions_per_second'
  | 'failed_share'
  | 'finished'
  | 'failed'
  | 'http_failed'
  | 'corrupted'
  | 'transfer_failed'
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
  | 'canary_rate'
  | 'quota_left'
  | 'vram_share'
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
  | 'idle' // not asked: nobody else has used the model since we did, and it is to leave the memory
  | 'over-budget' // not asked: the day's requests are spread over the day
  | 'backing-off' // not asked: it was over its limit, and we must not add to that
  | 'parked' // keep-alive lines only: a gateway holds the request
  | 'failed' // asked, without a usable answer: the failure says why

export const REFUSALS = ['no-backend', 'own-limit', 'overloaded'] as const
/** Whose refusal it is: a gateway's without a backend, that of our own key or budget, or a hosted service's own overload. */
export type Refusal = (typeof REFUSALS)[number]

/** The endpoint at the moment of the notification: what the message may say about it. Each part only when known. */
const ALERT_CONTEXT = open({
  backend: name<Backend>(),
  /** The endpoint's address without credentials. */
  url: text,
  model: maybeText,
  numbers: z.record(text, number) as unknown as z.ZodMiniType<Numbers>,
  /** Numbers that are only known to be at least this: quantiles in the last bucket. */
  atLeast: z.exactOptional(z.array(name<DerivedSignal>())),
  /** The engine or rank that holds the fullest KV cache, where there are several: `engine 1`. */
  kvAt: unchecked<string>(),
  /** Upstreams of which a part is out, as the gateway says: no failure yet. */
  partlyOut: unchecked<string>(),
  /** Where or how more than half of the failed requests failed: an upstream, or the server's own word for the error. */
  failedBy: unchecked<string>(),
  verdict: z.exactOptional(VERDICT),
  /** The server restarted inside the window. */
  restarted: unchecked<boolean>(),
  /** Nothing finished and no token was generated since the last run although work is reported. */
  noProgress: unchecked<boolean>(),
  /** Seconds that its speeds, times and shares are over; gauges are of the last answer. */
  window: unchecked<number>(),
  /** The last values of the endpoint's main signal, oldest first; null is unknown. At most 15. */
  spark: z.exactOptional(z.array(z.nullable(number))),
  /** Minutes that the sparkline spans. */
  sparkMinutes: unchecked<number>(),
  /** Share of the KV cache that fills a minute: only while the trend is clear of the noise. */
  kvPerMinute: unchecked<number>(),
  /** Requests a minute that the queue changes by: only while the trend is clear of the noise. */
  waitingPerMinute: unchecked<number>(),
  /** vLLM's generation, as the names on its page tell: V0 was the only one to 0.7, V1 is the only one from 0.11 on. */
  engine: unchecked<'v0' | 'v1'>(),
  /** The server's own, as it says: `0.11.2`. */
  version: maybeText,
  /** The server's own settings that matter for advice, as published. */
  settings: z.exactOptional(z.record(text, text)),
  /** What came and what finished a second since the trouble began, and what usually comes. */
  flow: z.exactOptional(open({ came: number, finished: number, usual: unchecked<number>() })),
  /** Requests a second: what one replica manages, and what comes to all of them; how many there are and are needed. */
  ruler: z.exactOptional(open({ manages: number, comes: number, replicas: number, needed: number })),
  /** A queue so long is worth foretelling. Requests. */
  farQueue: unchecked<number>(),
  /** What lies below the symptom: it comes first. */
  cause: z.exactOptional(CAUSE),
  /** GPUs beside this server, where an exporter was named: the busiest. */
  gpu: z.exactOptional(
    open({ utilisation: unchecked<number>(), temperature: unchecked<number>(), xid: unchecked<number>() }),
  ),
  canary: z.exactOptional(
    open({
      status: name<CanaryStatus>(),
      requestId: unchecked<string>(),
      detail: unchecked<string>(),
      vramShare: unchecked<number>(),
    }),
  ),
  /** Endpoints of this function at that moment: to tell "all of them" from "some". */
  of: number,
  /** Of these, the others that were told as down before and fail with this one's cause now. */
  downBefore: maybeNumber,
})
export type AlertContext = z.infer<typeof ALERT_CONTEXT>

/**
 * What holds work that does not move: the server calls the engine unhealthy, it sleeps on purpose, all that waits is
 * deferred for an adapter or a transfer, or prompts are read again and again without a token.
 */
export type HeldBy = 'unhealthy' | 'asleep' | 'deferred' | 'rereading'

/** A hosted service's rate limit, by its own headers. */
export interface Quota {
  /** `requests`, `tokens`, or as the service calls it. */
  what: string
  left: number
  of: number
}

/** How far a worker's run is; since how long it stands there, and how long it still takes at its rate. Milliseconds. */
export interface RunProgress {
  n: number
  of: number
  stoodFor: number
  left?: number
}

const ABOUT_FIELDS = {
  /** `down`: why. */
  failure: z.exactOptional(
    open({
      kind: z.enum(FAILURE_KINDS),
      code: unchecked<string | undefined>(),
      status: unchecked<number | undefined>(),
      detail: unchecked<string | undefined>(),
      mixed: unchecked<true | undefined>(),
    }),
  ),
  /** `blind`: the signals that are missing, or the model that is not there. */
  missing: maybeTexts,
  /** `blind`: those that are there with a value that cannot be. */
  doubted: maybeTexts,
  modelMissing: maybeText,
  /** `blind`, of the endpoint that stands for the sources of endpoints: those that could not be used. */
  unread: maybeTexts,
  /** `busy`: whose refusal it was, where it was not that of a full queue. */
  refusal: z.exactOptional(z.enum(REFUSALS)),
  /** `stalled`, `stuck`: the work of one engine, and what holds it where that is known. */
  held: z.exactOptional(
    open({
      running: unchecked<number>(),
      waiting: unchecked<number>(),
      by: unchecked<HeldBy>(),
    }),
  ),
  /** `blind`: what answered in place of the model that was asked for. */
  answeredBy: unchecked<string>(),
  /** `wrong_answer`: what came, and the pattern that it should match. */
  answer: unchecked<{ text: string; expected: string }>(),
  /** `quota`: the fullest of the service's rate limits, as it calls it. */
  quota: unchecked<Quota>(),
  /** `queue_wait`, `ttft`: milliseconds over which there were enough requests, where the window had too few. */
  span: unchecked<number>(),
  /** `slo`: milliseconds within which the first token should come. */
  within: unchecked<number>(),
  /** `tls_expiry`: epoch milliseconds. */
  certificateEnds: unchecked<number>(),
  /** `pool`: how many replicas the group has, and which of them do not answer. */
  pool: z.exactOptional(open({ of: number, gone: texts })),
  /** `restarts`: an older process answers in between, so that these are two servers at one address. */
  alternates: z.exactOptional(z.literal(true)),
  /** `heartbeat`: milliseconds; `never`: no beat ever came. */
  beat: z.exactOptional(
    open({
      age: unchecked<number>(),
      interval: number,
      grace: number,
      never: z.boolean(),
      failed: unchecked<{ exit?: number; body?: string }>(),
      body: unchecked<string>(),
      /** By its calendar: the time that nothing came of, by the clock of its zone, and how the calendar is written. */
      due: unchecked<{ at: string; zone: string; text: string }>(),
      /** Beats come, but what they count stands still. */
      stands: unchecked<true>(),
      progress: unchecked<RunProgress>(),
    }),
  ),
  /** `overrun`: milliseconds that the run has lasted, what is usual, and its limit. */
  run: unchecked<{ for: number; usual?: number; limit?: number; progress?: RunProgress } | undefined>(),
}

/** What an alert was about, beyond its rule: of some rules it makes the headline. */
const ABOUT = open(ABOUT_FIELDS)
export type About = z.infer<typeof ABOUT>

/** What else fires of the incident, or took part in it; as in the notification. */
const SYMPTOM = open({
  ...ABOUT_FIELDS,
  rule: text,
  subject: maybeText,
  subjectName: maybeText,
  value: maybeNumber,
  atLeast: unchecked<boolean>(),
  limit: maybeNumber,
  usual: maybeNumber,
  peak: maybeNumber,
})
export type Symptom = z.infer<typeof SYMPTOM>

/** What is to be told, complete in itself: the message is written from it, perhaps runs later. */
const NOTIFICATION = open({
  ...ABOUT_FIELDS,
  /** `<incident>/<reason>/<at>`: unique. */
  id: text,
  /** `<endpoint>|<rule>|<subject>@<firedAt>` of the alert that opened it; one span from fired to resolved. */
  incident: text,
  reason: z.enum(REASONS),
  rule: text,
  /** Absent for what concerns the watcher itself. */
  endpoint: maybeText,
  /** A GPU, an upstream or a reason, where the rule has one; of the watcher itself its function, or the copy of its state. */
  subject: maybeText,
  /** What a person calls it, where the page said so: `gpu 0, NVIDIA L4`. */
  subjectName: maybeText,
  priority: number,
  /** Epoch milliseconds. */
  at: number,
  firedAt: number,
  endedAt: maybeNumber,
  /** `late`: that many incidents as one, from the beginning of the first to the end of the last. */
  times: maybeNumber,
  /** The rule's number, in the rule's unit. */
  value: maybeNumber,
  /** The value is only known to be at least this. */
  atLeast: unchecked<boolean>(),
  /** The rule's limit, in the rule's unit. */
  limit: maybeNumber,
  /** The worst value of the incident. */
  peak: maybeNumber,
  /** What else fires now; of an end, what else took part. The worst first. */
  symptoms: z.exactOptional(z.array(SYMPTOM)),
  /** `worse`: what became so. `critical`: the value passed this second limit, in the rule's unit. */
  turn: unchecked<'priority' | 'critical' | 'verdict'>(),
  critical: maybeNumber,
  /** It comes and goes: how often since when (epoch milliseconds), and for how many milliseconds it was bad in all. */
  flaps: z.exactOptional(open({ since: number, times: number, bad: number })),
  /** The most often that one of its symptoms began to fire within the incident. */
  began: maybeNumber,
  /** How a resolved one ended. `forgotten`: what told of it is gone, so that it is not known to be over. */
  ended: unchecked<'clear' | 'idle' | 'restarted' | 'forgotten' | 'limit-changed'>(),
  /** For falls and siblings: the past or the siblings' median that the value was compared with. */
  usual: maybeNumber,
  /** `silence`: from when until when (epoch milliseconds) nothing is pushed, who asked for it, and why. */
  silence: z.exactOptional(open({ from: number, until: number, by: text, comment: maybeText })),
  /** `gap`: milliseconds without a run, and the usual interval. */
  gap: z.exactOptional(open({ length: number, interval: number })),
  /** It was sent before, but the answer was lost: this may be a repetition. */
  maybeSent: unchecked<boolean>(),
  context: z.exactOptional(ALERT_CONTEXT),
})
export type Notification = z.infer<typeof NOTIFICATION>

/** Whether what lies in an outbox can be told: another version may have written it, or a person edited it. */
export function isNotification(value: unknown): value is Notification {
  return NOTIFICATION.safeParse(value).success
}

/** Whether the end of an alert can be told by it. */
export function isAbout(value: unknown): value is About {
  return ABOUT.safeParse(value).success
}
