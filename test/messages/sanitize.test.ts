import { expect, test } from 'vitest'
import { bytesOf, cutBytes, cutText } from '../../src/messages/fit.ts'
import { sanitizeText, sanitizeUrl } from '../../src/messages/sanitize.ts'

test.each([
  ['line feeds of every kind', 'a\nb\r\nc\u2028d\u2029e\u0085f', 'a b c d e f'],
  ['control characters and colours', '\u0000x\u001B[31mred\u0007', 'x [31mred'],
  ['direction marks', '\u202Egpj\u202C\u2066x\u2069\u200F', 'gpjx'],
  ['zero-width characters', 'a\u200Bb\uFEFFc\u00ADd', 'abcd'],
  ['stacked marks', `z${'\u0301'.repeat(40)}`, `z${'\u0301'.repeat(3)}`],
  ['lone surrogates', 'a\uD800b', 'ab'],
  ['nothing visible', ' \n\t\u200B ', ''],
  ['plain names stay', 'org/my_model-7B [v1]', 'org/my_model-7B [v1]'],
])('%s', (_, text, safe) => {
  expect(sanitizeText(text, 100)).toBe(safe)
})

test('markdown: every mark is escaped', () => {
  expect(sanitizeText('![x](http://e/i.png) **b** `c` <i> a_b', 100, true)).toBe(
    '\\!\\[x\\]\\(http\\://e/i\\.png\\) \\*\\*b\\*\\* \\`c\\` \\<i\\> a\\_b',
  )
})

test('cuts between graphemes, by length and by bytes', () => {
  expect(cutText('привет', 4)).toBe('при…')
  expect(cutText('👩‍👩‍👧👩‍👩‍👧', 10)).toBe('👩‍👩‍👧…')
  expect(cutText('abc', 3)).toBe('abc')
  expect(cutBytes('привет', 9)).toBe('при…')
  expect(bytesOf(cutBytes('👩‍👩‍👧'.repeat(50), 100))).toBeLessThanOrEqual(100)
  expect(cutBytes('привет', 1)).toBe('')
})

test.each([
  ['http://u:p@h:8000/metrics', 'http://h:8000/metrics'],
  ['http://h:11434', 'http://h:11434'],
  ['http://h/', 'http://h/'],
  ['http://h/m?model=x&access_token=abc', 'http://h/m?model=x&access_token=***'],
  ['not an address u:p@h', 'not an address u:p@h'],
  ['htp//u:p@h', 'htp//h'],
])('the address %s is shown as %s', (url, shown) => {
  expect(sanitizeUrl(url)).toBe(shown)
})
