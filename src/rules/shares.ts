import { TABLES } from '../backends/backends.ts'
import type { BackendTable, ScrapedBackend } from '../model/backend.ts'
import { defined } from '../model/defined.ts'
import type { Part } from '../model/signals.ts'
import { type Baseline, usual } from '../signals/baseline.ts'
import { byParts, KINDS, kindOf } from '../signals/parts.ts'
import type { Increases } from '../signals/window.ts'
import type { EndpointState } from '../state/schema.ts'
import type { Workload } from '../verdict/verdict.ts'
import type { Shares } from '../verdict/who-grew.ts'
import type { Snapshot } from './snapshot.ts'

/** Requests and tokens below which a share says nothing. */
const REQUESTS = 20
const TOKENS = 1_000
/** A page of more parts is not remembered part by part. */
const PARTS = 16
const DAY = 86_400_000

const PREFIXES = { requestShares: 'requests of ', tokenShares: 'tokens of ' } as const
type SharesOf = Pick<Workload, keyof typeof PREFIXES>

/** How requests, and their tokens, are divided among models and priority classes; nothing where the page has one of each. */
export function sharesOf({ backend, readings }: Snapshot, { byLabels }: Increases): SharesOf {
  const table: BackendTable | undefined = TABLES[backend as ScrapedBackend]
  if (!table || !readings) return {}
  const { waiting, running } = readings.gauges
  const isSplit = readings.models !== undefined || table.classLabel !== undefined
  if (!isSplit && !waiting?.byPart && !running?.byPart) return {}
  // What is inside came too, and of a flood it is most.
  const requests = added(byParts(byLabels.finished ?? {}, table), waiting?.byPart ?? {}, running?.byPart ?? {})
  const tokens = added(byParts(byLabels.prompt_tokens ?? {}, table), byParts(byLabels.generation_tokens ?? {}, table))
  return defined({ requestShares: divided(requests, REQUESTS), tokenShares: divided(tokens, TOKENS) })
}

function added(...all: readonly Readonly<Record<Part, number>>[]): Record<Part, number> {
  const sums: Record<Part, number> = {}
  for (const one of all) for (const [part, value] of Object.entries(one)) sums[part] = (sums[part] ?? 0) + value
  return sums
}

function divided(sums: Readonly<Record<Part, number>>, least: number): Shares | undefined {
  const shares = KINDS.flatMap((kind) => {
    const own = Object.entries(sums).filter(([part]) => kindOf(part) === kind)
    const all = own.reduce((sum, [, value]) => sum + value, 0)
    return own.length < 2 || own.length > PARTS || all < least ? [] : own.map(([part, n]) => [part, n / all] as const)
  })
  return shares.length === 0 ? undefined : Object.fromEntries(shares)
}

/** The usual shares, as far as they are known. */
export function pastSharesOf({ baselines }: Pick<EndpointState, 'baselines'>, now: number): SharesOf {
  const found = (prefix: string): Shares | undefined => {
    const known = Object.entries(baselines).flatMap(([name, baseline]) => {
      const share = name.startsWith(prefix) ? usual(baseline, now) : undefined
      return share === undefined ? [] : [[name.slice(prefix.length), share] as const]
    })
    return known.length === 0 ? undefined : Object.fromEntries(known)
  }
  return defined({ requestShares: found(PREFIXES.requestShares), tokenShares: found(PREFIXES.tokenShares) })
}

/** What a calm run teaches: a part that is known and has not come has a share of 0. */
export function sharesToLearn(work: SharesOf, { baselines }: Pick<EndpointState, 'baselines'>): Record<string, number> {
  const values: Record<string, number> = {}
  for (const of of ['requestShares', 'tokenShares'] as const) {
    const shares = work[of]
    if (!shares) continue
    const prefix = PREFIXES[of]
    for (const name of Object.keys(baselines)) if (name.startsWith(prefix)) values[name] = 0
    for (const [part, share] of Object.entries(shares)) values[prefix + part] = share
  }
  return values
}

/** Parts that have not been seen for a day, or never more than at times, leave the state. */
export function withoutGone(baselines: Readonly<Record<string, Baseline>>, now: number): Record<string, Baseline> {
  const isPart = (name: string) => Object.values(PREFIXES).some((prefix) => name.startsWith(prefix))
  const isGone = ({ at, values }: Baseline) => now - at > DAY || values.every((value) => value === 0)
  return Object.fromEntries(Object.entries(baselines).filter(([name, one]) => !isPart(name) || !isGone(one)))
}
