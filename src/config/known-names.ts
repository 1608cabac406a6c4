import { BACKENDS } from '../backends/backends.ts'
import { type Backend, prefixOf } from '../model/backend.ts'
import { RULE_IDS, rulesOf } from '../rules/rules.ts'
import { isChannelVariable } from './channels.ts'
import { type Environment, unquoted, variableOf } from './environment.ts'
import { isForeign } from './foreign-names.ts'
import { BARE_SETTINGS, endpointSettings, GENERAL, RULE_ENDINGS } from './settings.ts'
import { editDistance, suggest } from './suggest.ts'

type Variables = Readonly<Record<string, string | undefined>>

/** What a deployment can be told; read by the deployment alone. */
export const DEPLOY_NAMES = [
  'DEPLOY_REGION',
  'DEPLOY_STAGE',
  'DEPLOY_SCHEDULE',
  'DEPLOY_MEMORY',
  'DEPLOY_ARCHITECTURE',
  'DEPLOY_CONCURRENCY',
  'DEPLOY_SHARDS',
  'DEPLOY_ALARM_EMAIL',
  'DEPLOY_SUBNETS',
  'DEPLOY_SECURITY_GROUPS',
] as const

const ruleSettings = (ids: readonly string[]) =>
  ids.flatMap((id) => RULE_ENDINGS.map((ending) => `${id.toUpperCase()}_${ending}`))

/** What may follow `VLLM_` or `VLLM_CHAT_A_`. */
const ownSettings = (backend: Backend): string[] => [...ruleSettings(rulesOf(backend)), ...endpointSettings(backend)]

const SETTINGS = new Map(BACKENDS.map((backend) => [prefixOf(backend), ownSettings(backend)]))

/** Every variable that names no endpoint. */
const EXACT: ReadonlySet<string> = new Set([
  ...Object.keys(GENERAL),
  ...DEPLOY_NAMES,
  'METRICS_URL',
  'OLLAMA_URL',
  'HEARTBEAT_WORKERS',
  'PUSH',
  ...ruleSettings(RULE_IDS),
  ...BARE_SETTINGS,
  ...BACKENDS.flatMap((backend) => {
    const lists = backend === 'heartbeat-check' ? [] : ['ENDPOINTS', 'TARGETS']
    return [...lists, ...ownSettings(backend)].map((setting) => `${prefixOf(backend)}_${setting}`)
  }),
])

/** The configured endpoints and groups by the beginning of their backend's variables. */
interface Scopes {
  names: ReadonlySet<string>
  /** More are found at each run: any name may be one. */
  open: boolean
}

function scopesIn(env: Variables, prefix: string): Scopes {
  const list = env[prefix === 'HEARTBEAT' ? 'HEARTBEAT_WORKERS' : `${prefix}_ENDPOINTS`] ?? ''
  const items = list.split(/[\s,]+/).filter((item) => item !== '')
  const pairs = items.filter((item) => item.includes('='))
  const names = pairs.map((item) => item.slice(0, item.indexOf('=')))
  const groups = names.flatMap((name) => (name.includes('/') ? [name.slice(0, name.indexOf('/'))] : []))
  return {
    // The one endpoint of a one-endpoint set-up is called as its backend.
    names: new Set([...(items.length === 0 ? [prefix] : []), ...[...names, ...groups].map(variableOf)]),
    open: (env[`${prefix}_TARGETS`] ?? '') !== '' || list.includes('dns+') || pairs.length < items.length,
  }
}

/** A variable that is none of ours. */
export interface Unknown {
  name: string
  /** The one that was most likely meant. */
  meant: string | undefined
}

/**
 * Names that are no variables of ours, for our own `.env`, where each is a mistake.
 * @param env everything that is set, so that the endpoints are known that a name may begin with.
 */
export function unknownIn(names: Iterable<string>, env: Variables): Unknown[] {
  const scopes = scopesOf(env)
  return [...names].flatMap((name) => {
    if (isKnown(name, scopes) || isForeign(name)) return []
    return [{ name, meant: suggest(name.toUpperCase(), candidates(name, scopes)) }]
  })
}

/**
 * Variables of the environment that were surely meant to be ours: within two letters of one (one, where it is short), or
 * cut off inside its last word. What else is in an environment is not ours to judge.
 */
