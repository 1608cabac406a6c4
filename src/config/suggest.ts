/**
 * The known name that a mistyped one most likely meant: the nearest, of which at most a third of the letters may differ
 * (always one may), else one that it is the beginning of.
 * @returns `undefined` when nothing is near.
 */
export function suggest(mistyped: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let longer: string | undefined
  let distance = Math.max(1, Math.floor(mistyped.length / 3)) + 1
  for (const name of known) {
    if (longer === undefined && mistyped !== '' && name.startsWith(mistyped)) longer = name
    if (Math.abs(name.length - mistyped.length) >= distance) continue
    const d = editDistance(mistyped, name)
    if (d < distance) [best, distance] = [name, d]
  }
  return best ?? longer
}

/** Letters to add, drop, change or swap with their neighbour to turn one text into the other. */
export function editDistance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let d = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) d = Math.min(d, at(before, j - 2) + 1)
      row.push(d)
    }
    before = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], j: number): number {
  return row[j] ?? Number.POSITIVE_INFINITY
}
