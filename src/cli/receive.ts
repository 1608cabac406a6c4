import { MOST_BODY } from '../heartbeats/beat.ts'
import { openReceiver } from '../heartbeats/receiver.ts'
import { type LIMITS, type Serving, serveHttp } from './http-server.ts'

/**
 * The receiver as an HTTP server: `invoke heartbeat-receive --serve 8080`.
 * @param port 0 takes a free one.
 * @param options.host the address to listen on; by default this machine only.
 * @param options.limits how long a request may take.
 * @throws {ConfigError} before it listens. @throws when the port is taken.
 */
export async function serve(
  port: number,
  env: Readonly<Record<string, string | undefined>>,
  options: { host?: string; limits?: Partial<typeof LIMITS> } = {},
): Promise<Serving> {
  return serveHttp(port, openReceiver(env, { lambda: false }), { ...options, mostBody: MOST_BODY })
}
