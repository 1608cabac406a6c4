import { crc32, deflateSync } from 'node:zlib'

/** A picture of at most sixteen colours. */
export interface Raster {
  width: number
  height: number
  /** One byte a pixel, its colour's place in the palette, row by row. */
  pixels: Uint8Array
  /** `#rrggbb`, at most sixteen. */
  palette: readonly string[]
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const BITS = 4
const INDEXED = 3

/** Writes a picture as PNG with four bits a pixel. https://www.w3.org/TR/png-3/ */
export function toPng({ width, height, pixels, palette }: Raster): Buffer {
  const stride = Math.ceil(width / 2) + 1 // a byte that says "no filter" begins each row
  const rows = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * stride + 1 + (x >> 1)
      rows[at] = (rows[at] ?? 0) | ((pixels[y * width + x] ?? 0) << (x % 2 === 0 ? 4 : 0))
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([BITS, INDEXED], 8)
  const colours = Buffer.from(palette.map((colour) => colour.slice(1)).join(''), 'hex')
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
