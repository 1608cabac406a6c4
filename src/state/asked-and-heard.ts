import * as z from 'zod/mini'

const time = z.number().check(z.int())
const count = z.number().check(z.int(), z.nonnegative())

/** Of the canaries sent so far: `CanaryMemory` of the model. */
export const CANARY_MEMORY = z.object({
  askedAt: time,
  day: time,
  requests: count,
  overLimit: count,
  leavesAt: z.optional(time),
})

/** The certificate of a push server. */
export const CERTIFICATE_SEEN = z.object({
  ends: time,
  /** The last run that made a connection. */
  seenAt: time,
  /** It was told that it ends soon. */
  toldAt: z.optional(time),
})
export type CertificateSeen = z.infer<typeof CERTIFICATE_SEEN>

/** A worker's run that has begun and not ended, with how far it said that it was. */
export const WORKER_RUN = z.object({
  startedAt: time,
  /** The last progress, of how many, and since when it stands there. */
  n: z.optional(z.number()),
  of: z.optional(z.number()),
  movedAt: z.optional(time),
  /** The first progress of this run: the rate is counted from it. */
  firstN: z.optional(z.number()),
  firstAt: z.optional(time),
})
