import type { ExpectedBeats } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { About } from '../model/notification.ts'
import type { Rule } from '../model/rule.ts'
import { type Measured, UNKNOWN } from './measured.ts'
import { condition, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { allowedFor, progressOf } from './worker-run.ts'

const worker = { ...condition, about: 'heartbeat', backends: ['heartbeat-check'] } as const

export const heartbeatRules = ruleset({
  heartbeat: {
    ...worker,
    firesWhen:
      'no beat came for longer than interval + grace (by its calendar: until grace after it was due), its progress stood still for as long, or the worker said that it failed',
    sign: '💔',
    priority: 8,
    measure: (snapshot, rule, { now }) => [silence(rule, snapshot, now)],
    unknownReason: () => 'no beat yet, and none was due',
    describe: lastBeat,
  },
  overrun: {
    ...worker,
    firesWhen:
      'a run that began with `/start` has not ended for longer than `RUN_LIMIT`, else three times the median of its last runs',
    sign: '🏃',
    priority: 7,
    measure: (snapshot, _, { now }) => [runsFor(snapshot, now)],
    unknownReason: ({ after }) =>
      after.run ? 'RUN_LIMIT is not set, and fewer than 3 runs have ended' : 'no run has begun with /start',
    describe: (snapshot) => ({ run: aboutRun(snapshot) }),
  },
})

/** A beat may be so much earlier than its calendar says: the worker's clock is not ours. Milliseconds. */
const EARLY = 60_000

interface Silence {
  late: boolean
  /** The time by the calendar that nothing came of. */
  due?: number
  /** Beats come, and what they count does not move. */
  stands?: true
}

function silenceOf({ observation, endpoint, before, after }: Snapshot, now: number): Silence | undefined {
  if (observation.up !== true || !observation.beat || !endpoint.beat) return undefined
  const { age } = observation.beat
  const { interval, grace, schedule } = endpoint.beat
  const stoodFor = progressOf(after.run, now)?.stoodFor ?? 0
  const stands = stoodFor > interval + grace ? { stands: true as const } : {}
  if (schedule) {
    const due = schedule.previous(now - grace)
    const last = age === undefined ? before.since : now - age + EARLY
    const late = due !== undefined && due > before.since && last < due
    return { late: late || stands.stands === true, ...(late && { due }), ...stands }
  }
  const allowed = interval + grace
  const silent = age ?? now - before.since
  // Never seen is told when interval and grace are over, not a run later.
  const late = age === undefined ? silent >= allowed : silent > allowed
  return { late: late || stands.stands === true, ...(late ? {} : stands) }
}

/**
 * Late, failed, or never seen for longer than interval and grace. Seconds since the last beat. A failure is told at
 * once, also of a worker that was told as silent.
 */
function silence(rule: Rule, snapshot: Snapshot, now: number): Measured {
  const { observation, before } = snapshot
  const found = silenceOf(snapshot, now)
  if (found === undefined || observation.up !== true || !observation.beat) return UNKNOWN
  const { age, failed } = observation.beat
  const told = before.incidents[rule.id]
  const toldAs = told?.over ? undefined : told?.symptoms[rule.id]?.about?.beat
  const renewed = failed !== undefined && toldAs !== undefined && toldAs.failed === undefined && rule.for === 0
  if (failed || found.late) return { value: (age ?? now - before.since) / 1000, judgement: 'breach', renewed }
  return age === undefined ? UNKNOWN : { value: age / 1000, judgement: 'clear' }
}

function lastBeat(snapshot: Snapshot): About {
  const { observation, endpoint, after } = snapshot
  const beat = observation.up === true ? observation.beat : undefined
  if (!endpoint.beat || !beat) return {}
  const now = nowOf(snapshot)
  const { age, failed, body } = beat
  const { due, stands } = silenceOf(snapshot, now) ?? {}
  return {
    beat: {
      interval: endpoint.beat.interval,
      grace: endpoint.beat.grace,
      never: age === undefined,
      ...(age === undefined ? {} : { age }),
      ...(failed ? { failed } : {}),
      ...(body === undefined ? {} : { body }),
      ...defined({ due: due === undefined ? undefined : calendarTime(endpoint.beat, due), stands }),
      ...defined({ progress: progressOf(after.run, now) }),
    },
  }
}

/** The snapshot's own time: each leaves it as the last of its runs. */
function nowOf({ after }: Snapshot): number {
  return after.recent.at(-1)?.[0] ?? 0
}

/** By the worker's own clock: `03:00`. */
function calendarTime({ schedule }: ExpectedBeats, at: number): { at: string; zone: string; text: string } | undefined {
  if (schedule === undefined) return undefined
  const form = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: schedule.timezone } as const
  return { at: new Intl.DateTimeFormat('en-GB', form).format(at), zone: schedule.timezone, text: schedule.text }
}

function runsFor({ after, endpoint }: Snapshot, now: number): Measured {
  const { run } = after
  if (run === undefined) return after.runTimes === undefined ? UNKNOWN : { value: 0, judgement: 'clear' }
  const { limit } = allowedFor(after, endpoint.beat?.runLimit)
  if (limit === undefined) return UNKNOWN
  return { value: (now - run.startedAt) / 1_000, judgement: now - run.startedAt > limit ? 'breach' : 'clear' }
}

function aboutRun(snapshot: Snapshot): About['run'] {
  const { after, endpoint } = snapshot
  const now = nowOf(snapshot)
  if (after.run === undefined) return undefined
  const allowed = allowedFor(after, endpoint.beat?.runLimit)
  return defined({ for: now - after.run.startedAt, ...allowed, progress: progressOf(after.run, now) })
}
