import type { Failed } from '../model/fallible.ts'
import type { RuleSpec } from '../rules/rule.ts'
import { type RuleId, specOf } from '../rules/rules.ts'
import { rounded, UNITS, type UnitSpec } from './units.ts'
import { failed, isFailed, type Value, value } from './values.ts'

/** A number in the rule's unit; `on` is the rule's default limit. */
export type Limit = number | 'on' | 'off'

/** The limit that holds by default, or that `on` sets. */
export function ownLimit({ limit, whenOn }: Pick<RuleSpec, 'limit' | 'whenOn'>): number | undefined {
  return limit ?? whenOn
}

/** What a rule's `_LIMIT` may be: `off`, `on`, or a number that its measure can pass but does not always pass. */
export function limitOf(id: RuleId): Value<Limit> {
  const spec = specOf(id)
  if (spec.unit === 'switch') return { ...value<Limit>('on or off', onOrOff), plain: true }
  const unit = UNITS[spec.unit]
  const own = ownLimit(spec)
  const words = own === undefined ? 'off' : 'off, on'
  const read = value<Limit>(`${words} or ${unit.mayBe}`, (text) => {
    const word = onOrOff(text)
    if (word === 'on' && own === undefined) return failed(`has no limit of its own; write ${unit.mayBe}`)
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

/** What a rule's `_CRITICAL` may be; `undefined`: the rule has no number of which more is worse. */
export function criticalValueOf(id: RuleId): Value<Limit> | undefined {
  const spec = specOf(id)
  if (spec.unit === 'switch' || spec.measure === undefined) return undefined
  const unit = UNITS[spec.unit]
  const words = spec.critical === undefined ? 'off' : 'off, on'
  const read = value<Limit>(`${words} or ${unit.mayBe}`, (text) => {
    const word = onOrOff(text)
    if (word === 'on' && spec.critical === undefined)
      return failed(`has no critical limit of its own; write ${unit.mayBe}`)
    if (word) return word
    const n = unit.read(text)
    return typeof n === 'number' ? reachable(n, spec, unit) : n
  })
  return { ...read, plain: true }
}

/** Whether a clear is on the good side of its limit: below it, or at most it where the limit itself is no breach. */
export function clears(clear: number, limit: number, breach: RuleSpec['breach']): boolean {
  if (breach === 'below') return clear >= limit
  return breach === 'above' ? clear <= limit : clear < limit
}

/**
 * The clear that goes with a limit when none is set: as far below it as the default is, in proportion.
 * A factor counts from 1, which is "no difference": 1.5 and 1.2 give 1.4 for a limit of 2.
 */
export function scaledClear(spec: RuleSpec, limit: number): number | undefined {
  const own = ownLimit(spec)
  if (spec.clear === undefined || own === undefined) return spec.clear
  if (limit === own) return spec.clear
  const { zero = 0 } = UNITS[spec.unit]
  return rounded(zero + ((limit - zero) * (spec.clear - zero)) / (own - zero))
}

/** Runs in a row and switches are clear by themselves; what is judged once for the whole run has no end. */
function canClear({ unit, measure }: RuleSpec): boolean {
  return unit !== 'switch' && unit !== 'runs' && unit !== 'count' && measure !== undefined
}

function reachable(n: number, spec: RuleSpec, unit: UnitSpec): number | Failed | undefined {
  if (spec.breach === 'below') return n > unit.min && n <= unit.max ? n : undefined
  const above = spec.breach === 'above'
  if (n > unit.max || (above && n === unit.max)) {
    return failed(`can never be reached: the highest is ${unit.max}; may be ${unit.mayBe}`)
  }
  if (n < unit.min || (!above && n === unit.min)) {
    const from = unit.mayBe.includes('above') ? '' : `, above ${unit.min}`
    return failed(`is always reached; may be ${unit.mayBe}${from}`)
  }
  return n <= (unit.zero ?? Number.NEGATIVE_INFINITY) ? undefined : n
}

function onOrOff(text: string): 'on' | 'off' | undefined {
  const word = text.toLowerCase()
  return word === 'on' || word === 'off' ? word : undefined
}
