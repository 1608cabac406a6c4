import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { en } from '../../src/messages/en.ts'
import type { Fact } from '../../src/messages/texts.ts'
import type { VerdictKind } from '../../src/model/explanation.ts'
import { FAILURE_KINDS } from '../../src/model/failure.ts'
import { toStoreError } from '../../src/store/s3-errors.ts'

const page = readFileSync('docs/troubleshooting.md', 'utf8')
const sections = new Map(
  page
    .split(/^### /m)
    .slice(1)
    .flatMap((section) =>
      section
        .slice(0, section.indexOf('\n'))
        .split(' / ')
        .map((title) => [title, section] as const),
    ),
)

/** As it stands in a heading: without what is in brackets at its end, an ellipsis for numbers. */
function heading(headline: string): string {
  return headline.replace(/ \([^)]*\)$/, '').replace(/\d+/g, '…')
}

/** What tells the headlines of one rule apart. */
const FACTS: Fact[] = [
  {},
  { value: 79 },
  { missing: 'm', backend: 'vllm' },
  { backend: 'vllm' },
  { running: 0 },
  { alternates: true },
  { value: 1 },
  { refusal: 'no-backend' },
  { refusal: 'own-limit' },
  { refusal: 'overloaded' },
  { doubted: 'kv_cache' },
  { heldBy: 'asleep' },
  { heldBy: 'unhealthy' },
  { sources: 's3://bucket/list.json' },
  ...([{}, { never: true }, { failed: {} }, { stands: true }] as const).map((more) => ({
    beat: { interval: 1, grace: 1, never: false, ...more },
  })),
]
const headlines = Object.entries(en.rules).flatMap(([rule, texts]) =>
  [...new Set(FACTS.map((fact) => heading(texts.headline(fact))))].map((headline) => [rule, headline] as const),
)

test('there are headlines for every rule', () => {
  expect(headlines.length).toBeGreaterThan(Object.keys(en.rules).length)
})

test.each(headlines)('%s: "%s" has its section', (_rule, headline) => {
  expect([...sections.keys()]).toContain(headline)
})

describe.each(FAILURE_KINDS)('a server that gives no usable answer: %s', (kind) => {
  const statuses = kind === 'http' ? [500, 503, 429] : [undefined, 401, 404]
  const answers = [...statuses.map((status) => ({ status })), ...(kind === 'http' ? [{ status: 502 }] : [])]
  const told = answers.flatMap(({ status }) =>
    [false, true].map((canary) => heading(en.failures[kind].headline({ kind, status }, canary))),
  )

  test.each([...new Set(told)])('"%s" has its section, which names the kind', (headline) => {
    expect(sections.get(headline)).toContain(`\`${kind}\``)
  })
})

test.each([en.title.allDown(3), en.title.allUp(3), en.title.allFail(3, 'Metrics have moved').replace(/: .*/, ': …')])(
  '"%s" has its section',
  (title) => {
    expect([...sections.keys()]).toContain(heading(title))
  },
)

test.each([
  en.title.restarted('…'),
  en.title.idle('…'),
  en.title.late('…'),
  en.title.repeated('…', '4 h'),
  en.title.lot('…', 4, 4, '…').replace('4', '…'),
  en.title.worse('…'),
  en.title.comesAndGoes('…'),
  en.title.cameAndWent('…', 4).replace('4', '…'),
])('a message that begins as in "%s" is explained', (title) => {
  expect(page).toContain(`- \`${title}\``)
})

test.each(Object.entries(en.verdicts))('the verdict %s is explained by its first words', (kind, text) => {
  const [words = ''] = text({ kind: kind as VerdictKind }).split(/[:.]/)
  const row = page.split('\n').find((line) => line.includes(`| \`${kind}\` |`)) ?? ''
  const [, said = ''] = /^\| `([^`]+)` \|/.exec(row) ?? []
  expect(said.length).toBeGreaterThan(5)
  expect(words.startsWith(said)).toBe(true)
})

test.each([
  [{ name: 'NoSuchBucket' }],
  [{ name: 'AccessDenied' }],
  [{ name: 'InvalidAccessKeyId' }],
  [{ name: 'RequestTimeTooSkewed' }],
  [{ name: 'PermanentRedirect' }],
  [{ name: 'NotImplemented' }],
  [{ name: 'KMS.DisabledException' }],
  [{ name: 'PreconditionFailed' }],
  [{ name: 'NoSuchKey' }],
  [{ name: 'TimeoutError' }],
  [{ name: 'Error', code: 'ECONNREFUSED' }],
  [{ name: 'InternalError', $metadata: { httpStatusCode: 500 } }],
  [{ name: 'Teapot', $metadata: { httpStatusCode: 418 } }],
])('what the store says for %j is in the table of the state', (facts) => {
  const { message } = toStoreError(Object.assign(new Error('x'), facts), 'read', { address: 's3://bucket/key' })
  const [advice = ''] = message.slice(message.indexOf('): ') + 3).split(/[;(]| to it/)
  expect(advice.length).toBeGreaterThan(10)
  expect(page).toContain(advice.trim())
})

test.each([
  ['InternalError', 500, false],
  ['SlowDown', 503, false],
  ['TooManyRequests', 429, false],
  ['TimeoutError', undefined, true],
  ['TimeoutError', 200, true],
] as const)('a store that answers %s (%s) is reached: no way out of a VPC is looked for', (name, status, isSought) => {
  const error = Object.assign(new Error('x'), { name, $metadata: { httpStatusCode: status } })
  expect(toStoreError(error, 'write', { address: 's3://bucket/key' }).message.includes('VPC')).toBe(isSought)
})

test('every link inside the page leads somewhere', () => {
  const anchors = [...page.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-'),
  )
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
  expect(links.length).toBeGreaterThan(10)
  for (const anchor of links) expect(anchors).toContain(anchor)
})
