/** A longer line is skipped, so that a body without line feeds cannot fill the memory. */
export const MAX_LINE = 64 * 1024

export interface LineReader {
  push(chunk: Uint8Array): void
  /** Gives out the last line, where it has no line feed. */
  end(): void
}

/**
 * Cuts a stream of bytes into lines, wherever it is cut into chunks. Bytes become latin1 text, one character each: that is
 * exact, fast, and no UTF-8 character can be torn.
 * @param onLine gets the line between `from` and `to` of `text`, and must not keep `text`.
 * @param onTooLong is told once for each line longer than {@link MAX_LINE}.
 */
export function createLineReader(
  onLine: (text: string, from: number, to: number) => void,
  onTooLong: () => void,
): LineReader {
  /** The beginning of a line whose end has not come, and whether it is already too long. */
  let rest = ''
  let tooLong = false

  function push(chunk: Uint8Array): void {
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    let from = 0
    let to = text.indexOf('\n')
    if (to !== -1 && (rest !== '' || tooLong)) {
      finish(text.slice(0, to))
      from = to + 1
      to = text.indexOf('\n', from)
    }
    while (to !== -1) {
      if (to - from > MAX_LINE) onTooLong()
      else onLine(text, from, to)
      from = to + 1
      to = text.indexOf('\n', from)
    }
    if (from < text.length) keep(text.slice(from))
  }

  function keep(part: string): void {
    if (tooLong) return
    tooLong = rest.length + part.length > MAX_LINE
    rest = tooLong ? '' : rest + ownText(part)
  }

  function finish(part: string): void {
    const line = rest + part
    if (tooLong || line.length > MAX_LINE) onTooLong()
    else onLine(line, 0, line.length)
    rest = ''
    tooLong = false
  }

  return { push, end: () => (rest !== '' || tooLong ? finish('') : undefined) }
}

/** A copy of latin1 text: a slice would keep the whole chunk it was cut from in memory. Short slices are copies anyway. */
export function ownText(slice: string): string {
  return slice.length < 13 ? slice : Buffer.from(slice, 'latin1').toString('latin1')
}

/** Whether `part` lies at `at`. Several times as fast as `startsWith`, which goes character by character. */
export function isAt(part: string, text: string, at: number): boolean {
  return text.slice(at, at + part.length) === part
}
