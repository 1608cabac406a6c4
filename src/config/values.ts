import * as z from 'zod/mini'
import type { Failed } from '../model/fallible.ts'
import { formatDuration, parseDuration } from './duration.ts'

/** How the text of a variable becomes a value, and what it may be, in words that follow "may be". */
export interface Value<T> {
  schema: z.ZodMiniType<T, string>
  mayBe: string
  /** Never shown, and masked in the log. */
  secret?: true
  /** Short and never secret, so that a problem may repeat the text. */
  plain?: true
}

/**
 * Makes a value of a function that reads its text.
 * @param read `undefined` stands for "not one of what it may be"; a failure says why in its own words, where those would
 * not help, and must not repeat the text.
 */
export function value<T>(mayBe: string, read: (text: string) => T | Failed | undefined): Value<T> {
  const reading = z.transform((text: string, context): T => {
    const found = read(text)
    if (isFailed(found)) context.issues.push({ code: 'custom', message: found.why, input: text })
    else if (found === undefined) context.issues.push({ code: 'custom', message: `may be ${mayBe}`, input: text })
    else return found
    return z.NEVER
  })
  return { schema: z.pipe(z.string(), reading), mayBe }
}

/** Why a text is refused. */
export function failed(why: string): Failed {
  return { ok: false, why }
}

export function isFailed(found: unknown): found is Failed {
  return typeof found === 'object' && found !== null && 'ok' in found && found.ok === false
}

/** One of a few words, in any case. */
export function choice<const T extends string>(words: readonly [T, ...T[]]): Value<T> {
  const mayBe = listed(words)
  const schema = z.pipe(z.string().check(z.toLowerCase()), z.enum(words, { error: `may be ${mayBe}` }))
  return { schema: schema as unknown as z.ZodMiniType<T, string>, mayBe }
}

export const yesOrNo: Value<boolean> = value('yes or no', (text) => {
  if (/^(yes|true|1|on)$/i.test(text)) return true
  return /^(no|false|0|off)$/i.test(text) ? false : undefined
})

/** A span of time with its unit; bounds in milliseconds, both allowed. */
export function duration(min: number, max: number, example: string): Value<number> {
  const mayBe = `a time with its unit, such as ${example}, from ${formatDuration(min)} to ${formatDuration(max)}`
  const read = value(mayBe, (text) => {
    const ms = parseDuration(text)
    return ms === undefined || ms < min || ms > max ? undefined : ms
  })
  return { ...read, plain: true }
}

export function whole(min: number, max: number): Value<number> {
  const mayBe = `a whole number from ${min} to ${max}`
  const error = `may be ${mayBe}`
  const digits = z.string().check(z.regex(/^\d{1,9}$/, { error }))
  const inBounds = z.number().check(z.minimum(min, { error }), z.maximum(max, { error }))
  const schema = z.pipe(z.pipe(digits, z.transform(Number)), inBounds)
  return { schema, mayBe, plain: true }
}

/** The word `off`, or another value. */
export function orOff<T>(other: Value<T>): Value<T | 'off'> {
  const mayBe = `off, or ${other.mayBe}`
  const read = value<T | 'off'>(mayBe, (text) => {
    if (/^off$/i.test(text)) return 'off'
    const parsed = other.schema.safeParse(text)
    return parsed.success ? parsed.data : undefined
  })
  return other.plain ? { ...read, plain: true } : read
}

/** Text on one line. */
export function line(mayBe: string, pattern = /^[^\p{Cc}]{1,500}$/u): Value<string> {
  return value(mayBe, (text) => (pattern.test(text) ? text : undefined))
}

/** A token that goes into a header. */
export const token: Value<string> = {
  ...value('a token: letters, digits and signs without blanks', (text) => {
    if (/^(bearer|basic)\s/i.test(text)) return failed('write the token alone, without the word before it')
    return /^[\x21-\x7e]{1,4096}$/.test(text) ? text : undefined
  }),
  secret: true,
}

/** `user:password`. */
export const basicAuth: Value<{ user: string; password: string }> = {
  ...value('user:password', (text) => {
    const colon = text.indexOf(':')
    if (colon === -1 || text === ':' || /\p{Cc}/u.test(text)) return undefined
    return { user: text.slice(0, colon), password: text.slice(colon + 1) }
  }),
  secret: true,
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

/** A short one can be guessed, link by link. */
const SHORTEST_SECRET = 32

/** What signs links: one secret, or two while it is changed. */
export const signingSecrets: Value<string[]> = {
  ...value(`one secret of ${SHORTEST_SECRET} characters or more, or two separated by a comma`, (text) => {
    const each = text.split(',').map((one) => one.trim())
    return each.length <= 2 && each.every((one) => one.length >= SHORTEST_SECRET) ? each : undefined
  }),
  secret: true,
}

export const pattern: Value<RegExp> = value('a regular expression, such as \\b42\\b or /paris/i', (text) => {
  const [, inside, flags] = /^\/(.+)\/([imsu]*)$/s.exec(text) ?? []
  try {
    return inside === undefined ? new RegExp(text, 'u') : new RegExp(inside, flags)
  } catch (error) {
    return failed(`is no regular expression: ${(error as Error).message.replace(/^.*\/: /, '')}`)
  }
})
