import type { LogLevel } from './model/config.ts'
import type { Log, LogFields } from './model/io.ts'
import { isSecretParameter, isSecretWord } from './secrets/names.ts'

const LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const satisfies readonly LogLevel[]
const STARS = '***'

/** Shorter ones would blot out ordinary words; `user:password` and the values of query parameters are masked whatever their length. */
const SHORTEST_SECRET = 3

/**
 * Structured log: one JSON object a line, `time`, `level`, `message` and the fields.
 * Every text in it is masked, at any depth; an error becomes its name, message, code and cause.
 * @param now epoch milliseconds, asked once a line.
 * @param write receives the line without a line feed.
 */
export function createLog(
  level: LogLevel,
  secrets: readonly string[],
  write: (line: string) => void,
  now: () => number,
): Log {
  const hide = createMask(secrets)
  const at =
    (name: Exclude<LogLevel, 'silent'>) =>
    (message: string, fields: LogFields = {}) => {
      if (LEVELS.indexOf(name) < LEVELS.indexOf(level)) return
      const head = { time: new Date(now()).toISOString(), level: name, message: hide(message) }
      // Twice: the first gives its place in the line, the last that no field takes its name.
      write(JSON.stringify({ ...head, ...Object(plain(fields, hide, 0)), ...head }))
    }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/** The same log, with these fields in each line, before its own. */
export function withFields(log: Log, fields: LogFields): Log {
  const at = (name: keyof Log) => (message: string, more?: LogFields) => log[name](message, { ...fields, ...more })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

/**
 * Takes secrets out of a text that leaves the process: the given ones wherever they stand (as they are, URL-encoded,
 * in base64, and what a whole `Bearer …` or `Basic …` value carries), the user and password of any URL, and the values
 * of `name=value` whose name is a secret's, in an address or in prose.
 */
export function mask(text: string, secrets: readonly string[]): string {
  return createMask(secrets)(text)
}

/** {@link mask} for many texts: the spellings of the secrets are worked out once. */
export function createMask(secrets: readonly string[]): (text: string) => string {
  const spellings = [...new Set(secrets.flatMap(carried).flatMap(spelt))]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length)
  return (text) => {
    let masked = text
    for (const spelling of spellings) masked = masked.replaceAll(spelling, STARS)
    return masked
      .replace(USER_INFO, `$1${STARS}@`)
      .replace(ASSIGNMENT, (whole, sign: string, name: string) =>
        (sign === '' ? isSecretWord(name) : isSecretParameter(name)) ? `${sign}${name}=${STARS}` : whole,
      )
  }
}

const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/?#"'<>]+@/gi
/** Looks behind itself so that a long word is read once. */
const ASSIGNMENT = /([?&;]?)(?<![\w.-])([\w.-]+)=[^\s&#;"'<>]+/g

/** What is secret inside a configured secret: `Basic dXNlcjpwdw==` carries `dXNlcjpwdw==`, `user:pw` and `pw`. */
function carried(secret: string): string[] {
  const [, scheme, value = ''] = /^(Bearer|Basic)\s+(\S.*)$/i.exec(secret) ?? []
  if (scheme === undefined) return [secret, ...passwordOf(secret)]
  if (scheme.toLowerCase() === 'bearer') return [secret, value]
  const pair = Buffer.from(value, 'base64').toString('utf8')
  return [secret, value, pair, ...passwordOf(pair)]
}

function passwordOf(pair: string): string[] {
  const colon = pair.indexOf(':')
  return colon > 0 && !pair.includes('://') ? [pair.slice(colon + 1)] : []
}

/** A secret as it may stand in a URL, a form, a header or a JSON text. */
function spelt(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8')
  const wellFormed = bytes.toString('utf8')
  return [
    secret,
    encodeURIComponent(wellFormed),
    new URLSearchParams({ s: wellFormed }).toString().slice(2),
    encodeURI(wellFormed),
    JSON.stringify(secret).slice(1, -1),
    bytes.toString('base64'),
    bytes.toString('base64url'),
  ]
}

/** Fields whose value is never written, whatever it is. */
const SECRET_FIELD =
  /^(authorization|proxy-authorization|cookie|set-cookie|password|secret|token|x-(?:gotify|notifly)-key)$/i
const DEEPEST = 6

/** A value as JSON can carry it: masked, without cycles, errors as objects, odd numbers as text. */
function plain(value: unknown, hide: (text: string) => string, depth: number): unknown {
  if (typeof value === 'string') return hide(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'boolean' || value === null || value === undefined) return value
  if (typeof value !== 'object') return hide(String(value))
  if (depth >= DEEPEST) return '…'
  if (value instanceof Error) return plainError(value, hide, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof URL) return hide(value.href)
  if (value instanceof Map) return plain(Object.fromEntries(value), hide, depth)
  if (value instanceof Set) return plain([...value], hide, depth)
  if (Array.isArray(value)) return value.map((item) => plain(item, hide, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      hide(key),
      SECRET_FIELD.test(key) && item !== undefined ? STARS : plain(item, hide, depth + 1),
    ]),
  )
}

function plainError(error: Error, hide: (text: string) => string, depth: number): unknown {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  const inner = error instanceof AggregateError ? error.errors : undefined
  return {
    name: error.name,
    message: hide(error.message),
    code: plain(code, hide, depth + 1),
    errors: plain(inner, hide, depth + 1),
    cause: plain(cause, hide, depth + 1),
  }
}
