import { TABLES } from '../backends/backends.ts'
import type { ScrapedBackend } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { About } from '../model/notification.ts'
import type { Rule } from '../model/rule.ts'
import { bin, usual } from '../signals/baseline.ts'
import { ruleOf, subjectOf } from '../state/alert-key.ts'
import { lookAtGpu, ofEngine, restartHung, whenStuck } from '../verdict/advice.ts'
import { fall, type Measured, UNKNOWN } from './measured.ts'
import { base, MINUTE, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { heldBy, isRereading, patienceFor, WHOLE } from './standstill.ts'
import { FIRST_READING, SHORT_PAST } from './unknown.ts'
import { lookBack, rateNow } from './workload.ts'

export const progressRules = ruleset({
  throughput: {
    ...base,
    symptom: true,
    firesWhen:
      'generated tokens a second, at the same number of requests running, fell below their own past by the limit',
    sign: '📉',
    about: 'engine',
    unit: 'fall',
    breach: 'at-or-above',
    limit: 0.5,
    clear: 0.25,
    for: 5 * MINUTE,
    priority: 7,
    needs: { signals: ['generation_tokens', 'running'] },
    measure: (snapshot, _, { now }) => [throughputFall(snapshot, now)],
    unknownReason: noThroughputFall,
    compared: (usual) => `usually ${Number(usual.toPrecision(3))} tok/s`,
    idles: true,
    ownPast: true,
    tells: ['running', 'tokens_per_second'],
    advise: ofEngine(lookAtGpu),
  },
  stuck: {
    ...base,
    symptom: true,
    firesWhen:
      'requests wait at every run, and since this long none has finished, or each that finished had waited longer (or none has run, where none are counted); for an engine that sleeps on purpose 5 minutes are enough',
    sign: '🪨',
    about: 'queue',
    unit: 'seconds',
    breach: 'at-or-above',
    limit: 600,
    priority: 8,
    except: ['gateway'],
    needs: { signals: ['waiting', 'finished'], also: ['queue_wait', 'waiting_deferred', 'asleep'] },
    measure: (snapshot, rule, { now }) => [stuck(snapshot, rule, now)],
    unknownReason: ({ last }) => (last ? 'the server publishes no count of finished requests' : FIRST_READING),
    since: ({ after }) => after.stuckSince,
    tells: ['waiting', 'running'],
    describe: (snapshot) => heldOf(snapshot, undefined),
    advise: whenStuck,
  },
  stalled: {
    ...base,
    symptom: true,
    firesWhen:
      'work is reported and nothing moved for this many runs and 60 seconds: the engine hangs, or its gauges are stale; each engine or rank for itself where the page names several. Prompts that are read again and again without a token for 12 minutes are no movement; an engine that the server calls unhealthy fires at once',
    sign: '🧊',
    about: 'engine',
    unit: 'runs',
    breach: 'at-or-above',
    limit: 2,
    priority: 9,
    needs: { signals: ['waiting', 'running'], oneIsEnough: true, also: ['engine_healthy', 'asleep', 'paused'] },
    with: 'steps',
    measure: (snapshot, rule, { now }) => standstills(snapshot, rule, now),
    unknownReason: notStanding,
    since: (snapshot, subject) => snapshot.after.standing?.[subject ?? WHOLE]?.moved,
    holds: ['kv_cache', 'stuck'],
    describe: heldOf,
    tells: ['waiting', 'running'],
    advise: restartHung,
  },
})

function throughputFall(snapshot: Snapshot, now: number): Measured {
  const running = snapshot.derived.numbers.running ?? 0
  if (running === 0 || snapshot.motions[WHOLE]?.asleep || hasPaused(snapshot)) return UNKNOWN
  return fall(rateNow(snapshot), usual(snapshot.before.baselines[`tokens${bin(running)}`], now))
}

/** In a lull a request runs at this moment, and none ran for most of the time in which the tokens were counted. */
function hasPaused(snapshot: Snapshot): boolean {
  const { history, inside } = snapshot.after
  const from = lookBack(snapshot)?.from
  return from !== undefined && (history?.times ?? []).slice(from).some((time) => inside[time] === 0)
}

function noThroughputFall(snapshot: Snapshot): string {
  if ((snapshot.derived.numbers.running ?? 0) === 0) return 'nothing is running'
  if (snapshot.motions[WHOLE]?.asleep) return 'the engine sleeps'
  if (hasPaused(snapshot)) return 'nothing was running for a part of the time'
  if (!snapshot.window) return FIRST_READING
  return rateNow(snapshot) === undefined
    ? 'work goes on, its tokens are counted when a request ends, or with too few digits'
    : `${SHORT_PAST} at this many running`
}

/** Seconds that requests may wait for an engine that sleeps. */
const ASLEEP = 300

function stuck({ after, motions, derived, readings }: Snapshot, rule: Rule, now: number): Measured {
  const { waiting, running } = derived.numbers
  if (waiting === undefined || (!readings?.counters.finished && running === undefined)) return UNKNOWN
  const value = after.stuckSince === undefined ? 0 : (now - after.stuckSince) / 1_000
  const limit = motions[WHOLE]?.asleep ? Math.min(ASLEEP, rule.limit) : rule.limit
  const judgement = value >= limit ? 'breach' : value > 0 ? 'between' : 'clear'
  return { value, judgement, halfway: value >= limit / 2 }
}

/** Of each engine that the page names, else of the whole. */
function standstills(snapshot: Snapshot, rule: Rule, now: number): Measured[] {
  const { motions, before } = snapshot
  const names = Object.keys(motions)
  if (names.length === 0) return [UNKNOWN]
  const engines = names.filter((name) => name !== WHOLE)
  const told = engines.some((engine) => motions[engine]?.moved !== undefined)
  const judged = told && !before.alerts.stalled ? engines : names
  // An engine that the page no longer names goes by the whole.
  const gone = Object.keys(before.alerts)
    .filter((key) => ruleOf(key) === rule.id)
    .flatMap((key) => subjectOf(key) ?? [])
    .filter((engine) => !engines.includes(engine))
  return [
    ...judged.map((engine) => standstill(engine, snapshot, rule, now)),
    ...gone.map((subject) => ({ ...standstill(WHOLE, snapshot, rule, now), subject })),
  ]
}

function standstill(
  engine: string,
  { backend, motions, after, readings }: Snapshot,
  rule: Rule,
  now: number,
): Measured {
  const subject = engine === WHOLE ? {} : { subject: engine }
  const motion = motions[engine]
  const stands = after.standing?.[engine]
  if (motion?.unhealthy) return { ...subject, value: stands?.runs ?? 0, judgement: 'breach' }
  if (motion?.moved === undefined || !readings) return { ...subject, ...UNKNOWN }
  if (!stands || motion.asleep) return { ...subject, value: 0, judgement: 'clear' }
  if (isRereading(stands, now)) return { ...subject, value: stands.runs, judgement: 'breach' }
  const { runs, moved } = stands
  if (runs === 0) return { ...subject, value: 0, judgement: 'clear' }
  const patience = patienceFor(stands, readings, TABLES[backend as ScrapedBackend])
  if (patience === undefined) return { ...subject, ...UNKNOWN }
  return { ...subject, value: runs, judgement: runs >= rule.limit && now - moved >= patience ? 'breach' : 'between' }
}

function notStanding({ last, motions }: Snapshot, subject: string | undefined): string {
  if (!last) return FIRST_READING
  return motions[subject ?? WHOLE]?.moved === undefined
    ? 'the server publishes no counter that shows progress'
    : 'a long prompt, or the few digits that are printed, may look like this'
}

/** The work of the engine, which is not that of the whole endpoint, and what holds it. */
function heldOf({ motions, after }: Snapshot, subject: string | undefined): About {
  const motion = motions[subject ?? WHOLE]
  if (!motion) return {}
  const by = heldBy(motion, after.standing?.[subject ?? WHOLE], after.goodAt ?? 0)
  const { running, waiting } = motion
  const own = subject === undefined ? {} : defined({ running, waiting })
  return subject === undefined && by === undefined ? {} : { held: { ...own, ...(by && { by }) } }
}
