import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  GetObjectCommand,
  type GetObjectCommandOutput,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { withDeadline } from '../http/deadline.ts'
import { defined } from '../model/defined.ts'
import type { Listed, Stored, Version } from '../model/store.ts'
import type { S3Config } from './s3-client.ts'
import { refusalOf, toStoreError } from './s3-errors.ts'

/** One opened store. */
export interface OpenBucket {
  client: S3Client
  config: S3Config
  timeout: number
  quirks: Quirks
  /** The conditions have been tried on this store since it was opened. */
  checked: boolean
  /** Keys whose reading was forbidden: they may exist or not. */
  unreadable: Set<string>
  warn(warning: string): void
}

/** How this store differs from AWS: found while using it, and kept as metadata of each object that is saved. */
export interface Quirks {
  /** `ignored`: a condition that does not hold is answered 200. `unsupported`: any condition is answered 501. */
  conditions: 'kept' | 'ignored' | 'unsupported'
  /** Some Ceph gateways compare the ETag together with its quotes, so it has to be sent without them. */
  bareEtag: boolean
  /** A bucket with Object Lock wants a digest of what is written. */
  digest: boolean
}

const CONDITIONS_META = 'queuebell-conditions'
const ETAG_META = 'queuebell-etag'
const DIGEST_META = 'queuebell-digest'
/** A write that was not answered is recognised by this. */
const WRITE_META = 'queuebell-write'
/** Milliseconds, about, before something is asked again. */
const PAUSE = 150

/** A short wait between two attempts, random so that runs do not retry in step. */
export function pause(): Promise<void> {
  return sleep(PAUSE * (0.5 + Math.random()))
}

