import { connect } from 'node:tls'
import type { Failure } from '../model/failure.ts'

/** A TLS server ends a plain request without a word, or with a few bytes that no parser of HTTP takes. */
const SUSPECT: readonly Failure['kind'][] = ['unreachable', 'not-http']
/** A handshake with a server that just hung up on us is quick or none. */
const PATIENCE_MS = 1_000

/**
 * Tells a plain request to a port that wants TLS from a server that hangs up: the port is asked once for a handshake.
 * @param signal ends the question too.
 */
export async function withScheme(url: string, failure: Failure, signal: AbortSignal): Promise<Failure> {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'http:' || !SUSPECT.includes(failure.kind)) return failure
  const speaksTls = await shakesHands(hostname.replace(/^\[|\]$/g, ''), Number(port || 80), signal)
  return speaksTls ? { kind: 'tls', code: 'HTTP_ON_TLS' } : failure
}

function shakesHands(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    // Whose certificate it is does not matter: nothing is said to it.
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: PATIENCE_MS })
    const end = (answer: boolean) => {
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
      resolve(answer)
    }
    const onAbort = () => end(false)
    signal.addEventListener('abort', onAbort)
    socket.once('secureConnect', () => end(true))
    socket.once('timeout', () => end(false))
    socket.once('error', () => end(false))
  })
}
