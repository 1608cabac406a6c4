import type { Fallible } from '../model/fallible.ts'
import { isSecretParameter } from '../secrets/names.ts'
import { failed, type Value, value } from './values.ts'

/**
 * Ports that fetch refuses by standard, whatever listens there: https://fetch.spec.whatwg.org/#port-blocking.
 * A request to one of them fails with "bad port", so such an address is refused here, by name.
 */
export const BAD_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110,
  111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532,
  540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061,
  6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

export interface Credentials {
  user: string
  password: string
}

/** An address that can be asked, without what is secret in it. */
export interface Address {
  url: URL
  credentials: Credentials | undefined
}

/**
 * Reads an http or https address and takes user and password out of it. A failure never repeats the text.
 * @param fetched whether fetch asks it, so that the blocked ports matter.
 */
export function readAddress(text: string, example: string, fetched = true): Fallible<Address> {
  // `http:///metrics` is what an empty host name leaves; a URL would take `metrics` for the host.
  if (!/^https?:\/\/[^/\\]/i.test(text) || !URL.canParse(text)) {
    return failed(`is no address; write http:// or https:// and a server, such as ${example}`)
  }
  const url = new URL(text)
  if (fetched && url.port !== '' && BAD_PORTS.has(Number(url.port))) {
    return failed(`port ${url.port} is blocked for every fetch by its standard; serve it on another port`)
  }
  const read = credentialsOf(url)
  if (!read.ok) return read
  url.username = ''
  url.password = ''
  url.hash = ''
  return { ok: true, url, credentials: read.credentials }
}

/** An address without user and password. */
export function address(mayBe: string, example: string, { fetched = true } = {}): Value<URL> {
  return value(mayBe, (text) => {
    const found = readAddress(text, example, fetched)
    if (!found.ok) return found
    return found.credentials ? failed('may not carry a user and a password') : found.url
  })
}

/**
 * Where the metrics lie: an address without a path, or whose path ends in `/`, gets `metrics` appended, or what its server
 * calls it; any other, `/metrics/` too, stays as it stands.
 */
export function metricsUrl(url: URL, path = 'metrics'): string {
  const page = new URL(url)
  if (page.pathname.endsWith('/') && !page.pathname.endsWith('/metrics/')) page.pathname += path
  return page.href
}

/** The address that paths are appended to: no `/` at its end; a query stays. */
export function baseUrl(url: URL): string {
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}${url.search}`
}

/** Values in the query that look like credentials. */
export function querySecrets(url: URL): string[] {
  return [...url.searchParams].filter(([name, v]) => v !== '' && isSecretParameter(name)).map(([, v]) => v)
}

/** The user and password of an address, decoded. */
export function credentialsOf({ username, password }: URL): Fallible<{ credentials: Credentials | undefined }> {
  if (username === '' && password === '') return { ok: true, credentials: undefined }
  try {
    return { ok: true, credentials: { user: decodeURIComponent(username), password: decodeURIComponent(password) } }
  } catch {
    return failed('has a % that begins no code in its user or password; write % as %25')
  }
}
