/** The part of an undici dispatcher that we use. */
export interface Dispatching {
  dispatch(options: { origin: string | URL }, handler: object): boolean
}

/** Receives the body as it comes over the wire, before it is decoded. */
export type OnBytes = (bytes: Uint8Array) => void

export interface NoPauseDispatcher extends Dispatching {
  dispatch(options: { origin: string | URL }, handler: object, onBytes?: OnBytes): boolean
}

type Handler = Record<string | symbol, unknown>
type Take = (...args: unknown[]) => unknown

/**
 * A dispatcher whose answers are never paused. In undici 7 a body that nobody reads fast enough pauses the parser, and a
 * server that closes the connection meanwhile ends the whole process with an assertion that cannot be caught.
 * https://github.com/nodejs/undici/issues/5360, fixed in 8 only
 *
 * Without the pause the body waits in memory instead, so the client needs a limit on its size.
 */
export function noPauseDispatcher(agent: Dispatching): NoPauseDispatcher {
  return { dispatch: (options, handler, onBytes) => agent.dispatch(options, neverPausing(handler, onBytes)) }
}

/** Node's own fetch uses either form of handler: the older pauses by returning `false`, the newer through its controller. */
function neverPausing(handler: object, onBytes: OnBytes | undefined): object {
  return new Proxy(handler as Handler, {
    get(target, name) {
      const value = target[name]
      if (typeof value !== 'function') return value
      const take = value.bind(target) as Take
      if (name === 'onData') {
        return (chunk: Uint8Array) => {
          onBytes?.(chunk)
          take(chunk)
          return true
        }
      }
      if (name === 'onResponseData') {
        return (controller: { resume(): void }, chunk: Uint8Array) => {
          onBytes?.(chunk)
          take(controller, chunk)
          controller.resume()
        }
      }
      return take
    },
  })
}
