import type { About } from '../model/notification.ts'
import type { Rule } from '../model/rule.ts'
import { type Measured, UNKNOWN } from './measured.ts'
import { condition, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'

export const heartbeatRules = ruleset({
  heartbeat: {
    ...condition,
    firesWhen: 'no beat came for longer than interval + grace, or the worker said that it failed',
    sign: '💔',
    about: 'heartbeat',
    priority: 8,
    backends: ['heartbeat-check'],
    measure: (snapshot, rule, { now }) => [silence(rule, snapshot, now)],
    unknownReason: () => 'no beat yet, and none was due',
    describe: lastBeat,
  },
})

/**
 * Late, failed, or never seen for longer than interval and grace. Seconds since the last beat. A failure is told at
 * once, also of a worker that was told as silent.
 */
function silence(rule: Rule, { observation, endpoint, before }: Snapshot, now: number): Measured {
  if (observation.up !== true || !observation.beat || !endpoint.beat) return UNKNOWN
  const { age, failed } = observation.beat
  const allowed = endpoint.beat.interval + endpoint.beat.grace
  const silent = age ?? now - before.since
  const told = before.incidents[rule.id]
  const toldAs = told?.over ? undefined : told?.symptoms[rule.id]?.about?.beat
  const renewed = failed !== undefined && toldAs !== undefined && toldAs.failed === undefined && rule.for === 0
  // Never seen is told when interval and grace are over, not a run later.
  const late = age === undefined ? silent >= allowed : silent > allowed
  if (failed || late) return { value: silent / 1000, judgement: 'breach', renewed }
  return age === undefined ? UNKNOWN : { value: age / 1000, judgement: 'clear' }
}

function lastBeat({ observation, endpoint }: Snapshot): About {
  const beat = observation.up === true ? observation.beat : undefined
  if (!endpoint.beat || !beat) return {}
  const { age, failed, body } = beat
  return {
    beat: {
      ...endpoint.beat,
      never: age === undefined,
      ...(age === undefined ? {} : { age }),
      ...(failed ? { failed } : {}),
      ...(body === undefined ? {} : { body }),
    },
  }
}
