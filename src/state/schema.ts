import * as z from 'zod/mini'
import english from 'zod/v4/locales/en.js'
import { defined } from '../model/defined.ts'
import { FAILURE_KINDS } from '../model/failure.ts'
import { isNotification, type Notification } from '../model/notification.ts'
import { BASELINE } from '../signals/baseline.ts'
import { HISTORY } from '../signals/history.ts'
import { CANARY_MEMORY, CERTIFICATE_SEEN, WORKER_RUN } from './asked-and-heard.ts'
import { INCIDENT, type Incident } from './incident-schema.ts'
import { migrate } from './migrate.ts'
import { packed, unpacked } from './packed.ts'
import { SILENCE } from './silence-schema.ts'

/** The schema version this code writes; see `docs/state.md`. */
export const STATE_VERSION = 4

/** The words of what is wrong, which this small form of zod leaves out. */
z.config(english())

const time = z.number().check(z.int())
const count = z.number().check(z.int(), z.nonnegative())

/** One condition for one subject while it is not ok. Times are epoch milliseconds. */
const ALERT = z.object({
  phase: z.enum(['pending', 'firing']),
  /** The breach began. */
  activeAt: time,
  firedAt: z.optional(time),
  /** The last run in which the measure was known. */
  seenAt: time,
  /** Clear runs in a row while firing. */
  clearRuns: count,
  /** Runs in a row that were a breach before it fired, of a rule that needs several. */
  breachRuns: z.optional(count),
  /** The worst value since it began. */
  peak: z.optional(z.number()),
  /** The limit that it was judged by last, while firing. */
  limit: z.optional(z.number()),
  /** No traffic since, while firing. */
  idleSince: z.optional(time),
  /** The server restarted while it fired. */
  restarted: z.optional(z.literal(true)),
})
export type Alert = z.infer<typeof ALERT>

/** Work that was there at the last good answer, of the whole endpoint (``) or of one engine (`engine 2`). */
const STANDSTILL = z.object({
  /** Good answers in a row without movement. */
  runs: count,
  /** The last good answer at which something had moved. */
  moved: time,
  /** The last one at which a token had come or a request had ended. */
  fruitful: time,
  /** Where prompts are read in one long step: whether work that must step on was under way when something moved last. */
  sure: z.optional(z.enum(['decoding', 'ending'])),
  running: z.optional(z.number()),
  /** Milliseconds: the longest time without movement that was none, where few digits are printed. */
  longest: z.optional(z.number()),
})
export type Standstill = z.infer<typeof STANDSTILL>

const ENDPOINT_STATE = z.object({
  /** First run with this endpoint in the configuration. */
  since: time,
  /** Scrapes or canaries failed in a row. */
  failures: count,
  failure: z.optional(
    z.object({
      kind: z.enum(FAILURE_KINDS),
      code: z.optional(z.string()),
      status: z.optional(z.number()),
      detail: z.optional(z.string()),
      mixed: z.optional(z.literal(true)),
    }),
  ),
  /** The last good answer. */
  goodAt: z.optional(time),
  /** Signals seen here, so that a vanished one is noticed. */
  seen: z.array(z.string()),
  /** Good scrapes in a row in which something was missing. */
  blindRuns: count,
  /** Good scrapes in a row with work and without progress. */
  stalledRuns: count,
  /** By engine; the whole endpoint's is ``. Absent where nothing was inside. */
  standing: z.optional(z.record(z.string(), STANDSTILL)),
  /** Requests have waited at every run since, and none has finished that had not waited long. */
  stuckSince: z.optional(time),
  /** The last good answer, within an hour, at which the engine slept on purpose. */
  asleepAt: z.optional(time),
  /** Slots of 5 minutes in the last hour, where `SLO_TTFT` is set: start, requests in time, all. */
  slo: z.optional(z.array(z.tuple([time, z.number(), z.number()]))),
  history: z.optional(HISTORY),
  /** Requests inside (waiting + running) at the kept readings: time → requests. */
  inside: z.record(z.string(), z.number()),
  /** Time, main signal and KV use at the last runs, oldest first: for the sparkline, growth and trends. */
  recent: z.array(z.tuple([time, z.nullable(z.number()), z.nullable(z.number())])),
  baselines: z.record(z.string(), BASELINE),
  /** GPUs seen here → the last time. */
  gpus: z.record(z.string(), time),
  /** GPU → its last XID. */
  xids: z.record(z.string(), z.number()),
  /** GPU → its memory rows that were replaced, and when there were more the last time. */
  remapped: z.optional(z.record(z.string(), z.object({ rows: count, grewAt: z.optional(time) }))),
  /** GPUs of the exporter beside this server: name, XID and since when, and since when it is gone. */
  beside: z.optional(
    z.record(
      z.string(),
      z.object({ name: z.optional(z.string()), xid: z.number(), at: z.optional(time), gone: z.optional(time) }),
    ),
  ),
  /** Restarts within the last hour, oldest first. */
  restarts: z.optional(z.array(time)),
  /** The last time that a process answered which had started before the one that answered last. */
  olderAt: z.optional(time),
  model: z.optional(z.string()),
  /** What it said of its version when it was last asked, since its start; absent text: nothing. */
  version: z.optional(z.object({ at: time, text: z.optional(z.string()) })),
  /** A worker's run that has begun and not ended. */
  run: z.optional(WORKER_RUN),
  /** Milliseconds that the worker's last runs took, oldest first. */
  runTimes: z.optional(z.array(z.number())),
  /** Of the canaries sent so far. */
  canary: z.optional(CANARY_MEMORY),
  /** By rule, or `rule@subject`. */
  alerts: z.record(z.string(), ALERT),
  /** By kind: `work`, or the key of the alert that is an incident of its own. */
  incidents: z.record(z.string(), INCIDENT),
})
export type EndpointState = z.infer<typeof ENDPOINT_STATE>

