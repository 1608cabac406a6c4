import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { gallery } from '../../tools/docs/gallery.ts'

/** A table by language: what read wrong, and the better words. */
const PAGE = path.resolve('../shared/wording.md')
const isThere = existsSync(PAGE)
const skipped = isThere ? '' : ' (skipped: ../shared/wording.md is not there)'
const LANGUAGES = { en: 'English', ru: 'Russian' } as const

/** These say where a word stands, or name a variable: no words to look for. */
const NO_WORDS = /^(title: |GPU UUID in the title|X-Request-Id above|BEARER_TOKEN)/

interface Row {
  wrong: string
  better: string[]
}

/** The table below a heading, each alternative of its left column by itself. */
function rowsOf(language: keyof typeof LANGUAGES): Row[] {
  const page = readFileSync(PAGE, 'utf8').split(/^## /m)
  const section = page.find((part) => part.startsWith(LANGUAGES[language])) ?? ''
  return section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .slice(1)
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, wrong = '']) => !NO_WORDS.test(wrong))
    .flatMap(([, wrong = '', better = '']) =>
      wrong.split('; ').map((one) => ({ wrong: one, better: better.split('; ') })),
    )
}

/** The words with any number, and anything where they are cut; not where they are the beginning of the better ones. */
function asPattern({ wrong, better }: Row): RegExp {
  const longer = better.filter((one) => one.startsWith(wrong)).map((one) => escaped(one.slice(wrong.length)))
  const words = escaped(wrong)
    .replace(/\d+/g, '\\d+')
    .replace(/\s*…\s*/g, '[^\\n]{0,40}')
  return new RegExp(`${words}${longer.length > 0 ? `(?!${longer.join('|')})` : ''}`, 'i')
}

function escaped(words: string): string {
  return words.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

describe.skipIf(!isThere)(`words that read wrong${skipped}`, () => {
  test.each(Object.keys(LANGUAGES) as (keyof typeof LANGUAGES)[])('are in no message any more (%s)', (language) => {
    const rows = rowsOf(language)
    expect(rows.length).toBeGreaterThan(10)
    const text = gallery(language).replace(/^---.*$/gm, '')
    const found = rows.flatMap((row) => asPattern(row).exec(text)?.[0].concat(`  <- ${row.wrong}`) ?? [])
    expect(found).toEqual([])
  })
})
