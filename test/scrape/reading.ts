import { TABLES } from '../../src/backends/backends.ts'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import type { Readings } from '../../src/model/signals.ts'
import type { Page } from '../../src/scrape/page.ts'
import { createPageReader } from '../../src/scrape/page-reader.ts'
import { readPage } from '../../src/scrape/read.ts'

/** 2026-11-30T12:00:00Z. */
export const NOW = 1_796_040_000_000

/** A whole body as one chunk. */
export function pageOf(backend: ScrapedBackend, body: string | Uint8Array): Page {
  const reader = createPageReader(TABLES[backend])
  reader.push(typeof body === 'string' ? Buffer.from(body) : body)
  return reader.end()
}

export function readingsOf(
  backend: ScrapedBackend,
  body: string | Uint8Array,
  model?: string,
  now: number = NOW,
): Readings {
  return readPage(pageOf(backend, body), TABLES[backend], { model, now })
}

/** The counts of a page's lines. */
export function countsOf({ lines, comments, sampleCount, malformed }: Page) {
  return { lines, comments, sampleCount, malformed }
}

/** The value of the counter over all label sets. */
export function totalOf(counter: Record<string, { value: number }> | undefined): number | undefined {
  return counter && Object.values(counter).reduce((sum, { value }) => sum + value, 0)
}
