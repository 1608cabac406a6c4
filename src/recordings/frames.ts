import { RecordingError } from './entry.ts'

/**
 * The file around the compressed bytes: a line that says what it is, then frames. A frame is four bytes of length
 * (big-endian), one byte that says whether a new compressed stream begins with it, and so many bytes. Each scrape ends
 * a frame, so that a file that was cut anywhere can be read up to there, and a recorder that starts again goes on
 * behind the last whole frame with a stream of its own.
 */
export const FILE_MARK = Buffer.from('QUEUEBELL-RECORDING 1 brotli\n')
const HEADER = 5
const BEGINS = 1
const GOES_ON = 0
/** A page is 16 MiB at most, and compressed bytes are hardly more than it. */
const LARGEST = 64 * 1024 * 1024

export interface Frame {
  begins: boolean
  bytes: Buffer
  /** Where the next frame begins in the file. */
  end: number
}

export function frameHeader(length: number, begins: boolean): Buffer {
  const header = Buffer.alloc(HEADER)
  header.writeUInt32BE(length)
  header.writeUInt8(begins ? BEGINS : GOES_ON, 4)
  return header
}

/**
 * The whole frames of a file's bytes as they come. What is left at the end is a frame that was cut.
 * @throws {RecordingError} when it is no recording.
 */
export async function* framesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Frame> {
  let held: Buffer = Buffer.alloc(0)
  let position = 0
  let isMarked = false
  for await (const chunk of chunks) {
    held = Buffer.concat([held, chunk])
    if (!isMarked) {
      if (held.byteLength < FILE_MARK.byteLength) continue
      if (!held.subarray(0, FILE_MARK.byteLength).equals(FILE_MARK)) throw notOurs(held)
      isMarked = true
      held = held.subarray(FILE_MARK.byteLength)
      position = FILE_MARK.byteLength
    }
    for (let frame = frameAt(held); frame; frame = frameAt(held)) {
      held = held.subarray(HEADER + frame.bytes.byteLength)
      position += HEADER + frame.bytes.byteLength
      yield { ...frame, end: position }
    }
  }
}

function frameAt(held: Buffer): Omit<Frame, 'end'> | undefined {
  if (held.byteLength < HEADER) return undefined
  const length = held.readUInt32BE()
  const sign = held.readUInt8(4)
  if (length > LARGEST || sign > BEGINS) throw new RecordingError('the recording is damaged')
  if (held.byteLength < HEADER + length) return undefined
  return { begins: sign === BEGINS, bytes: held.subarray(HEADER, HEADER + length) }
}

function notOurs(bytes: Buffer): RecordingError {
  const newer = /^QUEUEBELL-RECORDING (\S+)/.exec(bytes.toString('latin1', 0, 40))
  return new RecordingError(
    newer ? `a recording of version ${newer[1]}, which this program cannot read` : 'no recording',
  )
}
