import type { Environment } from './environment.ts'

/** One `name=value` item of a list. */
export interface Pair {
  name: string
  /** What follows the first `=`; `undefined` when it could not be read. It may hold a password. */
  text: string | undefined
}

export interface Pairs {
  /** Those whose name could be read, each name once. */
  pairs: Pair[]
  /** An item was there whose name could not be read: more may be configured than `pairs` tell. */
  unreadable: boolean
}

/** How the items of one variable look. */
export interface PairForm {
  variable: string
  name: RegExp
  /** After "a name has …". */
  nameWords: string
  /** A whole right item. */
  example: string
  /** What stands after the `=`. */
  what: string
}

/** Reads `name=value` items, separated by blanks, commas or line ends. Problems name an item by its name or place, never by its value. */
export function readPairs(env: Environment, text: string, form: PairForm): Pairs {
  const pairs = new Map<string, Pair>()
  let unreadable = false
  const items = text.split(/[\s,]+/).filter((item) => item !== '')
  const problem = (what: string) => env.problems.add(`${form.variable}: ${what}`)
  const write = `write name=${form.what} pairs, such as ${form.example}`
  const cut = items.some(endsCredentials)
  const hidden = cut || items.some(beginsCredentials)
  if (cut) problem('an item has an @, but no http:// before it; inside a URL, write a blank as %20 and a comma as %2C')
  for (const [i, item] of items.entries()) {
    const equals = item.indexOf('=')
    const name = equals === -1 ? item : item.slice(0, equals)
    const rest = equals === -1 ? '' : item.slice(equals + 1)
    if (!form.name.test(name) || (hidden && rest === '')) {
      unreadable = true
      if (!cut) problem(`${nameProblem(name, `item ${i + 1}`, form, hidden)}; ${write}`)
    } else if (pairs.has(name)) {
      problem(`${name} is there twice; each needs a name of its own`)
    } else {
      if (rest === '') problem(`${name} has no ${form.what}; ${write}`)
      pairs.set(name, { name, text: rest === '' ? undefined : rest })
    }
  }
  return { pairs: [...pairs.values()], unreadable }
}

/** What follows a blank or comma inside a password: `http://u:pass word@h` gives `word@h`. What stands before may be a piece of it too. */
function endsCredentials(item: string): boolean {
  return item.includes('@') && !/^([^=@]*=)?https?:\/\//i.test(item)
}

/** What stands before that blank or comma: `http://u:pass`, which has no port after its colon and no @. */
function beginsCredentials(item: string): boolean {
  const authority = /:\/\/([^/?#]*)/.exec(item)?.[1]?.replace(/^\[[^\]]*\]/, '') ?? ''
  return authority.includes(':') && !authority.includes('@') && !/:\d+$/.test(authority)
}

function nameProblem(name: string, item: string, form: PairForm, hidden: boolean): string {
  if (name === '') return `${item} has no name; there may be no blanks around =`
  if (name.includes(':') || name.includes('//')) return `${item} has no name`
  // A name is repeated only where it cannot be a piece of an address or a token.
  const shown = !hidden && /^[\w./-]{1,30}$/.test(name)
  return shown
    ? `${item}, ${name}, is no name: a name has ${form.nameWords}`
    : `${item} is no pair: a name has ${form.nameWords}`
}
