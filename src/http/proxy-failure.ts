import type { Dispatching } from './no-pause-dispatcher.ts'

/** A request that ended between us and the proxy: its server was never reached. */
export class ProxyFailed extends Error {
  override name = 'ProxyFailed'
  constructor(
    /** Host and port, without credentials. */
    readonly proxy: string,
    /** HTTP status of a refused tunnel. */
    readonly status: number | undefined,
    cause: unknown,
  ) {
    super(`the proxy ${proxy} did not let the request through`, { cause })
  }
}

type Handler = Record<string | symbol, unknown>

/** The words of undici for a tunnel that the proxy refused; they alone hold the status. */
const REFUSED = /^Proxy response \((\d{3})\)/
/** No connection to the proxy. What comes later, a TLS handshake above all, is the server's. */
const NO_CONNECTION =
  /^(ECONNREFUSED|ENOTFOUND|EAI_|ENODATA|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ETIMEDOUT)/

/** A handler that says of an error before the server was reached that it is the proxy's. */
export function reportProxy(uri: string, handler: Parameters<Dispatching['dispatch']>[1]): object {
  const { host } = new URL(uri)
  return new Proxy(handler as Handler, {
    get(target, name) {
      const value = target[name]
      if (typeof value !== 'function') return value
      const take = value.bind(target) as (...args: unknown[]) => unknown
      if (name === 'onError') return (error: unknown) => take(blame(host, error))
      if (name === 'onResponseError')
        return (controller: unknown, error: unknown) => take(controller, blame(host, error))
      return take
    },
  })
}

function blame(host: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const status = REFUSED.exec(error.message)?.[1]
  if (status !== undefined) return new ProxyFailed(host, Number(status), error)
  const codes = [error, ...(error instanceof AggregateError ? error.errors : [])].map((one) => String(one.code ?? ''))
  return codes.some((code) => NO_CONNECTION.test(code)) ? new ProxyFailed(host, undefined, error) : error
}
