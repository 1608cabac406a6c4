import { type Backend, prefixOf } from '../model/backend.ts'
import type { ChannelConfig, Config, Discovery, Endpoint, ReadSchedule, Source, Target } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Fallible } from '../model/fallible.ts'
import type { Rule } from '../model/rule.ts'
import { calendarOf } from './calendar.ts'
import { channelsByDefault, readChannels } from './channels.ts'
import { channelsFor, readEndpointSettings, requireModel } from './endpoint-settings.ts'
import { checkNames, type Named, type NamedEndpoints, readEndpoints } from './endpoints.ts'
import { type Environment, environmentOf, isSet, namesFor, read, variableOf } from './environment.ts'
import { refuseMisspelt, takeOffQuotes } from './known-names.ts'
import { readPageLinks } from './page.ts'
import { readOutward } from './reach.ts'
import { readWorkers } from './receiver.ts'
import { GROUP_ITSELF, type RuleSettings, readRuleSettings, rulesBy } from './rule-settings.ts'
import { type EndpointSetting, GENERAL } from './settings.ts'
import { readStatePlace } from './state-place.ts'

/**
 * Reads the whole configuration of one function from its variables (`docs/variables.md`): all problems at once, each
 * naming its variable and what it may be, none showing a secret.
 * @param options.lambda a push server, a bucket and endpoints are required; a laptop has defaults for them.
 * @param options.readSchedule reads the calendars of workers.
 * @param options.found the endpoints that the sources named at this run; only `discovery.expand` knows them.
 */
export function parseConfig(
  backend: Backend,
  variables: Readonly<Record<string, string | undefined>>,
  options: { lambda: boolean; found?: readonly Target[]; readSchedule?: ReadSchedule },
): Fallible<{ config: Config }, { problems: string[] }> {
  const env = environmentOf(variables)
  takeOffQuotes(env, variables)
  const { named, incomplete, usedDefault, sources } =
    backend === 'heartbeat-check' ? readBeats(env) : readEndpoints(env, backend, options.lambda, options.found)
  const groups = groupsOf(named, sources)
  const scopes = new Set([...named.flatMap((endpoint) => scopesOf(endpoint)), ...groups.map(variableOf)])
  const settings = readRuleSettings(env, backend, scopes, incomplete)
  const channels = readChannels(env, options.lambda)
  const endpoints = endpointsOf(env, backend, named, settings, options.readSchedule).map((endpoint, i) => {
    const own = channelsFor(env, backend, scopesOf(named[i] ?? endpoint), channels)
    return own ? { ...endpoint, channels: own } : endpoint
  })
  if (named.length === 0 && sources.length === 0)
    requireModel(env, backend, [readEndpointSettings(env, backend, [], undefined)])
  requireModel(env, backend, endpoints)
  const outward = readOutward(env)
  const state = readStatePlace(env, options.lambda, outward)
  const general = readGeneral(env)
  const page = readPageLinks(env)
  checkCanary(env, backend, endpoints, general.canary)
  if (options.lambda && general.metrics === 'all' && endpoints.length > MANY_METRICS) warnOfCost(env, endpoints.length)
  const discovery = sources.length === 0 ? undefined : discoveryOf(env, backend, settings, sources, named)
  refuseMisspelt(env, variables)
  if (env.problems.size > 0) return { ok: false, problems: [...env.problems] }
  const config: Config = {
    backend,
    endpoints,
    channels,
    heard: channelsFor(env, backend, [], channels) ?? channelsByDefault(channels),
    state,
    ...general,
    ...outward,
    secrets: [...env.secrets],
    warnings: [...env.warnings],
    ...(usedDefault ? { usedDefault } : {}),
    ...(page ? { page } : {}),
    ...poolsOf(env, backend, settings, groups),
    ...certificatesOf(env, backend, settings, channels),
  }
  if (!discovery) return { ok: true, config }
  const expand = (found: readonly Target[]) => parseConfig(backend, variables, { ...options, found })
  return { ok: true, config: { ...config, discovery: { ...discovery, expand } } }
}

/** Endpoints whose signals as metrics cost some 200 dollars a month. */
const MANY_METRICS = 50

function warnOfCost(env: Environment, endpoints: number): void {
  env.warnings.add(
    `METRICS=all writes the signals of ${endpoints} endpoints as CloudWatch metrics, each at a monthly price: see docs/logs.md`,
  )
}

function discoveryOf(
  env: Environment,
  backend: Backend,
  settings: RuleSettings,
  sources: Source[],
  named: readonly Named[],
): Omit<Discovery, 'expand'> {
  hideCredentials(env, backend)
  return {
    variable: `${prefixOf(backend)}_TARGETS`,
    sources,
    endpoint: sourcesEndpoint(env, backend, settings, sources.map(({ id }) => id).join(', ')),
    taken: named.map(({ name, group }) => ({ name, group })),
  }
}

