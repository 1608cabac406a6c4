import { execFile } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Bundles, buildBundles } from '../bundles.ts'
import { type FakeS3, startS3 } from './s3-server.ts'

let bundles: Bundles
let s3: FakeS3
beforeAll(async () => {
  bundles = buildBundles()
  s3 = await startS3()
}, 180_000)
beforeEach(() => s3.objects.clear())
afterAll(async () => {
  await s3.close()
  rmSync(bundles.root, { recursive: true, force: true })
})

describe('where a bundle finds AWS credentials', () => {
  test('in variables, as in Lambda', async () => {
    const { stdout } = await invoke({ AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's', AWS_SESSION_TOKEN: 't' })
    expect(stdout).toContain('"outcome":"completed"')
    expect([...s3.objects.keys()]).toContain('queuebell/heartbeat-check.json')
  })

  test('in a profile of a credentials file', async () => {
    const file = join(bundles.root, 'credentials')
    writeFileSync(file, '[watch]\naws_access_key_id = k\naws_secret_access_key = s\n')
    const { stdout } = await invoke({ AWS_PROFILE: 'watch', AWS_SHARED_CREDENTIALS_FILE: file })
    expect(stdout).toContain('"outcome":"completed"')
    expect([...s3.objects.keys()]).toContain('queuebell/heartbeat-check.json')
  })

  const asRoot = process.getuid?.() === 0
  test.skipIf(!asRoot)(
    `case 318: in variables, for a user without an entry and without HOME${asRoot ? '' : ' (skipped: needs root)'}`,
    async () => {
      chmodSync(bundles.root, 0o755)
      const keys = { AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' }
      const { stdout } = await invoke(keys, { uid: 54_321, gid: 0 })
      expect(stdout).toContain('"outcome":"completed"')
    },
  )

  test('nowhere: it says which variables to set, and sends nothing', async () => {
    const before = s3.log.length
    const failed = await invoke({ AWS_EC2_METADATA_DISABLED: 'true' }).catch((error: { stderr: string }) => error)
    expect(failed.stderr).toContain(
      'no valid credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE',
    )
    expect(s3.log).toHaveLength(before)
  })
})

/** One run of a built function, in a home without files of AWS's. */
function invoke(
  env: Record<string, string>,
  user?: { uid: number; gid: number },
): Promise<{ stdout: string; stderr: string }> {
  const url = JSON.stringify(`file://${join(bundles.dist, 'heartbeat-check.mjs')}`)
  const code = `const { handler } = await import(${url}); await handler({}, {})`
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', code], {
    cwd: '/',
    ...user,
    env: {
      ...(user ? {} : { HOME: bundles.root }),
      STATE_BUCKET: s3.bucket,
      S3_ENDPOINT: s3.endpoint,
      S3_FORCE_PATH_STYLE: 'yes',
      HEARTBEAT_WORKERS: 'indexer=60s+30s',
      ...env,
    },
  })
}