/** What is still to be done for one channel. */
const LEG = z.object({
  /** A run that is trying, and when its claim ends. */
  claim: z.optional(z.object({ by: z.string(), until: time })),
  /** Not before. */
  retryAt: z.optional(time),
  /** The channel not before, as it asked; its fallback at any time. */
  firstAt: z.optional(time),
  /** Answers of 429 in a row: the pauses between runs grow with them. */
  limits: z.optional(count),
  tries: count,
  /** It was sent before, but the answer was lost. */
  maybeSent: z.optional(z.literal(true)),
})
export type Leg = z.infer<typeof LEG>

const { maybeSent: _, ...FLAT } = LEG.shape

const OUTGOING = z.object({
  /** Complete in itself; its shape is `Notification`. */
  notification: z.custom<Notification>(isNotification),
  /** Entered the outbox. */
  since: time,
  /** By channel. Absent: it is for the channel `notifly` alone, whose fields stand beside this one. */
  to: z.optional(z.record(z.string(), LEG)),
  /** A channel has taken it, while others have not. */
  told: z.optional(z.literal(true)),
  ...FLAT,
})
export type Outgoing = z.infer<typeof OUTGOING>

/** What one channel was told of an incident that may go on. */
const THREAD = z.object({
  /** What the service calls the message, or the messages, newest last and separated by blanks. */
  id: z.optional(z.string()),
  /** Incidents that the message tells; absent: this one alone. */
  of: z.optional(count),
  /** Alertmanager: the alert as JSON, posted anew at each run. */
  alert: z.optional(z.string()),
  /** Alertmanager: it is over, and is posted so many times more. */
  left: z.optional(count),
})
export type Thread = z.infer<typeof THREAD>

/** All of it, as `docs/state.md` documents it. */
export const STATE = z.object({
  v: z.literal(STATE_VERSION),
  /** Ids of the last runs that wrote, newest last: so that a run finds its own write. */
  runs: z.array(z.string()),
  /** The last scheduled tick that was handled. */
  tick: z.optional(time),
  ranAt: z.optional(time),
  /** Milliseconds that the last run waited for answers: a slow answer is no time without a watcher. */
  asked: z.optional(count),
  /** Milliseconds between the last runs, newest last. */
  gaps: z.array(z.number()),
  endpoints: z.record(z.string(), ENDPOINT_STATE),
  /** What each source of endpoints named last, by its address: it holds while the source cannot be used. */
  targets: z.optional(z.record(z.string(), z.array(z.object({ name: z.string(), url: z.string() })))),
  /** By channel, of push servers that are reached by https. */
  certificates: z.optional(z.record(z.string(), CERTIFICATE_SEEN)),
  outbox: z.array(OUTGOING),
  silences: z.optional(z.array(SILENCE)),
  /** Incidents that somebody has taken, by their ids: no reminders of these. */
  acknowledged: z.optional(z.record(z.string(), z.object({ at: time, by: z.string() }))),
  /** Ends that came in a silence, of what was told before it: told when the silence is over. */
  held: z.optional(z.array(OUTGOING)),
  /** By incident and channel: who was told, where there is more than the channel `notifly`. */
  threads: z.optional(z.record(z.string(), z.record(z.string(), THREAD))),
})
export type State = z.infer<typeof STATE>

