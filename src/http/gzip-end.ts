import type { NoPauseDispatcher, OnBytes } from './no-pause-dispatcher.ts'

/** The end of one answer's body as it came over the wire. */
export interface GzipEnd {
  /** For the one request whose answer is watched. */
  dispatcher: unknown
  /**
   * Whether a body that was declared as gzip came without its end. fetch decodes what arrived and reports no error.
   * @param bytes after decoding. @param last of the decoded bytes.
   */
  isMissing(encoding: string | null, bytes: number, last: number | undefined): boolean
}

const LINE_FEED = 10

/** gzip ends in the number of bytes it holds: https://www.rfc-editor.org/rfc/rfc1952#page-5 */
export function watchGzipEnd(dispatcher: unknown): GzipEnd {
  let tail: Uint8Array = new Uint8Array()
  const onBytes: OnBytes = (bytes) => {
    tail = bytes.byteLength >= 4 ? bytes.subarray(-4) : Buffer.concat([tail, bytes]).subarray(-4)
  }
  const { dispatch } = dispatcher as NoPauseDispatcher
  return {
    dispatcher: {
      dispatch: (...[options, handler]: Parameters<typeof dispatch>) => dispatch(options, handler, onBytes),
    },
    isMissing(encoding, bytes, last) {
      if (!/^(?:x-)?gzip$/i.test(encoding ?? '') || tail.byteLength < 4) return false
      // In a file of several members each counts only its own bytes; a text that ends in a line feed was not cut.
      return last !== LINE_FEED && new DataView(tail.buffer, tail.byteOffset).getUint32(0, true) !== bytes % 2 ** 32
    },
  }
}
