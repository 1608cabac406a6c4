import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import { ProxyFailed } from './proxy-failure.ts'

/**
 * What an exception of `fetch` or of reading its body means, by error name and by the codes in its causes.
 * @param inBody the headers had come: a broken connection then is a cut answer.
 */
export function failureOf(error: unknown, inBody: boolean): Failure {
  const proxy = causeIn(error, (cause) => cause instanceof ProxyFailed)
  if (proxy instanceof ProxyFailed)
    return defined({
      kind: 'proxy' as const,
      code: codesOf(proxy).join(', ') || undefined,
      status: proxy.status,
      detail: proxy.proxy,
    })
  if (causeIn(error, ({ message }) => PROXY_AUTHENTICATION.test(message))) return { kind: 'proxy', status: 407 }
  const codes = codesOf(error)
  if (codes.length === 0) return { kind: isTimeout(error) ? 'timeout' : 'other', ...badPort(error) }
  const kinds = codes.map((code) => kindOf(code, inBody))
  // Several addresses were tried: a refusal comes from nearer to the server than a missing route.
  const kind = (['refused', 'timeout'] as const).find((k) => kinds.includes(k)) ?? kinds[0] ?? 'other'
  return { kind, code: codes.join(', '), ...(kind === 'not-http' && parserReason(error)) }
}

/** The first of an error and its causes that is meant. */
function causeIn(error: unknown, isMeant: (cause: Error) => boolean, depth = 0): Error | undefined {
  if (!(error instanceof Error) || depth > 8) return undefined
  return isMeant(error) ? error : causeIn(error.cause, isMeant, depth + 1)
}

/** What the parser of HTTP objects to, in its own words: `Missing expected CR after header value`. */
function parserReason(error: unknown): { detail?: string } {
  const words = causeIn(error, ({ name }) => name === 'HTTPParserError')?.message
  return words === undefined ? {} : { detail: words.slice(0, 100) }
}

/** What undici and fetch make of a 407, which only a proxy answers: https://fetch.spec.whatwg.org/#http-network-or-cache-fetch */
const PROXY_AUTHENTICATION = /^proxy authentication required( \(407\))?$/i

/** Whether the request was certainly never sent: no connection, or the name was not found. */
export function neverSent(failure: Failure): boolean {
  const codes = failure.code?.split(', ') ?? []
  if (failure.kind === 'proxy') return true
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
  // Node's own undici gives its parser's errors no code.
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
      return 'too-large'
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'headers-too-large'
    case NOT_HTTP:
      return inBody ? 'cut' : 'not-http'
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
  /^(EPROTO$|HTTP_ON_TLS$|ERR_SSL_|ERR_TLS_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_|ERROR_IN_)/
