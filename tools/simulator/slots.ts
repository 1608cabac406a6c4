/** What becomes of one request that enters: milliseconds by the clock that `enter` was given. */
export interface Job {
  arrived: number
  started: number
  ended: number
}

/** Places that compute, and the queue in front of them: first come, first served. */
export interface Slots {
  /** @param ms how long it computes. @param from the places are there only from then on. */
  enter(now: number, ms: number, from?: number): Job
  waiting(now: number): number
  running(now: number): number
  /** When the last of those inside ends; `now` when there are none. */
  idleFrom(now: number): number
}

/** Since nobody leaves early, when each request starts is known as it arrives: no timers, exact on any clock. */
export function createSlots(parallel: number): Slots {
  const freeAt = new Array<number>(parallel).fill(0)
  let jobs: Job[] = []
  const inside = (now: number) => {
    jobs = jobs.filter((job) => job.ended > now)
    return jobs
  }
  return {
    enter(now, ms, from = 0) {
      const place = freeAt.indexOf(Math.min(...freeAt))
      const started = Math.max(now, from, freeAt[place] ?? 0)
      const job = { arrived: now, started, ended: started + ms }
      freeAt[place] = job.ended
      inside(now).push(job)
      return job
    },
    waiting: (now) => inside(now).filter((job) => job.started > now).length,
    running: (now) => inside(now).filter((job) => job.started <= now).length,
    idleFrom: (now) => Math.max(now, ...inside(now).map((job) => job.ended)),
  }
}
