import { type Backend, prefixOf } from '../model/backend.ts'
import {
  type CanaryRequest,
  type ChannelConfig,
  type Endpoint,
  type MaintenanceWindow,
  NOTIFLY,
} from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { type Credentials, metricsUrl } from './address.ts'
import { namedChannels } from './channels.ts'
import { type Environment, type Found, find, namesFor, read } from './environment.ts'
import { readReach } from './reach.ts'
import { BARE_SETTINGS, type EndpointSetting, endpointSettings, GENERAL, PER_ENDPOINT } from './settings.ts'
import type { Value } from './values.ts'

type OwnSettings = Pick<
  Endpoint,
  | 'model'
  | 'reach'
  | 'authorization'
  | 'timeout'
  | 'sloTtft'
  | 'canary'
  | 'gpuUrl'
  | 'flaps'
  | 'runbookUrl'
  | 'dashboardUrl'
  | 'maintenance'
>

const SCRAPE_TIMEOUT = 5_000
const CANARY_TIMEOUT = 30_000

/**
 * What the variables of one endpoint say, its own before its group's before the backend's.
 * @param scopes the endpoint's variable part, then its group's; none checks only the backend's own variables.
 * @param credentials those in its URL count as the endpoint's own.
 */
export function readEndpointSettings(
  env: Environment,
  backend: Backend,
  scopes: readonly string[],
  credentials: Credentials | undefined,
): OwnSettings {
  const has = (setting: EndpointSetting) => endpointSettings(backend).includes(setting)
  const first = <T>(name: EndpointSetting, { value }: { value: Value<T> }) =>
    has(name) ? find(env, [...namesFor(backend, scopes, name), ...bareOf(name)], value) : undefined
  const gpuUrl = first('GPU_URL', PER_ENDPOINT.GPU_URL)?.value
  // A time-out that was not understood must not make a limit look out of reach.
  const timeout = first('TIMEOUT', PER_ENDPOINT.TIMEOUT)
  const flaps = first('FLAPS', PER_ENDPOINT.FLAPS)
  const canary = backend === 'ollama' || backend === 'openai'
  const reach = has('TLS_CA') ? readReach(env, namesFor(backend, scopes, '')) : undefined
  return {
    ...defined({ reach }),
    ...(canary && { canary: requestOf(first) }),
    model: first('MODEL', PER_ENDPOINT.MODEL)?.value,
    authorization: authorizationOf(env, backend, scopes, credentials),
    timeout: timeout ? (timeout.value ?? Number.POSITIVE_INFINITY) : canary ? CANARY_TIMEOUT : SCRAPE_TIMEOUT,
    sloTtft: first('SLO_TTFT', PER_ENDPOINT.SLO_TTFT)?.value,
    gpuUrl: gpuUrl && metricsUrl(gpuUrl),
    flaps: flaps?.value === 'off' ? undefined : (flaps?.value ?? PER_ENDPOINT.FLAPS.fallback),
    runbookUrl: first('RUNBOOK_URL', PER_ENDPOINT.RUNBOOK_URL)?.value,
    dashboardUrl: first('DASHBOARD_URL', PER_ENDPOINT.DASHBOARD_URL)?.value,
    ...defined({ maintenance: readMaintenance(env, backend, scopes) }),
  }
}

/** The planned work of one endpoint: its own before its group's before the backend's before that of all. */
export function readMaintenance(
  env: Environment,
  backend: Backend,
  scopes: readonly string[],
): MaintenanceWindow[] | undefined {
  const names = [...namesFor(backend, scopes, 'MAINTENANCE'), 'MAINTENANCE']
  const windows = find(env, names, PER_ENDPOINT.MAINTENANCE.value)?.value
  if (!windows) return undefined
  const zone = read(env, 'TIMEZONE', GENERAL.TIMEZONE)
  return windows.map((window) => (window.kind === 'weekly' ? { ...window, zone: window.zone ?? zone } : window))
}

/**
 * The channels that `PUSH` names for one endpoint, looked up as a rule's setting is; `undefined` where it names none.
 * @param scopes none: those of the function.
 */
