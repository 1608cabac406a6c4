import type { Outward, StateConfig } from '../model/config.ts'
import { type Environment, isSet, read } from './environment.ts'
import { GENERAL } from './settings.ts'

/** Where the state lies: the bucket where one is set, else a folder, which Lambda does not keep. */
export function readStatePlace(env: Environment, lambda: boolean, outward: Outward): StateConfig {
  const bucket = read(env, 'STATE_BUCKET', GENERAL.STATE_BUCKET)
  const prefix = read(env, 'STATE_PREFIX', GENERAL.STATE_PREFIX)
  const dir = read(env, 'STATE_DIR', GENERAL.STATE_DIR)
  const endpoint = read(env, 'S3_ENDPOINT', GENERAL.S3_ENDPOINT)
  const forcePathStyle = read(env, 'S3_FORCE_PATH_STYLE', GENERAL.S3_FORCE_PATH_STYLE)
  if (bucket !== undefined) {
    return { kind: 's3', bucket, prefix, endpoint: endpoint?.href.replace(/\/$/, ''), forcePathStyle, ...outward }
  }
  if (lambda && !isSet(env, 'STATE_BUCKET')) {
    env.problems.add(
      isSet(env, 'STATE_DIR')
        ? 'STATE_DIR: cannot be used in Lambda, its disk does not last; set STATE_BUCKET to an S3 bucket'
        : 'STATE_BUCKET: is not set; in Lambda it must name the S3 bucket of the state',
    )
  }
  return { kind: 'file', dir }
}
