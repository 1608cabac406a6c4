import { BACKENDS } from '../../src/backends/backends.ts'
import { isChannelVariable } from '../../src/config/channels.ts'
import { configuredBackends, namingVariables } from '../../src/config/configured.ts'
import { BARE_SETTINGS, endpointSettings, GENERAL, PER_ENDPOINT, RULE_ENDINGS } from '../../src/config/settings.ts'
import { mask } from '../../src/log.ts'
import { type Backend, prefixOf } from '../../src/model/backend.ts'
import { RULE_IDS, rulesOf } from '../../src/rules/rules.ts'

export type Variables = Readonly<Record<string, string | undefined>>
export type FunctionName = Backend | 'heartbeat-receive' | 'page'

/** The functions that something is configured for; only these are deployed. */
export function configuredFunctions(env: Variables): FunctionName[] {
  const backends = configuredBackends(env)
  return [
    ...backends,
    ...(backends.includes('heartbeat-check') ? (['heartbeat-receive'] as const) : []),
    ...(isSet(env, 'PAGE_SECRET') ? (['page'] as const) : []),
  ]
}

function isSet(env: Variables, variable: string): boolean {
  return (env[variable] ?? '').trim() !== ''
}

/** Not those that answer requests. */
export function isScheduled(name: FunctionName): name is Backend {
  return name !== 'heartbeat-receive' && name !== 'page'
}

/**
 * The variables that one function gets: those it shares with the others and those of its own backend, nothing else of
 * the environment. A misspelt setting of the backend goes along, so that the function can refuse it.
 */
export function variablesOf(name: FunctionName, env: Variables): Record<string, string> {
  const takes = isScheduled(name) ? takenBy(name, env) : name === 'page' ? isForPage : isForReceiver
  const chosen: Record<string, string> = {}
  for (const [variable, text] of Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (text !== undefined && text.trim() !== '' && takes(variable)) chosen[variable] = text
  }
  return chosen
}

/** Where the state lies is said by the deployment; a folder is no place in Lambda. */
const BY_DEPLOYMENT = new Set(['STATE_BUCKET', 'STATE_DIR'])
const CANARY = ['CANARY_LOAD', 'CANARY_LOAD_TIMEOUT']
const ENDINGS = ['ENDPOINTS', 'TARGETS', 'URL', 'WORKERS', ...Object.keys(PER_ENDPOINT), ...RULE_ENDINGS]

/** What the functions that answer requests are asked with: not a watcher's. Without an address of the page nothing is signed either. */
function isForOthers(name: string, env: Variables): boolean {
  return name === 'HEARTBEAT_TOKEN' || name === 'PAGE_TOKEN' || (name === 'PAGE_SECRET' && !isSet(env, 'PAGE_URL'))
}

function takenBy(backend: Backend, env: Variables): (variable: string) => boolean {
  const canary = backend === 'ollama' || backend === 'openai'
  const shared = new Set(
    Object.keys(GENERAL).filter(
      (name) => !BY_DEPLOYMENT.has(name) && !isForOthers(name, env) && (canary || !CANARY.includes(name)),
    ),
  )
  for (const rule of rulesOf(backend)) for (const ending of RULE_ENDINGS) shared.add(`${rule.toUpperCase()}_${ending}`)
  for (const setting of endpointSettings(backend)) if (BARE_SETTINGS.has(setting)) shared.add(setting)
  for (const variable of namingVariables(backend)) shared.add(variable)
  const prefix = `${prefixOf(backend)}_`
  // vLLM and Ollama have variables of their own that begin like ours, keys among them: only our endings are taken.
  const isOurs = (variable: string) =>
    variable.startsWith(prefix) &&
    ENDINGS.some((ending) => variable === prefix + ending || variable.endsWith(`_${ending}`))
  return (variable) =>
    shared.has(variable) ||
    variable === 'PUSH' ||
    isChannelVariable(variable) ||
    isOurs(variable) ||
    variable.startsWith('OTEL_')
}

/** Limits and planned work, which it shows, and what opens it; nothing that a watcher asks its servers with. */
function isForPage(variable: string): boolean {
  const own = ['PAGE_SECRET', 'PAGE_URL', 'PAGE_TOKEN', 'TIMEZONE', 'MAINTENANCE', 'ALERT_LANGUAGE']
  if ([...own, ...PLACE].includes(variable)) return true
  const isOurs = BACKENDS.some((backend) => variable.startsWith(`${prefixOf(backend)}_`))
  if (isOurs && variable.endsWith('_MAINTENANCE')) return true
  const rule = RULE_ENDINGS.map((ending) => `_${ending}`).find((ending) => variable.endsWith(ending))
  if (rule === undefined) return false
  const named = variable.slice(0, -rule.length).toLowerCase()
  return RULE_IDS.some((id) => named === id || (isOurs && named.endsWith(`_${id}`)))
}

/** Where the state lies, and how much is logged. */
const PLACE = ['STATE_PREFIX', 'S3_ENDPOINT', 'S3_FORCE_PATH_STYLE', 'LOG_LEVEL']

function isForReceiver(variable: string): boolean {
  return ['HEARTBEAT_WORKERS', 'HEARTBEAT_TOKEN', ...PLACE].includes(variable)
}

/** Tokens, passwords, ping addresses, those of channels (of some the whole address is the secret), and any text that carries credentials in an address. */
export function isSecret(variable: string, text: string): boolean {
  const isSecretName = /(_TOKEN|_BASIC_AUTH|_SECRET)$|^PUSH_[A-Z0-9]+$|^OTEL_\w+_HEADERS$/.test(variable)
  return isSecretName || variable === 'PING_URL' || mask(text, []) !== text
}

/** `ssm:/queuebell/prod/NOTIFLY_TOKEN`: the value stays in AWS's parameter store, the function reads it there. */
export function isParameter(text: string): boolean {
  return text.trim().startsWith('ssm:')
}

/** The parameter that a secret of `.env` is kept in. */
export function parameterOf(variable: string, stage: string): string {
  return `/queuebell/${stage}/${variable}`
}

/** The variables as they stand in the template: secrets only as the names of their parameters. */
export function withoutSecrets(variables: Readonly<Record<string, string>>, stage: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).map(([variable, text]) => {
      if (isParameter(text) || !isSecret(variable, text)) return [variable, text.trim()]
      return [variable, `ssm:${parameterOf(variable, stage)}`]
    }),
  )
}
