import type { BackendTable, Life } from '../model/backend.ts'

/**
 * Which versions have a series; `undefined`: all, as far as is known. Of several names that it ends in the longest is its
 * own.
 * @param name with its prefix.
 */
export function lifeOf(name: string, { lives = {} }: BackendTable): Life | undefined {
  const ends = Object.keys(lives).filter(
    (bare) => name === bare || name.endsWith(`_${bare}`) || name.endsWith(`:${bare}`),
  )
  const [own] = ends.sort((a, b) => b.length - a.length)
  return own === undefined ? undefined : lives[own]
}
