import { openDispatcher } from '../http/connections.ts'
import { startDeadline } from '../http/deadline.ts'
import { send } from '../http/get.ts'
import { failureOf } from '../http/network-failure.ts'
import { opening, serverWords, toWords } from '../http/server-words.ts'
import { outwardWays } from '../http/ways.ts'
import type { Outward } from '../model/config.ts'
import type { IO } from '../model/io.ts'
import { strangerIn } from './stranger.ts'

export interface PingOptions {
  io: Pick<IO, 'log'>
  /** What may not be shown, beside the address itself: its path is a key. */
  secrets: readonly string[]
  /** Milliseconds. */
  timeout: number
  outward?: Outward
}

/**
 * Tells the watcher's own watcher how the run ended. A service that knows `/fail` hears of a failed run at once; any
 * other hears nothing then, and alerts by itself when the next ping is missing. Never throws: it must not spoil a run.
 */
export async function ping(
  url: string,
  ok: boolean,
  { io, secrets, timeout, outward = {} }: PingOptions,
): Promise<void> {
  const address = pingUrl(url, ok)
  if (address === undefined) return
  const { host, pathname } = new URL(address)
  const connections = openDispatcher(outwardWays(outward))
  const deadline = startDeadline(timeout)
  try {
    const response = await send(address, {
      headers: { 'user-agent': 'queuebell' },
      signal: deadline.signal,
      redirect: 'follow',
      dispatcher: connections.dispatcher,
    })
    const { status } = response
    const hidden = [...secrets, url, address, pathname]
    const text = response.ok ? await opening(response.body) : undefined
    if (text !== undefined && !isRefused(text)) io.log.debug('ping', { host, ok, status })
    else {
      const reason = text === undefined ? await serverWords(response, hidden) : toWords(text, hidden)
      io.log.warn('ping refused: is PING_URL right?', { host, ok, status, reason })
    }
  } catch (error) {
    const { kind, code } = failureOf(error, false)
    io.log.warn('ping failed', { host, ok, failure: kind, code })
  } finally {
    deadline.clear()
    await connections.close()
  }
}

/**
 * The address to ping after a run, its query kept. After a failed run `undefined` where the service has no `/fail`.
 *
 * `/fail` is known to healthchecks.io (`hc-ping.com/<uuid>`, `hc-ping.com/<key>/<slug>`), to its self-hosted form
 * (`…/ping/<uuid>`), and to heartbeats of the form `…/heartbeat/<key>` (Notifly, Better Stack).
 * https://healthchecks.io/docs/http_api/
 */
export function pingUrl(url: string, ok: boolean): string | undefined {
  if (!URL.canParse(url)) return undefined
  const address = new URL(url)
  if (ok) return address.href
  if (!knowsFail(address)) return undefined
  address.pathname = `${address.pathname.replace(/\/+$/, '')}/fail`
  return address.href
}

/**
 * healthchecks.io answers 200 `OK (not found)` for a check that is gone and `OK (rate limited)` where it counted nothing;
 * others say `ok: false` or an error in JSON.
 */
function isRefused(text: string): boolean {
  return /^\W*OK\W+(not found|rate limited)/i.test(text) || strangerIn(text, '') === 'failure'
}

function knowsFail({ hostname, pathname }: URL): boolean {
  return hostname === 'hc-ping.com' || /\/(?:ping|heartbeats?)\/[^/]/.test(pathname)
}
