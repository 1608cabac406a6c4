import type { Config, Outward } from '../model/config.ts'
import type { Reach, TlsFiles } from '../model/reach.ts'
import type { Ways } from './connections.ts'

/** The ways to the endpoints of a run: at private addresses they are reached directly, unless one says otherwise. */
export function endpointWays({ endpoints, proxies }: Pick<Config, 'endpoints' | 'proxies'>): Ways {
  const reaches = new Map<string, Reach>()
  for (const { url, gpuUrl, reach } of endpoints) {
    if (reach === undefined) continue
    for (const address of [url, gpuUrl]) if (address !== undefined) reaches.set(new URL(address).origin, reach)
  }
  return { proxies, direct: 'private', ...(reaches.size > 0 && { reachOf: (origin) => reaches.get(origin) }) }
}

/** The ways to what is no endpoint: a ping, a list of targets, a store. */
export function outwardWays({ proxies, tls }: Outward): Ways {
  return { proxies, ...(tls && { reachOf: () => ({ tls }) }) }
}

/** The ways to push servers, each with its own TLS settings. */
export function pushWays({ proxies, tls, channels }: Outward & Pick<Config, 'channels'>): Ways {
  const servers = channels.flatMap((channel) => [channel, ...(channel.fallback ? [channel.fallback] : [])])
  const own = new Map(servers.flatMap(({ url, tls }) => (tls ? [[new URL(url).origin, tls] as const] : [])))
  const tlsOf = (origin: string) => own.get(origin) ?? tls
  const reachOf = (origin: string): Reach | undefined => {
    const found = tlsOf(origin)
    return found && { tls: found }
  }
  return { proxies, ...((own.size > 0 || tls) && { reachOf }) }
}

/** Every TLS setting of a configuration, each once. */
export function tlsSettings(config: Config): TlsFiles[] {
  const { tls, channels, endpoints } = config
  const ofPushes = channels.flatMap((channel) => [channel.tls, channel.fallback?.tls])
  const all = [tls, ...ofPushes, ...endpoints.map(({ reach }) => reach?.tls)]
  return [...new Map(all.flatMap((one) => (one ? [[JSON.stringify(one), one] as const] : []))).values()]
}
