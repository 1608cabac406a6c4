import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Loopback {
  /** `http://127.0.0.1:<port>`, without a slash at the end. */
  url: string
  port: number
  close(): Promise<void>
}

/**
 * Serves on this machine alone, until closed; closing does not wait for open connections.
 * @param at the port; 0 takes a free one. @throws when it is taken.
 */
export async function serveOnLoopback(listener: RequestListener, at = 0): Promise<Loopback> {
  const server = createServer(listener)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(at, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
