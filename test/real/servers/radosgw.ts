import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { SCRATCH } from '../scratch.ts'

export interface Bucket {
  /** What a watcher needs to keep its state there. */
  env: Record<string, string>
  stop(): void
}

/** Ceph's gateway as `.ci/radosgw.sh` starts it, in a folder of its own. */
export function startRadosgw(): Bucket {
  const env = { ...process.env, QUEUEBELL_RADOSGW_DIR: join(SCRATCH, 'radosgw') }
  const run = (what: string) =>
    execFileSync('nice', ['-n', '10', '.ci/radosgw.sh', what], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const exports = new Map(
    [...run('start').matchAll(/(\w+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value] as const),
  )
  const given = (name: string) => exports.get(name) ?? ''
  return {
    env: {
      STATE_BUCKET: given('QUEUEBELL_TEST_BUCKET'),
      S3_ENDPOINT: given('QUEUEBELL_TEST_S3'),
      S3_FORCE_PATH_STYLE: 'yes',
      AWS_ACCESS_KEY_ID: given('AWS_ACCESS_KEY_ID'),
      AWS_SECRET_ACCESS_KEY: given('AWS_SECRET_ACCESS_KEY'),
      AWS_REGION: given('AWS_REGION'),
      AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
    },
    stop: () => void run('stop'),
  }
}
