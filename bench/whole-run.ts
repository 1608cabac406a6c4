import { join } from 'node:path'
import { buildHere, type Peer, startPeer } from './processes.ts'
import type { Fleet, RunCost, Work } from './run-process.ts'
import type { Counted, Listening, Order } from './servers.ts'

/** Endpoints, how many of them take the connection and never answer, and the size of each page where it is not 78 KB. */
export interface FleetSize {
  endpoints: number
  hanging?: number
  kilobytes?: number
  /** Whole runs unless told: `ask` gets the pages as a run does and throws them away. */
  work?: Work
}

/** The medians of whole runs over some endpoints, from the second run on: what a minute costs. */
export interface FleetCost {
  endpoints: number
  hanging: number
  kilobytes: number | undefined
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

export const FLEETS: readonly FleetSize[] = [
  { endpoints: 1 },
  { endpoints: 10 },
  { endpoints: 100 },
  { endpoints: 1_000 },
  { endpoints: 1_000, hanging: 50 },
]
export const PAGES: readonly FleetSize[] = [19, 75, 150, 300, 600].map((kilobytes) => ({ endpoints: 200, kilobytes }))

/** Each fleet in a fresh process: memory and warmth are its own. */
export async function benchRuns(
  fleets: readonly FleetSize[],
  rounds: number,
  execArgv: string[],
): Promise<FleetCost[]> {
  const dir = await buildHere(['servers', 'run-process'])
  const servers = startPeer(join(dir, 'servers.mjs'))
  const listening = await servers.ask<Listening>()
  const costs: FleetCost[] = []
  for (const { endpoints, hanging = 0, kilobytes, work = 'run' } of fleets) {
    await servers.ask({ kilobytes } satisfies Order)
    const fleet: Fleet = { ...listening, endpoints, hanging }
    const runs = startPeer(join(dir, 'run-process.mjs'), { FLEET: JSON.stringify(fleet) }, execArgv)
    costs.push({ ...(await measure(fleet, servers, { runs, rounds, work })), kilobytes })
    runs.end()
  }
  servers.end()
  return costs
}

type Measured = Omit<FleetCost, 'kilobytes'>

async function measure(
  { endpoints, hanging }: Fleet,
  servers: Peer,
  { runs, rounds, work }: { runs: Peer; rounds: number; work: Work },
): Promise<Measured> {
  const costs: RunCost[] = []
  const counts: Counted[] = []
  // The first run makes the state, and the next few fill the window: six readings an endpoint.
  for (let round = 0; round < rounds + 2; round++) {
    await servers.ask('next')
    await servers.ask('count')
    costs.push(await runs.ask<RunCost>(work))
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

/** The straight line through some points with the least squares, and how much of their spread it explains (R²). */
export function lineThrough(points: readonly (readonly [x: number, y: number])[]): {
  slope: number
  base: number
  fit: number
} {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(([px]) => px)), mean(points.map(([, py]) => py))]
  const spread = (of: (px: number, py: number) => number) => mean(points.map(([px, py]) => of(px - x, py - y)))
  const slope = spread((dx, dy) => dx * dy) / spread((dx) => dx * dx)
  const total = spread((_, dy) => dy * dy)
  return { slope, base: y - slope * x, fit: total === 0 ? 1 : 1 - spread((dx, dy) => (dy - slope * dx) ** 2) / total }
}
