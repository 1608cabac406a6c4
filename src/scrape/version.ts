import { TABLES } from '../backends/backends.ts'
import { openDispatcher } from '../http/connections.ts'
import { withDeadline } from '../http/deadline.ts'
import { get } from '../http/get.ts'
import { endpointWays } from '../http/ways.ts'
import type { BackendTable, ScrapedBackend } from '../model/backend.ts'
import type { Config, Endpoint } from '../model/config.ts'

/** An answer that takes longer is not worth waiting for; SGLang asks its scheduler before it gives one. Milliseconds. */
const PATIENCE = 1_000
const MOST_BYTES = 512 * 1024

/** For all of them together: the push that waits for it is late by so much at most. Milliseconds. */
const PATIENCE_FOR_ALL = 2_500

/** Asks these endpoints for their versions: name → version, or `undefined` where it tells none. Nothing is thrown. */
export async function askVersions(config: Config, names: readonly string[]): Promise<Map<string, string | undefined>> {
  const table = TABLES[config.backend as ScrapedBackend]
  const asked = config.endpoints.filter(({ name }) => names.includes(name))
  const connections = openDispatcher(endpointWays({ ...config, endpoints: asked }))
  const { dispatcher } = connections
  try {
    return await withDeadline(PATIENCE_FOR_ALL, async (signal) => {
      const ask = async (endpoint: Endpoint) =>
        [endpoint.name, await askVersion(endpoint, table, { dispatcher, signal })] as const
      return new Map(await Promise.all(asked.map(ask)))
    })
  } finally {
    await connections.close()
  }
}

/**
 * Asks a server for its version, beside its metrics: one request, a second where the first address is an older or newer
 * version's. @returns `undefined` where none of them tells.
 */
export async function askVersion(
  { url, authorization, timeout }: Pick<Endpoint, 'url' | 'authorization' | 'timeout'>,
  { versionAt = [] }: BackendTable,
  { dispatcher, signal }: { dispatcher: unknown; signal?: AbortSignal },
): Promise<string | undefined> {
  for (const path of versionAt) {
    const chunks: Uint8Array[] = []
    const got = await get(new URL(path, plain(url)).href, {
      headers: { accept: 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      timeout: Math.min(timeout, PATIENCE),
      dispatcher,
      maxBytes: MOST_BYTES,
      ...(signal && { signal }),
      onChunk: (chunk) => void chunks.push(chunk),
    })
    if (got.ok) return versionIn(Buffer.concat(chunks).toString('utf8'))
    if (got.failure.kind !== 'not-found') return undefined
  }
  return undefined
}

/** `{"version": "0.11.2"}`; a text of a stranger that is no version is none. */
function versionIn(text: string): string | undefined {
  try {
    const { version } = Object(JSON.parse(text)) as { version?: unknown }
    return typeof version === 'string' && VERSION.test(version) ? version : undefined
  } catch {
    return undefined
  }
}
const VERSION = /^\d{1,4}(?:\.\d{1,4}){1,2}[\w.+-]{0,24}$/

/** The metrics' address without its query, which is none of the other's. */
function plain(url: string): string {
  return url.replace(/[?#].*$/, '').replace(/\/+$/, '')
}
