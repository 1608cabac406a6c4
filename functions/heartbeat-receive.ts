import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from 'aws-lambda'
import { parseReceiver } from '../src/config/receiver.ts'
import { MOST_BODY } from '../src/heartbeats/beat.ts'
import { openReceiver } from '../src/heartbeats/receiver.ts'
import { withParameters } from '../src/secrets/parameters.ts'

/** Opened at the first call, so that a wrong configuration is an error of that call, and anew when it has changed. */
let kept: { key: string; receiver: ReturnType<typeof openReceiver> } | undefined

/** Takes the beats of workers behind a function URL. Rejects when the configuration is wrong: Lambda then answers 502 and counts an error. */
export async function handler(event: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> {
  const env = await withParameters(process.env, Date.now())
  const place = { lambda: env.AWS_LAMBDA_FUNCTION_NAME !== undefined }
  const key = JSON.stringify(parseReceiver(env, place))
  if (kept?.key !== key) kept = { key, receiver: openReceiver(env, place) }
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  const bodyTooLarge = bytes.byteLength > MOST_BODY
  const { status, headers, body } = await kept.receiver({
    method: event.requestContext.http.method,
    path: event.rawPath,
    query: new URLSearchParams(event.rawQueryString),
    headers: Object.fromEntries(
      Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    body: bodyTooLarge ? '' : bytes.toString('utf8'),
    bodyTooLarge,
  })
  return { statusCode: status, ...(headers ? { headers } : {}), ...(body === undefined ? {} : { body }) }
}
