import type { Config, Endpoint, Shard } from '../model/config.ts'
import type { Fallible } from '../model/fallible.ts'

/** Reads `2/8`, the second of eight. */
export function parseShard(text: unknown): Fallible<{ shard: Shard }> {
  const why = `may be such as "2/8", the second of eight, of at most ${MOST}`
  const [, index = 0, of = 0] = (typeof text === 'string' ? (/^(\d{1,3})\/(\d{1,3})$/.exec(text) ?? []) : []).map(
    Number,
  )
  return index >= 1 && index <= of && of <= MOST ? { ok: true, shard: { index, of } } : { ok: false, why }
}

/** More shards would write more state objects than a person can look through. */
const MOST = 100

/** The part of the configuration that is this shard's: every endpoint belongs to exactly one shard of all. */
export function inShard(config: Config): Config {
  const { shard } = config
  if (!shard) return config
  const pools = config.pools?.filter(({ group }) => isIn({ name: group, group }, shard))
  return {
    ...config,
    endpoints: config.endpoints.filter((endpoint) => isIn(endpoint, shard)),
    ...(pools ? { pools } : {}),
  }
}

/** By the group where there is one, so that siblings stay together: they are compared with one another. */
export function isIn({ name, group }: Pick<Endpoint, 'name' | 'group'>, { index, of }: Shard): boolean {
  return (hash(group ?? name) % of) + 1 === index
}

/** FNV-1a, 32 bits, mixed once more so that its low bits are even for short names. http://www.isthe.com/chongo/tech/comp/fnv/ */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (const byte of Buffer.from(text, 'utf8')) h = Math.imul(h ^ byte, 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  return (h ^ (h >>> 13)) >>> 0
}

/** One entry of `events:` in serverless.yml. */
export interface ShardEvent {
  schedule: {
    rate: string[]
    inputTransformer?: { inputPathsMap: Record<string, string>; inputTemplate: string }
  }
}

/**
 * The schedule entries of one function divided into `n`: one for each shard, which finds its part in `event.shard`.
 * A plain `input` would take the event's place, and with it the tick's own time, by which a repeated one is known.
 */
export function shardEvents(n: number, rate: string): ShardEvent[] {
  if (n <= 1) return [{ schedule: { rate: [rate] } }]
  return Array.from({ length: n }, (_, i) => {
    const inputTemplate = `{"time": <time>, "shard": "${i + 1}/${n}"}`
    return { schedule: { rate: [rate], inputTransformer: { inputPathsMap: { time: '$.time' }, inputTemplate } } }
  })
}
