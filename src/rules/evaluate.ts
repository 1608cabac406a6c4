import type { Config } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { causeOf } from '../model/failure.ts'
import type { Notification } from '../model/notification.ts'
import { type Observation, wordsOf } from '../model/observation.ts'
import type { EndpointResult } from '../model/result.ts'
import { shownUrl } from '../secrets/names.ts'
import { ruleOf, subjectOf } from '../state/alert-key.ts'
import { enqueue, readdressed } from '../state/enqueue.ts'
import type { Incident } from '../state/incident-schema.ts'
import {
  type Alert,
  type EndpointState,
  endpointOf,
  newEndpointState,
  notAhead,
  type Outgoing,
  type State,
} from '../state/schema.ts'
import { openIncident, type Threads, threadsLeft } from '../state/threads.ts'
import { alertContextOf } from './alert-context.ts'
import { certificateNotifications } from './certificates.ts'
import type { Decision } from './decision.ts'
import { followAll, type Incidents } from './incidents.ts'
import { type EndpointJudgement, judgeEndpoint } from './judge-endpoint.ts'
import { isWorthKeeping, poolSnapshot } from './pool.ts'
import { type RuleId, ruleNamed } from './rules.ts'
import { siblingsByGroup } from './siblings.ts'
import { type Snapshot, takeSnapshot } from './snapshot.ts'
import { loadsByGroup } from './uneven.ts'
import { gapNotification, gapsWith, usualInterval } from './watcher.ts'
import { type Groups, membersByGroup, whyOf } from './why.ts'
import { notesOfWorker } from './worker-run.ts'
import { learnFrom, workloadOf } from './workload.ts'

export interface Evaluation {
  /** What the next run starts from, its outbox included. */
  state: State
  endpoints: EndpointResult[]
  /** What this run adds to the outbox. */
  notifications: Notification[]
  decisions: { endpoint: string; decision: Decision }[]
}

const DAY = 86_400_000
const LOST_GPU_KEPT = 7 * DAY

/**
 * One run's decisions: same state, observations, configuration and time, same result. Endpoints that left the
 * configuration leave the state, with their alerts and what was waiting to be told of them.
 * @param owed incidents that a silence held back, with when they were last told: they are told now as reminders are.
 */
export function evaluate(
  previous: State,
  observations: readonly Observation[],
  config: Config,
  now: number,
  owed?: ReadonlyMap<string, number | undefined>,
): Evaluation {
  const interval = config.interval ?? usualInterval(previous.gaps)
  const snapshots = observations.map((observation) => {
    const before = endpointOf(previous, observation.endpoint.name) ?? newEndpointState(now)
    return takeSnapshot(observation, notAhead(before, now), config.backend, now, config.window)
  })
  const pools = (config.pools ?? []).map((pool) => {
    const before = notAhead(endpointOf(previous, pool.group) ?? newEndpointState(now), now)
    return poolSnapshot(
      pool,
      snapshots.filter((one) => one.endpoint.group === pool.group),
      before,
      now,
    )
  })
  const kept = readdressed(stillConfigured(previous.outbox, config), config)
  const siblings = siblingsByGroup(snapshots)
  const judged = [...snapshots, ...pools].map((one) => ({
    one,
    judgement: judgeEndpoint({
      snapshot: one,
      siblings: siblings.get(one.endpoint.group ?? ''),
      interval,
      now,
    }),
  }))
  const servers = observations.filter(({ unread }) => unread === undefined).length
  const stillDown = causesOfThoseStillDown(judged)
  const groups = { loads: loadsByGroup(snapshots), members: membersByGroup(snapshots) }
  const all = { of: servers, stillDown, outbox: kept, threads: previous.threads, groups }
  const told = judged.map(({ one, judgement }) => conclude(one, judgement, all, now))
  const pooled = new Set(pools.map(({ endpoint }) => endpoint.name))
  const remembered = told.filter((t) => !pooled.has(t.result.name) || isWorthKeeping(t.state))
  const phases = new Map(told.map((t) => [t.result.name, t.result.alerts.pool]))
  const overtaken = new Map(told.flatMap((t) => [...t.overtaken]))
  const gap = gapNotification(previous, config, interval, now)
  const { notifications: ofPushServers, ...certificates } = certificateNotifications(previous, config, now)
  const notifications = [...told.flatMap((t) => t.notifications), ...gap, ...ofPushServers]
  const { threads, certificates: _, ...rest } = previous
  const next: State = {
    ...rest,
    ...certificates,
    ranAt: now,
    asked: Math.round(Math.max(0, ...observations.map(({ took }) => took))),
    gaps: gapsWith(previous, now),
    endpoints: Object.fromEntries(remembered.map((t) => [t.result.name, t.state])),
    outbox: enqueue({
      outbox: kept,
      notifications,
      overtaken,
      threads,
      routes: config,
      openBefore: openIn(previous),
      owed,
      now,
    }),
  }
  const state = { ...next, ...threadsLeft({ ...next, ...(threads && { threads }) }) }
  const decisions = judged.flatMap(({ one, judgement }) =>
    judgement.decisions.map((decision) => ({ endpoint: one.endpoint.name, decision })),
  )
  const results = told.flatMap(({ result }, index) => {
    if (pooled.has(result.name)) return []
    const phase = phases.get(snapshots[index]?.endpoint.group ?? '')
    return [phase === undefined ? result : { ...result, alerts: { ...result.alerts, pool: phase } }]
  })
  return { state, endpoints: results, notifications, decisions }
}

