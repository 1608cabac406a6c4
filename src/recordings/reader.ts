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
  try {
    let stream: Unpacking | undefined
    for await (const { begins, bytes } of framesOf(createReadStream(path, { highWaterMark: 1 << 18 }))) {
      if (begins || !stream) {
        stream?.close()
        stream = unpacking()
      }
      yield* await stream.read(bytes)
    }
    stream?.close()
  } catch (error) {
    throw error instanceof RecordingError ? new RecordingError(`${path}: ${error.message}`) : error
  }
}

/** A page comes out in one piece, mostly. Bytes. */
const CHUNK = 1 << 18

interface Unpacking {
  read(bytes: Buffer): Promise<Entry[]>
  close(): void
}

/** One compressed stream. Each frame was flushed, so that all of its bytes come out before the next goes in. */
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
