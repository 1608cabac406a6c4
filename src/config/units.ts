import type { Failed } from '../model/fallible.ts'
import type { RuleUnit } from '../model/rule.ts'
import { SIGNALS } from '../model/signals.ts'
import { parseDuration } from './duration.ts'
import { failed } from './values.ts'

/** How a rule's unit is written by people and shown to them. */
export interface UnitSpec {
  /** In words, after "a limit may be …". */
  mayBe: string
  /** The number in the rule's unit; `undefined` when the text is no such number. */
  read(text: string): number | Failed | undefined
  /** The lowest and highest number that the rule's measure can have. */
  min: number
  max: number
  /** Where "no difference" lies, if not at 0. */
  zero?: number
  /** With all its digits: in the documentation. */
  exact(n: number): string
  /** In a variable. */
  variable(n: number): string
  /** With as many digits as a terminal's table has room for. */
  brief(n: number): string
}

const shareOf = (what: string): UnitSpec => ({
  exact: (n) => `${Number((n * 100).toPrecision(6))} %`,
  variable: (n) => `${Number((n * 100).toPrecision(12))}%`,
  brief: (n) => `${digits(n * 100, 1)} %`,
  mayBe: `${what} from 0 to 1, written 0.9 or 90%`,
  min: 0,
  max: 1,
  read(text) {
    const percent = /^(.+?)\s*%$/.exec(text)
    const n = decimal(percent?.[1] ?? text)
    if (n === undefined) return undefined
    if (percent) return rounded(n / 100)
    return n > 1 ? failed(`write ${what} as 0.9 or 90%; a bare number above 1 could be either`) : n
  },
})

const count = { exact: String, variable: String, brief: (n: number) => digits(n, n < 10 ? 1 : 0) }

/** Numbers are decimal, with a point. */
export const UNITS: Record<RuleUnit, UnitSpec> = {
  requests: {
    ...count,
    mayBe: 'a number of requests, such as 20',
    read: decimal,
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  },
  seconds: {
    mayBe: 'a number of seconds or a time with its unit, such as 2, 2s or 1500ms',
    read: (text) => decimal(text) ?? seconds(text),
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    exact: (n) => `${n} s`,
    variable: (n) => `${n}s`,
    brief: (n) => (n >= 1 ? `${digits(n, 1)} s` : `${digits(n * 1000, 0)} ms`),
  },
  share: shareOf('a share'),
  fall: shareOf('a fall'),
  times: {
    mayBe: 'a factor above 1, such as 1.5 or 1.5x',
    read: (t) => suffixed(t, /\s*[x×]$/i),
    min: 1,
    max: 1_000_000,
    zero: 1,
    exact: (n) => `${n}×`,
    variable: (n) => `${n}x`,
    brief: (n) => `${digits(n, 2)}×`,
  },
  'per-second': {
    mayBe: 'a number a second, such as 1 or 1/s',
    read: (text) => suffixed(text, /\s*\/\s*s$/i),
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    exact: (n) => `${n}/s`,
    variable: (n) => `${n}/s`,
    brief: (n) => `${digits(n, 2)}/s`,
  },
  runs: {
    ...count,
    exact: (n) => `${n} runs`,
    mayBe: 'a whole number of runs from 1',
    read: (t) => (/^0*[1-9]\d{0,5}$/.test(t) ? Number(t) : undefined),
    min: 0,
    max: 1_000_000,
  },
  count: {
    ...count,
    mayBe: 'a whole number from 1',
    read: (t) => (/^0*[1-9]\d{0,5}$/.test(t) ? Number(t) : undefined),
    min: 0,
    max: 1_000_000,
  },
  '°C': {
    mayBe: 'a temperature in °C, such as 85',
    read: (text) => suffixed(text, /\s*°?c$/i),
    min: 0,
    max: SIGNALS.gpu_temperature.max,
    exact: (n) => `${n} °C`,
    variable: String,
    brief: (n) => `${digits(n, 0)} °C`,
  },
  days: {
    mayBe: 'a number of days or a time with its unit, such as 14 or 14d',
    read: (text) => decimal(text) ?? days(text),
    min: 0,
    max: 36_500,
    exact: (n) => `${n} d`,
    variable: (n) => `${n}d`,
    brief: (n) => `${digits(n, n < 10 ? 1 : 0)} d`,
  },
  switch: { ...count, mayBe: 'on or off', read: () => undefined, min: 0, max: 1, variable: () => 'on' },
}

/** What stands before a limit. */
export const BREACH_SIGNS = { above: '>', 'at-or-above': '≥', below: '<' } as const

/** Without the noise of binary fractions: 0.95 × 10 / 20 is 0.475. */
export function rounded(n: number): number {
  return Number(n.toPrecision(12))
}

function digits(n: number, most: number): string {
  return String(Number(n.toFixed(most)))
}

function decimal(text: string): number | undefined {
  const n = /^(\d+(\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(n) ? n : undefined
}

function suffixed(text: string, suffix: RegExp): number | undefined {
  return decimal(text.replace(suffix, ''))
}

function days(text: string): number | undefined {
  const ms = parseDuration(text)
  return ms === undefined ? undefined : ms / 86_400_000
}

function seconds(text: string): number | undefined {
  const ms = parseDuration(text)
  return ms === undefined ? undefined : ms / 1_000
}
