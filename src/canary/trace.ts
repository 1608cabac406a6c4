import { createHash } from 'node:crypto'

/** The id of one canary: 32 hexadecimal digits, the same in `X-Request-Id`, as the trace id, and in the message. */
export function requestIdOf(runId: string, endpoint: string): string {
  return digest(`${runId}|${endpoint}`).slice(0, 32)
}

/**
 * The `traceparent` header that makes the server's own trace findable by the request id.
 * https://www.w3.org/TR/trace-context/#traceparent-header; sampled, or there would be no trace to find.
 */
export function traceparent(requestId: string): string {
  const trace =
    /^[0-9a-f]{32}$/.test(requestId) && /[1-9a-f]/.test(requestId) ? requestId : digest(requestId).slice(0, 32)
  return `00-${trace}-${digest(`span of ${requestId}`).slice(0, 16)}-01`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
