import { TABLES } from '../backends/backends.ts'
import { get } from '../http/get.ts'
import type { BackendTable, ScrapedBackend } from '../model/backend.ts'
import type { Failure } from '../model/failure.ts'
import { createPageReader } from '../scrape/page-reader.ts'
import { readPage } from '../scrape/read.ts'

/** A server that a page is recognised as. */
export interface Whose {
  backend: ScrapedBackend
  /** `vLLM V1, 0.9.2 or newer`. */
  as: string
  /** Why it is not to be watched itself. */
  instead: string | undefined
  model: string | undefined
}

export type Looked =
  | { kind: 'page'; whose: Whose[]; samples: number }
  | { kind: 'other'; text: string }
  | { kind: 'failure'; failure: Failure }

export interface LookOptions {
  dispatcher: unknown
  /** Milliseconds. */
  timeout: number
  authorization?: string | undefined
}

/** Most pages have some hundred KB; what is no page is kept no longer than this. */
const KEPT = 64 * 1024

/** Asks an address and tells which servers' page its answer is, the one that most is known of first. */
export async function lookAt(url: string, { dispatcher, timeout, authorization }: LookOptions): Promise<Looked> {
  const backends = Object.keys(TABLES) as ScrapedBackend[]
  const readers = backends.map((backend) => ({ backend, reader: createPageReader(TABLES[backend]) }))
  let text = ''
  const got = await get(url, {
    headers: authorization === undefined ? {} : { authorization },
    timeout,
    dispatcher,
    onChunk(chunk) {
      if (text.length < KEPT) text += Buffer.from(chunk).toString('latin1')
      for (const { reader } of readers) reader.push(chunk)
    },
  })
  if (!got.ok) return { kind: 'failure', failure: got.failure }
  const found = readers.map(({ backend, reader }) => whoseOf(backend, TABLES[backend], reader))
  const samples = Math.max(...found.map((one) => one.samples))
  if (/^\s*[<{[]/.test(text) || samples === 0) return { kind: 'other', text }
  const whose = found.flatMap(({ whose, known }) => (whose ? [{ whose, known }] : []))
  const sorted = whose.sort((a, b) => b.known - a.known).map((one) => one.whose)
  // Where another function watches it, that is what there is to say.
  const own = sorted.filter(({ instead }) => instead === undefined)
  return { kind: 'page', whose: own.length > 0 && sorted[0]?.instead !== undefined ? own : sorted, samples }
}

function whoseOf(
  backend: ScrapedBackend,
  table: BackendTable,
  reader: ReturnType<typeof createPageReader>,
): { whose: Whose | undefined; known: number; samples: number } {
  const page = reader.end()
  const readings = readPage(page, table, { model: undefined, now: 0 })
  const recognised = table.recognise.find(({ series }) => page.recognised.has(series) || page.samples.has(series))
  const known = Object.keys(readings.sources).length + (recognised?.instead === undefined ? 0 : MOST)
  const whose = recognised && { backend, as: recognised.as, instead: recognised.instead, model: readings.model }
  return { whose, known, samples: page.sampleCount }
}

/** What a page says of itself goes before any number of series that it shares with others. */
const MOST = 1_000
