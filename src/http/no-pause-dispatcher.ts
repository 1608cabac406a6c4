/** The part of an undici dispatcher that we use. */
export interface Dispatching {
  dispatch(options: { origin: string | URL }, handler: object): boolean
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
export function noPauseDispatcher(agent: Dispatching): Dispatching {
  return { dispatch: (options, handler) => agent.dispatch(options, neverPausing(handler)) }
}

/** Node's own fetch uses either form of handler: the older pauses by returning `false`, the newer through its controller. */
function neverPausing(handler: object): object {
  return new Proxy(handler as Handler, {
    get(target, name) {
      const value = target[name]
      if (typeof value !== 'function') return value
      const take = value.bind(target) as Take
      if (name === 'onData') {
        return (chunk: Uint8Array) => {
          take(chunk)
          return true
        }
      }
      if (name === 'onResponseData') {
        return (controller: { resume(): void }, chunk: Uint8Array) => {
          take(controller, chunk)
          controller.resume()
        }
      }
      return take
    },
  })
}
