/** What an undici dispatcher and its handlers are to us: `dispatch`, and functions named by the protocol. */
export interface Dispatching {
  dispatch(options: { origin: string | URL }, handler: object): boolean
}

type Handler = Record<string | symbol, unknown>
type Take = (...args: unknown[]) => unknown

/**
 * A dispatcher whose answers are never paused. In undici 7 a body that nobody reads fast enough pauses the parser, and a
 * server that closes the connection meanwhile ends the whole process by an assertion that nobody can catch.
 * https://github.com/nodejs/undici/issues/5360, mended in 8 alone
 *
 * Without the pause the body waits in memory instead, so the client needs a limit on its size.
 */
export function unpaused(agent: Dispatching): Dispatching {
  return { dispatch: (options, handler) => agent.dispatch(options, neverPausing(handler)) }
}

/** Node's own fetch comes with either form of handler: the older says pause by `false`, the newer by its controller. */
function neverPausing(handler: object): object {
  return new Proxy(handler as Handler, {
    get(target, name) {
      const value = target[name]
      if (typeof value !== 'function') return value
      const take = value.bind(target) as Take
      if (name === 'onData') {
        return (chunk: unknown) => {
          take(chunk)
          return true
        }
      }
      if (name === 'onResponseData') {
        return (controller: { resume(): void }, chunk: unknown) => {
          take(controller, chunk)
          controller.resume()
        }
      }
      return take
    },
  })
}
