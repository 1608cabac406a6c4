import * as z from 'zod/mini'

const time = z.number().check(z.int())

/** What a person has silenced: nothing of it is pushed until then. */
export const SILENCE = z.object({
  /** The same press of the same link has the same id, so that it counts once. */
  id: z.string(),
  scope: z.enum(['endpoint', 'group', 'function']),
  /** Of the endpoint or group. */
  name: z.optional(z.string()),
  from: time,
  until: time,
  /** `link`, or who asked for it. */
  by: z.string(),
  comment: z.optional(z.string()),
})
export type Silence = z.infer<typeof SILENCE>
