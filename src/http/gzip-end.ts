/** The end of one answer's body as it came over the wire. */
export interface GzipEnd {
  /** Receives the body as it comes over the wire. */
  onBytes(bytes: Uint8Array): void
  /**
   * Whether a body that was declared as gzip came without its end. fetch decodes what arrived and reports no error.
   * @param bytes after decoding. @param last of the decoded bytes.
   */
  isMissing(encoding: string | null, bytes: number, last: number | undefined): boolean
}

const LINE_FEED = 10

/** gzip ends in the number of bytes it holds: https://www.rfc-editor.org/rfc/rfc1952#page-5 */
export function watchGzipEnd(): GzipEnd {
  let tail: Uint8Array = new Uint8Array()
  return {
    onBytes(bytes) {
      tail = bytes.byteLength >= 4 ? bytes.subarray(-4) : Buffer.concat([tail, bytes]).subarray(-4)
    },
    isMissing(encoding, bytes, last) {
      if (!/^(?:x-)?gzip$/i.test(encoding ?? '') || tail.byteLength < 4) return false
      // In a file of several members each counts only its own bytes; a text that ends in a line feed was not cut.
      return last !== LINE_FEED && new DataView(tail.buffer, tail.byteOffset).getUint32(0, true) !== bytes % 2 ** 32
    },
  }
}
