import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { Scrape } from '../../src/recordings/entry.ts'
import { scrapesOf } from '../../src/recordings/reader.ts'
import { openWriter } from '../../src/recordings/writer.ts'

const folders: string[] = []
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true })
})

/** A folder of its own for one test. */
export async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'recordings-'))
  folders.push(made)
  return made
}

export async function readAll(path: string): Promise<Scrape[]> {
  const scrapes: Scrape[] = []
  for await (const scrape of scrapesOf(path)) scrapes.push(scrape)
  return scrapes
}

/** A recording of vLLM with these scrapes. @returns its path. */
export async function recordingOf(scrapes: readonly Scrape[], name = 'week.qb'): Promise<string> {
  const path = join(await folder(), name)
  const endpoints = [...new Set(scrapes.map(({ endpoint }) => endpoint))].map((one) => ({ name: one }))
  const writer = await openWriter(path, { version: 1, backend: 'vllm', endpoints })
  for (const scrape of scrapes) await writer.write(scrape)
  await writer.close()
  return path
}
