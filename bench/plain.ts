import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import parse from 'parse-prometheus-text-format'
import { Agent } from 'undici'
import * as z from 'zod'

const ENVIRONMENT = z.object({ STATE_BUCKET: z.string(), S3_ENDPOINT: z.url(), VLLM_ENDPOINTS: z.string() })

/**
 * The packages that the product uses, taken together plainly, with no product around them: settings are checked, one page
 * is asked for and read, one object is read and written. What a process of ours costs is seen beside it.
 */
export async function handler(): Promise<{ statusCode: number; body: string }> {
  const env = ENVIRONMENT.parse(process.env)
  const s3 = new S3Client({ endpoint: env.S3_ENDPOINT, forcePathStyle: true })
  const location = { Bucket: env.STATE_BUCKET, Key: 'plain.json' }
  const stored = await s3.send(new GetObjectCommand(location)).catch(() => undefined)
  const state: unknown = JSON.parse((await stored?.Body?.transformToString()) ?? '{}')
  const dispatcher = new Agent()
  const url = env.VLLM_ENDPOINTS.slice(env.VLLM_ENDPOINTS.indexOf('=') + 1)
  const response = await fetch(url, { dispatcher } as unknown as RequestInit)
  const families = parse(await response.text())
  await s3.send(
    new PutObjectCommand({ ...location, Body: JSON.stringify({ before: typeof state, now: families.length }) }),
  )
  await dispatcher.close()
  return { statusCode: 200, body: '' }
}
