import type { Failed } from '../model/fallible.ts'
import type { RuleUnit } from '../model/rule.ts'
import { SIGNALS } from '../model/signals.ts'
import { type RuleId, type RuleSpec, specOf } from '../rules/catalogue.ts'
import { parseDuration } from './duration.ts'
import { failed, isFailed, type Value, value } from './values.ts'

/** A number in the rule's unit; `on` is the rule's default limit. */
export type Limit = number | 'on' | 'off'

interface UnitSpec {
  /** In words, after "a limit may be …". */
  mayBe: string
  /** The number in the rule's unit; `undefined` when the text is not such a number. */
  read(text: string): number | Failed | undefined
  /** The lowest and highest number that the rule's measure can have. */
  min: number
  max: number
}

const shareOf = (what: string): UnitSpec => ({
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

/** How each unit is written. Numbers are decimal, with a point. */
const UNITS: Record<Exclude<RuleUnit, 'switch'>, UnitSpec> = {
  requests: { mayBe: 'a number of requests, such as 20', read: decimal, min: 0, max: Number.MAX_SAFE_INTEGER },
  seconds: {
    mayBe: 'a number of seconds or a time with its unit, such as 2, 2s or 1500ms',
    read: (text) => decimal(text) ?? seconds(text),
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  },
  share: shareOf('a share'),
  fall: shareOf('a fall'),
  times: {
    mayBe: 'a factor above 1, such as 1.5 or 1.5x',
    read: (t) => suffixed(t, /\s*[x×]$/i),
    min: 1,
    max: 1_000_000,
  },
  'per-second': {
    mayBe: 'a number a second, such as 1 or 1/s',
    read: (text) => suffixed(text, /\s*\/\s*s$/i),
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  },
  runs: {
    mayBe: 'a whole number of runs from 1',
    read: (t) => (/^0*[1-9]\d{0,5}$/.test(t) ? Number(t) : undefined),
    min: 0,
    max: 1_000_000,
  },
  '°C': {
    mayBe: 'a temperature in °C, such as 85',
    read: (text) => suffixed(text, /\s*°?c$/i),
    min: 0,
    max: SIGNALS.gpu_temperature.max,
  },
}

/** What a rule's `_LIMIT` may be: `off`, `on`, or a number that its measure can pass but does not always pass. */
export function limitOf(id: RuleId): Value<Limit> {
  const spec = specOf(id)
  if (spec.unit === 'switch') return { ...value<Limit>('on or off', onOrOff), plain: true }
  const unit = UNITS[spec.unit]
  const words = spec.limit === undefined ? 'off' : 'off, on'
  const read = value<Limit>(`${words} or ${unit.mayBe}`, (text) => {
    const word = onOrOff(text)
    if (word === 'on' && spec.limit === undefined) return failed(`has no limit of its own; write ${unit.mayBe}`)
    if (word) return word
    const n = unit.read(text)
    return typeof n === 'number' ? reachable(n, spec, unit) : n
  })
  return { ...read, plain: true }
}

/** What a rule's `_CLEAR` may be; `undefined`: the rule clears by itself and has none. */
export function clearOf(id: RuleId): Value<number> | undefined {
  const spec = specOf(id)
  if (!canClear(spec)) return undefined
  const unit = UNITS[spec.unit]
  const read = value(unit.mayBe, (text) => {
    const n = unit.read(text)
    if (n === undefined || isFailed(n)) return n
    return n < unit.min || n > unit.max ? undefined : n
  })
  return { ...read, plain: true }
}

/** Whether a clear is on the good side of its limit: below it, or at most it where the limit itself is no breach. */
export function clears(clear: number, limit: number, breach: RuleSpec['breach']): boolean {
  return breach === 'above' ? clear <= limit : clear < limit
}

/**
 * The clear that goes with a limit when none is set: as far below it as the default is, in proportion.
 * A factor counts from 1, which is "no difference": 1.5 and 1.2 give 1.4 for a limit of 2.
 */
export function scaledClear(spec: RuleSpec, limit: number): number | undefined {
  if (spec.clear === undefined || spec.limit === undefined) return spec.clear
  if (limit === spec.limit) return spec.clear
  const zero = spec.unit === 'times' ? 1 : 0
  return rounded(zero + ((limit - zero) * (spec.clear - zero)) / (spec.limit - zero))
}

function canClear(spec: RuleSpec): spec is RuleSpec & { unit: Exclude<RuleUnit, 'switch' | 'runs'> } {
  return spec.unit !== 'switch' && spec.unit !== 'runs' && spec.measure.kind !== 'gap'
}

function reachable(n: number, spec: RuleSpec, unit: UnitSpec): number | Failed | undefined {
  const above = spec.breach === 'above'
  if (n > unit.max || (above && n === unit.max)) {
    return failed(`can never be reached: the highest is ${unit.max}; may be ${unit.mayBe}`)
  }
  if (n < unit.min || (!above && n === unit.min)) {
    const from = unit.mayBe.includes('above') ? '' : `, above ${unit.min}`
    return failed(`is always reached; may be ${unit.mayBe}${from}`)
  }
  return spec.unit === 'times' && n <= 1 ? undefined : n
}

function onOrOff(text: string): 'on' | 'off' | undefined {
  const word = text.toLowerCase()
  return word === 'on' || word === 'off' ? word : undefined
}

function decimal(text: string): number | undefined {
  const n = /^(\d+(\.\d+)?|\.\d+)$/.test(text) ? Number(text) : Number.NaN
  return Number.isFinite(n) ? n : undefined
}

function suffixed(text: string, suffix: RegExp): number | undefined {
  return decimal(text.replace(suffix, ''))
}

function seconds(text: string): number | undefined {
  const ms = parseDuration(text)
  return ms === undefined ? undefined : ms / 1_000
}

/** Without the noise of binary fractions: 0.95 × 10 / 20 is 0.475. */
function rounded(n: number): number {
  return Number(n.toPrecision(12))
}
