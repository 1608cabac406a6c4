import { join } from 'node:path'
import { buildHere, type Peer, startPeer } from './processes.ts'
import type { Fleet, RunCost } from './run-process.ts'
import type { Counted, Listening } from './servers.ts'

/** The medians of whole runs over some endpoints, from the second run on: what a minute costs. */
export interface FleetCost {
  endpoints: number
  hanging: number
  /** Milliseconds. */
  wall: number
  cpu: number
  cpuPerScrape: number
  /** The most memory of the process, bytes. */
  memory: number
  stateBytesPerEndpoint: number
  /** To S3, a run. */
  requests: number
}

/** Endpoints, and how many of them take the connection and never answer. */
export const FLEETS: readonly (readonly [endpoints: number, hanging: number])[] = [
  [1, 0],
  [10, 0],
  [100, 0],
  [1_000, 0],
  [1_000, 50],
]

/** Each fleet in a fresh process: memory and warmth are its own. */
export async function benchRuns(fleets = FLEETS, rounds = 7, execArgv: string[] = []): Promise<FleetCost[]> {
  const dir = await buildHere(['servers', 'run-process'])
  const servers = startPeer(join(dir, 'servers.mjs'))
  const listening = await servers.ask<Listening>()
  const costs: FleetCost[] = []
  for (const [endpoints, hanging] of fleets) {
    await servers.ask('forget')
    const fleet: Fleet = { ...listening, endpoints, hanging }
    const runs = startPeer(join(dir, 'run-process.mjs'), { FLEET: JSON.stringify(fleet) }, execArgv)
    costs.push(await measure(fleet, servers, runs, rounds))
    runs.end()
  }
  servers.end()
  return costs
}

async function measure({ endpoints, hanging }: Fleet, servers: Peer, runs: Peer, rounds: number): Promise<FleetCost> {
  const costs: RunCost[] = []
  const counts: Counted[] = []
  // The first run makes the state, and the next few fill the window: six readings an endpoint.
  for (let round = 0; round < rounds + 2; round++) {
    await servers.ask('next')
    await servers.ask('count')
    costs.push(await runs.ask<RunCost>('run'))
    counts.push(await servers.ask<Counted>('count'))
  }
  const steady = costs.slice(2)
  for (const { up } of steady) if (up !== endpoints - hanging) throw new Error(`${up} of ${endpoints} answered`)
  const cpu = median(steady.map((cost) => cost.cpu))
  return {
    endpoints,
    hanging,
    wall: median(steady.map((cost) => cost.wall)),
    cpu,
    cpuPerScrape: cpu / endpoints,
    memory: Math.max(...costs.map(({ memory }) => memory)),
    stateBytesPerEndpoint: Math.max(...counts.map(({ stateBytes }) => stateBytes)) / endpoints,
    requests: Math.max(...counts.slice(2).map(({ requests }) => requests)),
  }
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
