import { S3Client } from '@aws-sdk/client-s3'
import { mask } from '../../src/log.ts'
import { askSsm, SsmError } from '../../src/secrets/ssm.ts'
import type { Deployment } from './settings.ts'
import { type FunctionName, isParameter, isSecret, parameterOf, type Variables, variablesOf } from './variables.ts'

/** The secrets that stand in the environment itself, and so have to be put into the parameter store. */
export function ownSecrets(names: readonly FunctionName[], env: Variables): Map<string, string> {
  const found = names.flatMap((name) => Object.entries(variablesOf(name, env)))
  return new Map(found.filter(([variable, text]) => isSecret(variable, text) && !isParameter(text)))
}

/**
 * Writes each as an encrypted parameter, `/queuebell/<stage>/<VARIABLE>`, so that it stands neither in the template nor
 * in the functions' settings. Says the names, never a value.
 * @throws {SsmError}
 */
export async function saveSecrets(
  secrets: ReadonlyMap<string, string>,
  { region, stage }: Pick<Deployment, 'region' | 'stage'>,
  say: (line: string) => void,
): Promise<void> {
  if (secrets.size === 0) return
  const options = await access(region)
  for (const [variable, value] of secrets) {
    const Name = parameterOf(variable, stage)
    const input = { Name, Value: value.trim(), Type: 'SecureString', Overwrite: true }
    await askSsm('PutParameter', input, options).catch((error: Error) => {
      // AWS may repeat in its reason what it did not like.
      throw new SsmError(`${variable} was not saved: ${mask(error.message, [input.Value])}`)
    })
    say(`  secret ${variable} → parameter ${Name}`)
  }
}

/** Parameters in one request. https://docs.aws.amazon.com/systems-manager/latest/APIReference/API_DeleteParameters.html */
const MOST_NAMES = 10

/**
 * Deletes the parameters that {@link saveSecrets} wrote; those that are gone already are no trouble. Says their names.
 * @throws {SsmError}
 */
export async function removeSecrets(
  secrets: ReadonlyMap<string, string>,
  { region, stage }: Pick<Deployment, 'region' | 'stage'>,
  say: (line: string) => void,
): Promise<void> {
  if (secrets.size === 0) return
  const names = [...secrets.keys()].map((variable) => parameterOf(variable, stage))
  const options = await access(region)
  for (let from = 0; from < names.length; from += MOST_NAMES)
    await askSsm('DeleteParameters', { Names: names.slice(from, from + MOST_NAMES) }, options)
  for (const name of names) say(`  parameter ${name} is gone`)
}

/**
 * The way to the account. The S3 client knows all the places where AWS credentials may lie: variables, profiles, single sign-on.
 * @throws {SsmError} where there are none.
 */
export async function access(region: string) {
  const credentials = await new S3Client({ region }).config.credentials().catch((error: Error) => {
    throw new SsmError(
      `AWS credentials: ${error.message}; set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    )
  })
  return { region, credentials, endpoint: process.env.AWS_ENDPOINT_URL_SSM, timeout: 10_000 }
}
