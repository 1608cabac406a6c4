const AT_ONCE = 16
const PATIENCE = 20

/**
 * Lets work begin a little at a time, so that the answers of a thousand servers do not all lie in memory at once. Who
 * is slow holds up nobody: after a short while it counts as gone on, and the next one begins.
 * @param most at once. @param patience milliseconds after which one no longer counts.
 */
export function createEntrance(most = AT_ONCE, patience = PATIENCE): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let inside = 0
  return async (work) => {
    if (inside < most) inside += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    let gone = false
    const leave = () => {
      if (gone) return
      gone = true
      const next = waiting.shift()
      // The place goes over to the next.
      if (next) next()
      else inside -= 1
    }
    const timer = setTimeout(leave, patience)
    try {
      return await work()
    } finally {
      clearTimeout(timer)
      leave()
    }
  }
}
