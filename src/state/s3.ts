import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { createS3Client, type S3Config, withDeadline } from './s3-client.ts'
import { refusalOf, toStoreError } from './s3-errors.ts'
import { type Listed, type Saved, type Store, type Stored, StoreError, type Version } from './store.ts'

/** One opened store. */
interface Session {
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
interface Quirks {
  /** `ignored`: a condition that does not hold is answered 200. `unsupported`: any condition is answered 501. */
  conditions: 'kept' | 'ignored' | 'unsupported'
  /** Some Ceph gateways compare the ETag together with its quotes, so it has to be sent without them. */
  bareEtag: boolean
}

const CONDITIONS_META = 'queuebell-conditions'
const ETAG_META = 'queuebell-etag'
/** A write that was not answered is recognised by this. */
const WRITE_META = 'queuebell-write'
/** Milliseconds, about, before something is asked again. */
const PAUSE = 150
const ATTEMPTS = 5

/**
 * State as objects of a bucket, written with `If-Match` and `If-None-Match`: of two runs that decided from the same
 * version, one is saved. A save costs one PUT; only one that is refused or not answered is followed by another look.
 * @param options.timeout milliseconds for one request (5 s).
 */
export function openS3Store(config: S3Config, options: { timeout?: number } = {}): Store {
  const timeout = options.timeout ?? 5_000
  const warnings = new Set<string>()
  const session: Session = {
    client: createS3Client(config, timeout),
    config,
    timeout,
    quirks: { conditions: 'kept', bareEtag: false },
    checked: false,
    unreadable: new Set(),
    warn: (warning) => warnings.add(warning),
  }
  return {
    load: (key) => load(session, key),
    save: (key, text, version) => save(session, key, text, version),
    put: async (key, text) => {
      await twice(session, 'write', key, () => send(session, key, text, 'always'))
    },
    list: (prefix) => twice(session, 'list', prefix, () => list(session, prefix)),
    warnings: () => [...warnings],
  }
}

async function load(session: Session, key: string): Promise<Stored | undefined> {
  session.unreadable.delete(key)
  return twice(session, 'read', key, async () => {
    try {
      const found = await read(session, key)
      return found && { text: found.text, version: found.version }
    } catch (error) {
      if (refusalOf(error) !== 'forbidden') throw error
      // Without s3:ListBucket, S3 answers 403 for an object that does not exist too. The next save tells them apart.
      session.unreadable.add(key)
      return undefined
    }
  })
}

async function save(session: Session, key: string, text: string, version: Version | undefined): Promise<Saved> {
  // Only when an object is made: in its later life a save stays one request.
  if (version === undefined && !session.checked) await checkConditions(session)
  const unreadable = session.unreadable.has(key)
  if (unreadable && session.quirks.conditions !== 'kept') throw mayNotRead(session, key)
  const saved = await write(session, newJob(session, key, text, version))
  if (unreadable && saved === 'conflict') throw mayNotRead(session, key)
  session.unreadable.delete(key)
  return saved
}

function mayNotRead(session: Session, key: string): StoreError {
  return new StoreError(
    `state: ${address(session, key)} exists and may not be read; grant s3:GetObject on it and s3:ListBucket on the ` +
      'bucket (and the use of the key, if the bucket is encrypted with one of your own). Nothing was overwritten',
    true,
  )
}

/** One conditional write on its way. */
interface Job {
  /** Goes with the object as metadata. */
  id: string
  key: string
  text: string
  /** The version to replace; `undefined`: the object must not exist. */
  at: Version | undefined
  /** An attempt was sent and its answer lost: what is found there may be our own. */
  mayBeDone: boolean
  /** How the ETag was sent last, and whether both ways have been tried. */
  bareEtag: boolean
  bothTried: boolean
  attempt: number
}

function newJob(session: Session, key: string, text: string, at: Version | undefined): Job {
  const { bareEtag } = session.quirks
  return { id: randomUUID(), key, text, at, mayBeDone: false, bareEtag, bothTried: false, attempt: 1 }
}

async function write(session: Session, job: Job): Promise<Saved> {
  for (; ; job.attempt++) {
    try {
      const condition = job.at === undefined ? 'new' : { at: job.at, bare: job.bareEtag }
      const version = await send(session, job.key, job.text, condition, job.id)
      session.quirks.bareEtag = job.bareEtag
      if (version) return { version }
      return await afterSilence(session, job)
    } catch (error) {
      const settled = await afterRefusal(session, job, error)
      if (settled !== 'again') return settled
    }
    await sleep(PAUSE * (0.5 + Math.random()))
  }
}

async function afterRefusal(session: Session, job: Job, error: unknown): Promise<Saved | 'again'> {
  const fail = toStoreError(error, 'write', address(session, job.key))
  if (job.attempt >= ATTEMPTS) throw fail
  switch (refusalOf(error)) {
    case 'busy':
      return job.attempt < 3 ? 'again' : 'conflict'
    case 'unsupported':
      if (session.quirks.conditions === 'unsupported') throw fail
      without(session, 'unsupported')
      return 'again'
    case 'missing':
      if (job.at === undefined) throw fail
      return createAnew(session, job)
    case 'changed':
      return job.at === undefined && !job.mayBeDone ? 'conflict' : compare(session, job, 'changed')
    case 'unsure':
      if (job.mayBeDone) throw fail // twice without an answer: not now
      job.mayBeDone = true
      return compare(session, job, 'unsure').catch(() => {
        throw fail
      })
    default:
      throw fail
  }
}

/** Looks what lies there after a write that was refused or not answered. */
async function compare(session: Session, job: Job, refusal: 'changed' | 'unsure'): Promise<Saved | 'again'> {
  const found = await twice(session, 'read', job.key, () => read(session, job.key))
  if (job.mayBeDone && found && isOurs(job, found)) return { version: found.version }
  if (!found) return job.at === undefined ? 'again' : createAnew(session, job)
  if (found.version !== job.at) return 'conflict'
  if (refusal === 'unsure') return 'again'
  // Refused although nothing moved: this store reads the quotes of an ETag in another way.
  if (job.bothTried) return 'conflict'
  job.bothTried = true
  job.bareEtag = !job.bareEtag
  return 'again'
}

/** A store that does not keep metadata leaves the text to go by. */
function isOurs(job: Job, found: Found): boolean {
  return found.writeId === undefined ? found.text === job.text : found.writeId === job.id
}

/** Accepted without an ETag: what was written has to be asked for. */
async function afterSilence(session: Session, job: Job): Promise<Saved> {
  const found = await read(session, job.key)
  return found && isOurs(job, found) ? { version: found.version } : 'conflict'
}

function createAnew(session: Session, job: Job): 'again' {
  session.warn(`state: ${address(session, job.key)} was deleted since it was read; what it knew is lost, created anew`)
  job.at = undefined
  return 'again'
}

/**
 * Writes a small object twice as if it were new, then over a version that it never had. A store that takes this
 * does not keep the conditions. Done when state is first made, before it is written.
 */
async function checkConditions(session: Session): Promise<void> {
  const attempt = (condition: Condition) => async (): Promise<boolean> => {
    try {
      await send(session, 'conditions-check', '', condition)
      return true
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === 'unsupported') without(session, 'unsupported')
      // Where only the state itself may be written, nothing can be tried: AWS's own behaviour is assumed.
      if (['changed', 'busy', 'missing', 'forbidden', 'unsupported'].includes(refusal)) return false
      throw error
    }
  }
  const taken = (condition: Condition) => twice(session, 'write', 'conditions-check', attempt(condition))
  const newTwice = (await taken('new')) && (await taken('new'))
  const neverHad: Condition = { at: `"${'0'.repeat(32)}"`, bare: false }
  if (session.quirks.conditions === 'kept' && (newTwice || (await taken(neverHad)))) without(session, 'ignored')
  session.checked = true
}

