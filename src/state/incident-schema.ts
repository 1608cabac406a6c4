import * as z from 'zod/mini'
import { type Cause, isCause, isVerdict, type Verdict } from '../model/explanation.ts'
import { type About, isAbout } from '../model/notification.ts'

const time = z.number().check(z.int())
const count = z.number().check(z.int(), z.nonnegative())

const ENDS = z.enum(['clear', 'idle', 'restarted', 'forgotten', 'limit-changed'])

const SYMPTOM = z.object({
  /** How often it began to fire. */
  times: count,
  /** Its worst value. */
  peak: z.optional(z.number()),
  /** What the push called it, so that its end is called the same; where the rule does not say it already. */
  about: z.optional(z.custom<About>(isAbout)),
})

/** One trouble of an endpoint, which is told as one: all symptoms of an engine in trouble, or any other alert by itself. */
export const INCIDENT = z.object({
  /** As its notifications carry it. */
  id: z.string(),
  openedAt: time,
  /** The highest that it was told with; absent in a state from before there were incidents. */
  priority: z.optional(z.number()),
  /** The last push about it was accepted. Absent while none was. */
  lastSentAt: z.optional(time),
  /** Verdicts that were told. */
  verdicts: z.array(z.string()),
  /** Why, as it was found last; and another one that only the last run found. */
  verdict: z.optional(z.custom<Verdict>(isVerdict)),
  other: z.optional(z.string()),
  /** What it came from, as it was told. */
  cause: z.optional(z.custom<Cause>(isCause)),
  /** It was told that the critical limit is passed. */
  critical: z.optional(z.literal(true)),
  /** What took part, by rule or `rule@subject`. */
  symptoms: z.record(z.string(), SYMPTOM),
  /** How what fired last came to its end. */
  ended: z.optional(ENDS),
  /** Nothing of it fires since. */
  calmSince: z.optional(time),
  /** Its end is settled; it is kept for as long as its beginning counts. */
  over: z.optional(z.literal(true)),
  /** Beginnings of this kind of incident within two hours, oldest first. */
  begins: z.array(time),
  /** Milliseconds of trouble from these beginnings on, up to when it was calm last. */
  bad: z.optional(z.number()),
  /** It comes and goes, which was told: since when, and how often it began. */
  flaps: z.optional(z.object({ since: time, times: count })),
})
export type Incident = z.infer<typeof INCIDENT>
export type End = z.infer<typeof ENDS>
