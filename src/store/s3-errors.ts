import { failureOf, neverSent } from '../http/network-failure.ts'
import { StoreError } from '../model/store.ts'

/** What an S3 store's refusal means for us. */
export type S3Refusal =
  | 'changed' // the condition did not hold
  | 'busy' // 409: another conditional write is in progress, nothing is settled
  | 'missing'
  | 'no-bucket'
  | 'forbidden'
  | 'credentials'
  | 'clock'
  | 'digest' // Object Lock wants Content-MD5
  | 'encryption' // the bucket demands encryption, or its key cannot be used
  | 'proxy'
  | 'unsupported' // 501: the store does not know conditions
  | 'region'
  | 'unreachable' // nothing was sent
  | 'no-object' // answered, and not by the store
  | 'unsure' // sent, and the answer was lost or says nothing: it may have been done
  | 'other'

/** The error's name is asked before its status: a failed condition has been seen with status 200. */
const BY_NAME: Record<string, S3Refusal> = {
  PreconditionFailed: 'changed',
  NotModified: 'changed',
  ConditionalRequestConflict: 'busy',
  OperationAborted: 'busy',
  NoSuchKey: 'missing',
  NoSuchBucket: 'no-bucket',
  AccessDenied: 'forbidden',
  AllAccessDisabled: 'forbidden',
  InvalidAccessKeyId: 'credentials',
  SignatureDoesNotMatch: 'credentials',
  ExpiredToken: 'credentials',
  InvalidToken: 'credentials',
  TokenRefreshRequired: 'credentials',
  CredentialsProviderError: 'credentials',
  RequestTimeTooSkewed: 'clock',
  RequestExpired: 'clock',
  NotImplemented: 'unsupported',
  NoObject: 'no-object',
  PermanentRedirect: 'region',
  AuthorizationHeaderMalformed: 'region',
  IllegalLocationConstraintException: 'region',
}

const BY_STATUS: Record<number, S3Refusal> = {
  301: 'region',
  304: 'changed',
  307: 'region',
  403: 'forbidden',
  404: 'missing',
  409: 'busy',
  412: 'changed',
  408: 'unsure',
  429: 'unsure',
  501: 'unsupported',
}

export function refusalOf(error: unknown): S3Refusal {
  if (error instanceof CredentialsFailed) return 'credentials'
  const { name, status, code } = partsOf(error)
  if (failureOf(error, false).kind === 'proxy') return 'proxy'
  if (status === 400 && /Content-MD5|x-amz-checksum/i.test(textOf(error))) return 'digest'
  if (name.startsWith('KMS.') || (status !== undefined && /server.side.encryption/i.test(textOf(error))))
    return 'encryption'
  const named = BY_NAME[name]
  if (named) return named
  if (code && neverSent({ kind: 'other', code })) return 'unreachable'
  if (/did not establish a connection/.test(textOf(error))) return 'unreachable'
  if (status === undefined || status < 300 || (status >= 500 && status !== 501)) return 'unsure'
  return BY_STATUS[status] ?? 'other'
}

/**
 * @param doing "read" or "write".
 * @param place.address `s3://bucket/key`. @param place.hint what is said in place of the advice for a store that cannot be reached.
 * @returns what a person reads: what failed, on which object, what to do. The service's own words are left out: they
 * may hold key ids, accounts and signatures.
 */
export function toStoreError(
  error: unknown,
  doing: 'read' | 'write' | 'list',
  { address, hint }: { address: string; hint?: string | undefined },
): StoreError {
  if (error instanceof StoreError) return error
  const refusal = refusalOf(error)
  const { name, status, code } = partsOf(error)
  const answered = status !== undefined && status >= 300
  const facts = [code ?? name, answered && `HTTP ${status}`].filter(Boolean).join(', ')
  const advice =
    refusal === 'unreachable' && hint !== undefined
      ? hint
      : refusal === 'credentials'
        ? credentialsAdvice(error)
        : refusal === 'unsure' && answered
          ? TROUBLED
          : adviceFor(refusal, doing)
  const message = `state: cannot ${doing} ${address} (${facts}): ${advice}`
  return new StoreError(message, PERMANENT.includes(refusal))
}

