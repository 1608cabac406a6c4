import type { BackendTable, Life } from '../model/backend.ts'

/** Which versions have a series; `undefined`: all, as far as is known. @param name with its prefix. */
export function lifeOf(name: string, { lives = {} }: BackendTable): Life | undefined {
  const bare = Object.keys(lives).find(
    (one) => name === one || (name.endsWith(one) && /[:_]$/.test(name.slice(0, -one.length))),
  )
  return bare === undefined ? undefined : lives[bare]
}
