import { setMaxListeners } from 'node:events'

/** The end of a request: after some milliseconds, or with the signal of something larger. */
export interface Deadline {
  signal: AbortSignal
  /** To be called when the request is over, whatever came of it. */
  clear(): void
}

/**
 * Aborts with a TimeoutError after `ms`, or when `outer` aborts.
 *
 * Not `AbortSignal.any([AbortSignal.timeout(ms), outer])`: the collector may take the combined signal while a request
 * waits for it, and then the deadline never comes. https://github.com/nodejs/node/issues/57736
 */
export function startDeadline(ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController()
  const end = () => controller.abort(new DOMException('The time for this request is over', 'TimeoutError'))
  const timer = setTimeout(end, Math.max(0, ms))
  if (outer !== undefined) {
    // All requests of a run listen for its end: more than the ten listeners above which Node warns of a leak.
    setMaxListeners(0, outer)
    outer.addEventListener('abort', end)
    if (outer.aborted) end()
  }
  return {
    signal: controller.signal,
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', end)
    },
  }
}

export interface WithDeadline {
  /** The end of something larger, with which this ends too. */
  outer?: AbortSignal | undefined
  /**
   * For work that may ignore its signal: it is no longer waited for. `true` rejects with the TimeoutError, a
   * function with its own error.
   */
  abandon?: true | (() => Error)
}

/** Does some work under a {@link startDeadline} that ends with it. @throws what `work` throws. */
export async function withDeadline<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  { outer, abandon }: WithDeadline = {},
): Promise<T> {
  const { signal, clear } = startDeadline(ms, outer)
  try {
    const working = work(signal)
    if (abandon === undefined) return await working
    const late = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(abandon === true ? signal.reason : abandon()), { once: true })
    })
    return await Promise.race([working, late])
  } finally {
    clear()
  }
}
