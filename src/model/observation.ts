import type { Endpoint } from './config.ts'
import type { Failure } from './failure.ts'
import type { CanaryStatus, Refusal } from './notification.ts'
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
}

/** A status in words, as a person reads it in the result and in the terminal. */
export function wordsOf(status: CanaryStatus): string {
  return status === 'other-model' ? 'not loaded, another model is' : status.replaceAll('-', ' ')
}

/** The last beat of a worker. Milliseconds. */
export interface BeatFacts {
  /** Absent: no beat was ever stored. */
  age?: number
  failed?: { exit?: number; body?: string }
  /** Sent with a beat that was no failure. */
  body?: string
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
  /** The GPU exporter beside this server, where one is named and answered. */
  gpu?: Readings
  /** Only where the endpoint stands for the sources of endpoints: those that could not be used in this run. */
  unread?: string[]
}
