import { numbersIn } from '../numbers.ts'

export { capital, inner } from '../numbers.ts'

export const n = numbersIn('ru-RU', {
  ms: 'мс',
  s: 'с',
  min: 'мин',
  h: 'ч',
  d: 'д',
  thousand: 'тыс.',
  million: 'млн',
  perSecond: '/с',
})

/** `1 запрос`, `42 запроса`, `11 запросов`. */
export function requests(count: number): string {
  const forms = { one: 'запрос', few: 'запроса', many: 'запросов', other: 'запроса' }
  return `${n.count(count)} ${n.plural(count, forms)}`
}

/** ` (порог 20)`, or nothing. */
export function limit(value: number | undefined, write: (value: number) => string): string {
  return value === undefined ? '' : ` (порог ${write(value)})`
}

/** `≥ ` before a value that is only known from below. */
export function atLeast(is: boolean | undefined): string {
  return is ? '≥ ' : ''
}

/** `вдвое`, `втрое`, `в 1,6 раза`, `в 8 раз`. */
export function times(ratio: number): string {
  const rounded = ratio < 9.95 ? Math.round(ratio * 10) / 10 : Math.round(ratio)
  const word = { 2: 'вдвое', 3: 'втрое', 4: 'вчетверо' }[rounded]
  if (word !== undefined) return word
  return `в ${n.times(rounded)} ${n.plural(rounded, { one: 'раз', few: 'раза', many: 'раз', other: 'раза' })}`
}
