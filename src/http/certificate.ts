import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'

/** Hears when the certificate of an https origin ends, epoch milliseconds: of each connection that was made. */
export type OnCertificate = (origin: string, ends: number) => void

type Connected = (error: Error | null, socket: Socket | null) => void
/** How undici connects. */
export type Connector<O = never> = (options: O, connected: Connected) => void

/** The same connector, with a look at the certificate once it has connected. What the page says is not waited for, nor changed. */
export function watched<O>(connect: Connector<O>, origin: string, onCertificate: OnCertificate): Connector<O> {
  return (options, connected) =>
    connect(options, (error, socket) => {
      if (!error && socket) note(socket, origin, onCertificate)
      connected(error, socket)
    })
}

function note(socket: Socket, origin: string, onCertificate: OnCertificate): void {
  // Plain on the way to a proxy; empty where an earlier session was resumed.
  const { valid_to: end } = (socket as Partial<TLSSocket>).getPeerCertificate?.() ?? {}
  const at = Date.parse(end ?? '')
  if (Number.isFinite(at)) onCertificate(origin, at)
}
