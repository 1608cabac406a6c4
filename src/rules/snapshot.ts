import { TABLES } from '../backends/backends.ts'
import type { Backend, BackendTable, ScrapedBackend } from '../model/backend.ts'
import type { Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import { causeOf, type Failure } from '../model/failure.ts'
import type { DerivedSignal } from '../model/notification.ts'
import type { Observation } from '../model/observation.ts'
import type { DataFault, HistogramSignal, Readings } from '../model/signals.ts'
import { type ByModel, byModel } from '../signals/by-model.ts'
import { type Derived, derive } from '../signals/derive.ts'
import { allAbove } from '../signals/quantile.ts'
import { addToSlo } from '../signals/slo.ts'
import { WIDEST, windowStart } from '../signals/thinning.ts'
import { type Increases, overWindow, remember, sinceLast } from '../signals/window.ts'
import { remember as rememberCanary } from '../state/canary-memory.ts'
import type { EndpointState } from '../state/schema.ts'
import { notSeconds, withoutTimes } from './believable.ts'
import { besideOf } from './beside.ts'
import { gpuNames, xidOf } from './gpu-gauges.ts'
import { missingSignals, seenSignals } from './missing.ts'
import type { PoolView } from './pool-view.ts'
import { remappedOf, restartsOf } from './remembered.ts'
import { type Motion, motionsOf, patienceFor, standOn, WHOLE } from './standstill.ts'
import { followRun } from './worker-run.ts'

/** One endpoint in one run: what was known before, what it answered, and what follows from both. */
export interface Snapshot {
  backend: Backend
  endpoint: Endpoint
  observation: Observation
  before: EndpointState
  /** What the next run will know; its alerts are still those of `before`. */
  after: EndpointState
  /** Only of a good answer. */
  readings: Readings | undefined
  derived: Derived
  /** Since the oldest kept reading in the window, and since the last good answer. Absent on the first reading. */
  window: Increases | undefined
  /** Index of the oldest reading inside the window. */
  windowFrom: number
  last: Increases | undefined
  restarted: boolean
  /** Work is reported, and nothing has moved for as long as `stalled` wants. `undefined`: not known. */
  noProgress: boolean | undefined
  /** By model, where several share the server. */
  models: ByModel | undefined
  /** By engine, as far as the page tells them apart; the whole endpoint is ``. */
  motions: Readonly<Record<string, Motion>>
  /** Signals missing from this good answer; for the sources of endpoints, the sources that could not be used. */
  missing: string[]
  /** Of a group as a whole, which is judged as an endpoint of its own. */
  pool?: PoolView
  modelMissing: string | undefined
  faults: DataFault[]
}

/** How many runs the sparkline shows. */
const RECENT = 15
/** Runs without movement that are a standstill, unless `stalled` asks for fewer. */
const STANDING = 2

export function takeSnapshot(
  observation: Observation,
  before: EndpointState,
  backend: Backend,
  now: number,
  window: number,
): Snapshot {
  if (observation.up !== true) return withoutReadings(observation, before, backend, now)
  const { endpoint, readings } = observation
  const memory = remember(before.history, readings, now, window)
  const last = sinceLast(memory.history)
  const inside = insideOf(readings)
  const insides = insideAt(before.inside, memory.history.times, now, inside)
  const windowFrom = windowStart(memory.history.times, window)
  const table = TABLES[backend as ScrapedBackend] as BackendTable | undefined
  const motions = countsAtTheEnd(table) || inside === undefined ? {} : motionsOf(readings, last)
  const asleepAt = motions[WHOLE]?.asleep ? now : lately(before.asleepAt, now)
  const counted = overWindow(memory.history, window, asleepAt)
  const lies = notSeconds(counted, memory.history.times.slice(windowFrom), insides)
  const over = withoutTimes(whileAwake(counted, asleepAt, now), lies)
  const lastTimes = withoutTimes(last, lies)
  const derived = derive(readings, over)
  const standing = standingOf(memory.restarted ? undefined : before.standing, motions, table, now)
  const runs = Math.min(limitOf('stalled', endpoint), STANDING)
  const noProgress = last && lacksProgress(motions, standing, readings, { table, runs, now })
  const modelMissing = readings.modelFound ? undefined : endpoint.model
  const missing = modelMissing
    ? []
    : (observation.unread ?? missingSignals(readings, backend, before.seen, endpoint.rules))
  const stuckSince = stuckFrom(
    before,
    readings,
    memory.restarted ? undefined : lastTimes,
    limitOf('stuck', endpoint),
    now,
  )
  const beside = besideOf(before.beside, observation.gpu, now)
  const {
    failure: _,
    standing: __,
    stuckSince: ___,
    slo: ____,
    asleepAt: _____,
    run: ______,
    version,
    ...kept
  } = before
  const after: EndpointState = {
    ...kept,
    failures: 0,
    goodAt: now,
    seen: seenSignals(before.seen, readings),
    blindRuns: missing.length > 0 || modelMissing ? before.blindRuns + 1 : 0,
    stalledRuns: standing?.[WHOLE]?.runs ?? 0,
    ...(standing && { standing }),
    ...defined({ beside, stuckSince, asleepAt, slo: sloOf(before, lastTimes, endpoint, now) }),
    history: memory.history,
    inside: insides,
    recent: [...before.recent, recentOf(derived, backend, now)].slice(-RECENT),
    gpus: { ...before.gpus, ...Object.fromEntries(gpuNames(readings, backend).map((gpu) => [gpu, now])) },
    xids: xidsOf(before.xids, readings),
    ...remappedOf(before, readings, now),
    ...restartsOf(before, memory.restarted, readings.startedAt, now),
    ...(readings.model === undefined ? {} : { model: readings.model }),
    // Another process may be of another version.
    ...defined({ version: versionOf(observation, memory.restarted ? undefined : version, now) }),
    ...canaryMemory(observation, before, now),
    ...(observation.beat && followRun(before, observation.beat, now)),
  }
  const faults = [...readings.faults, ...derived.faults, ...faultsOf(lies, readings)]
  return {
    backend,
    endpoint,
    observation,
    before,
    after,
    readings,
    derived,
    window: over,
    windowFrom,
    last,
    restarted: memory.restarted,
    noProgress,
    models: readings.models && byModel(readings, memory.history, window, lies),
    motions,
    missing,
    modelMissing,
    faults,
  }
}

function faultsOf(lies: readonly HistogramSignal[], { sources }: Readings): DataFault[] {
  return lies.map((signal) => ({ signal, series: sources[signal] ?? signal, what: 'not-seconds' }))
}

function withoutReadings(observation: Observation, before: EndpointState, backend: Backend, now: number): Snapshot {
  const failed = observation.up === false
  // Its own page told that many wait, so that it was not asked: that is proof of life.
  const lives = observation.up === undefined && observation.canary.status === 'skipped'
  const after: EndpointState = {
    ...before,
    ...defined({ beside: besideOf(before.beside, observation.gpu, now) }),
    ...(lives ? { failures: 0 } : {}),
    ...(failed ? { failures: before.failures + 1, failure: inItsRow(observation.failure, before) } : {}),
    ...canaryMemory(observation, before, now),
    recent: [...before.recent, [now, null, null] as EndpointState['recent'][number]].slice(-RECENT),
  }
  return {
    backend,
    endpoint: observation.endpoint,
    observation,
    before,
    after,
    readings: undefined,
    derived: { numbers: failed ? { up: 0 } : {}, atLeast: [], faults: [] },
    window: undefined,
    windowFrom: 0,
    last: undefined,
    restarted: false,
    noProgress: undefined,
    models: undefined,
    motions: {},
    missing: [],
    modelMissing: undefined,
    faults: [],
  }
}

function versionOf({ version }: Observation, before: EndpointState['version'], now: number): EndpointState['version'] {
  return version ? { at: now, ...version } : before
}

function canaryMemory(
  { endpoint, canary, ...answer }: Observation,
  { canary: before }: EndpointState,
  now: number,
): Pick<EndpointState, 'canary'> {
  if (canary === undefined) return defined({ canary: before })
  const wait = answer.up === true ? answer.readings.gauges.canary_wait?.value : undefined
  // One that was refused has waited in no queue: asking again adds to none.
  const isOverLimit = (wait ?? 0) > limitOf('canary', endpoint)
  return defined({ canary: rememberCanary(before, canary, isOverLimit, now) })
}

/** The last failure, and whether those before it in the row had another cause. */
function inItsRow(failure: Failure, before: EndpointState): Failure {
  const earlier = before.failures > 0 ? before.failure : undefined
  const isMixed = earlier !== undefined && (earlier.mixed === true || causeOf(earlier) !== causeOf(failure))
  return isMixed ? { ...failure, mixed: true } : failure
}

/** Requests inside the server, as far as it says. */
export function insideOf(readings: Readings): number | undefined {
  const waiting = readings.gauges.waiting?.value
  const running = readings.gauges.running?.value
  return waiting === undefined && running === undefined ? undefined : (waiting ?? 0) + (running ?? 0)
}

function standingOf(
  before: EndpointState['standing'],
  motions: Snapshot['motions'],
  table: BackendTable | undefined,
  now: number,
): EndpointState['standing'] {
  const found = Object.entries(motions).flatMap(([engine, motion]) => {
    const stands = standOn(before?.[engine], motion, table, now)
    return stands ? [[engine, stands] as const] : []
  })
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

function lately(at: number | undefined, now: number): number | undefined {
  return at !== undefined && now - at <= WIDEST ? at : undefined
}

/** Requests that waited for an engine to wake up say nothing about its speed. */
function whileAwake(over: Increases | undefined, asleepAt: number | undefined, now: number): Increases | undefined {
  if (!over || asleepAt === undefined) return over
  const reachesSleep = (signal: HistogramSignal) => now - 1_000 * (over.spans?.[signal] ?? over.seconds) <= asleepAt
  const { queue_wait, ttft, e2e, ...others } = over.histograms
  const waited = Object.entries({ queue_wait, ttft, e2e }).filter(
    ([signal]) => !reachesSleep(signal as HistogramSignal),
  )
  return { ...over, histograms: { ...others, ...defined(Object.fromEntries(waited)) } }
}

/**
 * Since when requests have waited at every run without any that finished in time, or, where none are counted, without
 * any that ran. Epoch milliseconds.
 */
function stuckFrom(
  before: EndpointState,
  readings: Readings,
  last: Increases | undefined,
  limit: number,
  now: number,
): number | undefined {
  const { waiting, running, paused } = readings.gauges
  if (!waiting?.value && !paused?.value) return undefined
  const finished = last?.counters.finished ?? 0
  if (!last || before.stuckSince === undefined) return now
  if (last.counters.finished === undefined && running?.value !== 0) return now
  if (finished === 0) return before.stuckSince
  const queued = last.histograms.queue_wait
  return queued && allAbove(limit, queued) ? before.stuckSince : now
}

function sloOf({ slo }: EndpointState, last: Increases | undefined, { sloTtft }: Endpoint, now: number) {
  if (sloTtft === undefined) return undefined
  const slots = addToSlo(slo ?? [], last?.histograms.ttft, sloTtft / 1_000, now)
  return slots.length === 0 ? undefined : slots
}

function limitOf(id: string, { rules }: Endpoint): number {
  return rules.find((rule) => rule.id === id)?.limit ?? Number.POSITIVE_INFINITY
}

function lacksProgress(
  motions: Snapshot['motions'],
  standing: EndpointState['standing'],
  readings: Readings,
  { table, runs, now }: { table: BackendTable | undefined; runs: number; now: number },
): boolean | undefined {
  const motion = motions[WHOLE]
  if (motion?.moved === undefined) return undefined
  const stands = standing?.[WHOLE]
  const patience = stands && patienceFor(stands, readings, table)
  return stands !== undefined && stands.runs >= runs && patience !== undefined && now - stands.moved >= patience
}

/** A gateway counts a request when it ends, so answers that take minutes do not mean a standstill. */
function countsAtTheEnd(table: BackendTable | undefined): boolean {
  return table?.isGateway === true && table.signals.steps === undefined
}

function insideAt(
  before: EndpointState['inside'],
  times: readonly number[],
  now: number,
  inside: number | undefined,
): EndpointState['inside'] {
  const kept = Object.entries(before).filter(([at]) => times.includes(Number(at)))
  return { ...Object.fromEntries(kept), ...(inside === undefined ? {} : { [now]: inside }) }
}

/** The signal that a backend's sparkline shows. */
function recentOf(derived: Derived, backend: Backend, now: number): EndpointState['recent'][number] {
  const { numbers } = derived
  return [now, numbers[mainSignal(backend)] ?? null, numbers.kv_cache ?? null]
}

export function mainSignal(backend: Backend): DerivedSignal {
  switch (backend) {
    case 'gateway':
      return 'kv_cache'
    case 'ollama':
      return 'canary_wait'
    case 'openai':
      return 'canary_ttft'
    case 'dcgm':
      return 'gpu_memory'
    case 'heartbeat-check':
      return 'beat_age'
    default: {
      const { signals } = TABLES[backend]
      return (['waiting', 'kv_cache', 'running'] as const).find((signal) => signals[signal]) ?? 'requests_per_second'
    }
  }
}

function xidsOf(before: Record<string, number>, readings: Readings): Record<string, number> {
  const seen = Object.entries(readings.subjects).flatMap(([name, gpu]): [string, number][] => {
    const code = xidOf(gpu, readings)
    return code === undefined ? [] : [[name, code]]
  })
  return { ...before, ...Object.fromEntries(seen) }
}
