import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type BrotliCompress, constants, createBrotliCompress } from 'node:zlib'
import { headText, RecordingError, type RecordingHead, type Scrape, scrapeBytes } from './entry.ts'
import { FILE_MARK, frameHeader, framesOf } from './frames.ts'

export interface RecordingWriter {
  /** On the disk when it resolves, as far as the system says so. */
  write(scrape: Scrape): Promise<void>
  close(): Promise<void>
}

/** Good for 0.5 KB a scrape of a 75 KB page at 0.4 ms; one step more costs half as much again for next to nothing. */
const QUALITY = 5
/** log2 of the window: it has to hold the pages before, or nothing is won; each encoder keeps about so much memory. */
const SMALLEST_WINDOW = 20
const LARGEST_WINDOW = 24
const PAGES_IN_WINDOW = 16

/** Opens a recording, or goes on behind the last whole frame of one. */
export async function openWriter(path: string, head: RecordingHead): Promise<RecordingWriter> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, 'a+')
  let compressor: BrotliCompress | undefined
  let packed: Buffer[] = []
  await cutToWholeFrames(path, file)
  if ((await file.stat()).size === 0) await file.appendFile(FILE_MARK)
  let busy: Promise<unknown> = Promise.resolve()

  const start = (bytes: number): BrotliCompress => {
    const fresh = createBrotliCompress({
      params: {
        [constants.BROTLI_PARAM_QUALITY]: QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: windowFor(bytes),
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      },
    })
    fresh.on('data', (chunk: Buffer) => packed.push(chunk))
    return fresh
  }

  const append = async (scrape: Scrape): Promise<void> => {
    const bytes = scrapeBytes(scrape)
    const begins = compressor === undefined
    compressor ??= start(bytes.byteLength)
    await pack(compressor, begins ? Buffer.concat([Buffer.from(headText(head)), bytes]) : bytes)
    const frame = Buffer.concat(packed)
    packed = []
    await file.appendFile(Buffer.concat([frameHeader(frame.byteLength, begins), frame]))
  }

  return {
    write(scrape) {
      const written = busy.then(() => append(scrape))
      busy = written.catch(() => {})
      return written
    },
    async close() {
      await busy
      compressor?.destroy()
      await file.close()
    },
  }
}

function windowFor(bytes: number): number {
  const wanted = Math.ceil(Math.log2(Math.max(1, bytes * PAGES_IN_WINDOW)))
  return Math.min(LARGEST_WINDOW, Math.max(SMALLEST_WINDOW, wanted))
}

/** All that belongs to these bytes has left the encoder when it resolves. */
function pack(compressor: BrotliCompress, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    compressor.once('error', reject)
    compressor.write(bytes)
    compressor.flush(constants.BROTLI_OPERATION_FLUSH, () => {
      compressor.off('error', reject)
      resolve()
    })
  })
}

/** A recorder that was killed leaves a frame that is not whole: it goes, so that what follows can be read. */
async function cutToWholeFrames(path: string, file: FileHandle): Promise<void> {
  const { size } = await file.stat()
  if (size === 0) return
  let whole = size < FILE_MARK.byteLength ? 0 : FILE_MARK.byteLength
  try {
    for await (const { end } of framesOf(createReadStream(path))) whole = end
  } catch (error) {
    if (error instanceof RecordingError) throw new RecordingError(`${path}: ${error.message}; it is left as it is`)
    throw error
  }
  if (whole < size) await file.truncate(whole)
}
