import { ask, SECOND, sumOf, wait } from './asking.ts'
import { type Asking, type Load, startLoad, told } from './load.ts'

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

/** Calm for some runs, thirty clients at once for so long, and calm again. */
export async function overload(
  engine: Engine,
  { calm = 30 * SECOND, busy = 40 * SECOND, after = 30 * SECOND, clients = 30 } = {},
): Promise<string> {
  const few = loadOn(engine, { clients: 1, pause: SECOND })
  await wait(calm)
  const queue = watchQueue(engine)
  const many = loadOn(engine, { clients })
  await wait(busy)
  const crowd = await many.stop()
  const depth = queue.stop()
  await wait(after)
  await few.stop()
  return `${depth}; ${clients} clients: ${told(crowd)}`
}