export function misspeltIn(env: Variables): Unknown[] {
  const scopes = scopesOf(env)
  return Object.entries(env).flatMap(([name, text]) => {
    if (!text?.trim() || isKnown(name, scopes) || isForeign(name)) return []
    const meant = nearest(name, candidates(name, scopes))
    return meant === undefined ? [] : [{ name, meant }]
  })
}

/** In words that follow the name. */
export function unknownWords({ meant }: Unknown): string {
  return meant === undefined ? 'no variable of Queuebell; take it out' : `unknown setting, did you mean ${meant}?`
}

/** Takes off the quotation marks that docker's `--env-file` keeps, where a variable is ours. */
export function takeOffQuotes(env: Environment, variables: Variables): void {
  for (const [name, text] of env.texts) {
    const bare = unquoted(text)
    if (bare === text || !isOurs(name, variables)) continue
    env.texts.set(name, bare)
    env.warnings.add(
      `${name} begins and ends with a quotation mark, which was taken off: docker's --env-file keeps them, so write none`,
    )
  }
}

/** Tells misspelt names; one that has a problem already is not told again. */
export function refuseMisspelt(env: Environment, variables: Variables): void {
  const told = [...env.problems]
  for (const unknown of misspeltIn(variables)) {
    if (told.some((problem) => problem.startsWith(`${unknown.name}:`))) continue
    env.problems.add(`${unknown.name}: ${unknownWords(unknown)}`)
  }
}

/** Whether a variable is ours, under one of the configured endpoints or groups where it names one. */
export function isOurs(name: string, env: Variables): boolean {
  return isKnown(name, scopesOf(env))
}

type AllScopes = ReadonlyMap<string, Scopes>

function scopesOf(env: Variables): AllScopes {
  return new Map([...SETTINGS.keys()].map((prefix) => [prefix, scopesIn(env, prefix)]))
}

function isKnown(name: string, all: AllScopes): boolean {
  if (EXACT.has(name) || isChannelVariable(name)) return true
  return [...all].some(([prefix, scopes]) => {
    if (!name.startsWith(`${prefix}_`)) return false
    const rest = name.slice(prefix.length + 1)
    return (SETTINGS.get(prefix) ?? []).some((setting) => {
      if (!rest.endsWith(`_${setting}`)) return false
      return scopes.open || scopes.names.has(rest.slice(0, -setting.length - 1))
    })
  })
}

/** More endpoints than this are only looked through where the name begins as theirs do. */
const FEW = 50

function* candidates(name: string, all: AllScopes): Generator<string> {
  yield* EXACT
  for (const [prefix, { names }] of all) {
    if (names.size > FEW && !name.startsWith(`${prefix}_`)) continue
    for (const scope of names) for (const setting of SETTINGS.get(prefix) ?? []) yield `${prefix}_${scope}_${setting}`
  }
}

const LONG = 9
const SHORT = 6

function nearest(name: string, known: Iterable<string>): string | undefined {
  let most = name.length >= LONG ? 2 : name.length >= SHORT ? 1 : 0
  const letters = lettersOf(name)
  let best: string | undefined
  let longer: string | undefined
  for (const other of known) {
    if (longer === undefined && isCutOff(name, other)) longer = other
    if (Math.abs(other.length - name.length) > most) continue
    // Each letter that differs changes at most two of the letters that there are.
    if (bitsOf(letters ^ lettersOf(other)) > 2 * most) continue
    const distance = editDistance(name, other)
    if (distance > most || distance === 0) continue
    best = other
    most = distance - 1
    if (most === 0) break
  }
  return best ?? longer
}

/** `ALERT_LANG` of `ALERT_LANGUAGE`: too short a beginning is a word of anybody's. */
function isCutOff(name: string, whole: string): boolean {
  if (name.length < LONG || !name.includes('_') || !whole.startsWith(name)) return false
  return !name.endsWith('_') && !whole.slice(name.length).includes('_')
}

const known = new Map<string, number>()

/** Which of 32 classes of letters occur. */
function lettersOf(name: string): number {
  let letters = known.get(name)
  if (letters === undefined) {
    letters = 0
    for (let i = 0; i < name.length; i++) letters |= 1 << (name.charCodeAt(i) & 31)
    if (EXACT.has(name)) known.set(name, letters)
  }
  return letters
}

function bitsOf(number: number): number {
  let n = 0
  for (let rest = number >>> 0; rest !== 0; rest &= rest - 1) n++
  return n
}
