const AT_ONCE = 16
const PATIENCE = 20

/**
 * Starts work a little at a time, so that the answers of a thousand servers do not all lie in memory at once. A slow one
 * holds nobody up: after a short while its slot is given to the next.
 * @param most slots. @param patience milliseconds after which work no longer counts.
 */
export function createConcurrencyLimit(most = AT_ONCE, patience = PATIENCE): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running < most) running += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    let released = false
    const release = () => {
      if (released) return
      released = true
      const next = waiting.shift()
      // The slot passes to the next.
      if (next) next()
      else running -= 1
    }
    const timer = setTimeout(release, patience)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      release()
    }
  }
}
