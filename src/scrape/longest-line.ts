/** A line that spans whole pieces of a body, and the name that it begins with. */
export interface LongLine {
  bytes: number
  name: string
}

const LINE_FEED = 0x0a
/** No metric has a longer name. Bytes. */
const NAME_BYTES = 80

/** Finds the longest line of a body that comes in pieces. Two looks a piece: lines inside one piece are not long. */
export function createLongestLine(): { push(chunk: Uint8Array): void; longest(): LongLine | undefined } {
  let current: LongLine = { bytes: 0, name: '' }
  let longest: LongLine | undefined
  const end = (more: number) => {
    current.bytes += more
    if (current.bytes > (longest?.bytes ?? 0)) longest = current
  }
  return {
    push(chunk) {
      const first = chunk.indexOf(LINE_FEED)
      if (first < 0) {
        if (current.name === '') current.name = nameIn(chunk)
        current.bytes += chunk.length
        return
      }
      end(first)
      const rest = chunk.subarray(chunk.lastIndexOf(LINE_FEED) + 1)
      current = { bytes: rest.length, name: nameIn(rest) }
    },
    longest() {
      end(0)
      return longest
    },
  }
}

function nameIn(line: Uint8Array): string {
  const opening = Buffer.from(line.subarray(0, NAME_BYTES)).toString('latin1')
  return /^[\w:.]+/.exec(opening)?.[0] ?? ''
}