export interface Found extends Stored {
  writeId: string | undefined
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
export async function read(bucket: OpenBucket, key: string): Promise<Found | undefined> {
  try {
    return await inTime(bucket, async (abortSignal) => {
      const answer = await bucket.client.send(new GetObjectCommand(location(bucket, key)), { abortSignal })
      const text = (await answer.Body?.transformToString('utf-8')) ?? ''
      if (!isObject(answer, text)) throw new NoObject()
      learnQuirks(bucket, answer.Metadata)
      if (!answer.ETag) degradeConditions(bucket, 'ignored') // nothing to hold a condition against
      const writeId = answer.Metadata?.[WRITE_META]
      return { text, version: answer.ETag ?? '', writeId }
    })
  } catch (error) {
    if (refusalOf(error) === 'missing') return undefined
    throw error
  }
}

/** Something between us and the store answered for it: what it said is not the object, and must not be mistaken for a broken one. */
export class NoObject extends Error {
  override name = 'NoObject'
}

/** A page of a proxy or a login, or nothing at all, comes without an ETag; a store that names none still holds JSON of ours. */
function isObject({ ETag, $metadata }: GetObjectCommandOutput, text: string): boolean {
  return $metadata.httpStatusCode === 200 && (ETag !== undefined || !text.trimStart().startsWith('<'))
}

/** `always`: without a condition. */
export type Condition = 'new' | 'always' | { at: Version; bare: boolean }

/**
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
 * @returns the new ETag; `undefined` where the store names none.
 */
export async function send(
  bucket: OpenBucket,
  key: string,
  text: string,
  condition: Condition,
  writeId: string = randomUUID(),
): Promise<Version | undefined> {
  const { conditions, bareEtag, digest } = bucket.quirks
  const quirks = { conditions, digest, bareEtag: typeof condition === 'object' ? condition.bare : bareEtag }
  // As bytes: of a text the client would make copies to sign it and to send it.
  const body = Buffer.from(text)
  const command = new PutObjectCommand({
    ...location(bucket, key),
    ...conditionHeaders(conditions, condition),
    Body: body,
    ContentLength: body.length,
    ContentType: 'application/json',
    ...(digest && { ContentMD5: createHash('md5').update(body).digest('base64') }),
    Metadata: { ...quirksAsMetadata(quirks), [WRITE_META]: writeId },
  })
  try {
    const answer = await inTime(bucket, (abortSignal) => bucket.client.send(command, { abortSignal }))
    return answer.ETag
  } catch (error) {
    if (digest || refusalOf(error) !== 'digest') throw error
    bucket.quirks.digest = true
    return send(bucket, key, text, condition, writeId)
  }
}

function conditionHeaders(conditions: Quirks['conditions'], condition: Condition) {
  if (condition === 'always' || conditions === 'unsupported') return {}
  if (condition === 'new') return { IfNoneMatch: '*' }
  if (condition.at === '') return {}
  return { IfMatch: condition.bare ? condition.at.replace(/^W\/|"/g, '') : condition.at }
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html, all pages. */
export async function list(bucket: OpenBucket, prefix: string): Promise<Listed[]> {
  const own = bucket.config.prefix
  const listed: Listed[] = []
  let next: string | undefined
  do {
    const command = new ListObjectsV2Command({
      Bucket: bucket.config.bucket,
      Prefix: own + prefix,
      ContinuationToken: next,
    })
    const page = await inTime(bucket, (abortSignal) => bucket.client.send(command, { abortSignal }))
    for (const { Key, LastModified, Size: size } of page.Contents ?? []) {
      if (Key && LastModified)
        listed.push({ key: Key.slice(own.length), at: LastModified.getTime(), ...defined({ size }) })
    }
    next = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (next !== undefined)
  return listed
}

/**
 * For requests that may be repeated: after a passing fault it asks once more, unless much time has gone already.
 * @throws {StoreError}
 */
export async function twice<T>(
  bucket: OpenBucket,
  doing: 'read' | 'write' | 'list',
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  const fail = (error: unknown) => toStoreError(error, doing, placeOf(bucket, key))
  const from = performance.now()
  try {
    return await work()
  } catch (error) {
    if (fail(error).permanent || performance.now() - from > bucket.timeout / 3) throw fail(error)
  }
  await pause()
  return work().catch((error: unknown) => {
    throw fail(error)
  })
}

/** One deadline over finding credentials, connecting, headers and body; AWS's client heeds its signal only in some of them. */
function inTime<T>(bucket: OpenBucket, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  return withDeadline(bucket.timeout, work, { abandon: true })
}

function location(bucket: OpenBucket, key: string): { Bucket: string; Key: string } {
  return { Bucket: bucket.config.bucket, Key: bucket.config.prefix + key }
}

export function address(bucket: OpenBucket, key: string): string {
  return `s3://${bucket.config.bucket}/${bucket.config.prefix}${key}`
}
/** The object, and what an unreachable store is likely to lack: a name that only DNS of AWS's kind knows. */
export function placeOf(bucket: OpenBucket, key: string): { address: string; hint?: string } {
  const { endpoint, forcePathStyle, bucket: name } = bucket.config
  const place = { address: address(bucket, key) }
  if (endpoint === undefined || forcePathStyle) return place
  const { host } = new URL(endpoint)
  return {
    ...place,
    hint: `${name}.${host} cannot be reached; where the store knows no host names of buckets, set S3_FORCE_PATH_STYLE=yes, otherwise check S3_ENDPOINT`,
  }
}

export function degradeConditions(bucket: OpenBucket, conditions: 'ignored' | 'unsupported'): void {
  bucket.quirks.conditions = conditions
  const how = conditions === 'ignored' ? 'ignores' : 'does not know (501)'
  bucket.warn(`state: the store of bucket ${bucket.config.bucket} ${how} If-Match: duplicates possible`)
}

/** Reads `queuebell-…` metadata, so that a quirk is found out once and not by each new process. */
function learnQuirks(bucket: OpenBucket, metadata: Record<string, string> | undefined): void {
  const conditions = metadata?.[CONDITIONS_META]
  if (conditions === 'ignored' || conditions === 'unsupported') degradeConditions(bucket, conditions)
  if (metadata?.[ETAG_META] === 'bare') bucket.quirks.bareEtag = true
  if (metadata?.[DIGEST_META] === 'md5') bucket.quirks.digest = true
}

function quirksAsMetadata({ conditions, bareEtag, digest }: Quirks): Record<string, string> {
  return {
    ...(conditions === 'kept' ? {} : { [CONDITIONS_META]: conditions }),
    ...(bareEtag ? { [ETAG_META]: 'bare' } : {}),
    ...(digest ? { [DIGEST_META]: 'md5' } : {}),
  }
}
