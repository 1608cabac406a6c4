import { type Backend, prefixOf } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { Rule } from '../model/rule.ts'
import { RULE_IDS, type RuleId, rulesOf, specOf } from '../rules/rules.ts'
import { type Environment, type Found, understand } from './environment.ts'
import { clearOf, clears, criticalValueOf, type Limit, limitOf, ownLimit, scaledClear } from './limits.ts'
import { RULE_ENDINGS, RULE_SETTINGS, type RuleEnding } from './settings.ts'
import { suggest } from './suggest.ts'
import type { Value } from './values.ts'

/** What the variables of one scope say about one rule. */
interface Said {
  LIMIT?: Found<Limit>
  CLEAR?: Found<number>
  CRITICAL?: Found<Limit>
  FOR?: Found<number>
  REPEAT?: Found<number | 'off'>
  PRIORITY?: Found<number>
}

/** The rule settings that are set, by scope: `''` is the backend, `BARE` what holds for all backends. */
export type RuleSettings = ReadonlyMap<string, ReadonlyMap<RuleId, Said>>

const BACKEND = ''
const BARE = '*'

/**
 * Reads every rule setting of this backend that is set, and refuses those that belong to nothing.
 * @param scopes the variable parts of the configured endpoints and groups: `CHAT_A`.
 * @param incomplete more may be configured than `scopes` tells, so a setting of an unknown scope is ignored.
 */
export function readRuleSettings(
  env: Environment,
  backend: Backend,
  scopes: ReadonlySet<string>,
  incomplete: boolean,
): RuleSettings {
  const settings = new Map<string, Map<RuleId, Said>>()
  for (const [name, text] of env.texts) {
    const placed = place(name, backend, scopes)
    if (placed === undefined) continue
    if (typeof placed === 'string') {
      if (placed !== UNKNOWN_SCOPE || !incomplete)
        env.problems.add(`${name}: ${explain(name, placed, backend, scopes)}`)
      continue
    }
    const said = say(env, name, text, placed)
    if (said === undefined) continue
    const rules = settings.get(placed.scope) ?? new Map<RuleId, Said>()
    settings.set(placed.scope, rules.set(placed.rule, { ...rules.get(placed.rule), ...said }))
  }
  return settings
}

/**
 * The rules of endpoints, after their variables, in catalogue order; those that are off are left out.
 * Endpoints with the same variables share one list: a thousand of them cost no more than a few.
 * @returns a function of the endpoint's scopes (its own variable part, then its group's) and of how many endpoints its
 * group has: `sibling` needs three.
 */
export function rulesBy(
  env: Environment,
  backend: Backend,
  settings: RuleSettings,
): (scopes: readonly string[], siblings: number) => Rule[] {
  const known = new Map<string, Rule[]>()
  return (scopes, siblings) => {
    const levels = [...scopes, BACKEND, BARE].filter((scope) => settings.has(scope))
    const key = `${Math.min(siblings, LARGEST_GROUP)} ${levels.join(' ')}`
    const rules = known.get(key) ?? rulesAt(env, backend, settings, levels, siblings)
    known.set(key, rules)
    return rules
  }
}

/** Instead of a number of siblings: the rules of a group as a whole. */
export const GROUP_ITSELF = -1
/** More endpoints in a group than this switch no rule on. */
const LARGEST_GROUP = Math.max(...RULE_IDS.map((id) => specOf(id).groupOf ?? 0))

function rulesAt(
  env: Environment,
  backend: Backend,
  settings: RuleSettings,
  levels: readonly string[],
  siblings: number,
): Rule[] {
  return rulesOf(backend).flatMap((id) => {
    if ((specOf(id).ofGroup === true) !== (siblings === GROUP_ITSELF)) return []
    if (siblings < (specOf(id).groupOf ?? siblings)) return []
    const rule = ruleOf(
      env,
      id,
      levels.flatMap((level) => settings.get(level)?.get(id) ?? []),
    )
    return rule === undefined ? [] : [rule]
  })
}

const NOTHING = { signals: [] }

