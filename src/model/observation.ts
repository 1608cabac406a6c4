import type { Endpoint } from './config.ts'
import type { Failure } from './failure.ts'
import type { CanaryStatus, Quota, Refusal } from './notification.ts'
import type { Readings } from './signals.ts'

/** What a canary met. */
export interface CanaryFacts {
  status: CanaryStatus
  /** Sent as `X-Request-Id`. */
  requestId?: string
  /** The server's own words, foreign text. */
  detail?: string
  /** `busy`: whose limit it was, where it is not the server's queue. */
  refusal?: Refusal
  /** Share of the loaded model that lies in GPU memory. */
  vramShare?: number
  /** Completions that were asked for, whatever came of them. */
  requests?: number
  /** What came, foreign text, and whether it is what was expected; only where something is. Absent: not known. */
  answer?: { text: string; matches?: boolean }
  /** The model that answered in place of the one that was asked for. */
  answeredBy?: string
  /** The fullest of the service's rate limits. */
  quota?: Quota
  /** Ollama: epoch milliseconds at which the model leaves the memory unless somebody asks again, as our own request set it. */
  leavesAt?: number
}

/** What a canary must know of those before it. Epoch milliseconds. */
export interface CanaryMemory {
  /** The last canary that was sent. */
  askedAt: number
  /** The day of UTC on which it was sent, and the requests of that day so far. */
  day: number
  requests: number
  /** Canaries in a row that were over their limit, or refused. */
  overLimit: number
  /** As in {@link CanaryFacts}; absent where it is not known whose request set it. */
  leavesAt?: number | undefined
}

/** A status in words, as a person reads it in the result and in the terminal. */
export function wordsOf(status: CanaryStatus): string {
  switch (status) {
    case 'other-model':
      return 'not loaded, another model is'
    case 'idle':
      return 'not asked, nobody else uses the model'
    case 'over-budget':
      return 'not asked, spared for the rest of the day'
    case 'backing-off':
      return 'not asked, it was over its limit'
    default:
      return status.replaceAll('-', ' ')
  }
}

/** The last beat of a worker. Milliseconds. */
export interface BeatFacts {
  /** Absent: no beat was ever stored. */
  age?: number
  failed?: { exit?: number; body?: string }
  /** Sent with a beat that was no failure. */
  body?: string
  /** It said that a run begins, or how far it is in it. Absent: it lives, or a run has ended. */
  running?: 'start' | Progress
}

/** How far a worker's run is. */
export interface Progress {
  n: number
  of: number
}

/** What one endpoint answered in this run. */
export type Answer =
  | { up: true; readings: Readings; canary?: CanaryFacts; beat?: BeatFacts }
  | { up: false; failure: Failure; canary?: CanaryFacts }
  /** Not asked in this run, on purpose. */
  | { up: undefined; canary: CanaryFacts }

export type Observation = Answer & {
  endpoint: Endpoint
  /** Milliseconds from asking to the whole answer. */
  took: number
  /** When the first of the certificates ends that were seen on the way to it, epoch milliseconds; only by https. */
  certificate?: number
  /** What it said when it was asked for its version; `text` is absent where that told none. */
  version?: { text?: string }
  /** The GPU exporter beside this server, where one is named and answered. */
  gpu?: Readings
  /** Only where the endpoint stands for the sources of endpoints: those that could not be used in this run. */
  unread?: string[]
}
