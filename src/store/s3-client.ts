import { homedir, tmpdir } from 'node:os'
import { S3Client } from '@aws-sdk/client-s3'
import { FetchHttpHandler } from '@smithy/fetch-http-handler'
import { answersFor, isGateway, openDispatcher } from '../http/connections.ts'
import { ProxyFailed } from '../http/proxy-failure.ts'
import { tlsOptions } from '../http/tls.ts'
import { outwardWays } from '../http/ways.ts'
import type { StateConfig } from '../model/config.ts'
import { CredentialsFailed } from './s3-errors.ts'

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
  // On an older Node it would print seven lines in every run; `doctor` says it once.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true'
  const agent = {
    keepAlive: false,
    autoSelectFamilyAttemptTimeout: CONNECT_TIMEOUT / 2,
    ...(config.tls && tlsOptions(config.tls)),
  }
  giveHome()
  const client = new S3Client({
    // Most compatible stores take any region; a Lambda always has AWS_REGION.
    region: process.env.AWS_REGION || process.env.AWS_DEFAULT_REGION || 'us-east-1',
    ...(config.endpoint === undefined ? { followRegionRedirects: true } : { endpoint: config.endpoint }),
    ...(liesInVariables() ? { credentials: fromVariables } : {}),
    forcePathStyle: config.forcePathStyle,
    maxAttempts: 1,
    // Compatible stores do not know the newer checksums; AWS's own variables say otherwise.
    ...(process.env.AWS_REQUEST_CHECKSUM_CALCULATION ? {} : { requestChecksumCalculation: 'WHEN_REQUIRED' as const }),
    ...(process.env.AWS_RESPONSE_CHECKSUM_VALIDATION ? {} : { responseChecksumValidation: 'WHEN_REQUIRED' as const }),
    requestHandler: config.proxies
      ? proxied(config, timeout)
      : {
          connectionTimeout: CONNECT_TIMEOUT,
          requestTimeout: timeout,
          throwOnRequestTimeout: true,
          httpAgent: agent,
          httpsAgent: agent,
        },
  })
  const { credentials } = client.config
  const named = (...given: Parameters<typeof credentials>) =>
    credentials(...given).catch((error: unknown) => {
      throw new CredentialsFailed(error)
    })
  client.config.credentials = Object.assign(named, credentials)
  return client
}

/** AWS's client looks for its files at home and fails where there is none: a user id without an entry, `env -i`. It need not find any. */
function giveHome(): void {
  try {
    homedir()
  } catch {
    process.env.HOME = tmpdir()
  }
}

/** Node's own agents know no proxy, so the requests take the way of all others: fetch through our dispatcher. */
function proxied(config: S3Config, requestTimeout: number): FetchHttpHandler {
  const { dispatcher } = openDispatcher(outwardWays(config))
  // Given to `fetch` as it is; the handler's type knows only what browsers know.
  const handler = new FetchHttpHandler({ requestTimeout, requestInit: () => ({ dispatcher }) as RequestInit })
  const handle = handler.handle.bind(handler)
  // fetch counts the body itself, and a length that stands twice is refused.
  handler.handle = async (request, options) => {
    const { 'content-length': _, ...headers } = request.headers
    const answered = await handle(Object.assign(request, { headers }), options)
    const { statusCode } = answered.response
    const proxy = isGateway(statusCode) ? answersFor(`${request.protocol}//${request.hostname}`, dispatcher) : undefined
    if (proxy !== undefined) throw new ProxyFailed(proxy, statusCode, undefined)
    return answered
  }
  return handler
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
