/** A PEM file, with the variable that names it: what is wrong with the file is told under that name. */
export interface PemFile {
  variable: string
  path: string
}

/** How a TLS server is trusted, and how we are known to it. */
export interface TlsFiles {
  /** Trusted beside the usual authorities. */
  ca?: PemFile
  cert?: PemFile
  key?: PemFile
  /** Any certificate is taken. */
  skipVerify?: true
}

/** The proxies of HTTP_PROXY and HTTPS_PROXY: addresses that may hold a password. */
export interface Proxies {
  /** For `http:` addresses. */
  http?: string
  /** For `https:` addresses. */
  https?: string
  /** Hosts that are reached directly, as NO_PROXY lists them: `example.com`, `.example.com`, `10.0.0.0/8`, `host:8080`, `*`. */
  except: readonly string[]
}

/** What stands between us and one address, beside its host and port. */
export interface Reach {
  tls?: TlsFiles
  /** A private address is reached by the proxy too. */
  byProxy?: true
}
