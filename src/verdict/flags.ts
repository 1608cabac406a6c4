import type { BackendTable, Flag, FlagUse } from '../model/backend.ts'

/** A setting as the server's version spells it. */
export interface SpeltFlag {
  name: string
  /** `vLLM 0.11.2`. */
  server: string
}

/** @returns `undefined` where the version is not known, or has no such setting. */
export function flagOf(table: BackendTable, use: FlagUse, version: string | undefined): SpeltFlag | undefined {
  if (version === undefined) return undefined
  const found = table.flags?.[use]?.find((flag) => isIn(version, flag))
  return found && { name: found.name, server: `${table.called ?? ''} ${version}`.trim() }
}

function isIn(version: string, { since, until }: Flag): boolean {
  return (since === undefined || isAtLeast(version, since)) && (until === undefined || !isAtLeast(version, until))
}

/**
 * By the numbers between the dots. What follows them (`.post1`, `rc2`, `+cu129`) is left aside: a build on the way to a
 * version has its settings.
 */
export function isAtLeast(version: string, least: string): boolean {
  const [a, b] = [numbersOf(version), numbersOf(least)]
  const at = b.findIndex((number, i) => number !== (a[i] ?? 0))
  return at === -1 || (a[at] ?? 0) > (b[at] ?? 0)
}

function numbersOf(version: string): number[] {
  return (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number)
}
