import * as z from 'zod'
import { FAILURE_KINDS } from './failure.ts'
import type { Notification, Reason } from './notification.ts'

const REASONS = ['fired', 'repeated', 'resolved', 'late', 'told-once'] as const satisfies Reason[]
const number = z.number()
const text = z.string()
const names = z.array(text)

const SCENE = z.looseObject({
  backend: text,
  url: text,
  model: text.optional(),
  numbers: z.record(text, number),
  atLeast: names.optional(),
  verdict: z.looseObject({ kind: text }).optional(),
  spark: z.array(number.nullable()).optional(),
  settings: z.record(text, text).optional(),
  gpu: z.looseObject({}).optional(),
  canary: z.looseObject({ status: text }).optional(),
  of: number,
})

/** What the message of a notification cannot be written without. The whole shape is the type `Notification`. */
const FORM = z.looseObject({
  id: text,
  incident: text,
  reason: z.enum(REASONS),
  rule: text,
  endpoint: text.optional(),
  subject: text.optional(),
  priority: number,
  at: number,
  firedAt: number,
  endedAt: number.optional(),
  times: number.optional(),
  value: number.optional(),
  limit: number.optional(),
  peak: number.optional(),
  usual: number.optional(),
  failure: z.looseObject({ kind: z.enum(FAILURE_KINDS) }).optional(),
  missing: names.optional(),
  doubted: names.optional(),
  unread: names.optional(),
  modelMissing: text.optional(),
  beat: z.looseObject({ interval: number, grace: number, never: z.boolean() }).optional(),
  gap: z.looseObject({ length: number, interval: number }).optional(),
  scene: SCENE.optional(),
})

/** Whether what lies in an outbox can be told: a person may have edited it. */
export function isNotification(value: unknown): value is Notification {
  return FORM.safeParse(value).success
}
