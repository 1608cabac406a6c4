/** Why an endpoint gave no usable answer; each kind has its own words in the message. */
export const FAILURE_KINDS = [
  'refused', // nothing listens on the port
  'unreachable', // no route, reset, socket closed
  'name-not-found',
  'timeout', // no complete answer within the time for one scrape or canary
  'cut', // the body ended early
  'tls', // the handshake; a code of OpenSSL's, or HTTP_ON_TLS: http was spoken to a port that wants TLS
  'proxy', // the proxy itself refused (a status) or could not be reached; its address is the detail
  'not-http', // an answer that HTTP/1.1 forbids; the parser's reason is the detail
  'not-authorised', // 401, 403
  'not-found', // 404: no metrics here
  'http', // any other status
  'redirected', // to another origin, or to no address
  'redirect-loop', // within the origin, too often
  'not-prometheus', // HTML, JSON, other text (in `detail`) or nothing where metrics were expected
  'compressed', // compressed bytes that were not declared, or declared ones that are not (with a code)
  'too-large',
  'headers-too-large',
  'stream-error', // a canary's stream said `error`
  'bad-answer', // a canary's answer could not be understood
  'other',
] as const

export interface Failure {
  kind: (typeof FAILURE_KINDS)[number]
  /** The network's own code: ECONNREFUSED, ENOTFOUND, UND_ERR_HEADERS_TIMEOUT, … */
  code?: string | undefined
  status?: number | undefined
  /** The server's own words, foreign text, at most 200 characters. */
  detail?: string | undefined
  /** Of several in a row: not all of them had this cause. */
  mixed?: true | undefined
}

/** Equal for failures that have one cause. */
export function causeOf({ kind, code, status }: Failure): string {
  return [kind, isWhole(kind) ? '' : code, status].join(' ')
}

/** The kind is the cause: which of its codes comes depends on the endpoint's own time limit, on the route to it, or on chance. */
function isWhole(kind: Failure['kind']): boolean {
  return kind === 'timeout' || kind === 'unreachable' || kind === 'name-not-found'
}

/** On one line, for the terminal and the log: `http, 500, Internal Server Error`. */
export function briefly({ kind, status, code, detail }: Failure): string {
  return [kind, status, code, detail].filter((part) => part !== undefined).join(', ')
}
