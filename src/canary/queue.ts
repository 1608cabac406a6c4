import { TABLES } from '../backends/backends.ts'
import { get } from '../http/get.ts'
import type { Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { createPageReader } from '../scrape/page-reader.ts'
import { readPage } from '../scrape/read.ts'
import { below, openaiBase } from './address.ts'

/** Requests waiting from which a canary would only add to what is known: the default limit of the rule `waiting`. */
export const DEEP_QUEUE = 20

/** The longest that a look at the page may take. Milliseconds. */
const PATIENCE = 2_000
const MOST_BYTES = 4 * 1024 * 1024

/** The servers that speak the OpenAI protocol and publish their queue. */
const QUEUES = ['vllm', 'sglang', 'tgi', 'tei', 'llamacpp'] as const

export interface QueueOptions {
  dispatcher: unknown
  signal: AbortSignal
  /** The run's time, epoch milliseconds. */
  now: number
}

/**
 * Looks at the server's own metrics, where it has any that we know.
 * @returns what is known of a queue with at least `deep` requests in it (`34 requests waiting`), for the result;
 * `undefined` when the queue is shorter or unknown: then the canary finds out.
 */
export async function deepQueue(
  endpoint: Endpoint,
  options: QueueOptions,
  deep = DEEP_QUEUE,
): Promise<string | undefined> {
  const tables = QUEUES.map((backend) => TABLES[backend])
  const readers = tables.map((table) => createPageReader(table))
  const got = await get(below(openaiBase(endpoint.url), 'metrics'), {
    headers: defined({ authorization: endpoint.authorization }),
    timeout: Math.min(PATIENCE, endpoint.timeout / 2),
    signal: options.signal,
    dispatcher: options.dispatcher,
    maxBytes: MOST_BYTES,
    onChunk: (chunk) => {
      for (const reader of readers) reader.push(chunk)
    },
  })
  if (!got.ok) return undefined
  for (const [index, table] of tables.entries()) {
    const page = readers[index]?.end()
    // The queue of all models: they share the GPU, and the canary waits behind all of them.
    const waiting = page && readPage(page, table, { model: undefined, now: options.now }).gauges.waiting?.value
    if (waiting !== undefined) return waiting >= deep ? `${waiting} requests waiting` : undefined
  }
  return undefined
}
