import type { Uneven } from '../model/explanation.ts'
import type { Readings } from '../model/signals.ts'
import type { Snapshot } from './snapshot.ts'

/** What one engine of a server, or one replica of a group, has to do. Requests. */
export interface Load {
  name: string
  waiting: number
  running: number
  asleep: boolean
}

/** So many must wait: a few are there for a moment on any server. */
const QUEUE = 5
/** One without a queue idles if it computes at most this share of what those with one do. */
const IDLE = 0.5
/** Those that idle are at least this share of those that queue: one free engine beside seven full ones is no routing fault. */
const IDLES = 0.5

/** Where the queue stands while others idle; `undefined` where it is spread. The engines of a server come before its replicas. */
export function unevenOf(readings: Readings | undefined, own: string, group: readonly Load[]): Uneven | undefined {
  return among('engines', readings ? enginesOf(readings) : []) ?? amongReplicas(own, group)
}

function amongReplicas(own: string, group: readonly Load[]): Uneven | undefined {
  const found = among('replicas', group)
  return found?.at.includes(own) ? found : undefined
}

function among(of: Uneven['of'], loads: readonly Load[]): Uneven | undefined {
  const queued = loads.filter(({ waiting }) => waiting >= 1)
  const sum = (pick: (load: Load) => number) => queued.reduce((total, load) => total + pick(load), 0)
  const waiting = sum((load) => load.waiting)
  if (waiting < QUEUE) return undefined
  const busy = sum((load) => load.running) / queued.length
  const idle = loads.filter((load) => !load.asleep && load.waiting === 0 && load.running <= IDLE * busy)
  if (idle.length === 0 || idle.length < IDLES * queued.length) return undefined
  return { of, at: queued.map(({ name }) => name), waiting, idle: idle.length }
}

function enginesOf({ gauges }: Readings): Load[] {
  const { waiting, running, asleep } = gauges
  const names = Object.keys(waiting?.byEngine ?? {})
  return names.map((name) => ({
    name,
    waiting: waiting?.byEngine?.[name] ?? 0,
    running: running?.byEngine?.[name] ?? 0,
    asleep: (asleep?.byEngine?.[name] ?? asleep?.value) === 1,
  }))
}

/** The replicas of each group that say what they have to do. */
export function loadsByGroup(snapshots: readonly Snapshot[]): ReadonlyMap<string, readonly Load[]> {
  const groups = new Map<string, Load[]>()
  for (const { endpoint, readings, motions } of snapshots) {
    const waiting = readings?.gauges.waiting?.value
    const running = readings?.gauges.running?.value
    if (endpoint.group === undefined || waiting === undefined || running === undefined) continue
    const asleep = motions['']?.asleep === true
    groups.set(endpoint.group, [
      ...(groups.get(endpoint.group) ?? []),
      { name: endpoint.name, waiting, running, asleep },
    ])
  }
  return groups
}
