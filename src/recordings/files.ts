import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Backend } from '../model/backend.ts'
import { type RecordedEndpoint, RecordingError, type RecordingHead, type Scrape } from './entry.ts'
import { headOf, scrapesOf } from './reader.ts'

/** Recordings that belong to one function, ready to be read in order of time. */
export interface OpenedRecordings {
  endpoints: RecordedEndpoint[]
  files: AsyncIterable<Scrape>[]
}

interface Headed {
  path: string
  head: RecordingHead
}

/**
 * Opens files and folders of recordings. Files of one endpoint follow each other; files of several run side by side.
 * @throws {RecordingError} where a file is none, or nothing of this function's is there.
 */
export async function openRecordings(paths: readonly string[], backend: Backend): Promise<OpenedRecordings> {
  const found = (await Promise.all(paths.map(recordingsIn))).flat().sort()
  const headed: Headed[] = []
  for (const path of found) {
    const head = await headOf(path)
    if (head && (head.backend ?? backend) === backend) headed.push({ path, head })
  }
  if (headed.length === 0) throw new RecordingError(`${paths.join(', ')}: no recording of ${backend} is there`)
  const byEndpoints = new Map<string, string[]>()
  for (const { path, head } of headed) {
    const key = head.endpoints.map(({ name }) => name).join(' ')
    byEndpoints.set(key, [...(byEndpoints.get(key) ?? []), path])
  }
  const endpoints = new Map(headed.flatMap(({ head }) => head.endpoints.map((one) => [one.name, one] as const)))
  return { endpoints: [...endpoints.values()], files: [...byEndpoints.values()].map(oneAfterAnother) }
}

async function recordingsIn(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path]
    return (await readdir(path)).filter((name) => name.endsWith('.qb')).map((name) => join(path, name))
  } catch (error) {
    throw new RecordingError(`${path}: ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not there' : error}`)
  }
}

async function* oneAfterAnother(paths: readonly string[]): AsyncGenerator<Scrape> {
  for (const path of paths) yield* scrapesOf(path)
}
