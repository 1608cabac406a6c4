import { randomUUID } from 'node:crypto'
import type { Saved, Version } from '../model/store.ts'
import { refusalOf, toStoreError } from './s3-errors.ts'
import {
  address,
  degradeConditions,
  type Found,
  NoObject,
  type OpenBucket,
  pause,
  placeOf,
  read,
  send,
  twice,
} from './s3-requests.ts'

const ATTEMPTS = 5

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

/** Writes if the object is still at `version` (`undefined`: if it does not exist), and retries answers that settle nothing. */
export async function compareAndSwap(
  bucket: OpenBucket,
  key: string,
  text: string,
  version: Version | undefined,
): Promise<Saved> {
  const { bareEtag } = bucket.quirks
  const job: Job = {
    id: randomUUID(),
    key,
    text,
    at: version,
    mayBeDone: false,
    bareEtag,
    bothTried: false,
    attempt: 1,
  }
  for (; ; job.attempt++) {
    try {
      const condition = job.at === undefined ? 'new' : { at: job.at, bare: job.bareEtag }
      const written = await send(bucket, key, text, condition, job.id)
      bucket.quirks.bareEtag = job.bareEtag
      if (written) return { version: written }
      return await afterSilence(bucket, job)
    } catch (error) {
      const settled = await afterRefusal(bucket, job, error)
      if (settled !== 'again') return settled
    }
    await pause()
  }
}

async function afterRefusal(bucket: OpenBucket, job: Job, error: unknown): Promise<Saved | 'again'> {
  const fail = toStoreError(error, 'write', placeOf(bucket, job.key))
  if (job.attempt >= ATTEMPTS) throw fail
  switch (refusalOf(error)) {
    case 'busy':
      return job.attempt < 3 ? 'again' : 'conflict'
    case 'unsupported':
      if (bucket.quirks.conditions === 'unsupported') throw fail
      degradeConditions(bucket, 'unsupported')
      return 'again'
    case 'missing':
      if (job.at === undefined) throw fail
      return createAnew(bucket, job)
    case 'changed':
      return job.at === undefined && !job.mayBeDone ? 'conflict' : compare(bucket, job, 'changed')
    case 'unsure':
      if (job.mayBeDone) throw fail // twice without an answer: not now
      job.mayBeDone = true
      return compare(bucket, job, 'unsure').catch(() => {
        throw fail
      })
    default:
      throw fail
  }
}

/** Looks at the object after a write that was refused or not answered. */
async function compare(bucket: OpenBucket, job: Job, refusal: 'changed' | 'unsure'): Promise<Saved | 'again'> {
  const found = await twice(bucket, 'read', job.key, () => read(bucket, job.key))
  if (job.mayBeDone && found && isOurs(job, found)) return { version: found.version }
  if (!found) return job.at === undefined ? 'again' : createAnew(bucket, job)
  if (found.version !== job.at) return 'conflict'
  if (refusal === 'unsure') return 'again'
  // Refused although nothing changed: this store treats the quotes of an ETag differently.
  if (job.bothTried) {
    bucket.warn(
      `state: the store refused to replace ${address(bucket, job.key)} although it had not changed: does something before it change its ETags?`,
    )
    return 'conflict'
  }
  job.bothTried = true
  job.bareEtag = !job.bareEtag
  return 'again'
}

/** A store that does not keep metadata leaves the text to go by. */
function isOurs(job: Job, found: Found): boolean {
  return found.writeId === undefined ? found.text === job.text : found.writeId === job.id
}

/** Accepted without an ETag, so the object is read back. If nothing has changed, something other than the store answered. */
async function afterSilence(bucket: OpenBucket, job: Job): Promise<Saved> {
  const found = await read(bucket, job.key)
  if (found && isOurs(job, found)) return { version: found.version }
  if (found?.version === job.at && job.at !== '') throw new NoObject()
  return 'conflict'
}

function createAnew(bucket: OpenBucket, job: Job): 'again' {
  bucket.warn(`state: ${address(bucket, job.key)} was deleted since it was read; what it knew is lost, created anew`)
  job.at = undefined
  return 'again'
}