function without(session: Session, conditions: 'ignored' | 'unsupported'): void {
  session.quirks.conditions = conditions
  const how = conditions === 'ignored' ? 'ignores' : 'does not know (501)'
  session.warn(`state: the store of bucket ${session.config.bucket} ${how} If-Match: duplicates possible`)
}

/** Reads `queuebell-…` metadata, so that a quirk is found out once and not by each new process. */
function learnQuirks(session: Session, metadata: Record<string, string> | undefined): void {
  const conditions = metadata?.[CONDITIONS_META]
  if (conditions === 'ignored' || conditions === 'unsupported') without(session, conditions)
  if (metadata?.[ETAG_META] === 'bare') session.quirks.bareEtag = true
}

function quirksAsMetadata({ conditions, bareEtag }: Quirks): Record<string, string> {
  return {
    ...(conditions === 'kept' ? {} : { [CONDITIONS_META]: conditions }),
    ...(bareEtag ? { [ETAG_META]: 'bare' } : {}),
  }
}

interface Found extends Stored {
  writeId: string | undefined
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html */
async function read(session: Session, key: string): Promise<Found | undefined> {
  try {
    return await withDeadline(session.timeout, async (abortSignal) => {
      const answer = await session.client.send(new GetObjectCommand(location(session, key)), { abortSignal })
      const text = (await answer.Body?.transformToString('utf-8')) ?? ''
      learnQuirks(session, answer.Metadata)
      const writeId = answer.Metadata?.[WRITE_META]
      return { text, version: answer.ETag ?? '', writeId }
    })
  } catch (error) {
    if (refusalOf(error) === 'missing') return undefined
    throw error
  }
}

/** `always`: whatever is there. */
type Condition = 'new' | 'always' | { at: Version; bare: boolean }

/**
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html
 * @returns the new ETag; `undefined` where the store names none.
 */
async function send(
  session: Session,
  key: string,
  text: string,
  condition: Condition,
  writeId: string = randomUUID(),
): Promise<Version | undefined> {
  const { conditions, bareEtag } = session.quirks
  const quirks = { conditions, bareEtag: typeof condition === 'object' ? condition.bare : bareEtag }
  const command = new PutObjectCommand({
    ...location(session, key),
    ...conditionHeaders(conditions, condition),
    Body: text,
    ContentLength: Buffer.byteLength(text),
    ContentType: 'application/json',
    Metadata: { ...quirksAsMetadata(quirks), [WRITE_META]: writeId },
  })
  const answer = await withDeadline(session.timeout, (abortSignal) => session.client.send(command, { abortSignal }))
  return answer.ETag
}

function conditionHeaders(conditions: Quirks['conditions'], condition: Condition) {
  if (condition === 'always' || conditions === 'unsupported') return {}
  if (condition === 'new') return { IfNoneMatch: '*' }
  return { IfMatch: condition.bare ? condition.at.replace(/^W\/|"/g, '') : condition.at }
}

/** https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html, all pages. */
async function list(session: Session, prefix: string): Promise<Listed[]> {
  const { bucket, prefix: own } = session.config
  const listed: Listed[] = []
  let next: string | undefined
  do {
    const command = new ListObjectsV2Command({
      Bucket: bucket,
      Prefix: own + prefix,
      ...(next === undefined ? {} : { ContinuationToken: next }),
    })
    const page = await withDeadline(session.timeout, (abortSignal) => session.client.send(command, { abortSignal }))
    for (const { Key, LastModified, Size: size } of page.Contents ?? []) {
      const sized = size === undefined ? {} : { size }
      if (Key && LastModified) listed.push({ key: Key.slice(own.length), at: LastModified.getTime(), ...sized })
    }
    next = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (next !== undefined)
  return listed
}

/**
 * For what may be done twice: a passing fault is met by asking once more, unless it has cost much time already.
 * @throws {StoreError}
 */
async function twice<T>(
  session: Session,
  doing: 'read' | 'write' | 'list',
  key: string,
  work: () => Promise<T>,
): Promise<T> {
  const fail = (error: unknown) => toStoreError(error, doing, address(session, key))
  const from = performance.now()
  try {
    return await work()
  } catch (error) {
    if (fail(error).permanent || performance.now() - from > session.timeout / 3) throw fail(error)
  }
  await sleep(PAUSE * (0.5 + Math.random()))
  return work().catch((error: unknown) => {
    throw fail(error)
  })
}

function location(session: Session, key: string): { Bucket: string; Key: string } {
  return { Bucket: session.config.bucket, Key: session.config.prefix + key }
}

function address(session: Session, key: string): string {
  return `s3://${session.config.bucket}/${session.config.prefix}${key}`
}
