import { createReadStream } from 'node:fs'
import { createBrotliDecompress } from 'node:zlib'
import { createEntryReader, type Entry, RecordingError, type RecordingHead, type Scrape } from './entry.ts'
import { framesOf } from './frames.ts'

/** The scrapes of one file, in its order; a file that was cut ends where it was cut. @throws {RecordingError} */
export async function* scrapesOf(path: string): AsyncGenerator<Scrape> {
  for await (const entry of entriesOf(path)) if (entry.kind === 'scrape') yield entry.scrape
}

/** What the file says of itself; reads no further than there. `undefined`: nothing was written yet. */
export async function headOf(path: string): Promise<RecordingHead | undefined> {
  for await (const entry of entriesOf(path)) if (entry.kind === 'head') return entry.head
  return undefined
}

async function* entriesOf(path: string): AsyncGenerator<Entry> {
  const batches = batchesOf(path)
  try {
    // One batch is unpacked while the one before is used.
    let ahead = batches.next()
    for (;;) {
      const { done, value } = await ahead
      if (done) return
      ahead = batches.next()
      ahead.catch(() => {}) // told when its turn comes
      yield* value
    }
  } catch (error) {
    throw error instanceof RecordingError ? new RecordingError(`${path}: ${error.message}`) : error
  } finally {
    await batches.return(undefined).catch(() => {})
  }
}

/** Scrapes that are unpacked at once: some megabytes. */
const BATCH = 24

async function* batchesOf(path: string): AsyncGenerator<Entry[]> {
  let stream: Unpacking | undefined
  let batch: Buffer[] = []
  const unpack = (into: Unpacking): Promise<Entry[]> => {
    const bytes = Buffer.concat(batch)
    batch = []
    return into.read(bytes)
  }
  try {
    for await (const { begins, bytes } of framesOf(createReadStream(path, { highWaterMark: CHUNK }))) {
      if (stream && batch.length > 0 && (begins || batch.length === BATCH)) yield await unpack(stream)
      if (begins || !stream) {
        stream?.close()
        stream = unpacking()
      }
      batch.push(bytes)
    }
    if (stream && batch.length > 0) yield await unpack(stream)
  } finally {
    stream?.close()
  }
}

/** A page comes out in one piece, mostly. Bytes. */
const CHUNK = 1 << 18

interface Unpacking {
  read(bytes: Buffer): Promise<Entry[]>
  close(): void
}

/** One compressed stream. Each frame was flushed, so that all of its bytes come out before the next ones go in. */
function unpacking(): Unpacking {
  const brotli = createBrotliDecompress({ chunkSize: CHUNK })
  const readEntries = createEntryReader()
  let chunks: Buffer[] = []
  let failed: Error | undefined
  brotli.on('data', (chunk: Buffer) => chunks.push(chunk))
  brotli.on('error', (error) => {
    failed = error
  })
  return {
    async read(bytes) {
      await new Promise<void>((resolve) => {
        brotli.write(bytes, () => resolve())
      })
      if (failed) throw new RecordingError('the recording is damaged')
      const unpacked = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)
      chunks = []
      return readEntries(unpacked ?? Buffer.alloc(0))
    },
    close() {
      brotli.destroy()
    },
  }
}
