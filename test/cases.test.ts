import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

/** The public faults that this project is measured by, as numbers by kind; each is a test that carries its number in its name. */
const KINDS: Record<string, number[]> = {
  'A text format': [1, 2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21],
  'B counters and histograms': [22, 23, 26, 27, 28, 29, 30, 31, 33, 34, 35, 37],
  'C vLLM': [38, 39, 41, 42, 43, 44, 46, 47, 49, 50, 51, 52],
  'D TGI and TEI': [53, 54, 55, 56],
  'E Ollama canary': [58, 61, 62, 63, 64, 65, 66, 67],
  'F GPU exporter': [68, 70, 71, 72, 73],
  'G metrics endpoint and gateway': [74, 75, 76, 78, 79, 80],
  'H Node and undici': [81, 83, 84, 85, 86],
  'I alert state': [87, 88, 90, 92, 93, 95, 96, 97, 98, 99],
  'J delivery': [100, 101, 102, 103, 104, 106, 108, 109],
  'K Lambda and EventBridge': [110, 111, 113, 114, 115],
  'L S3 state': [116, 118, 119, 120, 121, 122, 123, 124, 125],
  'M heartbeats': [127, 128],
  'N vLLM': [200, 201, 202, 203, 205, 207, 208, 209, 210, 213, 215, 216, 217],
  'O SGLang': [218, 219, 223, 225],
  'P llama.cpp': [226, 228, 229, 231],
  'Q TGI': [232],
  'R GPU exporter': [233, 234, 237],
  'S canaries of Ollama and of gateways': [238, 239, 242, 244, 245, 246],
  'T delivery': [319, 321, 322, 324, 325],
  'U alert state': [327, 328, 329],
  'V real servers': [400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414],
}

/** Not tested yet, and why. */
const PUT_OFF: Record<number, string> = {
  26: 'an address that fans out to replicas whose counters alternate is seen as restarts',
  34: 'observations that all fall into the first bucket are taken at their word',
  73: 'a frozen GPU exporter is not told from a steady GPU',
}

/** Every number after `case` or `cases` in a test's source: `case 41`, `cases 30, 31`, `case 37, 53`, `cases 38 and 39`. */
function numbersIn(source: string): number[] {
  const named = source.matchAll(/\bcases? (\d+(?:(?:,| and|,? or) \d+)*)\b/g)
  return [...named].flatMap(([, list = '']) => [...list.matchAll(/\d+/g)].map(Number))
}

/** Sources of all tests, stories and their tables; this one has the numbers for another reason. */
function sources(): string[] {
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(ts|mjs)$/.test(file) && !file.includes('node_modules') && file !== 'cases.test.ts')
    .map((file) => readFileSync(join('test', file), 'utf8').replace(/^ +case \d+:$/gm, ''))
}

describe('of the public faults', () => {
  const covered = new Set(sources().flatMap(numbersIn))
  test.each(Object.entries(KINDS))('those of kind %s each have a test with its number', (_, numbers) => {
    const missing = numbers.filter((number) => !covered.has(number) && PUT_OFF[number] === undefined)
    expect(missing).toEqual([])
  })

  test('none is put off that has a test', () => {
    expect(Object.keys(PUT_OFF).filter((number) => covered.has(Number(number)))).toEqual([])
  })
})

test('numbers are read from names of one and of several cases', () => {
  expect(numbersIn("test('case 41: …') 'cases 30, 31: …' 'cases 38 and 39' showcase 7 case 'x'")).toEqual([
    41, 30, 31, 38, 39,
  ])
})
