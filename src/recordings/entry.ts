import type { Backend } from '../model/backend.ts'
import type { Failure } from '../model/failure.ts'
import type { Observation } from '../model/observation.ts'

/** Raised when a reader of before could not make sense of what is written now. */
export const RECORDING_VERSION = 1

/** An endpoint as a recording names it: no address of ours, no credentials. */
export interface RecordedEndpoint {
  name: string
  /** `host:port` as another watcher called it, so that a configured endpoint can be recognised. */
  address?: string
  model?: string
}

/** What stands at the head of a recording, and again wherever a recorder went on with it. */
export interface RecordingHead {
  version: number
  /** Absent: an import, which holds whatever was matched. */
  backend?: Backend
  endpoints: readonly RecordedEndpoint[]
}

/** What a server that is asked by canaries answered: there is no page to keep. */
export type RecordedAnswer = Pick<Observation, 'up' | 'canary'> & { readings?: object }

/** One scrape: when, how long, and the page as it came, or why there was none. */
export interface Scrape {
  /** Epoch milliseconds of the run; scrapes of one run share it. */
  at: number
  endpoint: string
  /** Milliseconds from asking to the whole answer. */
  took: number
  failure?: Failure
  page?: Uint8Array
  /** The page of the GPU exporter beside the server. */
  gpu?: Uint8Array
  answer?: RecordedAnswer
}

export type Entry = { kind: 'head'; head: RecordingHead } | { kind: 'scrape'; scrape: Scrape }

/** The recording cannot be used: damaged from its beginning on, of a newer version, or no recording. */
export class RecordingError extends Error {
  override name = 'RecordingError'
}

const MARK = '# QUEUEBELL '
/** A line of ours is some hundred bytes; a failure's words add at most 200 characters. */
const LONGEST_LINE = 1024 * 1024
const LINE_FEED = 10

export function headText(head: RecordingHead): string {
  return `${MARK}recording ${JSON.stringify(head)}\n`
}

/**
 * A scrape as it is written: one line of JSON, then the bytes of its pages, then a line feed. The line is a comment of
 * the exposition format, so that a recording that was unpacked can be read by eye and by other tools.
 */
export function scrapeBytes({ page, gpu, ...rest }: Scrape): Buffer {
  const line = { ...rest, ...(page && { bytes: page.byteLength }), ...(gpu && { gpuBytes: gpu.byteLength }) }
  const parts = [Buffer.from(`${MARK}scrape ${JSON.stringify(line)}\n`), page ?? EMPTY, gpu ?? EMPTY]
  return Buffer.concat([...parts, LINE_END])
}

const EMPTY = Buffer.alloc(0)
const LINE_END = Buffer.from('\n')

/**
 * Reads entries from unpacked bytes that come in pieces. A last entry that is not whole is left out: the recorder died
 * in it. @throws {RecordingError} at what cannot be an entry.
 */
export function createEntryReader(): (chunk: Uint8Array) => Entry[] {
  let held: Buffer = EMPTY
  return (chunk) => {
    held =
      held.byteLength === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
        : Buffer.concat([held, chunk])
    const entries: Entry[] = []
    let from = 0
    for (let next = readEntry(held, from); next; next = readEntry(held, from)) {
      entries.push(next.entry)
      from = next.to
    }
    held = held.subarray(from)
    return entries
  }
}

function readEntry(bytes: Buffer, from: number): { entry: Entry; to: number } | undefined {
  const lineEnd = bytes.indexOf(LINE_FEED, from)
  if (lineEnd < 0) {
    if (bytes.byteLength - from > LONGEST_LINE) throw new RecordingError('what follows is no entry of a recording')
    return undefined
  }
  const line = bytes.toString('utf8', from, lineEnd)
  const found = /^# QUEUEBELL (recording|scrape) (\{.*\})$/.exec(line)
  if (!found) throw new RecordingError(`what follows is no entry of a recording: ${line.slice(0, 40)}`)
  const fields = parsed(found[2] ?? '')
  if (found[1] === 'recording') return { entry: { kind: 'head', head: checkedHead(fields) }, to: lineEnd + 1 }
  const { bytes: pageBytes, gpuBytes, ...rest } = fields as unknown as Scrape & { bytes?: number; gpuBytes?: number }
  const gpuFrom = lineEnd + 1 + (pageBytes ?? 0)
  const to = gpuFrom + (gpuBytes ?? 0) + 1
  if (to > bytes.byteLength) return undefined
  if (!Number.isFinite(rest.at) || typeof rest.endpoint !== 'string')
    throw new RecordingError('a scrape without a time')
  const page = pageBytes === undefined ? undefined : bytes.subarray(lineEnd + 1, gpuFrom)
  const gpu = gpuBytes === undefined ? undefined : bytes.subarray(gpuFrom, to - 1)
  return { entry: { kind: 'scrape', scrape: { ...rest, ...(page && { page }), ...(gpu && { gpu }) } }, to }
}

function checkedHead(fields: Record<string, unknown>): RecordingHead {
  const head = fields as unknown as RecordingHead
  if (head.version !== RECORDING_VERSION)
    throw new RecordingError(`version ${head.version} of the format; this program reads version ${RECORDING_VERSION}`)
  return head
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    throw new RecordingError('a line of a recording that is not whole')
  }
}
