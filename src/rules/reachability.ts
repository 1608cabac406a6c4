import { defined } from '../model/defined.ts'
import type { About } from '../model/notification.ts'
import { whenBlind, whenDown } from '../verdict/advice.ts'
import { inARow, UNKNOWN } from './measured.ts'
import { ALL, base, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'

const reachability = { ...base, about: 'reachability', unit: 'runs', breach: 'at-or-above', backends: ALL } as const

export const reachabilityRules = ruleset({
  down: {
    ...reachability,
    firesWhen:
      'this many scrapes or canaries failed in a row; over after two good ones; told once more where it then refuses the key',
    sign: '🔴',
    limit: 3,
    priority: 9,
    measure: (snapshot, rule) => [isSeen(snapshot) ? inARow(snapshot.after.failures, rule) : UNKNOWN],
    holds: 'all',
    outlivesRestart: true,
    describe({ after, before }) {
      const failure = after.failure ?? before.failure
      return failure ? { failure } : {}
    },
    advise: whenDown,
  },
  blind: {
    ...reachability,
    firesWhen:
      'for this many good answers, a series that the backend always has is missing, one that was here is gone, or the model is not there',
    sign: '🙈',
    limit: 2,
    priority: 6,
    needs: { signals: [], core: true },
    measure: ({ readings, after }, rule) => [readings ? inARow(after.blindRuns, rule) : UNKNOWN],
    describe: unseen,
    advise: whenBlind,
  },
})

/** Asked, or left in peace because its own page says that many wait: a server that says so lives. */
function isSeen({ observation }: Snapshot): boolean {
  return observation.up !== undefined || observation.canary.status === 'skipped'
}

/** What a blind rule cannot see: absent, or there with an impossible value. */
function unseen({ observation, missing, faults, modelMissing }: Snapshot): About {
  const { answeredBy } = observation.canary ?? {}
  if (modelMissing) return { modelMissing, ...defined({ answeredBy }) }
  if (missing.length === 0) return {}
  if (observation.unread) return { unread: missing }
  const [gone, doubted] = [false, true].map((isThere) =>
    missing.filter((signal) => faults.some((fault) => fault.signal === signal) === isThere),
  )
  return { ...(gone?.length ? { missing: gone } : {}), ...(doubted?.length ? { doubted } : {}) }
}
