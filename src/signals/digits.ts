/**
 * By how much a value must grow until its print changes: 10 for 1.06308e+06 with six significant digits.
 * @param digits all of them where absent.
 */
export function printedStep(value: number, digits: number | undefined): number {
  if (digits === undefined || value < 1) return 0
  return 10 ** (Math.floor(Math.log10(value)) + 1 - digits)
}
