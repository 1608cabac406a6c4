import { TABLES } from '../backends/backends.ts'
import { type Backend, prefixOf, type ScrapedBackend } from '../model/backend.ts'
import type { Source, Target } from '../model/config.ts'
import { baseUrl, type Credentials, metricsUrl, querySecrets, readAddress } from './address.ts'
import { type Environment, variableOf } from './environment.ts'
import { readPairs } from './pairs.ts'
import { settingsAfterPrefix } from './settings.ts'
import { dnsName, ENDPOINT_NAME, isDns, NAME_WORDS, readSource } from './targets.ts'

/** An endpoint before its own variables are read. */
export interface Named {
  name: string
  group: string | undefined
  /** `undefined` when it could not be read, which is a problem by then. */
  url: string | undefined
  credentials: Credentials | undefined
}

export interface NamedEndpoints {
  /** All whose names could be read. */
  named: Named[]
  /** More may be configured than `named` tells: an unknown variable may belong to one of them. */
  incomplete: boolean
  /** Nothing was configured: it is the local default. */
  usedDefault: boolean
  /** Where more endpoints are found at each run. */
  sources: Source[]
}

const SCRAPE_DEFAULT = 'http://localhost:8000/metrics'
const OLLAMA_DEFAULT = 'http://localhost:11434'

/**
 * Which endpoints are configured: `<BACKEND>_ENDPOINTS`, else the one of `METRICS_URL` or `OLLAMA_URL`, else, where
 * `<BACKEND>_TARGETS` names no source either, the local default.
 * @param found what the sources named at this run; a name that is taken by then is passed over.
 */
export function readEndpoints(
  env: Environment,
  backend: Backend,
  lambda: boolean,
  found: readonly Target[] = [],
): NamedEndpoints {
  const configured = readConfigured(env, backend, lambda)
  const source = readSource(env, backend)
  const sources = [...configured.sources, ...(source ? [source] : [])]
  const taken = new Set(configured.named.map(({ name }) => name))
  const fresh = found.filter(({ name }) => !taken.has(name) && taken.add(name))
  const variable = `${prefixOf(backend)}_TARGETS`
  const more = fresh.map(({ name, url }) => endpointAt(env, backend, variable, name, url))
  const incomplete = configured.incomplete || sources.length > 0
  return { ...configured, named: [...configured.named, ...more], sources, incomplete }
}

function readConfigured(env: Environment, backend: Backend, lambda: boolean): NamedEndpoints {
  const variable = `${prefixOf(backend)}_ENDPOINTS`
  const single = singleOf(backend)
  const text = env.texts.get(variable)
  const one = single && env.texts.get(single.variable)
  const none: NamedEndpoints = { named: [], incomplete: false, usedDefault: false, sources: [] }
  if (text !== undefined) {
    if (one) env.warnings.add(`${single.variable} is not used, because ${variable} is set`)
    return readList(env, backend, variable, text)
  }
  if (single && one) return { ...none, named: [endpointAt(env, backend, single.variable, backend, one)] }
  if (env.texts.has(`${prefixOf(backend)}_TARGETS`)) return { ...none, incomplete: true }
  if (!lambda && single?.local) {
    return { ...none, named: [endpointAt(env, backend, single.variable, backend, single.local)], usedDefault: true }
  }
  const other = single ? `, or ${single.variable} for a single one` : ''
  env.problems.add(
    `${variable}: no endpoints are configured; write name=URL pairs, such as ${exampleOf(backend)}${other}`,
  )
  return { ...none, incomplete: true }
}

/**
 * Refuses names that share variables with another (`chat/a` and `chat-a`; an endpoint `chat` and a group `chat`) and
 * names that read like the beginning of a setting of the backend, or of another configured endpoint or group.
 * @param groups those without an endpoint yet.
 */
export function checkNames(
  env: Environment,
  backend: Backend,
  variable: string,
  named: readonly Pick<Named, 'name' | 'group'>[],
  groups: readonly string[] = [],
): void {
  const owners = new Map<string, string>()
  for (const { name, what } of namesOf(named, groups)) {
    const owner = owners.get(variableOf(name))
    const own = `${prefixOf(backend)}_${variableOf(name)}_…`
    if (owner === undefined) owners.set(variableOf(name), `${what} ${name}`)
    else env.problems.add(`${variable}: ${owner} and ${what} ${name} would share the variables ${own}; rename one`)
  }
  const beginnings = beginningsOf(settingsAfterPrefix(backend))
  for (const [scope, owner] of owners) {
    for (const outer of outerScopes(scope, owners)) {
      const setting = beginnings.get(outer === '' ? scope : scope.slice(outer.length + 1))
      if (setting === undefined) continue
      const full = [prefixOf(backend), ...(outer === '' ? [] : [outer]), setting].join('_')
      env.problems.add(`${variable}: ${owner} reads like the beginning of the setting ${full}; rename it`)
    }
  }
}

