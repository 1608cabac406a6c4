/** A clock that moves when it is told to, so that an hour passes in seconds. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number
  pass(ms: number): void
  /** Time to wait is time that passes: nothing really waits. */
  sleep(ms: number): Promise<void>
}

/** @param start epoch milliseconds. */
export function createClock(start: number): Clock {
  let now = start
  return {
    now: () => now,
    pass(ms) {
      now += ms
    },
    async sleep(ms) {
      now += ms
    },
  }
}
