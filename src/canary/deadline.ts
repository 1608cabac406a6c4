/**
 * Does some work under a signal that aborts after `ms`, or with the run. The timer ends with the work.
 *
 * Not `AbortSignal.any([AbortSignal.timeout(ms), run])`: on Node 20 the collector may take the combined signal while a
 * request waits for it, and the deadline never comes. https://github.com/nodejs/node/issues/57736
 */
export async function withinTime<T>(
  ms: number,
  run: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  const late = () => controller.abort(new DOMException('The time for this canary is over', 'TimeoutError'))
  const timer = setTimeout(late, Math.max(0, ms))
  if (run?.aborted) late()
  run?.addEventListener('abort', late)
  try {
    return await work(controller.signal)
  } finally {
    clearTimeout(timer)
    run?.removeEventListener('abort', late)
  }
}
