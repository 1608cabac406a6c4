import { S3Client } from '@aws-sdk/client-s3'
import type { StateConfig } from '../model/config.ts'

export type S3Config = Extract<StateConfig, { kind: 's3' }>

/** Milliseconds. Packets that are dropped (a VPC without a way out) must not hold a run until the function's limit. */
const CONNECT_TIMEOUT = 2_000

/**
 * The client as this project needs it: it asks once (what is asked again, and when, is decided in `s3.ts`), fails
 * fast, and keeps no connection: the other side closes it while a function is frozen between two invocations.
 * Credentials and region come from AWS's own variables, credentials otherwise from wherever AWS's client looks.
 * @param timeout milliseconds for one request.
 */
export function createS3Client(config: S3Config, timeout: number): S3Client {
  const agent = { keepAlive: false, autoSelectFamilyAttemptTimeout: CONNECT_TIMEOUT / 2 }
  return new S3Client({
    // Most compatible stores take any region; a Lambda always has AWS_REGION.
    region: process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION || 'us-east-1',
    ...(config.endpoint === undefined ? { followRegionRedirects: true } : { endpoint: config.endpoint }),
    ...(liesInVariables() ? { credentials: fromVariables } : {}),
    forcePathStyle: config.forcePathStyle,
    maxAttempts: 1,
    // Compatible stores do not know the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT,
      requestTimeout: timeout,
      throwOnRequestTimeout: true,
      httpAgent: agent,
      httpsAgent: agent,
    },
  })
}

/** As in Lambda. A profile goes before the variables, as in all of AWS's tools. */
function liesInVariables(): boolean {
  const { AWS_PROFILE, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env
  return !AWS_PROFILE && Boolean(AWS_ACCESS_KEY_ID && AWS_SECRET_ACCESS_KEY)
}

/** Read when the client asks: after their expiration, where they have one, they may be others. */
async function fromVariables() {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_CREDENTIAL_EXPIRATION } = process.env
  return {
    accessKeyId: AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: AWS_SECRET_ACCESS_KEY ?? '',
    ...(AWS_SESSION_TOKEN && { sessionToken: AWS_SESSION_TOKEN }),
    ...(AWS_CREDENTIAL_EXPIRATION && { expiration: new Date(AWS_CREDENTIAL_EXPIRATION) }),
  }
}