export function channelsFor(
  env: Environment,
  backend: Backend,
  scopes: readonly string[],
  channels: readonly ChannelConfig[],
): string[] | undefined {
  const name = [...namesFor(backend, scopes, 'PUSH'), 'PUSH'].find((one) => env.texts.has(one))
  if (name === undefined) return undefined
  if (name === 'PUSH' && channels.every((channel) => channel.name === NOTIFLY)) {
    // Scripts have a variable of this name, too.
    env.warnings.add('PUSH names channels, but no PUSH_<NAME> declares one: it is not used')
    return undefined
  }
  return namedChannels(env, name, env.texts.get(name) ?? '', channels)
}

/** What the canary asks, and how often. */
function requestOf(
  first: <T>(name: EndpointSetting, setting: { value: Value<T> }) => Found<T> | undefined,
): CanaryRequest {
  const { CANARY_TOKENS, CANARY_PROMPT, CANARY_EXPECT, CANARY_BUDGET, CANARY_IDLE } = PER_ENDPOINT
  return {
    tokens: first('CANARY_TOKENS', CANARY_TOKENS)?.value ?? CANARY_TOKENS.fallback,
    prompt: first('CANARY_PROMPT', CANARY_PROMPT)?.value ?? CANARY_PROMPT.fallback,
    idle: first('CANARY_IDLE', CANARY_IDLE)?.value ?? CANARY_IDLE.fallback,
    ...defined({
      expect: first('CANARY_EXPECT', CANARY_EXPECT)?.value,
      budget: first('CANARY_BUDGET', CANARY_BUDGET)?.value,
    }),
  }
}

function bareOf(setting: EndpointSetting): EndpointSetting[] {
  return BARE_SETTINGS.has(setting) ? [setting] : []
}

/** The most specific of URL credentials, `_BEARER_TOKEN` and `_BASIC_AUTH`; two at the same level are a problem. */
function authorizationOf(
  env: Environment,
  backend: Backend,
  scopes: readonly string[],
  credentials: Credentials | undefined,
): string | undefined {
  if (!endpointSettings(backend).includes('BEARER_TOKEN')) return undefined
  const levels = namesFor(backend, scopes, '')
  for (const [i, level] of levels.entries()) {
    const bearer = find(env, [`${level}BEARER_TOKEN`], PER_ENDPOINT.BEARER_TOKEN.value)
    const basic = find(env, [`${level}BASIC_AUTH`], PER_ENDPOINT.BASIC_AUTH.value)
    const inUrl =
      i === 0 && credentials ? { name: `the user in the URL of ${level.slice(0, -1)}`, value: credentials } : undefined
    const set: Found<unknown>[] = [inUrl, bearer, basic].filter((one) => one !== undefined)
    const [one, other] = set
    if (one === undefined) continue
    if (other) env.problems.add(`${other.name}: cannot go with ${one.name}; leave one out`)
    const pair = inUrl?.value ?? basic?.value
    if (bearer?.value !== undefined) return secret(env, `Bearer ${bearer.value}`, bearer.value)
    if (pair) return secret(env, basicOf(pair), `${pair.user}:${pair.password}`, pair.password || pair.user)
    return undefined
  }
  return undefined
}

function basicOf({ user, password }: Credentials): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`
}

function secret(env: Environment, authorization: string, ...parts: string[]): string {
  for (const part of [authorization, ...parts]) if (part !== '') env.secrets.add(part)
  return authorization
}

/** A canary needs a model to ask: one problem, whichever endpoints lack it. */
export function requireModel(env: Environment, backend: Backend, endpoints: readonly OwnSettings[]): void {
  if (backend !== 'ollama' && backend !== 'openai') return
  if (endpoints.every(({ model }) => model !== undefined)) return
  const name = `${prefixOf(backend)}_MODEL`
  const set = [...env.texts.keys()].some((key) => key.startsWith(`${prefixOf(backend)}_`) && key.endsWith('_MODEL'))
  if (env.texts.has(name) || (set && endpoints.length === 0)) return
  const example = backend === 'ollama' ? 'llama3.1:8b' : 'llama-3.1-8b'
  env.problems.add(`${name}: is not set; it names the model that the canary asks, such as ${example}`)
}