export function emptyState(): State {
  return { v: STATE_VERSION, runs: [], gaps: [], endpoints: {}, outbox: [] }
}

export function newEndpointState(now: number): EndpointState {
  return {
    since: now,
    failures: 0,
    seen: [],
    blindRuns: 0,
    stalledRuns: 0,
    inside: {},
    recent: [],
    baselines: {},
    gpus: {},
    xids: {},
    alerts: {},
    incidents: {},
  }
}

/** What is known of an endpoint. Its name may be one that every object has: `constructor`. */
export function endpointOf(state: State, name: string): EndpointState | undefined {
  return Object.hasOwn(state.endpoints, name) ? state.endpoints[name] : undefined
}

/**
 * What a clock that was ahead left behind, now that it is right: times become this moment, or a hold time, a reminder
 * and a beat that never came would wait until the clock is there again; runs that lie ahead are dropped. When an alert
 * fired stays as it is: it names the incident.
 */
export function notAhead(state: EndpointState, now: number): EndpointState {
  const { since, recent, alerts, incidents } = state
  if (recent.every(([at]) => at <= now)) return state // every run leaves its time here
  const past = (time: number | undefined) => time && Math.min(time, now)
  const bounded = ({ idleSince, ...alert }: Alert): Alert => ({
    ...alert,
    activeAt: Math.min(alert.activeAt, now),
    seenAt: Math.min(alert.seenAt, now),
    ...defined({ idleSince: past(idleSince) }),
  })
  const told = ({ lastSentAt, calmSince, begins, flaps, ...incident }: Incident): Incident => ({
    ...incident,
    begins: begins.map((at) => Math.min(at, now)),
    ...defined({
      lastSentAt: past(lastSentAt),
      calmSince: past(calmSince),
      flaps: flaps && { ...flaps, since: Math.min(flaps.since, now) },
    }),
  })
  const each = <T>(entries: Record<string, T>, change: (one: T) => T) =>
    Object.fromEntries(Object.entries(entries).map(([key, one]) => [key, change(one)]))
  return {
    ...state,
    since: Math.min(since, now),
    recent: recent.filter(([at]) => at <= now),
    alerts: each(alerts, bounded),
    incidents: each(incidents, told),
  }
}

export type ReadState =
  | { kind: 'state'; state: State }
  /** Empty, not JSON, or not the schema: to be put aside. */
  | { kind: 'broken'; why: string }
  /** Written by a newer version: not to be touched. */
  | { kind: 'newer'; version: number }

/** Reads what the last run left. Numbers that did not survive JSON make the state broken, never 0. */
export function readState(text: string): ReadState {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return { kind: 'broken', why: text.trim() === '' ? 'it is empty' : 'it is not JSON' }
  }
  const version = (json as { v?: unknown } | null)?.v
  if (typeof version === 'number' && version > STATE_VERSION) return { kind: 'newer', version }
  const parsed = STATE.safeParse(migrate(unpacked(json)))
  if (parsed.success) return { kind: 'state', state: parsed.data }
  const issue = parsed.error.issues[0]
  return { kind: 'broken', why: `${issue?.path.join('.') || 'the whole'}: ${issue?.message ?? 'not the schema'}` }
}

/** Writes the state; refuses numbers that JSON would turn into null. */
export function writeState(state: State): string {
  refuseWhatIsNoNumber('', state)
  return JSON.stringify(packed(state))
}

/** Not a replacer of JSON.stringify: called for every value, it made up most of the time of saving. */
function refuseWhatIsNoNumber(key: string, value: unknown): void {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Error(`state: ${key} is ${value}, which JSON cannot hold`)
  } else if (Array.isArray(value)) {
    for (const item of value) refuseWhatIsNoNumber(key, item)
  } else if (typeof value === 'object' && value !== null) {
    for (const name in value) refuseWhatIsNoNumber(name, (value as Record<string, unknown>)[name])
  }
}
