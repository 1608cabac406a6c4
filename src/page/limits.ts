import { readMaintenance } from '../config/endpoint-settings.ts'
import { type Environment, environmentOf, variableOf } from '../config/environment.ts'
import { readRuleSettings, rulesBy } from '../config/rule-settings.ts'
import type { Backend } from '../model/backend.ts'
import type { Rule } from '../model/rule.ts'
import type { EndpointSettings } from './view-of-state.ts'

type Variables = Readonly<Record<string, string | undefined>>

/**
 * What the variables say of endpoints that are only known from the state: limits and planned work, looked up as the
 * watcher looks them up. What is wrong with a variable is the watcher's to say.
 */
export function settingsBy(variables: Variables, backend: Backend) {
  const env: Environment = environmentOf(variables)
  let known: { names: readonly string[]; of: (name: string) => EndpointSettings } | undefined
  return (name: string, names: readonly string[]): EndpointSettings => {
    if (known?.names !== names) known = { names, of: lookUp(env, backend, names) }
    return known.of(name)
  }
}

function lookUp(env: Environment, backend: Backend, names: readonly string[]): (name: string) => EndpointSettings {
  const groups = new Map<string, number>()
  for (const name of names) {
    const group = groupOf(name)
    if (group !== undefined) groups.set(group, (groups.get(group) ?? 0) + 1)
  }
  const scopes = new Set(names.flatMap(scopesOf))
  const rulesOf = rulesBy(env, backend, readRuleSettings(env, backend, scopes, true))
  const maps = new Map<readonly Rule[], ReadonlyMap<string, Rule>>()
  return (name) => {
    const group = groupOf(name)
    const rules = rulesOf(scopesOf(name), group === undefined ? 1 : (groups.get(group) ?? 1))
    const byId = maps.get(rules) ?? new Map(rules.map((rule) => [rule.id, rule]))
    maps.set(rules, byId)
    const maintenance = readMaintenance(env, backend, scopesOf(name))
    return { name, group, rules: byId, ...(maintenance ? { maintenance } : {}) }
  }
}

/** `chat/a` is one of the group `chat`. */
function groupOf(name: string): string | undefined {
  const slash = name.indexOf('/')
  return slash < 0 ? undefined : name.slice(0, slash)
}

function scopesOf(name: string): string[] {
  const group = groupOf(name)
  return group === undefined ? [variableOf(name)] : [variableOf(name), variableOf(group)]
}
