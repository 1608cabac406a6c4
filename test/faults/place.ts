import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../src/model/store.ts'
import { openFileStore } from '../../src/store/file.ts'
import { openS3Store } from '../../src/store/s3.ts'
import { CREDENTIALS, startS3 } from '../store/s3-server.ts'

/** A fresh place for state, as the variables of a process name it. */
export interface Place {
  /** Variables; `S3_ENDPOINT` may be replaced by a gate in front of it. */
  env: Record<string, string>
  /** The S3 server, where there is one. */
  server: string | undefined
  store: Store
  close(): Promise<void>
}

/** As `.ci/radosgw.sh` gave them, before a fake needs others. */
const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '', AWS_REGION = '' } = process.env

/** `QUEUEBELL_TEST_S3`: a real S3 server, see `.ci/radosgw.sh`. */
export const REAL_S3 = process.env.QUEUEBELL_TEST_S3

export const PLACES: Record<string, () => Promise<Place>> = {
  'the file store': openFilePlace,
  'S3 (fake)': openFakeS3Place,
  ...(REAL_S3 === undefined ? {} : { 'S3 (real)': async () => openRealS3Place(REAL_S3) }),
}

if (REAL_S3 === undefined) console.info('no real S3 server here: QUEUEBELL_TEST_S3 is not set')

async function openFilePlace(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'queuebell-faults-'))
  return {
    env: { STATE_DIR: dir },
    server: undefined,
    store: openFileStore(dir),
    close: async () => rmSync(dir, { recursive: true, force: true }),
  }
}

async function openFakeS3Place(): Promise<Place> {
  const fake = await startS3()
  return { ...s3Place(fake.endpoint, fake.bucket, CREDENTIALS), close: fake.close }
}

function openRealS3Place(endpoint: string): Place {
  const bucket = process.env.QUEUEBELL_TEST_BUCKET ?? 'queuebell'
  const credentials = { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION }
  return { ...s3Place(endpoint, bucket, credentials), close: async () => {} }
}

function s3Place(endpoint: string, bucket: string, credentials: Record<string, string>): Omit<Place, 'close'> {
  const prefix = `${randomUUID()}/`
  Object.assign(process.env, credentials)
  return {
    env: {
      STATE_BUCKET: bucket,
      STATE_PREFIX: prefix,
      S3_ENDPOINT: endpoint,
      S3_FORCE_PATH_STYLE: 'yes',
      ...credentials,
    },
    server: endpoint,
    store: openS3Store({ kind: 's3', bucket, prefix, endpoint, forcePathStyle: true }),
  }
}
