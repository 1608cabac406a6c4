import { ask, MINUTE, SECOND, sumOf, until, wait } from './asking.ts'
import { type Asking, type Load, startLoad, told } from './load.ts'
import { WAYS, type Watching } from './watcher.ts'

/** How an engine is asked by users, and where it says itself how many of them wait. */
export interface Engine {
  asking: Asking
  /** Its page, and the series of its queue. */
  page: { url: string; waiting: string; headers?: Record<string, string> }
}

export function loadOn({ asking }: Engine, options: Parameters<typeof startLoad>[1]): Load {
  return startLoad(asking, options)
}

/** Asks the server itself, each second, how deep its queue is, until stopped. */
export function watchQueue({ page }: Engine): { stop(): string } {
  let peak = 0
  let stopped = false
  const look = async () => {
    while (!stopped) {
      const { text } = await ask(page.url, { ...(page.headers && { headers: page.headers }) }, SECOND)
      peak = Math.max(peak, sumOf(text, page.waiting) ?? 0)
      await wait(SECOND)
    }
  }
  void look()
  return {
    stop() {
      stopped = true
      return `at most ${peak} waiting by its own page`
    },
  }
}

/**
 * Calm for some runs, thirty clients at once for so long, and calm again.
 * @param end what is waited for after it, as latencies over a window take a while to be good again.
 */
export async function overload(
  engine: Engine,
  { calm = 30 * SECOND, busy = 40 * SECOND, after = 30 * SECOND, clients = 30, end = async () => {} } = {},
): Promise<string> {
  const few = loadOn(engine, { clients: 1, pause: SECOND })
  await wait(calm)
  const queue = watchQueue(engine)
  const many = loadOn(engine, { clients })
  await wait(busy)
  const crowd = await many.stop()
  const depth = queue.stop()
  await wait(after)
  await end()
  await few.stop()
  return `${depth}; ${clients} clients: ${told(crowd)}`
}

/** Until both watchers have told so much, or it takes too long: what is missing then is judged as missing. */
export function toldBy(watching: Watching, pushes: number, limit = 8 * MINUTE): () => Promise<void> {
  const isTold = () => WAYS.every((way) => watching.told(way).length >= pushes)
  return () => until('all is told', isTold, limit).catch(() => {})
}
