/**
 * What answered in a push server's place although the status was 2xx: a web page (most often a sign-in page in front
 * of it), JSON that says it failed, or an ntfy server, which takes the request for the text of a message.
 */
export type Stranger = 'web-page' | 'failure' | 'ntfy'

/**
 * Judges the body of a 2xx. Nothing, `{}`, plain text and JSON sent as text are what push servers answer. JSON comes
 * before the declared type, since many servers send it as `text/html`.
 */
export function strangerIn(text: string, contentType: string): Stranger | undefined {
  const body = text.replace(/^\uFEFF/, '').trim()
  const json = parsed(body)
  if (json === undefined) return isWebPage(body, contentType) ? 'web-page' : undefined
  if (json === false) return 'failure'
  if (typeof json !== 'object' || json === null) return undefined
  if (saysFailure(json as Record<string, unknown>)) return 'failure'
  return 'event' in json && 'topic' in json ? 'ntfy' : undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** By how it begins, or, where the beginning shows no markup, by its declared type; but Slack says `ok` as `text/html`. */
function isWebPage(body: string, contentType: string): boolean {
  if (body === '' || SUCCESSES.test(body)) return false
  return /^<(!doctype|!--|html|head|body|\?xml|[a-z]+[\s>])/i.test(body) || /\bhtml\b/i.test(contentType)
}

function saysFailure({ error, errors, ok, success, status, code, errorCode }: Record<string, unknown>): boolean {
  return (
    isSomething(error) ||
    isSomething(errors) ||
    isNo(ok) ||
    isNo(success) ||
    !isSuccess(status, [1]) ||
    !isSuccess(code, [0]) ||
    !isSuccess(errorCode, [0])
  )
}

function isSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0
  return Boolean(value) && value !== 'false' && value !== '0' && value !== 'none'
}

function isNo(value: unknown): boolean {
  return value === false || value === 0 || (typeof value === 'string' && /^(false|no|0)$/i.test(value.trim()))
}

const SUCCESSES =
  /^(ok(ay)?|success(ful(ly)?)?|succeeded|sent|accepted|queued|enqueued|created|delivered|done|complete[d]?|received|published|scheduled|processed|processing|pending|true|yes)$/i

/** A status as number or word. @param also numbers that mean success beside those of HTTP: 1 is Pushover's, code 0 most others'. */
function isSuccess(value: unknown, also: readonly number[]): boolean {
  if (value === undefined || value === null || value === true) return true
  if (typeof value === 'string' && SUCCESSES.test(value.trim())) return true
  const number = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value
  return typeof number === 'number' && (also.includes(number) || (number >= 200 && number < 300))
}