/** What is blind when a source cannot be used. An endpoint of this name would read like the setting `VLLM_TARGETS`, and is refused. */
function sourcesEndpoint(env: Environment, backend: Backend, settings: RuleSettings, url: string): Endpoint {
  const rules = rulesBy(env, backend, settings)([], 1).filter(({ id }) => id === 'blind')
  const none = { model: undefined, authorization: undefined, gpuUrl: undefined, beat: undefined }
  return {
    name: 'targets',
    group: undefined,
    url,
    ...none,
    timeout: 0,
    flaps: undefined,
    runbookUrl: undefined,
    dashboardUrl: undefined,
    rules,
  }
}

/** Credentials of endpoints and groups that are only found later are masked from the start. */
function hideCredentials(env: Environment, backend: Backend): void {
  for (const [name, text] of env.texts) {
    if (!name.startsWith(`${prefixOf(backend)}_`) || !/_(BEARER_TOKEN|BASIC_AUTH)$/.test(name)) continue
    const password = text.slice(text.indexOf(':') + 1)
    env.secrets.add(text)
    if (!name.endsWith('_BASIC_AUTH')) continue
    env.secrets.add(Buffer.from(text, 'utf8').toString('base64'))
    if (password !== '') env.secrets.add(password)
  }
}

/** An endpoint with what came before its own settings. */
type NamedBeat = Named & Partial<Pick<Endpoint, 'beat'>>

function readBeats(env: Environment): Omit<NamedEndpoints, 'named'> & { named: NamedBeat[] } {
  const { named, incomplete } = readWorkers(env)
  const workers = named.map(({ name, beat }) => ({
    name,
    group: undefined,
    url: `beats/${name}`,
    credentials: undefined,
    beat,
  }))
  checkNames(env, 'heartbeat-check', 'HEARTBEAT_WORKERS', workers)
  return { named: workers, incomplete, usedDefault: false, sources: [] }
}

function endpointsOf(
  env: Environment,
  backend: Backend,
  named: readonly NamedBeat[],
  settings: RuleSettings,
  readSchedule: ReadSchedule | undefined,
): Endpoint[] {
  const sizes = new Map<string, number>()
  for (const { group } of named) if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1)
  const rulesOf = rulesBy(env, backend, settings)
  return named.map((endpoint) => {
    const { name, group, url = '', credentials, beat } = endpoint
    const scopes = scopesOf(endpoint)
    const siblings = group === undefined ? 1 : (sizes.get(group) ?? 1)
    const own = readEndpointSettings(env, backend, scopes, credentials)
    const all = rulesOf(scopes, siblings)
    const rules = onlyWithSettings(all, { ...own, isSecure: isSecure(url) || isSecure(own.gpuUrl) })
    return { name, group, url, ...own, rules, beat: beat && { ...beat, ...calendarOf(env, name, beat, readSchedule) } }
  })
}

function isSecure(url = ''): boolean {
  return url.startsWith('https:')
}

const withoutRules = new Map<string, WeakMap<readonly Rule[], Rule[]>>()

/** Without the rules that judge by a setting that is not set, or by a certificate where there is none. Made once for each list, which many endpoints share. */
function onlyWithSettings(
  rules: Rule[],
  { sloTtft, canary, isSecure }: Pick<Endpoint, 'sloTtft' | 'canary'> & { isSecure: boolean },
): Rule[] {
  const off = [
    ...(sloTtft === undefined ? ['slo'] : []),
    ...(canary?.expect ? [] : ['wrong_answer']),
    ...(isSecure ? [] : ['tls_expiry']),
  ]
  const lists = withoutRules.get(off.join()) ?? new WeakMap<readonly Rule[], Rule[]>()
  withoutRules.set(off.join(), lists)
  const known = lists.get(rules) ?? rules.filter(({ id }) => !off.includes(id))
  lists.set(rules, known)
  return known
}

/** Groups of replicas, and names that stand for one although nothing may be found under them. */
function groupsOf(named: readonly Named[], sources: readonly Source[]): string[] {
  const found = named.flatMap(({ group }) => group ?? [])
  return [...new Set([...found, ...sources.flatMap((source) => (source.kind === 'dns' ? [source.group] : []))])]
}

/** The rule by which the certificates of push servers are judged: that of the whole function. */
function certificatesOf(
  env: Environment,
  backend: Backend,
  settings: RuleSettings,
  channels: readonly ChannelConfig[],
): Pick<Config, 'certificates'> {
  if (!channels.some(({ url, fallback }) => isSecure(url) || isSecure(fallback?.url))) return {}
  const certificates = rulesBy(env, backend, settings)([], 1).find(({ id }) => id === 'tls_expiry')
  return defined({ certificates })
}

function poolsOf(
  env: Environment,
  backend: Backend,
  settings: RuleSettings,
  groups: readonly string[],
): Pick<Config, 'pools'> {
  const rulesOf = rulesBy(env, backend, settings)
  const pools = groups.flatMap((group) => rulesOf([variableOf(group)], GROUP_ITSELF).map((rule) => ({ group, rule })))
  return pools.length === 0 ? {} : { pools }
}

