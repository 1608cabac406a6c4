import { assert } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import type { Backend } from '../../src/model/backend.ts'
import type { Config, Endpoint } from '../../src/model/config.ts'
import type { Rule } from '../../src/model/rule.ts'
import type { RuleId } from '../../src/rules/rules.ts'

type Variables = Record<string, string | undefined>

/** The configuration, where there must be one. */
export function configOf(backend: Backend, variables: Variables, lambda = false): Config {
  const parsed = parseConfig(backend, variables, { lambda })
  if ('problems' in parsed) assert.fail(`there should be no problems, but: ${parsed.problems.join('\n')}`)
  return parsed.config
}

/** The problems; none is an empty list. */
export function problemsOf(backend: Backend, variables: Variables, lambda = false): string[] {
  const parsed = parseConfig(backend, variables, { lambda })
  return 'problems' in parsed ? parsed.problems : []
}

export function endpointOf(config: Config, name: string): Endpoint {
  const found = config.endpoints.find((endpoint) => endpoint.name === name)
  if (found === undefined) assert.fail(`no endpoint ${name}`)
  return found
}

/** One rule of one endpoint; `undefined` when it is off. */
export function ruleOf(config: Config, id: RuleId, name = config.endpoints[0]?.name ?? ''): Rule | undefined {
  return endpointOf(config, name).rules.find((rule) => rule.id === id)
}