/** What was known of a notification's incident before this run. */
function openIn({ endpoints }: State) {
  return ({ endpoint, incident }: Notification): Incident | undefined =>
    endpoint === undefined ? undefined : openIncident(endpoints, endpoint, incident)
}

/**
 * A fall that has lasted for a day is how the endpoint is now: it must learn again, or the alert would fire forever
 * against a past that it has forgotten.
 */
function isTheNewUsual(key: string, alert: Alert, now: number): boolean {
  return ruleNamed(ruleOf(key))?.ownPast === true && now - alert.activeAt >= DAY
}

/** Why each endpoint fails that was already told as down and is not told again now. */
function causesOfThoseStillDown(judged: readonly { one: Snapshot; judgement: EndpointJudgement }[]): string[] {
  return judged.flatMap(({ one: { observation }, judgement }) => {
    const down = judgement.judged.find(({ key }) => key === 'down')
    return observation.up === false && down && !down.began ? [causeOf(observation.failure)] : []
  })
}

interface All {
  of: number
  stillDown: readonly string[]
  outbox: readonly Outgoing[]
  threads: Threads | undefined
  groups: Groups
}

/** Verdict, incidents, learning and the result of one endpoint. */
function conclude(
  one: Snapshot,
  judgement: EndpointJudgement,
  { of, stillDown, outbox, threads, groups }: All,
  now: number,
): { state: EndpointState; result: EndpointResult } & Pick<Incidents, 'notifications' | 'overtaken'> {
  const firing = Object.values(judgement.alerts).some((alert) => alert.phase === 'firing')
  const needed = firing || judgement.judged.length > 0 || Object.keys(one.before.incidents).length > 0
  const why = needed ? whyOf(one, judgement.alerts, groups, now) : undefined
  const { observation } = one
  const alike =
    observation.up === false ? stillDown.filter((cause) => cause === causeOf(observation.failure)).length : 0
  const { incidents, notifications, overtaken } = why
    ? followAll({
        snapshot: one,
        judged: judgement.judged,
        coming: judgement.coming,
        outbox,
        threads,
        now,
        why,
        context: { ...alertContextOf(one, why, now), of, ...(alike > 0 && { downBefore: alike }) },
      })
    : NO_INCIDENTS
  const calm = Object.entries(judgement.alerts).every(([key, alert]) => isTheNewUsual(key, alert, now))
  const state: EndpointState = {
    ...one.after,
    alerts: judgement.alerts,
    incidents,
    baselines: calm && one.readings ? learnFrom(one, workloadOf(one), now) : one.after.baselines,
    // A code that appeared while `down` held the rule back is still to be told.
    ...(isHeld(one, judgement) ? heldBack(one.before) : {}),
    gpus: Object.fromEntries(Object.entries(one.after.gpus).filter(([, at]) => now - at < LOST_GPU_KEPT)),
  }
  return {
    state,
    result: resultOf(one, judgement.alerts, firing ? why?.verdict?.kind : undefined, now),
    notifications,
    overtaken,
  }
}

