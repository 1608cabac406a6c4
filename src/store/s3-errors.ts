import { neverSent } from '../http/network-failure.ts'
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
  const { name, status, code } = partsOf(error)
  const named = BY_NAME[name]
  if (named) return named
  if (code && neverSent({ kind: 'other', code })) return 'unreachable'
  if (/did not establish a connection/.test(textOf(error))) return 'unreachable'
  if (status === undefined || status < 300 || (status >= 500 && status !== 501)) return 'unsure'
  return BY_STATUS[status] ?? 'other'
}

/**
 * @param doing "read" or "write".
 * @param address `s3://bucket/key`.
 * @returns what a person reads: what failed, on which object, what to do. The service's own words are left out: they
 * may hold key ids, accounts and signatures.
 */
export function toStoreError(error: unknown, doing: 'read' | 'write' | 'list', address: string): StoreError {
  if (error instanceof StoreError) return error
  const refusal = refusalOf(error)
  const { name, status, code } = partsOf(error)
  const answered = status !== undefined && status >= 300
  const facts = [code ?? name, answered && `HTTP ${status}`].filter(Boolean).join(', ')
  const advice = refusal === 'unsure' && answered ? TROUBLED : adviceFor(refusal, doing)
  const message = `state: cannot ${doing} ${address} (${facts}): ${advice}`
  return new StoreError(message, PERMANENT.includes(refusal))
}

const PERMANENT: S3Refusal[] = [
  'missing',
  'no-bucket',
  'forbidden',
  'credentials',
  'clock',
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
      return 'no valid credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or give the function a role'
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

function partsOf(error: unknown): { name: string; status?: number; code?: string } {
  if (!(error instanceof Error)) return { name: 'unknown error' }
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
