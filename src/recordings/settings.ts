import { parseConfig } from '../config/parse.ts'
import type { Backend } from '../model/backend.ts'
import { prefixOf } from '../model/backend.ts'
import type { Config } from '../model/config.ts'
import type { Fallible } from '../model/fallible.ts'
import type { RecordedEndpoint } from './entry.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** One variable with the values to try. */
export interface Choice {
  name: string
  values: string[]
}

/** `WAITING_LIMIT=10,20,40` → the variable and its values. @returns why not, where it is none. */
export function parseChoice(text: string): Choice | string {
  const at = text.indexOf('=')
  const name = text.slice(0, Math.max(0, at)).trim()
  const values = text
    .slice(at + 1)
    .split(',')
    .map((value) => value.trim())
  if (!/^[A-Z][A-Z0-9_]*$/.test(name) || values.some((value) => value === ''))
    return `--set ${text}: write a variable with its values, as in WAITING_LIMIT=10,20,40`
  return { name, values }
}

/** Every combination of the choices; none: one setting, as configured. */
export function combinations(choices: readonly Choice[]): Record<string, string>[] {
  return choices.reduce<Record<string, string>[]>(
    (all, { name, values }) => all.flatMap((set) => values.map((value) => ({ ...set, [name]: value }))),
    [{}],
  )
}

/** A name that no address has: recordings hold none. */
const NOWHERE = 'http://recorded.invalid'
/** What a replay must not do: push, ping, find endpoints, or read a state. */
const LEFT_OUT = /^(NOTIFLY_|PUSH(_|$)|PING_URL$|STATE_|METRICS_URL$|OLLAMA_URL$|MIN_PRIORITY$)|_PUSH$/

/**
 * The configuration of a replay: the rules as this environment has them, for the recorded endpoints. A configured
 * endpoint that another watcher called by its address is recognised by it.
 * @param set variables that are tried instead; a bare one (`WAITING_LIMIT`) goes before all narrower ones.
 */
export function replayConfig(
  backend: Backend,
  env: Variables,
  recorded: readonly RecordedEndpoint[],
  set: Readonly<Record<string, string>>,
): Fallible<{ config: Config; nameOf: ReadonlyMap<string, string> }, { problems: string[] }> {
  const prefix = prefixOf(backend)
  const configured = configuredEndpoints(backend, env)
  const nameOf = new Map(recorded.map((one) => [one.name, nameFor(one, configured)]))
  const names = new Set([...nameOf.values(), ...configured.map(({ name }) => name)])
  const variables: Record<string, string | undefined> = Object.fromEntries(
    Object.entries(env).filter(([name]) => !LEFT_OUT.test(name)),
  )
  variables[`${prefix}_ENDPOINTS`] = [...names].map((name) => `${name}=${NOWHERE}/${name}`).join(' ')
  for (const { name, model } of recorded) {
    const variable = `${prefix}_${(nameOf.get(name) ?? name).toUpperCase().replace(/[/-]/g, '_')}_MODEL`
    if (model !== undefined && variables[`${prefix}_MODEL`] === undefined) variables[variable] ??= model
  }
  for (const [name, value] of Object.entries(set)) {
    for (const other of Object.keys(variables))
      if (other.startsWith(`${prefix}_`) && other.endsWith(`_${name}`)) delete variables[other]
    variables[name] = value
  }
  const parsed = parseConfig(backend, variables, { lambda: false })
  if (!parsed.ok) return parsed
  const wanted = new Set(nameOf.values())
  const { discovery: _, ...config } = parsed.config
  return { ok: true, config: { ...config, endpoints: forReplay(config, wanted) }, nameOf }
}

/** `gap` tells that the watcher did not run; where a recording has gaps, the replay lists them itself. */
function forReplay(config: Config, wanted: ReadonlySet<string>): Config['endpoints'] {
  return config.endpoints
    .filter(({ name }) => wanted.has(name))
    .map((endpoint) => ({ ...endpoint, rules: endpoint.rules.filter(({ id }) => id !== 'gap') }))
}

function configuredEndpoints(backend: Backend, env: Variables): { name: string; host: string }[] {
  if (env[`${prefixOf(backend)}_ENDPOINTS`] === undefined) return []
  const parsed = parseConfig(backend, env, { lambda: false })
  if (!parsed.ok) return []
  return parsed.config.endpoints.map(({ name, url }) => ({ name, host: URL.canParse(url) ? new URL(url).host : '' }))
}

function nameFor({ name, address }: RecordedEndpoint, configured: readonly { name: string; host: string }[]): string {
  return configured.find(({ host }) => host !== '' && host === address)?.name ?? name
}