function ruleOf(env: Environment, id: RuleId, said: readonly Said[]): Rule | undefined {
  const spec = specOf(id)
  const first = <E extends RuleEnding>(ending: E) => said.find((one) => one[ending] !== undefined)?.[ending] as Said[E]
  const limitSaid = first('LIMIT')
  const word = limitSaid?.value
  const limit = word === 'on' ? ownLimit(spec) : (word ?? spec.limit)
  if (limit === undefined || limit === 'off') return undefined
  const clearSaid = first('CLEAR')
  const clear = clearSaid ? clearSaid.value : scaledClear(spec, limit)
  const understood = limitSaid === undefined || limitSaid.value !== undefined
  if (clearSaid && clear !== undefined && understood && !clears(clear, limit, spec.breach)) {
    const than = spec.breach === 'below' ? 'at least' : spec.breach === 'above' ? 'at most' : 'below'
    const name = limitSaid?.name ?? `${id.toUpperCase()}_LIMIT`
    env.problems.add(
      `${clearSaid.name} is ${clear}: may be ${than} ${name}, which is ${limit}${limitSaid ? '' : ' by default'}`,
    )
  }
  const critical = criticalOf(env, id, { limit, name: limitSaid?.name }, first('CRITICAL'))
  const repeat = first('REPEAT')?.value
  const { needs = NOTHING, unit, breach } = spec
  return {
    id,
    needs,
    unit,
    breach,
    limit,
    critical,
    ...(limitSaid || clearSaid ? {} : { isDefault: true as const }),
    clear,
    ...defined({ runs: spec.runs }),
    for: first('FOR')?.value ?? spec.for,
    repeat: repeat === 'off' ? undefined : (repeat ?? spec.repeat),
    priority: first('PRIORITY')?.value ?? spec.priority,
    idles: spec.idles ?? false,
  }
}

/** The critical limit lies beyond the limit; a default one that a limit has overtaken counts for nothing. */
function criticalOf(
  env: Environment,
  id: RuleId,
  { limit, name = `${id.toUpperCase()}_LIMIT` }: { limit: number; name: string | undefined },
  said: Found<Limit> | undefined,
): number | undefined {
  const { critical } = specOf(id)
  const own = critical !== undefined && critical > limit ? critical : undefined
  if (said === undefined || said.value === undefined || said.value === 'on') return own
  if (said.value === 'off') return undefined
  if (said.value > limit) return said.value
  env.problems.add(`${said.name} is ${said.value}: may be above ${name}, which is ${limit}`)
  return own
}

interface Placed {
  scope: string
  rule: RuleId
  ending: RuleEnding
}

/** The rule is there, but no endpoint or group is called so. */
const UNKNOWN_SCOPE = 'unknown-scope'
const UNKNOWN_RULE = 'unknown-rule'
type Misplaced = typeof UNKNOWN_SCOPE | typeof UNKNOWN_RULE | RuleId

const ENDING = new RegExp(`_(${RULE_ENDINGS.join('|')})$`)

/**
 * Where a variable belongs.
 * @returns `undefined` when it is not one of ours; why it belongs nowhere, or the id of a rule that this backend does not have.
 */
function place(name: string, backend: Backend, scopes: ReadonlySet<string>): Placed | Misplaced | undefined {
  const ending = ENDING.exec(name)?.[1] as RuleEnding | undefined
  if (ending === undefined || (backend === 'heartbeat-check' && name.endsWith('_RUN_LIMIT'))) return undefined
  const whole = name.slice(0, -ending.length - 1)
  const rules = rulesOf(backend)
  const bare = RULE_IDS.find((id) => id.toUpperCase() === whole)
  if (bare) return rules.includes(bare) ? { scope: BARE, rule: bare, ending } : undefined
  if (whole === prefixOf(backend)) return UNKNOWN_RULE
  const prefix = `${prefixOf(backend)}_`
  if (!whole.startsWith(prefix)) return undefined
  const rest = whole.slice(prefix.length)
  const ends = RULE_IDS.filter((id) => rest === id.toUpperCase() || rest.endsWith(`_${id.toUpperCase()}`))
  for (const rule of ends.filter((id) => rules.includes(id))) {
    if (rest.length === rule.length) return { scope: BACKEND, rule, ending }
    const scope = rest.slice(0, -rule.length - 1)
    if (scopes.has(scope)) return { scope, rule, ending }
  }
  if (ends.some((id) => rules.includes(id))) return UNKNOWN_SCOPE
  return ends[0] ?? UNKNOWN_RULE
}

