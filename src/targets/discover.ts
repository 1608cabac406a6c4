import { dnsName, isDns } from '../config/targets.ts'
import {
  type Config,
  ConfigError,
  type Discovery,
  type DnsName,
  type Endpoint,
  type Pool,
  type Source,
  type Target,
} from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Log } from '../model/io.ts'
import type { Observation } from '../model/observation.ts'
import { emptyReadings } from '../signals/readings.ts'
import type { load } from './load.ts'
import { expandRouter } from './models.ts'
import { groupOf, nameOf, parseTargets } from './parse.ts'
import { inShard, isIn } from './shards.ts'

/** What each source named last, by its id: it is used while the source cannot be. */
export type LastTargets = Readonly<Record<string, readonly Target[]>>

/** The endpoints of one run. */
export interface Discovered {
  /** To ask. */
  endpoints: Endpoint[]
  /** To judge: with the endpoint that stands for the sources, where there are any. */
  config: Config
  /** What the sources themselves answered. */
  watch: Observation[]
  /** For the next run; absent without sources. */
  targets?: Record<string, Target[]>
}

interface Options {
  load: typeof load
  log: Log
}

/**
 * Finds the endpoints of this run: those of the variables, and those that the sources name. A source that cannot be
 * read, or whose list is not valid, keeps its last list and is reported as unread.
 * @throws {ConfigError} when the variables do not fit what was found.
 */
export async function discover(config: Config, last: LastTargets, options: Options): Promise<Discovered> {
  const found = await fromSources(config, last, options)
  if (config.backend !== 'llamacpp') return found
  const expanded = await Promise.all(found.endpoints.map((endpoint) => expandRouter(endpoint, options.load)))
  const watch = expanded.flatMap((one) => one.watch)
  const models = expanded.flatMap(({ endpoints, watch: [router] }) => (router ? endpoints : []))
  return {
    ...found,
    endpoints: expanded.flatMap(({ endpoints }) => endpoints),
    config: { ...found.config, endpoints: [...found.config.endpoints, ...models] },
    watch: [...found.watch, ...watch],
  }
}

async function fromSources(config: Config, last: LastTargets, options: Options): Promise<Discovered> {
  const { discovery } = config
  if (!discovery) {
    const mine = inShard(config)
    return { endpoints: mine.endpoints, config: mine, watch: [] }
  }
  const lists = await askLists(config, discovery, last, options)
  const fixed = lists.flatMap(({ targets }) => targets.filter(({ url }) => !isDns(url)))
  const names = await askNames(namesOf(config, discovery, lists), last, options)
  const expanded = discovery.expand([...fixed, ...names.flatMap(({ targets }) => targets)])
  if (!expanded.ok) throw new ConfigError(expanded.problems)
  const { pools } = expanded.config
  const nameless = new Set(names.flatMap(({ nameless }) => nameless ?? []))
  const marked = pools?.map((pool): Pool => (nameless.has(pool.group) ? { ...pool, nameless: true } : pool))
  const mine = inShard({ ...expanded.config, ...defined({ pools: marked, shard: config.shard }) })
  const asked = [...lists, ...names]
  return {
    endpoints: mine.endpoints,
    config: { ...mine, endpoints: [...mine.endpoints, discovery.endpoint] },
    watch: [
      watchOf(
        discovery.endpoint,
        asked.filter(({ told }) => told).map(({ id }) => id),
      ),
    ],
    targets: Object.fromEntries(
      asked.map(({ id, targets }) => [id, targets.filter((target) => isMine(target, config))]),
    ),
  }
}

interface Asked {
  id: string
  targets: readonly Target[]
  /** It could not be used, and this shard is the one to report it. */
  told: boolean
  /** The group whose name resolves to nothing. */
  nameless?: string | undefined
}

/** Only the first shard reports a list; a name is reported by the shard that its group belongs to. */
function askLists(config: Config, discovery: Discovery, last: LastTargets, options: Options): Promise<Asked[]> {
  const sources = discovery.sources.filter(({ kind }) => kind !== 'dns')
  const { variable, taken } = discovery
  return Promise.all(
    sources.map(async (source) => {
      const loaded = await options.load(source, config)
      const text = loaded.ok && 'text' in loaded ? loaded.text : undefined
      const list = text === undefined ? undefined : parseTargets(text, { backend: config.backend, variable, taken })
      if (list?.ok) return { id: source.id, targets: list.targets, told: false }
      const problems = list?.problems ?? [`${variable}: ${source.id}: ${loaded.ok ? 'no text' : loaded.why}`]
      const kept = keep(source, problems, last, options)
      return { ...kept, told: (config.shard?.index ?? 1) === 1 }
    }),
  )
}

function askNames(names: readonly (Source & DnsName)[], last: LastTargets, options: Options): Promise<Asked[]> {
  return Promise.all(
    names.map(async (name) => {
      const loaded = await options.load(name)
      if (loaded.ok && 'addresses' in loaded) {
        return { id: name.id, targets: replicasOf(name, loaded.addresses), told: false }
      }
      const why = loaded.ok ? 'no address' : loaded.why
      const nameless = NO_SUCH_NAME.includes(why) ? name.group : undefined
      return { ...keep(name, [`${name.id}: ${why}`], last, options), told: true, nameless }
    }),
  )
}

/** How the system says that there is no such name, or none with an address: not that it could not be asked. */
const NO_SUCH_NAME: readonly string[] = ['ENOTFOUND', 'ENODATA', 'no address']

function keep({ id }: Source, problems: readonly string[], last: LastTargets, { log }: Options) {
  const targets = last[id] ?? []
  for (const problem of problems) log.warn(problem)
  log.warn(`${id}: cannot be used; its last list counts, of ${targets.length} endpoints`)
  return { id, targets }
}

/** The names of the variables and of the lists, each once, as far as their groups are this shard's. */
function namesOf(config: Config, discovery: Discovery, lists: readonly Asked[]): (Source & DnsName)[] {
  const listed = lists.flatMap(({ targets }) => targets.filter(({ url }) => isDns(url)))
  const read = listed.map(({ name, url }) => dnsName(url, name)).flatMap((one) => (one.ok ? [one.name] : []))
  const names = [...discovery.sources, ...read].flatMap((source) => (source.kind === 'dns' ? [source] : []))
  const unique = new Map(names.map((name) => [`${name.group} ${name.id}`, name]))
  return [...unique.values()].filter(({ group }) => !config.shard || isIn({ name: group, group }, config.shard))
}

function replicasOf({ group, url }: DnsName, addresses: readonly string[]): Target[] {
  return addresses.map((address) => {
    const replica = new URL(url)
    replica.hostname = address.includes(':') ? `[${address}]` : address
    return { name: `${group}/${nameOf(address)}`, url: replica.href }
  })
}

function isMine(target: Target, { shard }: Config): boolean {
  const group = isDns(target.url) ? target.name : groupOf(target.name)
  return !shard || isIn({ name: target.name, group }, shard)
}

/** The sources as one endpoint that always answers, and sees less when one of them is unread. */
function watchOf(endpoint: Endpoint, unread: string[]): Observation {
  return { up: true, readings: emptyReadings(), endpoint, took: 0, unread }
}
