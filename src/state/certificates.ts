import type { State } from './schema.ts'

/** Notes when the certificates of push servers end. @param ends by channel, epoch milliseconds. */
export function noteCertificates(state: State, ends: ReadonlyMap<string, number>, now: number): State {
  if (ends.size === 0) return state
  const before = state.certificates ?? {}
  const seen = [...ends].map(([name, end]) => [name, { ...before[name], ends: end, seenAt: now }] as const)
  return { ...state, certificates: { ...before, ...Object.fromEntries(seen) } }
}
