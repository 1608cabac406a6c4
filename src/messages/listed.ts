/** `Now: 3 waiting, 4 running. Last 5 min: 910 tok/s.` of those parts that are there; `undefined` where none is. */
export function listed(
  groups: readonly (readonly [name: string, parts: readonly (string | undefined)[]])[],
): string | undefined {
  const sentences = groups.flatMap(([name, parts]) => {
    const known = parts.filter((part) => part !== undefined)
    return known.length === 0 ? [] : [`${name}: ${known.join(', ')}.`]
  })
  return sentences.length === 0 ? undefined : sentences.join(' ')
}
