import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { checkEnvText, type EnvText, type OddLine } from '../config/env-text.ts'
import { unquoted } from '../config/environment.ts'
import { isOurs, unknownIn, unknownWords } from '../config/known-names.ts'

/**
 * Adds the variables of a file to the environment; what the environment has already is kept. A missing file counts as empty.
 * @param warn told of each line that works, but not as it looks.
 * @returns every problem of the file with its line, where there are any; nothing is added then.
 */
export function loadEnvFile(path: string, warn: (text: string) => void = console.error): string | undefined {
  if (!existsSync(path)) return undefined
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `${path} cannot be read (${code}): it must be a file that this user may read`
  }
  const text = textOf(bytes)
  const checked = checkEnvText(text)
  const values = parseEnv(text)
  const env = { ...values, ...process.env }
  const problems = [...checked.problems, ...unknownLines(checked, env)].sort((a, b) => a.line - b.line)
  if (problems.length > 0) return refusal(path, problems)
  for (const { line, what } of checked.warnings) warn(`${path} line ${line}: ${what}`)
  for (const [name, value = ''] of Object.entries(values)) {
    if (process.env[name] !== undefined) continue
    const bare = isOurs(name, env) ? unquoted(value) : value
    if (bare !== value)
      warn(`${path} line ${checked.lines.get(name)}: ${name} has quotation marks inside others; they were taken off`)
    process.env[name] = bare
  }
  return undefined
}

/** What works here and would not in a container that is given the same file. */
export function envFileNotes(path: string): string[] {
  if (!existsSync(path)) return []
  return checkEnvText(textOf(readFileSync(path))).notes.map(({ line, what }) => `${path} line ${line}: ${what}`)
}

function unknownLines({ lines }: EnvText, env: NodeJS.ProcessEnv): OddLine[] {
  return unknownIn(lines.keys(), env).map((unknown) => ({
    line: lines.get(unknown.name) ?? 0,
    what: `${unknown.name}: ${unknownWords(unknown)}`,
  }))
}

function refusal(path: string, problems: readonly OddLine[]): string {
  const head = `${path}: ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}`
  return [head, ...problems.map(({ line, what }) => `  - line ${line}: ${what}`)].join('\n')
}

/** Windows' editors and shells begin a file with a byte order mark, or write UTF-16; the mark is not part of the first name. */
function textOf(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8').decode(bytes)
}
