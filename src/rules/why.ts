import { TABLES } from '../backends/backends.ts'
import type { Backend, BackendTable, ScrapedBackend } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { Cause, VerdictKind } from '../model/explanation.ts'
import type { AlertContext } from '../model/notification.ts'
import { ruleOf } from '../state/alert-key.ts'
import type { Alert, EndpointState } from '../state/schema.ts'
import { RULED_BY, rulerOf } from '../verdict/ruler.ts'
import { type Steady, steady } from '../verdict/steady.ts'
import { verdict, type Workload } from '../verdict/verdict.ts'
import { gpuCause } from './beside.ts'
import { WORK } from './incident.ts'
import { ruleNamed } from './rules.ts'
import type { Snapshot } from './snapshot.ts'
import type { Load } from './uneven.ts'
import { pastWorkloadOf, workloadOf } from './workload.ts'

/** What the replicas of each group have to do. */
export interface Groups {
  loads: ReadonlyMap<string, readonly Load[]>
  members: ReadonlyMap<string, readonly Snapshot[]>
}

/** Why an endpoint is in trouble, as far as its numbers say. */
export interface Why extends Steady, Pick<AlertContext, 'flow' | 'ruler'> {
  /** Enough requests finished since the trouble began to foretell anything of the queue. */
  isForetold: boolean
  /** What lies below an incident that opened then. Epoch milliseconds. */
  causeFor(openedAt: number): Cause
}

export function membersByGroup(snapshots: readonly Snapshot[]): Groups['members'] {
  const groups = new Map<string, Snapshot[]>()
  for (const one of snapshots) {
    const { group } = one.endpoint
    if (group === undefined) continue
    const members = groups.get(group) ?? []
    members.push(one)
    groups.set(group, members)
  }
  return groups
}

export function whyOf(snapshot: Snapshot, alerts: Readonly<Record<string, Alert>>, groups: Groups, now: number): Why {
  const { before, endpoint, backend } = snapshot
  const loads = groups.loads.get(endpoint.group ?? '') ?? []
  const seen = workloadOf(snapshot, { loads, since: troubleSince(alerts, snapshot.after) })
  const work = seen && { ...seen, firstTokenIsLate: Object.keys(alerts).some((key) => LATENESS.includes(ruleOf(key))) }
  const past = pastWorkloadOf(before, now)
  const held = work ? steady(foundBefore(before), verdict(work, past)) : foundBefore(before)
  const kind = held.verdict?.kind
  const ruler = work && !isGateway(backend) ? rulerOf(work, past, kind, othersOf(snapshot, groups)) : undefined
  return {
    ...held,
    ...defined({ flow: work && flowOf(work, past.arrivalsPerSecond), ruler }),
    isForetold: (work?.finished ?? 0) >= RULED_BY,
    causeFor: (openedAt) => causeOf(snapshot, kind, openedAt),
  }
}

const LATENESS: readonly string[] = ['ttft', 'slo']

function foundBefore({ incidents }: EndpointState): Steady {
  const open = incidents[WORK]
  if (open === undefined || open.over) return {}
  return defined({ verdict: open.verdict, other: open.other as VerdictKind | undefined })
}

function isGateway(backend: Backend): boolean {
  const table: BackendTable | undefined = TABLES[backend as ScrapedBackend]
  return table?.isGateway === true
}

/** Since when requests do not get through; a queue that grew, since it grew. */
function troubleSince(alerts: Readonly<Record<string, Alert>>, { recent }: EndpointState): number | undefined {
  const symptoms = Object.entries(alerts).filter(([key]) => ruleNamed(ruleOf(key))?.symptom)
  if (symptoms.length === 0) return undefined
  const began = symptoms.map(([, { activeAt }]) => activeAt)
  return Math.min(...began, ...(alerts.growth ? [roseFrom(recent)] : []))
}

/** The first of the latest runs at each of which the queue was longer than at the one before. */
function roseFrom(recent: EndpointState['recent']): number {
  const value = (index: number) => recent[index]?.[1] ?? Number.POSITIVE_INFINITY
  let at = recent.length - 1
  while (at > 0 && value(at - 1) < value(at)) at -= 1
  return recent[at]?.[0] ?? Number.POSITIVE_INFINITY
}

/** What comes to each of the other replicas; `undefined` where one of them does not say. */
function othersOf({ endpoint }: Snapshot, { members }: Groups): number[] | undefined {
  const others = (members.get(endpoint.group ?? '') ?? []).filter((one) => one.endpoint.name !== endpoint.name)
  const arrivals = others.flatMap((one) => workloadOf(one)?.arrivalsPerSecond ?? [])
  return arrivals.length === others.length ? arrivals : undefined
}

function flowOf({ arrivalsPerSecond: came, finished, seconds }: Workload, usual: number | undefined) {
  if (came === undefined || finished === undefined) return undefined
  return { came: rounded(came), finished: rounded(finished / seconds), ...(usual ? { usual: rounded(usual) } : {}) }
}

function rounded(value: number): number {
  return Number(value.toPrecision(4))
}

/** Upstreams that are named; the others would only make the line longer. */
const NAMED = 5

/** Its GPU, or an upstream that the gateway calls unhealthy. */
function causeOf(snapshot: Snapshot, kind: VerdictKind | undefined, openedAt: number): Cause {
  const { after, observation, readings } = snapshot
  const isSlow = kind === undefined || kind === 'broke'
  const gpu = gpuCause(after.beside, observation.gpu, { openedAt, isSlow })
  const ill = Object.entries(readings?.subjects ?? {}).filter(([, { upstream_health: health }]) => health === 0)
  const names = ill.map(([name]) => name).slice(0, NAMED)
  return defined({ gpu, upstreams: names.length > 0 ? names.join(', ') : undefined })
}
