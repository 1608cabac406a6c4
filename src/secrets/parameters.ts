import { askSsm, SsmError } from './ssm.ts'

export type Variables = Readonly<Record<string, string | undefined>>

/** `NOTIFLY_TOKEN=ssm:/queuebell/prod/NOTIFLY_TOKEN`: the value is the parameter's. */
const PREFIX = 'ssm:'
/** AWS takes ten names a request. */
const AT_ONCE = 10
const REQUEST_TIMEOUT = 5_000
/** A rotated secret is seen after this long. */
const KEPT = 15 * 60_000

let kept: { key: string; until: number; values: ReadonlyMap<string, string> } | undefined

/**
 * The environment with every `ssm:<parameter>` replaced by the parameter's value, decrypted. Without such a variable
 * nothing is asked. Values are kept in memory for 15 minutes.
 * @param now epoch milliseconds.
 * @throws {SsmError} naming the variables whose parameter is not there, or what AWS answered.
 */
export async function withParameters(env: Variables, now: number): Promise<Variables> {
  const wanted = Object.entries(env).flatMap(([variable, text]) =>
    text?.startsWith(PREFIX) ? [{ variable, name: text.slice(PREFIX.length).trim() }] : [],
  )
  if (wanted.length === 0) return env
  const names = [...new Set(wanted.map(({ name }) => name))].sort()
  const key = names.join('\n')
  if (kept?.key !== key || now >= kept.until) kept = { key, until: now + KEPT, values: await read(names, env) }
  const { values } = kept
  const missing = wanted.filter(({ name }) => !values.has(name))
  if (missing.length > 0) {
    kept = undefined
    throw new SsmError(missing.map(({ variable, name }) => `${variable}: there is no SSM parameter ${name}`).join('\n'))
  }
  return { ...env, ...Object.fromEntries(wanted.map(({ variable, name }) => [variable, values.get(name)])) }
}

async function read(names: readonly string[], env: Variables): Promise<Map<string, string>> {
  const options = { ...fromEnvironment(env), timeout: REQUEST_TIMEOUT }
  const values = new Map<string, string>()
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const input = { Names: names.slice(at, at + AT_ONCE), WithDecryption: true }
    const answer = (await askSsm('GetParameters', input, options)) as { Parameters?: { Name: string; Value: string }[] }
    for (const { Name, Value } of answer.Parameters ?? []) values.set(Name, Value)
  }
  return values
}

/** Lambda gives a function its role's credentials in these variables. */
function fromEnvironment(env: Variables) {
  const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = env
  const region = AWS_REGION ?? AWS_DEFAULT_REGION
  if (!region || !AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
    throw new SsmError('ssm: a variable names a parameter, but AWS_REGION or the AWS credentials are not set')
  }
  const session = AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}
  return {
    region,
    credentials: { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY, ...session },
    endpoint: env.AWS_ENDPOINT_URL_SSM,
  }
}