const NO_INCIDENTS: Incidents = { incidents: {}, notifications: [], overtaken: new Map() }

function isHeld({ before }: Snapshot, { alerts }: EndpointJudgement): boolean {
  return alerts.down?.phase === 'firing' && before.goodAt !== undefined
}

function heldBack({ xids, remapped }: EndpointState): Partial<EndpointState> {
  return { xids, ...defined({ remapped }) }
}

function resultOf(
  one: Snapshot,
  alerts: Record<string, Alert>,
  kind: EndpointResult['verdict'],
  now: number,
): EndpointResult {
  const { observation, derived, after, endpoint } = one
  const phases: Partial<Record<RuleId, Alert['phase']>> = {}
  const subjects: NonNullable<EndpointResult['subjects']> = {}
  for (const [key, { phase }] of Object.entries(alerts)) {
    const id = ruleOf(key) as RuleId
    const subject = subjectOf(key)
    if (phases[id] !== 'firing') phases[id] = phase
    if (subject !== undefined) subjects[id] = { ...subjects[id], [subject]: phase }
  }
  const up = isUp(one, alerts)
  const model = after.model ?? endpoint.model
  const notes = notesOf(one, now)
  return {
    name: endpoint.name,
    url: shownUrl(endpoint.url),
    up,
    ...(model === undefined ? {} : { model }),
    signals: { ...derived.numbers, up: up ? 1 : 0 },
    ...(derived.atLeast.length > 0 ? { atLeast: derived.atLeast } : {}),
    alerts: phases,
    ...(Object.keys(subjects).length > 0 ? { subjects } : {}),
    ...(kind ? { verdict: kind } : {}),
    ...(observation.up === false ? { failure: observation.failure } : {}),
    ...(notes.length > 0 ? { notes } : {}),
  }
}

/** A worker that has not reported, or not in time, is not known to be up. */
function isUp({ observation, after }: Snapshot, alerts: Record<string, Alert>): boolean {
  const beat = observation.up === true ? observation.beat : undefined
  if (beat) return beat.age !== undefined && alerts.heartbeat?.phase !== 'firing'
  return observation.up ?? after.failures === 0
}

function notesOf(one: Snapshot, now: number): string[] {
  const { observation, missing, modelMissing, readings, restarted, faults } = one
  const canary = observation.up === false ? undefined : observation.canary
  return [
    ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ...(modelMissing ? [`model not there: ${modelMissing}`] : []),
    ...(observation.up === true && observation.beat ? notesOfWorker(one, now) : []),
    ...(restarted ? ['restarted'] : []),
    ...(readings && readings.malformed > 0 ? [`lines that could not be read: ${readings.malformed}`] : []),
    ...(canary && canary.status !== 'answered'
      ? [`canary: ${wordsOf(canary.status)}${canary.detail ? ` (${canary.detail})` : ''}`]
      : []),
    ...new Set(faults.map((f) => `${f.signal ?? f.series}: ${f.what}`)),
  ]
}

/** What concerns no endpoint, beside the rules about the watcher. */
const OF_THE_WATCHER = ['state-broken', 'silence', 'tls_expiry']

function stillConfigured(outbox: readonly Outgoing[], config: Config): Outgoing[] {
  const byName = new Map(config.endpoints.map((endpoint) => [endpoint.name, endpoint]))
  return outbox.filter(({ notification: { endpoint, rule } }) => {
    // About the watcher itself. A rule that this version does not know would have no words.
    if (endpoint === undefined) return OF_THE_WATCHER.includes(rule) || ruleNamed(rule)?.about === 'watcher'
    if (rule === 'pool') return config.pools?.some(({ group }) => group === endpoint) ?? false
    const configured = byName.get(endpoint)
    return configured?.rules.some((r) => r.id === rule) ?? false
  })
}
