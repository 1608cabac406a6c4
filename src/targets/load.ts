import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { openDispatcher } from '../http/connections.ts'
import { withDeadline } from '../http/deadline.ts'
import { get } from '../http/get.ts'
import { outwardWays } from '../http/ways.ts'
import type { Outward, Source } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { briefly } from '../model/failure.ts'
import type { Fallible } from '../model/fallible.ts'
import { createS3Client } from '../store/s3-client.ts'

/** The text of a list or the addresses of a name; a failure shows no secret. */
export type Loaded = Fallible<{ text: string } | { addresses: string[] }>

/** Milliseconds for one source. */
const TIMEOUT = 5_000
/** Bytes of a list: ten thousand targets are about one megabyte. */
const MAX_BYTES = 4 * 1024 * 1024

/** Asks one source. Whatever it does is a result; nothing is thrown. */
export async function load(source: Source, outward: Outward = {}): Promise<Loaded> {
  try {
    switch (source.kind) {
      case 'file':
        return { ok: true, text: await readFile(source.path, 'utf8') }
      case 'http':
        return await loadHttp(source, outward)
      case 's3':
        return {
          ok: true,
          text: await withDeadline(TIMEOUT, (signal) => loadS3(source, outward, signal), { abandon: true }),
        }
      case 'dns':
        return await withDeadline(TIMEOUT, () => resolve(new URL(source.url).hostname), { abandon: true })
      default:
        return source satisfies never
    }
  } catch (error) {
    return { ok: false, why: causeOf(error) }
  }
}

async function loadHttp(source: Extract<Source, { kind: 'http' }>, outward: Outward): Promise<Loaded> {
  const connections = openDispatcher(outwardWays(outward))
  const chunks: Uint8Array[] = []
  try {
    const got = await get(source.url, {
      headers: { accept: 'application/json', ...(source.authorization && { authorization: source.authorization }) },
      timeout: TIMEOUT,
      maxBytes: MAX_BYTES,
      dispatcher: connections.dispatcher,
      onChunk: (chunk) => chunks.push(chunk),
    })
    if (got.ok) return { ok: true, text: Buffer.concat(chunks).toString('utf8') }
    return { ok: false, why: briefly(got.failure) }
  } finally {
    await connections.close()
  }
}

async function loadS3(
  source: Extract<Source, { kind: 's3' }>,
  outward: Outward,
  abortSignal: AbortSignal,
): Promise<string> {
  const { bucket, key, endpoint, forcePathStyle } = source
  const client = createS3Client(
    {
      kind: 's3',
      bucket,
      prefix: '',
      endpoint,
      forcePathStyle,
      ...defined({ proxies: outward.proxies, tls: outward.tls }),
    },
    TIMEOUT,
  )
  try {
    const answer = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), { abortSignal })
    return (await answer.Body?.transformToString('utf8')) ?? ''
  } finally {
    client.destroy()
  }
}

/**
 * IPv4 and IPv6 addresses of a name, sorted; an address stands for itself. A name with neither is a failure. The
 * system is asked, not just its name server: only it knows the hosts file and completes a short name such as `vllm-headless`
 * from its search list, as a connection to that name would.
 */
async function resolve(host: string): Promise<Loaded> {
  const literal = host.replace(/^\[|\]$/g, '')
  if (/^[\d.]+$/.test(literal) || literal.includes(':')) return { ok: true, addresses: [literal] }
  const found = await lookup(host, { all: true })
  return { ok: true, addresses: [...new Set(found.map(({ address }) => address))].sort() }
}

/** The system's or S3's own word for it: ENOENT, NoSuchKey. Messages may hold addresses with keys in them. */
function causeOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown }
  return typeof code === 'string' ? code : String(name ?? 'unknown')
}
