import { expect, test } from 'vitest'
import { n as en } from '../../src/messages/en/phrases.ts'
import { n as ru, times, tokens } from '../../src/messages/ru/phrases.ts'

test.each([
  [0, '0 s', '0 с'],
  [0.0042, '4.2 ms', '4,2 мс'],
  [0.085, '85 ms', '85 мс'],
  [0.9999, '1 s', '1 с'],
  [3, '3 s', '3 с'],
  [4.1, '4.1 s', '4,1 с'],
  [50, '50 s', '50 с'],
  [119, '119 s', '119 с'],
  [720, '12 min', '12 мин'],
  [3600, '1 h', '1 ч'],
  [3899, '1 h 5 min', '1 ч 5 мин'],
  [183_600, '2 d 3 h', '2 д 3 ч'],
])('%s seconds', (value, english, russian) => {
  expect(en.seconds(value)).toBe(english)
  expect(ru.seconds(value)).toBe(russian)
})

test.each([
  [0.93, '93 %', '93 %'],
  [0.045, '4.5 %', '4,5 %'],
  [0, '0 %', '0 %'],
  [0.956, '96 %', '96 %'],
  [1, '100 %', '100 %'],
])('case 47: a share of %s is written in percent', (share, english, russian) => {
  expect(en.percent(share)).toBe(english)
  expect(ru.percent(share)).toBe(russian)
})

test.each([
  [0.4, '0.4', '0,4'],
  [910, '910', '910'],
  [1240, '1.2 k', '1,2 тыс.'],
  [15_000, '15 k', '15 тыс.'],
  [2_400_000, '2.4 M', '2,4 млн'],
])('%s tokens', (value, english, russian) => {
  expect(en.large(value)).toBe(english)
  expect(ru.large(value)).toBe(russian)
})

test.each([
  [5_000, '5 s'],
  [60_000, '1 min'],
  [90_000, '90 s'],
  [250_000, '4 min'],
  [26 * 3_600_000, '26 h'],
  [-5, '0 s'],
])('%s milliseconds lasted', (ms, text) => {
  expect(en.lasted(ms)).toBe(text)
})

test.each([
  [2, 'вдвое'],
  [2.98, 'втрое'],
  [4, 'вчетверо'],
  [1.6, 'в 1,6 раза'],
  [5, 'в 5 раз'],
  [8, 'в 8 раз'],
  [22, 'в 22 раза'],
])('%s times in Russian', (ratio, text) => {
  expect(times(ratio)).toBe(text)
})

test('a clock time carries its day when it is another one', () => {
  const now = Date.UTC(2026, 10, 30, 0, 10)
  expect(en.clock(now, now)).toBe('00:10 UTC')
  expect(en.clock(now - 3_600_000, now)).toBe('29 Nov 23:10 UTC')
  expect(ru.clock(now - 3_600_000, now)).toBe('29 нояб. 23:10 UTC')
})

test.each([
  [0, '0 токенов'],
  [1, '1 токен'],
  [1.96, '2 токена'],
  [2.4, '2,4 токена'],
  [20.6, '21 токен'],
  [233, '233 токена'],
  [311, '311 токенов'],
  [1240, '1,2 тыс. токенов'],
])('%s tokens in the form that goes with the number as it is written', (count, russian) => {
  expect(tokens(count)).toBe(russian)
})
