import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import type { Proxies } from '../model/reach.ts'

/** Which addresses never go by a proxy, whatever NO_PROXY says: this machine's alone, or those of private networks too. */
export type Direct = 'loopback' | 'private'

/**
 * The proxy by which an address is reached; `undefined` is directly. NO_PROXY as curl reads it: a name holds for its
 * subdomains too, a port narrows, `*` is everything, an IPv4 network may stand as `10.0.0.0/8`.
 * https://curl.se/docs/manpage.html#--noproxy
 */
export function proxyOf(address: string | URL, proxies: Proxies | undefined, direct: Direct): string | undefined {
  if (proxies === undefined) return undefined
  const { protocol, hostname, port } = new URL(address)
  const proxy = protocol === 'https:' ? proxies.https : proxies.http
  if (proxy === undefined) return undefined
  const host = hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
  if (isLoopback(host) || (direct === 'private' && isPrivate(host))) return undefined
  const ownPort = port || (protocol === 'https:' ? '443' : '80')
  return proxies.except.some((entry) => covers(entry, host, ownPort)) ? undefined : proxy
}

function covers(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  const network = /^(\d{1,3}(?:\.\d{1,3}){3})\/(\d{1,2})$/.exec(entry)
  if (network) return isIPv4(host) && inNetwork(host, network[1] ?? '', Number(network[2]))
  if (isIPv6(entry)) return host === entry.toLowerCase()
  const [, name = '', itsPort] = /^(?:\*?\.)?\[?([^\]]*?)\]?(?::(\d+))?$/.exec(entry.toLowerCase()) ?? []
  if (itsPort !== undefined && itsPort !== port) return false
  return name !== '' && (host === name || (isIP(host) === 0 && host.endsWith(`.${name}`)))
}

function inNetwork(host: string, network: string, bits: number): boolean {
  if (bits > 32 || !isIPv4(network)) return false
  const list = new BlockList()
  list.addSubnet(network, bits, 'ipv4')
  return list.check(host, 'ipv4')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** RFC 1918, carrier-grade NAT, link-local, unique local IPv6 (RFC 4193), and names that no public resolver knows. */
function isPrivate(host: string): boolean {
  if (isIPv4(host)) return PRIVATE.check(host, 'ipv4')
  if (isIPv6(host)) return PRIVATE.check(host, 'ipv6')
  return !host.includes('.') || /\.(local|internal|lan|svc|home\.arpa)$/.test(host)
}

const PRIVATE = new BlockList()
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
  ['169.254.0.0', 16],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv4')
PRIVATE.addSubnet('fc00::', 7, 'ipv6')
PRIVATE.addSubnet('fe80::', 10, 'ipv6')
