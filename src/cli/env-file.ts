import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/**
 * Adds the variables of a file to the environment; what the environment has already is kept. A missing file counts as empty.
 * @returns why the file cannot be read, where it cannot.
 */
export function loadEnvFile(path: string): string | undefined {
  if (!existsSync(path)) return undefined
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `${path} cannot be read (${code}): it must be a file that this user may read`
  }
  for (const [name, value] of Object.entries(parseEnv(textOf(bytes)))) {
    if (process.env[name] === undefined && value !== undefined) process.env[name] = value
  }
  return undefined
}

/** Windows' editors and shells begin a file with a byte order mark, or write UTF-16; the mark is not part of the first name. */
function textOf(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes)
}
