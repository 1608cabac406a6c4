/** A line of a `.env` file that does not say what its writer thinks. */
export interface OddLine {
  /** From 1. */
  line: number
  what: string
}

export interface EnvText {
  /** Where each variable stands; the last one counts. */
  lines: ReadonlyMap<string, number>
  problems: OddLine[]
  warnings: OddLine[]
  /** Right here, and wrong for another reader of the same file. */
  notes: OddLine[]
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/
const QUOTES = ['"', "'", '`']

/**
 * Looks through the lines of a `.env` file for what its reader would pass over in silence. The values themselves are
 * read by Node: https://nodejs.org/api/util.html#utilparseenvcontent. No value is ever repeated: it may be a secret.
 */
export function checkEnvText(text: string): EnvText {
  const lines = new Map<string, number>()
  const found: EnvText = { lines, problems: [], warnings: [], notes: [] }
  const rows = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/)
  for (let i = 0; i < rows.length; i++) {
    const line = i + 1
    const row = read(rows[i] ?? '')
    if (row.kind === 'blank') continue
    if (row.kind === 'odd') {
      found.problems.push({ line, what: row.what })
      continue
    }
    const { name, value } = row
    const before = lines.get(name)
    if (before !== undefined) found.warnings.push({ line, what: `${name} is there twice: line ${before} is not used` })
    lines.set(name, line)
    const quote = QUOTES.find((one) => value.trimStart().startsWith(one))
    if (quote === undefined) checkPlain(name, value, line, found)
    else i = checkQuoted({ name, quote, value: value.trimStart().slice(1) }, rows, i, found)
  }
  return found
}

type Row = { kind: 'blank' } | { kind: 'odd'; what: string } | { kind: 'pair'; name: string; value: string }

function read(text: string): Row {
  const row = text.trim()
  if (row === '' || row.startsWith('#')) return { kind: 'blank' }
  const bare = row.replace(/^export\s+/, '')
  const equals = bare.indexOf('=')
  if (equals === -1) return { kind: 'odd', what: 'is no NAME=value; a comment begins with #' }
  const name = bare.slice(0, equals).trim()
  return NAME.test(name)
    ? { kind: 'pair', name, value: bare.slice(equals + 1) }
    : { kind: 'odd', what: nameProblem(name) }
}

function checkPlain(name: string, value: string, line: number, found: EnvText): void {
  const cut = value.indexOf('#')
  if (cut === -1 || /\s/.test(value[cut - 1] ?? '')) return
  const what = cut === 0 ? `${name} is empty` : `${name} is cut off at #`
  found.warnings.push({ line, what: `${what}: a comment begins there; put the value in quotation marks` })
}

/** @returns the row that the value ends in. */
function checkQuoted(
  { name, quote, value }: { name: string; quote: string; value: string },
  rows: readonly string[],
  from: number,
  found: EnvText,
): number {
  const line = from + 1
  const end = closing(rows, from, value, quote)
  // A whole line inside the quotation marks is a variable that is lost.
  const swallowed = rows
    .slice(from + 1, (end?.row ?? from) + 1)
    .some((row) => /^\s*(export\s+)?[A-Z][A-Z0-9_]*=/.test(row))
  if (end === undefined || swallowed) {
    found.problems.push({ line, what: `${name} opens a quotation mark (${quote}) that is not closed` })
    return from
  }
  if (!/^\s*(#.*)?$/.test(end.rest))
    found.warnings.push({ line, what: `${name} goes on behind its closing quotation mark; that part is not read` })
  else if (end.row === from && !/[#\s]/.test(value.slice(0, value.indexOf(quote))))
    found.notes.push({ line, what: `${name} stands in quotation marks, which docker's --env-file would keep` })
  return end.row
}

function nameProblem(name: string): string {
  if (name === '') return 'has no name before ='
  if (/^[\w.-]{1,40}$/.test(name)) return `${name} is no name of a variable: letters, digits and _, no digit first`
  return 'is no NAME=value: what stands before = is no name of a variable'
}

/** Where a quoted value ends: on its own line, or on one below. */
function closing(
  rows: readonly string[],
  from: number,
  first: string,
  quote: string,
): { row: number; rest: string } | undefined {
  for (let row = from; row < rows.length; row++) {
    const text = row === from ? first : (rows[row] ?? '')
    const end = text.indexOf(quote)
    if (end !== -1) return { row, rest: text.slice(end + 1) }
  }
  return undefined
}
