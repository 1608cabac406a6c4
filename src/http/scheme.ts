import { connect } from 'node:tls'
import type { Failure } from '../model/failure.ts'
import { isProxied } from './connections.ts'

/** A TLS server ends a plain request without a word, or with a few bytes that no parser of HTTP takes. */
const NO_TLS: readonly Failure['kind'][] = ['unreachable', 'not-http']
const NO_CERTIFICATE: readonly Failure['kind'][] = ['unreachable']
/** A handshake with a server that just hung up on us is quick or none. */
const PATIENCE_MS = 1_000

/**
 * Tells a server that hangs up from a port that wants TLS, and from one that wants a certificate of ours: by TLS 1.3 it says
 * so only after the handshake, when our request is on its way. The port is asked once for a handshake, unless a proxy stands
 * in between.
 * @param signal ends the question too. @param dispatcher the way that the request took.
 */
export async function withTls(
  url: string,
  failure: Failure,
  { signal, dispatcher }: { signal: AbortSignal; dispatcher: unknown },
): Promise<Failure> {
  const { protocol, hostname, port } = new URL(url)
  const isPlain = protocol === 'http:'
  if (!(isPlain ? NO_TLS : NO_CERTIFICATE).includes(failure.kind) || isProxied(url, dispatcher)) return failure
  const host = hostname.replace(/^\[|\]$/g, '')
  const shaken = await shakesHands({ host, port: Number(port || (isPlain ? 80 : 443)) }, isPlain, signal)
  if (isPlain) return shaken === 'hands' ? { kind: 'tls', code: 'HTTP_ON_TLS' } : failure
  return shaken?.includes('CERTIFICATE') ? { kind: 'tls', code: shaken } : failure
}

/** What servers that speak TLS answer a plain request with, and those that miss a certificate: nginx, and Go's own. */
export function tlsRefusal(status: number, words: string | undefined): Failure | undefined {
  if (status !== 400 || words === undefined) return undefined
  if (/HTTP request .{0,20}HTTPS (port|server)/i.test(words)) return { kind: 'tls', code: 'HTTP_ON_TLS' }
  if (/required SSL certificate/i.test(words)) return { kind: 'tls', code: 'CERTIFICATE_REQUIRED' }
  return undefined
}

/** @returns `hands`, an error's code, or nothing in time. @param atOnce a handshake is enough; else what is said after it is waited for. */
function shakesHands(
  place: { host: string; port: number },
  atOnce: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    // Whose certificate it is does not matter: nothing is said to it.
    const socket = connect({ ...place, rejectUnauthorized: false, timeout: PATIENCE_MS })
    const end = (answer: string | undefined) => {
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
      resolve(answer)
    }
    const onAbort = () => end(undefined)
    signal.addEventListener('abort', onAbort)
    if (atOnce) socket.once('secureConnect', () => end('hands'))
    socket.once('timeout', () => end(undefined))
    socket.once('close', () => end(undefined))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code))
  })
}