const PERMANENT: S3Refusal[] = [
  'missing',
  'no-bucket',
  'forbidden',
  'credentials',
  'clock',
  'digest',
  'encryption',
  'region',
  'unsupported',
  'other',
]

/** It was reached, so the network is not what is wrong. */
const TROUBLED = 'the store has trouble of its own, or too many requests; the next run tries again'

function adviceFor(refusal: S3Refusal, doing: 'read' | 'write' | 'list'): string {
  switch (refusal) {
    case 'no-bucket':
      return 'there is no such bucket; correct STATE_BUCKET or create it'
    case 'forbidden':
      return `this role may not; grant ${{ read: 's3:GetObject', write: 's3:PutObject', list: 's3:ListBucket' }[doing]} (and the use of the key, if the bucket is encrypted with one of your own)`
    case 'credentials':
      return NO_CREDENTIALS
    case 'digest':
      return 'the bucket refuses a write without Content-MD5 and with it: Object Lock with a checksum of its own? use another bucket for the state'
    case 'encryption':
      return 'the bucket demands encryption, or its key is disabled; set a default encryption for the bucket and grant the role kms:GenerateDataKey and kms:Decrypt on its key'
    case 'proxy':
      return 'the proxy did not let the request through; check HTTP_PROXY and HTTPS_PROXY, or name the store in NO_PROXY'
    case 'clock':
      return "the watcher's own clock is wrong by more than 15 minutes; set this machine's time"
    case 'region':
      return 'the bucket is in another region; set AWS_REGION to it'
    case 'unreachable':
      return 'the store cannot be reached; from inside a VPC it needs an S3 gateway endpoint or a NAT; otherwise check S3_ENDPOINT and AWS_REGION'
    case 'no-object':
      return 'something in between answered for the store (a proxy, a login page); check S3_ENDPOINT; the next run tries again'
    case 'unsure':
      return 'no usable answer in time; from inside a VPC S3 needs a gateway endpoint or a NAT; the next run tries again'
    case 'unsupported':
      return 'the store does not know this request'
    case 'changed':
    case 'busy':
      return 'another run writes at the same time; the next run tries again'
    case 'missing':
      return 'it is not there; does STATE_BUCKET exist on this S3_ENDPOINT?'
    case 'other':
      return 'the store refused; check STATE_BUCKET, STATE_PREFIX and S3_ENDPOINT'
    default:
      return refusal satisfies never
  }
}

const NO_CREDENTIALS =
  'no valid credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or give the function a role'

/** Where the credentials were to come from, which the variables tell; what the source said may hold accounts and is left out. */
function credentialsAdvice(error: unknown): string {
  const { AWS_PROFILE: profile, AWS_WEB_IDENTITY_TOKEN_FILE: token, AWS_ROLE_ARN: role } = process.env
  if (!(error instanceof CredentialsFailed)) return NO_CREDENTIALS
  if (profile)
    return `the credentials of AWS_PROFILE=${profile} cannot be had; does the profile exist, and has its session ended (aws sso login --profile ${profile})?`
  if (token && role)
    return 'AWS gave no credentials for AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE; does the role trust this service account, and can sts.<region>.amazonaws.com be reached?'
  return NO_CREDENTIALS
}

/** Credentials could not be had: the store was never asked. */
export class CredentialsFailed extends Error {
  override name = 'CredentialsFailed'
  constructor(cause: unknown) {
    super('no credentials', { cause })
  }
}

function partsOf(error: unknown): { name: string; status?: number; code?: string } {
  if (error instanceof CredentialsFailed) return partsOf(error.cause)
  if (!(error instanceof Error)) return { name: 'unknown error' }
  // fetch, which asks by a proxy, hides what happened in the cause.
  if (error.message === 'fetch failed') return partsOf(error.cause)
  const parts: { name: string; status?: number; code?: string } = { name: error.name }
  if ('$metadata' in error && typeof error.$metadata === 'object' && error.$metadata !== null) {
    const status = 'httpStatusCode' in error.$metadata ? error.$metadata.httpStatusCode : undefined
    if (typeof status === 'number') parts.status = status
  }
  if ('code' in error && typeof error.code === 'string') parts.code = error.code
  return parts
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : ''
}
