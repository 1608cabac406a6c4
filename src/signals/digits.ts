import type { CounterSignal, Readings } from '../model/signals.ts'

/**
 * By how much a value must grow until its print changes: 10 for 1.06308e+06 with six significant digits.
 * @param digits all of them where absent.
 */
export function printedStep(value: number, digits: number | undefined): number {
  if (digits === undefined || value < 1) return 0
  return 10 ** (Math.floor(Math.log10(value)) + 1 - digits)
}

/** Printed steps below which an increase says more about rounding than about what was counted. */
const STEPS_AT_LEAST = 10

/** Whether an increase is made of so few printed steps that it is no measure. What is printed to the unit is exact. */
export function isRough(signal: CounterSignal, increase: number, { counters, digits }: Readings): boolean {
  if (digits === undefined) return false
  const values = Object.values(counters[signal] ?? {}).map(({ value }) => value)
  const step = printedStep(Math.max(0, ...values), digits)
  return step > 1 && increase < STEPS_AT_LEAST * step
}
