import { type Saved, type Store, type Stored, StoreError, type Version } from '../model/store.ts'
import { createS3Client, type S3Config } from './s3-client.ts'
import { refusalOf } from './s3-errors.ts'
import { address, type Condition, degradeConditions, list, type OpenBucket, read, send, twice } from './s3-requests.ts'
import { compareAndSwap } from './s3-write.ts'

/**
 * State as objects of a bucket, written with `If-Match` and `If-None-Match`: of two runs that decided from the same
 * version, one is saved. A save costs one PUT; only one that is refused or not answered is followed by another look.
 * @param options.timeout milliseconds for one request (5 s).
 */
export function openS3Store(config: S3Config, options: { timeout?: number } = {}): Store {
  const timeout = options.timeout ?? 5_000
  const warnings = new Set<string>()
  const bucket: OpenBucket = {
    client: createS3Client(config, timeout),
    config,
    timeout,
    quirks: { conditions: 'kept', bareEtag: false, digest: false },
    checked: false,
    unreadable: new Set(),
    warn: (warning) => warnings.add(warning),
  }
  return {
    load: (key) => load(bucket, key),
    save: (key, text, version) => save(bucket, key, text, version),
    put: async (key, text) => {
      await twice(bucket, 'write', key, () => send(bucket, key, text, 'always'))
    },
    list: (prefix) => twice(bucket, 'list', prefix, () => list(bucket, prefix)),
    warnings: () => [...warnings],
  }
}

async function load(bucket: OpenBucket, key: string): Promise<Stored | undefined> {
  bucket.unreadable.delete(key)
  return twice(bucket, 'read', key, async () => {
    try {
      const found = await read(bucket, key)
      return found && { text: found.text, version: found.version }
    } catch (error) {
      if (refusalOf(error) !== 'forbidden') throw error
      // Without s3:ListBucket, S3 answers 403 for an object that does not exist too. The next save tells them apart.
      bucket.unreadable.add(key)
      return undefined
    }
  })
}

async function save(bucket: OpenBucket, key: string, text: string, version: Version | undefined): Promise<Saved> {
  // Only when an object is made: in its later life a save stays one request.
  if (version === undefined && !bucket.checked) await checkConditions(bucket)
  const unreadable = bucket.unreadable.has(key)
  if (unreadable && bucket.quirks.conditions !== 'kept') throw mayNotRead(bucket, key)
  const saved = await compareAndSwap(bucket, key, text, version)
  if (unreadable && saved === 'conflict') throw mayNotRead(bucket, key)
  bucket.unreadable.delete(key)
  return saved
}

function mayNotRead(bucket: OpenBucket, key: string): StoreError {
  return new StoreError(
    `state: ${address(bucket, key)} exists and may not be read; grant s3:GetObject on it and s3:ListBucket on the ` +
      'bucket (and the use of the key, if the bucket is encrypted with one of your own). Nothing was overwritten',
    true,
  )
}

/**
 * Writes a small object twice as if it were new, then over a version that it never had. A store that accepts this
 * ignores the conditions. Done when state is first made, before it is written.
 */
async function checkConditions(bucket: OpenBucket): Promise<void> {
  const attempt = (condition: Condition) => async (): Promise<boolean> => {
    try {
      await send(bucket, 'conditions-check', '', condition)
      return true
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === 'unsupported') degradeConditions(bucket, 'unsupported')
      // Where only the state itself may be written, nothing can be tried: AWS's own behaviour is assumed.
      if (['changed', 'busy', 'missing', 'forbidden', 'unsupported'].includes(refusal)) return false
      throw error
    }
  }
  const taken = (condition: Condition) => twice(bucket, 'write', 'conditions-check', attempt(condition))
  const newTwice = (await taken('new')) && (await taken('new'))
  const neverHad: Condition = { at: `"${'0'.repeat(32)}"`, bare: false }
  if (bucket.quirks.conditions === 'kept' && (newTwice || (await taken(neverHad)))) degradeConditions(bucket, 'ignored')
  bucket.checked = true
}
