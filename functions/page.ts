import type { LambdaFunctionURLEvent, LambdaFunctionURLResult } from 'aws-lambda'
import { MOST_BODY } from '../src/page/exchange.ts'
import { type OpenPage, openPage } from '../src/page/open-page.ts'
import { withParameters } from '../src/secrets/parameters.ts'

/** Opened at the first call, so that a wrong configuration is an error of that call, and anew when it has changed. */
let kept: { key: string; page: OpenPage } | undefined

/** The page behind a function URL. Rejects when the configuration is wrong: Lambda then answers 502 and counts an error. */
export async function handler(event: LambdaFunctionURLEvent): Promise<LambdaFunctionURLResult> {
  const env = await withParameters(process.env, Date.now())
  const key = JSON.stringify(env)
  if (kept?.key !== key) kept = { key, page: openPage(env, { lambda: env.AWS_LAMBDA_FUNCTION_NAME !== undefined }) }
  // Forms come in base64.
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  const bodyTooLarge = bytes.byteLength > MOST_BODY
  const { status, headers, body } = await kept.page.answer({
    method: event.requestContext.http.method,
    path: event.rawPath,
    headers: Object.fromEntries(
      Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]),
    ),
    body: bodyTooLarge ? '' : bytes.toString('utf8'),
    bodyTooLarge,
  })
  if (typeof body === 'string') return { statusCode: status, headers, body }
  return { statusCode: status, headers, body: body.toString('base64'), isBase64Encoded: true }
}
