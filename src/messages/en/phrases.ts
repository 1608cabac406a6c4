import { numberFormat } from '../number-format.ts'

export { capital, inner } from '../number-format.ts'

export const n = numberFormat('en-GB', {
  ms: 'ms',
  s: 's',
  min: 'min',
  h: 'h',
  d: 'd',
  thousand: 'k',
  million: 'M',
  perSecond: '/s',
})

/** `1 request`, `42 requests`. */
export function requests(count: number): string {
  return `${n.count(count)} ${n.plural(count, { one: 'request', other: 'requests' })}`
}

/** `9 days`; of the last two, hours. */
export function days(count: number): string {
  if (count < 2) return n.lasted(count * 86_400_000)
  const whole = Math.floor(count)
  return `${n.count(whole)} ${n.plural(whole, { one: 'day', other: 'days' })}`
}

/** ` (limit 20)`, or nothing. */
export function limit(value: number | undefined, write: (value: number) => string): string {
  return value === undefined ? '' : ` (limit ${write(value)})`
}

/** `≥ ` before a value that is only known to be at least that. */
export function atLeast(is: boolean | undefined): string {
  return is ? '≥ ' : ''
}

/** Requests a second, or a minute where that is what a person would say: the slower of two decides for both. */
export function pace(slower: number): { count(rate: number): string; unit: string; alone: string } {
  return slower < 1
    ? { count: (rate) => n.count(rate * 60), unit: ' a minute', alone: '' }
    : { count: n.times, unit: '/s', alone: '/s' }
}
