import type { Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { BeatFacts, Observation } from '../model/observation.ts'
import type { Listed, Store } from '../model/store.ts'
import { gaugeReadings } from '../signals/readings.ts'
import { fromText, keyOf, PLAIN_SIZES } from './beat.ts'

/** Objects read at once: a fleet of failed workers must not open hundreds of connections. */
const AT_ONCE = 10

/**
 * The last beat of every worker: one list call for all, and one more for each whose object says more than "alive".
 * The time is the store's own: a sender's clock may be wrong. A worker without an object was never seen; the
 * state knows how long it has been expected.
 * @throws {StoreError} when the store cannot be listed or read: nothing is known of any worker then.
 */
export async function readBeats(endpoints: readonly Endpoint[], store: Store, now: number): Promise<Observation[]> {
  const listed = new Map((await store.list('beats/')).map((entry) => [entry.key, entry]))
  const observations: Observation[] = []
  for (let from = 0; from < endpoints.length; from += AT_ONCE) {
    const some = endpoints.slice(from, from + AT_ONCE)
    observations.push(...(await Promise.all(some.map((endpoint) => readBeat(endpoint, listed, store, now)))))
  }
  return observations
}

async function readBeat(
  endpoint: Endpoint,
  listed: ReadonlyMap<string, Listed>,
  store: Store,
  now: number,
): Promise<Observation> {
  const entry = listed.get(keyOf(endpoint.name))
  // The store's clock may be a little ahead of ours.
  const age = entry && Math.max(0, now - entry.at)
  const beat: BeatFacts = { ...defined({ age }), ...(entry && (await lastWords(entry, store))) }
  const readings = gaugeReadings({ beat_age: age === undefined ? undefined : age / 1_000 })
  return { up: true, readings, beat, endpoint, took: 0 }
}

/** What the worker said with its last beat; nothing where that cannot be read: then only its time counts. */
async function lastWords(entry: Listed, store: Store): Promise<Pick<BeatFacts, 'failed' | 'body' | 'running'>> {
  const plain = entry.size === undefined ? undefined : PLAIN_SIZES.get(entry.size)
  if (plain !== undefined) return plain === 'start' ? { running: 'start' } : {}
  const stored = await store.load(entry.key)
  const beat = stored && fromText(stored.text)
  const { kind, exit, body, n, of } = beat ?? {}
  if (kind === 'fail') return { failed: defined({ exit, body }) }
  const isProgress = kind === 'progress' && n !== undefined && of !== undefined
  return defined({ body, running: isProgress ? { n, of } : kind === 'start' ? ('start' as const) : undefined })
}
