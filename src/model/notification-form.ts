import * as z from 'zod/mini'
import { FAILURE_KINDS } from './failure.ts'
import type { About, Notification, Reason } from './notification.ts'

const REASONS = ['fired', 'worse', 'repeated', 'resolved', 'late', 'told-once'] as const satisfies Reason[]
const number = z.number()
const text = z.string()
const names = z.array(text)

const CONTEXT = z.looseObject({
  backend: text,
  url: text,
  model: z.optional(text),
  numbers: z.record(text, number),
  atLeast: z.optional(names),
  verdict: z.optional(z.looseObject({ kind: text })),
  spark: z.optional(z.array(z.nullable(number))),
  settings: z.optional(z.record(text, text)),
  gpu: z.optional(z.looseObject({})),
  canary: z.optional(z.looseObject({ status: text })),
  of: number,
  downBefore: z.optional(number),
})

const ABOUT = {
  failure: z.optional(z.looseObject({ kind: z.enum(FAILURE_KINDS) })),
  missing: z.optional(names),
  doubted: z.optional(names),
  unread: z.optional(names),
  modelMissing: z.optional(text),
  beat: z.optional(z.looseObject({ interval: number, grace: number, never: z.boolean() })),
}
const ABOUT_FORM = z.looseObject(ABOUT)

/** What the message of a notification cannot be written without. The whole shape is the type `Notification`. */
const FORM = z.looseObject({
  id: text,
  incident: text,
  reason: z.enum(REASONS),
  rule: text,
  endpoint: z.optional(text),
  subject: z.optional(text),
  subjectName: z.optional(text),
  priority: number,
  at: number,
  firedAt: number,
  endedAt: z.optional(number),
  times: z.optional(number),
  value: z.optional(number),
  limit: z.optional(number),
  peak: z.optional(number),
  usual: z.optional(number),
  ...ABOUT,
  gap: z.optional(z.looseObject({ length: number, interval: number })),
  context: z.optional(CONTEXT),
})

/** Whether what lies in an outbox can be told: a person may have edited it. */
export function isNotification(value: unknown): value is Notification {
  return FORM.safeParse(value).success
}

/** Whether the end of an alert can be told by it. */
export function isAbout(value: unknown): value is About {
  return ABOUT_FORM.safeParse(value).success
}
