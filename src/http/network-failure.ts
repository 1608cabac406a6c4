import { mask } from '../log.ts'
import type { Failure } from '../model/failure.ts'

/**
 * What an exception of `fetch` or of reading its body means, by error name and by the codes in its causes.
 * @param inBody the headers had come: a broken connection then is a cut answer.
 */
export function failureOf(error: unknown, inBody: boolean): Failure {
  const codes = codesOf(error)
  if (codes.length === 0) return { kind: isTimeout(error) ? 'timeout' : 'other', ...badPort(error) }
  const kinds = codes.map((code) => kindOf(code, inBody))
  // Several addresses were tried: one that refuses is nearer to the server than one that has no route.
  const kind = (['refused', 'timeout'] as const).find((k) => kinds.includes(k)) ?? kinds[0] ?? 'other'
  return { kind, code: codes.join(', ') }
}

/** The request was surely never sent: no connection, or no name. */
export function neverSent(failure: Failure): boolean {
  const codes = failure.code?.split(', ') ?? []
  return codes.length > 0 && codes.every((code) => NEVER_SENT.has(code) || kindOf(code, false) === 'tls')
}

const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'ENODATA',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'EADDRNOTAVAIL',
  'UND_ERR_CONNECT_TIMEOUT',
  'BAD_PORT',
])

/** The codes of the innermost causes, each once: of all addresses where several were tried. */
function codesOf(error: unknown, depth = 0): string[] {
  if (!(error instanceof Error) || depth > 8) return []
  const inner = error instanceof AggregateError ? error.errors : []
  const deeper = [...inner, error.cause].flatMap((cause) => codesOf(cause, depth + 1))
  if (deeper.length > 0) return [...new Set(deeper)]
  // Node's own undici names the reader's complaint in words alone.
  if (error.name === 'HTTPParserError') return [NOT_HTTP]
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(code) ? [code] : []
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError')
}

/** fetch refuses some ports by standard and says so without a code. */
function badPort(error: unknown): { code?: string } {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.message === 'bad port' ? { code: 'BAD_PORT' } : {}
}

function kindOf(code: string, inBody: boolean): Failure['kind'] {
  switch (code) {
    case 'ECONNREFUSED':
      return 'refused'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EAI_FAIL':
    case 'EAI_NODATA':
    case 'EAI_NONAME':
    case 'ENODATA':
      return 'name-not-found'
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
      return 'timeout'
    case 'ECONNRESET':
    case 'ECONNABORTED':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return inBody ? 'cut' : 'unreachable'
    case 'EHOSTUNREACH':
    case 'EHOSTDOWN':
    case 'ENETUNREACH':
    case 'ENETDOWN':
    case 'EADDRNOTAVAIL':
    case 'EACCES':
    case 'EPERM':
      return 'unreachable'
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
    case 'Z_BUF_ERROR':
      return 'cut'
    case 'UND_ERR_RES_EXCEEDED_MAX_SIZE':
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'too-large'
    case NOT_HTTP:
      return inBody ? 'cut' : 'other'
    default:
      if (BAD_COMPRESSION.test(code)) return 'compressed'
      return TLS.test(code) ? 'tls' : 'other'
  }
}

/** The answer breaks the rules of HTTP/1.1, or ends where it may not. */
const NOT_HTTP = 'HTTPParserError'

/** Declared as gzip, deflate, Brotli or zstd, and is not. */
const BAD_COMPRESSION = /^(Z_DATA_ERROR$|ERR__ERROR_FORMAT|ERR_BROTLI|ZSTD_)/

/** OpenSSL's and Node's names: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const TLS =
  /^(EPROTO$|ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_|ERROR_IN_)/

const MOST_BYTES = 8 * 1024
const MOST_CHARACTERS = 200
/** An error text is worth having, not worth waiting for. */
const PATIENCE_MS = 500

/**
 * The server's own words in an error answer: the text of a JSON error, the title of a page, else the beginning.
 * One line of at most 200 characters without control characters or the given secrets. The body is let go of.
 * @returns `undefined` when there are none in time.
 */
export async function serverWords(response: Response, secrets: readonly string[]): Promise<string | undefined> {
  return toWords(await opening(response.body), secrets)
}

/** {@link serverWords} of a text that is here already. */
export function toWords(text: string, secrets: readonly string[]): string | undefined {
  const words = oneLine(mask(fromJson(text) ?? fromHtml(text) ?? text, secrets))
  return words === '' ? undefined : words
}

/** The beginning of a body as text, as far as it comes in time. What is left of it is let go of. Never throws. */
export async function opening(
  body: ReadableStream<Uint8Array> | null,
  { most = MOST_BYTES, patience = PATIENCE_MS }: { most?: number; patience?: number } = {},
): Promise<string> {
  if (body === null) return ''
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, patience, undefined)
  })
  try {
    while (text.length < most) {
      const read = await Promise.race([reader.read(), late])
      if (read === undefined || read.done) break
      text += decoder.decode(read.value, { stream: true })
    }
  } catch {
    // The status is what counts; an error text that was cut is told as far as it came.
  } finally {
    clearTimeout(timer)
    void reader.cancel().catch(() => {})
  }
  return text.slice(0, most)
}

/** `{"error": {"message": …}}`, `{"error": …}`, `{"errorDescription": …}`, `{"detail": …}` and their like. */
function fromJson(text: string): string | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined
  try {
    return words(JSON.parse(text), 0)
  } catch {
    return undefined
  }
}

function words(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value
  if (typeof value !== 'object' || value === null || depth > 3) return undefined
  const fields = Array.isArray(value) ? value : NAMES.map((name) => (value as Record<string, unknown>)[name])
  for (const field of fields) {
    const found = words(field, depth + 1)
    if (found !== undefined) return found
  }
  return undefined
}

/** Gotify puts the reason in `errorDescription` and the status' name in `error`, so the longer names come first. */
const NAMES = [
  'errorDescription',
  'error_description',
  'message',
  'msg',
  'detail',
  'reason',
  'error',
  'errors',
  'title',
]

function fromHtml(text: string): string | undefined {
  if (!/^\s*</.test(text)) return undefined
  return /<title[^>]*>([^<]*)<\/title/i.exec(text)?.[1] ?? text.replace(/<(script|style)[\s\S]*?<\/\1>|<[^>]*>/gi, ' ')
}

/** Control characters, line and paragraph separators, and marks that turn or hide text, become blanks; cut between characters. */
function oneLine(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\s]+/gu, ' ').trim()
  // Twice as many units hold more characters than are kept, if there are more.
  const characters = [...clean.slice(0, MOST_CHARACTERS * 2 + 2)]
  return characters.length > MOST_CHARACTERS
    ? `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…`
    : characters.join('')
}
