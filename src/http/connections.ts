import connect from 'undici/lib/api/api-connect.js'
import buildConnector from 'undici/lib/core/connect.js'
import Client from 'undici/lib/dispatcher/client.js'
import ProxyAgent from 'undici/lib/dispatcher/proxy-agent.js'
import type { Proxies, Reach } from '../model/reach.ts'
import { type Connector, type OnCertificate, watched } from './certificate.ts'
import { type Dispatching, noPauseDispatcher } from './no-pause-dispatcher.ts'
import { reportProxy } from './proxy-failure.ts'
import { type Direct, proxyOf } from './proxy-route.ts'
import { type TlsOptions, tlsOptions } from './tls.ts'

/** Decoded bytes of one answer. */
export const MAX_BYTES = 16 * 1024 * 1024

/** Which ways lead to the addresses that one run asks. */
export interface Ways {
  proxies?: Proxies | undefined
  /** @default 'loopback' */
  direct?: Direct
  /** What stands between us and an origin, where something does. */
  reachOf?: (origin: string) => Reach | undefined
  /** Absent: nobody looks at certificates. */
  onCertificate?: OnCertificate | undefined
}

export interface Connections {
  /** For `fetch`. */
  dispatcher: unknown
  close(): Promise<void>
}

const SETTINGS = {
  pipelining: 0,
  allowH2: false,
  // Our own deadline decides; these limits are coarse and a trickle defeats them.
  headersTimeout: 0,
  bodyTimeout: 0,
  // On the wire; `maxBytes` of a request counts decoded bytes.
  maxResponseSize: MAX_BYTES + 1024 * 1024,
}

const CONNECTING = {
  // Shorter than a try, so that an address that swallows packets is known as "never sent".
  timeout: 4_000,
  // Node gives each address 250 ms, less than a slow handshake takes. https://github.com/nodejs/node/issues/54359
  autoSelectFamily: true,
  autoSelectFamilyAttemptTimeout: 1_000,
}

/** What takes one request and is closed when it is answered. */
type OneRequest = Dispatching & { close(): Promise<void>; destroy(): Promise<void> }

/**
 * The connections of one run, closed at its end: a socket kept while the process is frozen is dead when it wakes.
 * Nothing is kept alive inside a run either, since a POST on a socket that the server is just closing is lost or doubled.
 * So each request has a client of its own: undici's Agent adds a pool an origin, and each pool 16 KB of empty queue.
 */
export function openDispatcher(ways: Ways = {}): Connections {
  const open = new Set<OneRequest>()
  const connectors = new Map<TlsOptions | undefined, ReturnType<typeof buildConnector>>()
  const tlsOf = rememberedTls(ways)
  const connectorOf = (tls: TlsOptions | undefined) => {
    const known = connectors.get(tls) ?? buildConnector({ ...CONNECTING, ...tls })
    connectors.set(tls, known)
    return known
  }
  const routeOf = (origin: string, reach: Reach | undefined) =>
    proxyOf(origin, ways.proxies, reach?.byProxy ? 'loopback' : (ways.direct ?? 'loopback'))
  const oneByOne: Dispatching = {
    dispatch(options, handler) {
      const origin = String(options.origin)
      const reach = ways.reachOf?.(origin)
      const tls = tlsOf(origin, reach)
      const proxy = routeOf(origin, reach)
      const watch = watchOf(origin, ways)
      const client = (proxy === undefined
        ? new Client(origin, { ...SETTINGS, connect: watch(connectorOf(tls) as Connector) as never })
        : proxied(proxy, tls, watch)) as unknown as OneRequest
      open.add(client)
      const dispatched = client.dispatch(options, proxy === undefined ? handler : reportProxy(proxy, handler))
      // The client takes no other request and is done once this one is answered. One behind a proxy has yet to open its
      // tunnel and would refuse to once it is closing: it ends with the run.
      if (proxy === undefined) void client.close().then(() => open.delete(client))
      return dispatched
    },
  }
  const close = async () => void (await Promise.all([...open].map((client) => client.destroy())))
  const proxyFor = (url: string) => {
    const { origin } = new URL(url)
    return routeOf(origin, ways.reachOf?.(origin))
  }
  return { dispatcher: { ...noPauseDispatcher(oneByOne), proxyFor }, close }
}

/** The proxy that answers for the server at a plain address; `undefined`: the server itself does. @param dispatcher from {@link openDispatcher}. */
export function answersFor(url: string, dispatcher: unknown): string | undefined {
  const { proxyFor } = dispatcher as { proxyFor?: (url: string) => string | undefined }
  const proxy = url.startsWith('http:') ? proxyFor?.(url) : undefined
  return proxy && new URL(proxy).host
}

/** A gateway's own statuses: the server behind it did not write them. */
export function isGateway(status: number): boolean {
  return status === 502 || status === 504
}

/** Whether a proxy stands between us and an address. @param dispatcher from {@link openDispatcher}. */
export function isProxied(url: string, dispatcher: unknown): boolean {
  const { proxyFor } = Object(dispatcher) as { proxyFor?: (url: string) => string | undefined }
  return proxyFor?.(url) !== undefined
}

/** `https:` goes through a tunnel, `http:` is handed to the proxy, as proxies expect: few let a tunnel lead to other ports than 443. */
function proxied(uri: string, tls: TlsOptions | undefined, watch: (connect: Connector) => Connector): ProxyAgent {
  return new ProxyAgent({
    ...SETTINGS,
    uri,
    proxyTunnel: false,
    // What leads through the tunnel; one request needs no pool.
    factory: (origin, options) =>
      new Client(origin as string, { ...options, connect: watch(Object(options).connect) as never }),
    // `connect` is only mixed in where all of undici is imported.
    clientFactory: (origin, options) => Object.assign(new Client(origin, { ...SETTINGS, ...options }), { connect }),
    proxyTls: CONNECTING,
    requestTls: { ...CONNECTING, ...tls },
  })
}

const unwatched = (connect: Connector): Connector => connect

function watchOf(origin: string, { onCertificate }: Ways): (connect: Connector) => Connector {
  if (onCertificate === undefined || !origin.startsWith('https:')) return unwatched
  return (connect) => watched(connect, origin, onCertificate)
}

/** Files are read once a run, and once for all origins that share them. */
function rememberedTls(ways: Ways): (origin: string, reach: Reach | undefined) => TlsOptions | undefined {
  const known = new Map<string, TlsOptions>()
  return (origin, reach) => {
    if (ways.reachOf === undefined || reach?.tls === undefined || !origin.startsWith('https:')) return undefined
    const key = JSON.stringify(reach.tls)
    const options = known.get(key) ?? tlsOptions(reach.tls)
    known.set(key, options)
    return options
  }
}
