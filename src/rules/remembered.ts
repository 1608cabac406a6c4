import { defined } from '../model/defined.ts'
import type { Readings } from '../model/signals.ts'
import type { EndpointState } from '../state/schema.ts'

const HOUR = 60 * 60_000

/** The restarts of the last hour, and whether an older process answered again: that is a second server, not a restart. */
export function restartsOf(
  before: EndpointState,
  restarted: boolean,
  startedAt: number | undefined,
  now: number,
): Partial<EndpointState> {
  const kept = (before.restarts ?? []).filter((at) => at <= now && now - at < HOUR)
  const all = restarted ? [...kept, now] : kept
  const known = before.history?.startedAt
  const isOlder = restarted && known !== undefined && startedAt !== undefined && startedAt < known
  const olderAt = isOlder ? now : before.olderAt
  return {
    ...(all.length > 0 || before.restarts ? { restarts: all } : {}),
    ...defined({ olderAt: olderAt !== undefined && now - olderAt < HOUR ? olderAt : undefined }),
  }
}

/** Rows are replaced for good: only that there are more says something. */
export function remappedOf(before: EndpointState, readings: Readings, now: number): Partial<EndpointState> {
  const found = Object.entries(readings.subjects).flatMap(([subject, { gpu_remapped_rows: rows }]) => {
    if (rows === undefined) return []
    const known = before.remapped?.[subject]
    const grewAt = known !== undefined && rows > known.rows ? now : known?.grewAt
    return [[subject, { rows, ...defined({ grewAt }) }] as const]
  })
  return found.length === 0 ? {} : { remapped: { ...before.remapped, ...Object.fromEntries(found) } }
}
