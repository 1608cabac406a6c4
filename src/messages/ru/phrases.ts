import { numberFormat } from '../number-format.ts'

export { capital, inner } from '../number-format.ts'

export const n = numberFormat('ru-RU', {
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

/** `1 токен`, `233 токена`, `1,2 тыс. токенов`: the form that goes with the number as it is written. */
export function tokens(count: number): string {
  const shown = count < 9.95 ? Math.round(count * 10) / 10 : Math.round(count)
  const forms = { one: 'токен', few: 'токена', many: 'токенов', other: 'токена' }
  return `${n.large(count)} ${shown >= 1000 ? forms.many : n.plural(shown, forms)}`
}

/** `9 дней`; of the last two, hours. */
export function days(count: number): string {
  if (count < 2) return n.lasted(count * 86_400_000)
  const whole = Math.floor(count)
  return `${n.count(whole)} ${n.plural(whole, { one: 'день', few: 'дня', many: 'дней', other: 'дня' })}`
}

/** ` (порог 20)`, or nothing. */
export function limit(value: number | undefined, write: (value: number) => string): string {
  return value === undefined ? '' : ` (порог ${write(value)})`
}

/** `≥ ` before a value that is only known to be at least that. */
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

/** Requests a second, or a minute where that is what a person would say: the slower of two decides for both. */
export function pace(slower: number): { count(rate: number): string; unit: string } {
  return slower < 1 ? { count: (rate) => n.count(rate * 60), unit: 'в минуту' } : { count: n.times, unit: 'в секунду' }
}