function explain(name: string, why: Misplaced, backend: Backend, scopes: ReadonlySet<string>): string {
  if (why !== UNKNOWN_SCOPE && why !== UNKNOWN_RULE) {
    return `${backend} has no rule ${why}; its rules are ${rulesOf(backend).join(', ')}`
  }
  const prefix = `${prefixOf(backend)}_`
  const ending = ENDING.exec(name)?.[0] ?? ''
  const rest = name.slice(prefix.length, -ending.length)
  // An endpoint without a rule: any of its rules may be meant.
  const meant = scopes.has(rest) ? undefined : suggest(rest, knownNames(backend, scopes))
  if (meant !== undefined) return `unknown setting, did you mean ${prefix}${meant}${ending}?`
  return why === UNKNOWN_SCOPE
    ? 'unknown setting: no endpoint or group of that name is configured'
    : `unknown setting; the rules of ${backend} are ${rulesOf(backend).join(', ')}`
}

/** What may stand between the prefix and the ending: `WAITING`, `CHAT_A_WAITING`. */
function* knownNames(backend: Backend, scopes: ReadonlySet<string>): Generator<string> {
  for (const scope of ['', ...scopes]) {
    for (const id of rulesOf(backend)) yield scope === '' ? id.toUpperCase() : `${scope}_${id.toUpperCase()}`
  }
}

/** Understands one setting. The values of each rule are made once: a thousand endpoints may have variables of their own. */
function say(env: Environment, name: string, text: string, { rule, ending }: Placed): Said | undefined {
  switch (ending) {
    case 'LIMIT': {
      const value = understand(env, name, text, cached(LIMITS, rule, limitOf))
      if (looksLikeMilliseconds(text, rule))
        env.warnings.add(
          `${name} is ${text} seconds, ${Math.round(Number(text) / 60)} minutes: write ${text}ms for milliseconds`,
        )
      return { LIMIT: { name, value } }
    }
    case 'CLEAR': {
      const value = cached(CLEARS, rule, clearOf)
      if (value) return { CLEAR: { name, value: understand(env, name, text, value) } }
      env.problems.add(`${name}: the rule ${rule} has no clear of its own: leave it out`)
      return undefined
    }
    case 'CRITICAL': {
      const value = cached(CRITICALS, rule, criticalValueOf)
      if (value) return { CRITICAL: { name, value: understand(env, name, text, value) } }
      env.problems.add(`${name}: the rule ${rule} has no critical limit: leave it out`)
      return undefined
    }
    case 'FOR':
      return { FOR: { name, value: understand(env, name, text, RULE_SETTINGS.FOR.value) } }
    case 'REPEAT':
      return { REPEAT: { name, value: understand(env, name, text, RULE_SETTINGS.REPEAT.value) } }
    case 'PRIORITY': {
      const value = understand(env, name, text, RULE_SETTINGS.PRIORITY.value)
      // https://github.com/gotify/server/issues/907
      if (value === 0) env.warnings.add(`${name} is 0: most phones stay silent`)
      return { PRIORITY: { name, value } }
    }
    default:
      return ending satisfies never
  }
}

/** A bare number of seconds, a hundred times what is usual: `VLLM_TTFT_LIMIT=3000`. */
function looksLikeMilliseconds(text: string, rule: RuleId): boolean {
  const { unit, limit } = specOf(rule)
  return unit === 'seconds' && /^\d+$/.test(text) && Number(text) >= 100 * (limit ?? USUAL_SECONDS)
}

/** Where a rule of seconds has no default limit. */
const USUAL_SECONDS = 5

const LIMITS = new Map<RuleId, Value<Limit>>()
const CRITICALS = new Map<RuleId, Value<Limit> | undefined>()
const CLEARS = new Map<RuleId, Value<number> | undefined>()

function cached<T>(cache: Map<RuleId, T>, rule: RuleId, make: (rule: RuleId) => T): T {
  if (!cache.has(rule)) cache.set(rule, make(rule))
  return cache.get(rule) as T
}