function readList(env: Environment, backend: Backend, variable: string, text: string): NamedEndpoints {
  const { pairs, unreadable } = readPairs(env, text, {
    variable,
    name: ENDPOINT_NAME,
    nameWords: NAME_WORDS,
    example: exampleOf(backend),
    what: 'URL',
  })
  const sources: Source[] = []
  const named = pairs.flatMap(({ name, text: url }) => {
    if (url === undefined || !isDns(url)) return [endpointAt(env, backend, variable, name, url)]
    const source = dnsName(url, name)
    if (source.ok) sources.push(source.name)
    else env.problems.add(`${variable}: the URL of ${name}: ${source.why}`)
    return []
  })
  if (pairs.length === 0 && !unreadable) {
    env.problems.add(`${variable}: is empty; write name=URL pairs, such as ${exampleOf(backend)}`)
  }
  checkNames(
    env,
    backend,
    variable,
    named,
    sources.flatMap((source) => (source.kind === 'dns' ? [source.group] : [])),
  )
  return { named, incomplete: unreadable || pairs.length === 0, usedDefault: false, sources }
}

export function endpointAt(
  env: Environment,
  backend: Backend,
  variable: string,
  name: string,
  text: string | undefined,
): Named {
  const slash = name.indexOf('/')
  const bare = { name, group: slash === -1 ? undefined : name.slice(0, slash), url: undefined, credentials: undefined }
  if (text === undefined) return bare
  const found = readAddress(text, exampleUrl(backend))
  if (!found.ok) {
    const which = /_(ENDPOINTS|TARGETS)$/.test(variable) ? `the URL of ${name} ` : ''
    const says = which === '' ? found.why : found.why.replace(/^port/, 'has a port that is refused: port')
    env.problems.add(`${variable}: ${which}${says}`)
    return bare
  }
  for (const secret of querySecrets(found.url)) env.secrets.add(secret)
  return {
    ...bare,
    url: isCanary(backend) ? baseUrl(found.url) : metricsUrl(found.url, TABLES[backend as ScrapedBackend]?.path),
    credentials: found.credentials,
  }
}

/** The variable of a one-endpoint set-up, and what holds on a laptop when nothing is set. */
function singleOf(backend: Backend): { variable: string; local?: string } | undefined {
  if (backend === 'ollama') return { variable: 'OLLAMA_URL', local: OLLAMA_DEFAULT }
  if (backend === 'openai' || backend === 'heartbeat-check') return undefined
  return backend === 'vllm' ? { variable: 'METRICS_URL', local: SCRAPE_DEFAULT } : { variable: 'METRICS_URL' }
}

function isCanary(backend: Backend): boolean {
  return backend === 'ollama' || backend === 'openai'
}

function exampleUrl(backend: Backend): string {
  const port = backend === 'ollama' ? 11434 : TABLES[backend as ScrapedBackend]?.port
  return `http://10.0.0.5:${port ?? 8000}`
}

function exampleOf(backend: Backend): string {
  return `${backend === 'dcgm' ? 'node-1' : 'chat/a'}=${exampleUrl(backend)}`
}

/** Every endpoint and every group once. */
function namesOf(
  named: readonly Pick<Named, 'name' | 'group'>[],
  more: readonly string[],
): { name: string; what: string }[] {
  const groups = new Set([...named.flatMap(({ group }) => group ?? []), ...more])
  return [
    ...[...groups].map((name) => ({ name, what: 'group' })),
    ...named.map(({ name }) => ({ name, what: 'endpoint' })),
  ]
}

/** Each beginning of a setting, cut between its words, and the setting: `KV` → `KV_CACHE_LIMIT`. */
function beginningsOf(settings: readonly string[]): Map<string, string> {
  const beginnings = new Map<string, string>()
  for (const setting of settings) {
    const words = setting.split('_')
    for (let n = 1; n <= words.length; n++) {
      const beginning = words.slice(0, n).join('_')
      if (!beginnings.has(beginning)) beginnings.set(beginning, setting)
    }
  }
  return beginnings
}

/** The backend itself (empty) and every configured name that this one continues: `CHAT` for `CHAT_WAITING`. */
function outerScopes(scope: string, owners: ReadonlyMap<string, string>): string[] {
  const words = scope.split('_')
  const inner = words.slice(1).map((_, i) => words.slice(0, i + 1).join('_'))
  return ['', ...inner.filter((outer) => owners.has(outer))]
}
