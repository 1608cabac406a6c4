import { inflateRawSync } from 'node:zlib'

/** What is in a zip archive: name → bytes. https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.12 and 4.3.16. */
export function unzip(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  const files = new Map<string, Buffer>()
  let at = archive.readUInt32LE(end + 16)
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, size, local] = [
      archive.readUInt16LE(at + 10),
      archive.readUInt32LE(at + 20),
      archive.readUInt32LE(at + 42),
    ]
    const [name, extra, comment] = [28, 30, 32].map((offset) => archive.readUInt16LE(at + offset)) as [
      number,
      number,
      number,
    ]
    const from = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28)
    const bytes = archive.subarray(from, from + size)
    files.set(archive.toString('utf8', at + 46, at + 46 + name), method === 0 ? bytes : inflateRawSync(bytes))
    at += 46 + name + extra + comment
  }
  return files
}
