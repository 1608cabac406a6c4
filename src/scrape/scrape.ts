import { get } from '../http/get.ts'
import { toWords } from '../http/server-words.ts'
import type { BackendTable } from '../model/backend.ts'
import type { Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import type { Answer } from '../model/observation.ts'
import type { Readings } from '../model/signals.ts'
import { createLongestLine, type LongLine } from './longest-line.ts'
import type { Page } from './page.ts'
import { createPageReader } from './page-reader.ts'
import { readPage } from './read.ts'
import type { ReadOptions } from './select.ts'

export interface ScrapeOptions {
  /** Epoch milliseconds: the run's own time, against which a sample's timestamp is judged. */
  now: number
  dispatcher: unknown
  /** The run's own end. */
  signal?: AbortSignal
  /** Sees the decoded body too, piece by piece, whatever comes of it: for a recording. */
  onChunk?: ((chunk: Uint8Array) => void) | undefined
}

type Source = Pick<Endpoint, 'url' | 'timeout' | 'model' | 'authorization'>

/** Asks one endpoint for its metrics. Whatever it does is an answer; nothing is thrown. */
export async function scrape(source: Source, table: BackendTable, options: ScrapeOptions): Promise<Answer> {
  const got = await scrapePage(source, table, options)
  if ('failure' in got) return { up: false, failure: got.failure }
  return { up: true, readings: readPage(got.page, table, { model: source.model, now: options.now }) }
}

/** The page of one endpoint as it came, or why there is none. */
export async function scrapePage(
  source: Source,
  table: BackendTable,
  options: Omit<ScrapeOptions, 'now'>,
): Promise<{ page: Page; bytes: number } | { failure: Failure }> {
  const reader = createPageReader(table)
  let opening = Buffer.alloc(0)
  const lines = createLongestLine()
  const got = await get(source.url, {
    headers: source.authorization === undefined ? {} : { authorization: source.authorization },
    timeout: source.timeout,
    dispatcher: options.dispatcher,
    ...defined({ signal: options.signal }),
    onChunk(chunk) {
      if (opening.length < OPENING_BYTES) opening = Buffer.concat([opening, chunk.subarray(0, OPENING_BYTES)])
      lines.push(chunk)
      reader.push(chunk)
      options.onChunk?.(chunk)
    },
  })
  if (!got.ok)
    return { failure: got.failure.kind === 'too-large' ? withLine(got.failure, lines.longest()) : got.failure }
  const page = reader.end()
  if (isPrometheus(page, got.contentType, table)) return { page, bytes: got.bytes }
  const detail = toWords(opening.toString('utf8'), source.authorization === undefined ? [] : [source.authorization])
  return { failure: defined({ kind: 'not-prometheus' as const, detail }) }
}

/** The signals of a page that was recorded as a good answer. */
export function readRecorded(bytes: Uint8Array, table: BackendTable, options: ReadOptions): Readings {
  const reader = createPageReader(table)
  reader.push(bytes)
  return readPage(reader.end(), table, options)
}

/** Names the line that makes a page too large, if one does: to look for too many series would lead nowhere. */
function withLine(failure: Failure, line: LongLine | undefined): Failure {
  if (line === undefined || line.bytes < LONG_LINE) return failure
  return { ...failure, detail: `one line of ${(line.bytes / 1e6).toFixed(1)} MB: ${line.name}` }
}
const LONG_LINE = 1_000_000

/** Kept of the body, to tell what came instead of metrics. */
const OPENING_BYTES = 2_000

/**
 * Tells a metrics page from a web page, JSON, a greeting ("Ollama is running") or nothing. The content type alone is no
 * proof: home-made exporters send `text/html`. A page of comments alone is a good one with nothing to tell yet, which is
 * for the rule `blind`; an empty one is good only where the backend is known to start so.
 */
function isPrometheus(page: Page, contentType: string, table: BackendTable): boolean {
  if (page.firstByte === LESS_THAN) return false
  if (page.sampleCount > 0) return true
  if (page.lines === 0) return table.emptyIsHealthy === true
  return page.comments === page.lines && !/html|json/i.test(contentType)
}

const LESS_THAN = 0x3c

/** Asks the GPU exporter beside a server; it only adds to what a message says, so without an answer there is nothing to tell. */
export async function scrapeGpu(
  url: string,
  table: BackendTable,
  options: ScrapeOptions & { timeout: number },
): Promise<Readings | undefined> {
  const source = { url, timeout: options.timeout, model: undefined, authorization: undefined }
  const answer = await scrape(source, table, options)
  return answer.up ? answer.readings : undefined
}
