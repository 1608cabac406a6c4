import { isChannelVariable } from '../../src/config/channels.ts'
import { configuredBackends, namingVariables } from '../../src/config/configured.ts'
import { BARE_SETTINGS, endpointSettings, GENERAL, PER_ENDPOINT, RULE_ENDINGS } from '../../src/config/settings.ts'
import { mask } from '../../src/log.ts'
import { type Backend, prefixOf } from '../../src/model/backend.ts'
import { rulesOf } from '../../src/rules/rules.ts'

export type Variables = Readonly<Record<string, string | undefined>>
export type FunctionName = Backend | 'heartbeat-receive'

/** The functions that something is configured for; only these are deployed. */
export function configuredFunctions(env: Variables): FunctionName[] {
  const backends = configuredBackends(env)
  return [...backends, ...(backends.includes('heartbeat-check') ? (['heartbeat-receive'] as const) : [])]
}

/**
 * The variables that one function gets: those it shares with the others and those of its own backend, nothing else of
 * the environment. A misspelt setting of the backend goes along, so that the function can refuse it.
 */
export function variablesOf(name: FunctionName, env: Variables): Record<string, string> {
  const takes = name === 'heartbeat-receive' ? isForReceiver : takenBy(name)
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

function takenBy(backend: Backend): (variable: string) => boolean {
  const canary = backend === 'ollama' || backend === 'openai'
  const shared = new Set(
    Object.keys(GENERAL).filter(
      (name) => !BY_DEPLOYMENT.has(name) && name !== 'HEARTBEAT_TOKEN' && (canary || !CANARY.includes(name)),
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

function isForReceiver(variable: string): boolean {
  return [
    'HEARTBEAT_WORKERS',
    'HEARTBEAT_TOKEN',
    'STATE_PREFIX',
    'S3_ENDPOINT',
    'S3_FORCE_PATH_STYLE',
    'LOG_LEVEL',
  ].includes(variable)
}

/** Tokens, passwords, ping addresses, those of channels (of some the whole address is the secret), and any text that carries credentials in an address. */
export function isSecret(variable: string, text: string): boolean {
  const isSecretName = /(_TOKEN|_BASIC_AUTH)$|^PUSH_[A-Z0-9]+$|^OTEL_\w+_HEADERS$/.test(variable)
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
