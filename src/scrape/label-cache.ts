import { isAt } from './lines.ts'
import type { Labels } from './page.ts'

/** A label block as it was spelt: up to the value of `le` and from its end on, or the whole block in `before`. */
export interface Spelling {
  before: string
  after: string
  labels: Labels
}

export interface Spellings {
  /** The known spelling that the block at `at` has. */
  match(text: string, at: number, to: number): Spelling | undefined
  /** Where the value of `le` ended in the last match. */
  leTo(): number
  add(spelling: Spelling): void
}

/** Beyond it, lines are only slower to read. */
const MAX_SPELLINGS = 512

/**
 * Remembers how label blocks were spelt. Servers list the label sets of each family in one order, so the spelling that
 * matched last is tried first, then the one after it.
 */
export function createSpellings(): Spellings {
  const known: Spelling[] = []
  const indexes = new Map<string, number>()
  let current = 0
  let leTo = -1

  function matches(spelling: Spelling | undefined, text: string, at: number, to: number): boolean {
    if (!spelling || !isAt(spelling.before, text, at)) return false
    if (spelling.after === '') return true
    leTo = text.indexOf('"', at + spelling.before.length)
    return leTo !== -1 && leTo < to && isAt(spelling.after, text, leTo)
  }

  function match(text: string, at: number, to: number): Spelling | undefined {
    if (matches(known[current], text, at, to)) return known[current]
    const next = current + 1 < known.length ? current + 1 : 0
    if (next === current || !matches(known[next], text, at, to)) return undefined
    current = next
    return known[current]
  }

  function add(spelling: Spelling): void {
    const key = `${spelling.before}\n${spelling.after}`
    const index = indexes.get(key)
    if (index !== undefined) current = index
    else if (known.length < MAX_SPELLINGS) {
      current = known.push(spelling) - 1
      indexes.set(key, current)
    }
  }

  return { match, leTo: () => leTo, add }
}
