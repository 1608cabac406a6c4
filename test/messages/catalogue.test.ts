import { afterEach, expect, test } from 'vitest'
import { CATALOGUES } from '../../src/messages/compose.ts'
import { gallery } from '../../tools/docs/gallery.ts'

/** Words that no push carries: what writes numbers, what `doctor --push` sends, what the page says, and the end of what is told once. */
const NOT_PUSHED = /^(format|test)\b|\.still$|^rules\.(gap|state-broken|silence)\.over$/

const restore: (() => void)[] = []
afterEach(() => {
  for (const back of restore.splice(0)) back()
})

/** Notes which words of a catalogue are read, by their place: `rules.waiting.headline`. @returns all places. */
function watch(words: object, seen: Set<string>, place = ''): string[] {
  return Object.entries(words).flatMap(([key, value]) => {
    const at = place === '' ? key : `${place}.${key}`
    if (typeof value === 'object' && value !== null) return watch(value, seen, at)
    if (value === undefined) return []
    const own = Object.getOwnPropertyDescriptor(words, key) as PropertyDescriptor
    restore.push(() => Object.defineProperty(words, key, own))
    Object.defineProperty(words, key, {
      configurable: true,
      enumerable: true,
      get: () => note(at, value, seen),
    })
    return [at]
  })
}

function note<T>(place: string, value: T, seen: Set<string>): T {
  seen.add(place)
  return value
}

test.each(['en', 'ru'] as const)(
  'npm run messages shows every message and every line that can be pushed (%s)',
  (language) => {
    const seen = new Set<string>()
    const all = watch(CATALOGUES[language], seen)
    gallery(language)
    expect(all.length).toBeGreaterThan(400)
    expect(all.filter((place) => !seen.has(place) && !NOT_PUSHED.test(place))).toEqual([])
  },
)
