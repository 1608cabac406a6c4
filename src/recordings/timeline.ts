import type { Scrape } from './entry.ts'

/** One run of a recording: what its endpoints answered. Endpoints that are not in it were not asked then. */
export interface RecordedRun {
  /** Epoch milliseconds of its last scrape. */
  at: number
  scrapes: Scrape[]
}

/** Scrapes that lie further apart are two runs, whoever is missing. */
const LONGEST_RUN = 60_000

/**
 * Puts the scrapes of several files in order of time and into runs: a run ends where an endpoint comes again. A watcher that asks all at once has one time a run; another,
 * as Prometheus, asks each at a time of its own.
 * @param nameOf what an endpoint is called now; its recorded name where it is not there.
 */
export async function* runsOf(
  files: readonly AsyncIterable<Scrape>[],
  nameOf: ReadonlyMap<string, string> = new Map(),
): AsyncGenerator<RecordedRun> {
  let run: Scrape[] = []
  const lastOf = new Map<string, number>()
  for await (const recorded of inOrder(files)) {
    const scrape = { ...recorded, endpoint: nameOf.get(recorded.endpoint) ?? recorded.endpoint }
    const last = lastOf.get(scrape.endpoint)
    // The same moment twice is the same scrape in two files.
    if (last === scrape.at) continue
    const first = run[0]
    const isNext = first && (scrape.at - first.at > LONGEST_RUN || run.some((one) => one.endpoint === scrape.endpoint))
    if (isNext) {
      yield { at: run.at(-1)?.at ?? first.at, scrapes: run }
      run = []
    }
    lastOf.set(scrape.endpoint, scrape.at)
    run.push(scrape)
  }
  const end = run.at(-1)
  if (end) yield { at: end.at, scrapes: run }
}

/** The scrapes of several files, in order of time. */
export async function* inOrder(files: readonly AsyncIterable<Scrape>[]): AsyncGenerator<Scrape> {
  const iterators = files.map((file) => file[Symbol.asyncIterator]())
  const next = await Promise.all(iterators.map((one) => one.next()))
  for (;;) {
    let soonest = -1
    for (const [index, result] of next.entries()) {
      if (result.done) continue
      const best = next[soonest]
      if (!best || best.done || result.value.at < best.value.at) soonest = index
    }
    const found = next[soonest]
    const iterator = iterators[soonest]
    if (!found || found.done || !iterator) return
    yield found.value
    next[soonest] = await iterator.next()
  }
}