/** The variable parts of an endpoint, most specific first: `CHAT_A`, `CHAT`. */
function scopesOf({ name, group }: Pick<Named, 'name' | 'group'>): string[] {
  return group === undefined ? [variableOf(name)] : [variableOf(name), variableOf(group)]
}

function readGeneral(env: Environment) {
  const ping = read(env, 'PING_URL', GENERAL.PING_URL)
  for (const key of pingKeys(ping)) env.secrets.add(key)
  return {
    language: read(env, 'ALERT_LANGUAGE', GENERAL.ALERT_LANGUAGE),
    timezone: read(env, 'TIMEZONE', GENERAL.TIMEZONE),
    pingUrl: ping?.href,
    logLevel: read(env, 'LOG_LEVEL', GENERAL.LOG_LEVEL),
    metrics: read(env, 'METRICS', GENERAL.METRICS),
    window: read(env, 'WINDOW', GENERAL.WINDOW),
    interval: read(env, 'INTERVAL', GENERAL.INTERVAL),
    canary: {
      load: read(env, 'CANARY_LOAD', GENERAL.CANARY_LOAD),
      loadTimeout: read(env, 'CANARY_LOAD_TIMEOUT', GENERAL.CANARY_LOAD_TIMEOUT),
    },
  }
}

/** The path is the key to the check, and so is each long part of it: a service may repeat just the id. https://healthchecks.io/docs/http_api/ */
function pingKeys(ping: URL | undefined): string[] {
  if (ping === undefined || ping.pathname.length < 2) return []
  const parts = ping.pathname.split('/').filter((part) => part.length >= SHORTEST_KEY && !/^heartbeats?$/i.test(part))
  return [ping.pathname, ping.href, ...parts]
}

/** Shorter parts are words such as `ping` or `api`. */
const SHORTEST_KEY = 8

/**
 * A canary that is cut off before its limit can never reach it. A default limit is only warned about: with a
 * shorter time a long wait is reported as failures in a row.
 */
function checkCanary(
  env: Environment,
  backend: Backend,
  endpoints: readonly Endpoint[],
  { load, loadTimeout }: Config['canary'],
): void {
  for (const endpoint of endpoints) {
    const own = (setting: string) => namesFor(backend, scopesOf(endpoint), setting)
    const set = (names: readonly string[]) => names.find((name) => isSet(env, name))
    warnOfRequest(env, endpoint, { own: (setting) => set([...own(setting), setting]), load })
    for (const { id, limit } of endpoint.rules) {
      if (id === 'canary' && limit * 1_000 >= endpoint.timeout) {
        const limitName = set([...own('CANARY_LIMIT'), 'CANARY_LIMIT'])
        const cut = set(own('TIMEOUT')) ?? `${prefixOf(backend)}_TIMEOUT`
        if (limitName === undefined) env.warnings.add(tooShort(cut, endpoint.timeout, limit))
        else neverReached(env, limitName, limit, cut, endpoint.timeout)
      }
      if (id !== 'cold_load') continue
      const limitName = set([...own('COLD_LOAD_LIMIT'), 'COLD_LOAD_LIMIT']) ?? 'COLD_LOAD_LIMIT'
      if (limit * 1_000 >= loadTimeout) neverReached(env, limitName, limit, 'CANARY_LOAD_TIMEOUT', loadTimeout)
      if (!load) env.warnings.add(`${limitName} has no effect unless CANARY_LOAD=yes: the canary loads no model`)
    }
  }
}

/** What is asked for in vain. @param own the variable that sets it. */
function warnOfRequest(
  env: Environment,
  { canary, rules }: Endpoint,
  { own, load }: { own: (setting: EndpointSetting) => string | undefined; load: boolean },
): void {
  if (canary === undefined) return
  const [expect, prompt, tokens, idle] = (
    ['CANARY_EXPECT', 'CANARY_PROMPT', 'CANARY_TOKENS', 'CANARY_IDLE'] as const
  ).map(own)
  if (canary.expect && prompt === undefined)
    env.warnings.add(`${expect} is set and CANARY_PROMPT is not: the canary asks “${canary.prompt}”`)
  if (canary.expect && tokens === undefined)
    env.warnings.add(`${expect} is set and CANARY_TOKENS is not: the answer is cut after one token`)
  if (canary.tokens === 1 && rules.some(({ id }) => id === 'canary_rate'))
    env.warnings.add('CANARY_RATE_LIMIT has no effect unless CANARY_TOKENS is above 1: one token has no rate')
  if (canary.idle === 'skip' && load)
    env.warnings.add(`${idle}=skip has no effect with CANARY_LOAD=yes: the canary loads the model again`)
}

function neverReached(env: Environment, name: string, limit: number, cut: string, after: number): void {
  env.problems.add(`${name} of ${limit} s can never be reached: ${cut} cuts the canary off after ${after / 1_000} s`)
}

function tooShort(cut: string, after: number, limit: number): string {
  return `${cut} cuts the canary off after ${after / 1_000} s, before its limit of ${limit} s: a long wait is told as down, unless CANARY_LIMIT is set below that`
}
