import * as z from 'zod/mini'
import { name, open, text, unchecked } from './open-schema.ts'

export const VERDICTS = [
  'restarted',
  'asleep',
  'stalled',
  'imbalance',
  'deferred',
  'transfer',
  'heavier',
  'load-grew',
  'cache-full',
  'draft',
  'broke',
] as const
export type VerdictKind = (typeof VERDICTS)[number]

/** What this window shows against the endpoint's own past. A ratio is now / past: 3 is three times the usual. */
export const VERDICT = open({
  kind: name<VerdictKind>(),
  arrivals: unchecked<number>(),
  tokensPerSecond: unchecked<number>(),
  timePerToken: unchecked<number>(),
  promptTokens: unchecked<number>(),
  outputTokens: unchecked<number>(),
  preemptions: unchecked<number>(),
  firstToken: unchecked<number>(),
  /** Time of a KV transfer. */
  transferTime: unchecked<number>(),
  /** KV transfers that failed or expired since the trouble began. */
  transfersFailed: unchecked<number>(),
  /** Share 0..1 of draft tokens that were accepted, and the usual one. */
  accepted: unchecked<number>(),
  usuallyAccepted: unchecked<number>(),
  /** Requests that wait, and those of them that are deferred. */
  waiting: unchecked<number>(),
  deferred: unchecked<number>(),
  /** The model, adapter or priority class that makes up most of what came more. */
  grown: unchecked<GrownPart>(),
  /** The engines or replicas that have the queue, and how many others idle. */
  uneven: unchecked<Uneven>(),
})

/** A part of the requests (of the tokens, where they got heavier): its share 0..1 now, and the usual one. */
export interface GrownPart {
  /** `model m`, `priority 5`. */
  part: string
  share: number
  usual: number
}

/** Where the queue stands while others idle. */
export interface Uneven {
  of: 'engines' | 'replicas'
  /** `engine 0`, or the names of endpoints. */
  at: string[]
  /** Requests. */
  waiting: number
  idle: number
}
export type Verdict = z.infer<typeof VERDICT>

export const CAUSE = open({
  /** Trouble of a GPU beside this server: an error code, gone from its exporter, or clocks held down (bits). */
  gpu: z.exactOptional(
    open({ name: text, xid: unchecked<number>(), gone: unchecked<true>(), throttle: unchecked<number>() }),
  ),
  /** Upstreams that the gateway calls unhealthy. */
  upstreams: unchecked<string>(),
})
export type Cause = z.infer<typeof CAUSE>

/** Whether a verdict of the state can be told again. */
export function isVerdict(value: unknown): value is Verdict {
  return VERDICT.safeParse(value).success
}

/** The same of what lies below it. */
export function isCause(value: unknown): value is Cause {
  return CAUSE.safeParse(value).success
}
