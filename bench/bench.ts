/**
 * `npm run bench`: reading, whole runs, process start and bundle sizes against their alternatives in the same minutes,
 * and against what is promised in `docs/scaling.md`. Ends with 1 when a figure is missed. `npm run bench -- reading runs`
 * measures some parts alone.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { align } from '../src/cli/table.ts'
import { buildBundles } from '../test/bundles.ts'
import { NODE } from '../test/runtime/lambda.ts'
import { benchPage } from './page.ts'
import { benchStart, hasRuntime, PLAIN } from './process-start.ts'
import { benchPrometheus, hasPrometheus } from './prometheus.ts'
import { benchReading, benchThousandsOfSets } from './reading.ts'
import { benchRuns, FLEETS, type FleetCost, lineThrough, PAGES } from './whole-run.ts'

/** One figure: what was measured, and what it may be. */
interface Figure {
  what: string
  value: number
  unit: 'times' | 'ms' | 's' | 'MiB' | 'KiB' | 'bytes' | 'requests'
  /** At least or at most this; absent where nothing is promised. */
  least?: number
  most?: number
  note?: string
}

const MIB = 1024 * 1024
/** Milliseconds of one scrape, as the variables have it by default. */
const SCRAPE_TIMEOUT = 5_000
/** As Lambda starts Node in a function of 256 MiB: 5 % of its memory for each half of the young objects, 90 % for the old. */
const IN_256_MIB = ['--max-semi-space-size=12', '--max-old-space-size=230']

const PARTS = { reading, bundles, start, page, runs, bytes }

async function reading(): Promise<Figure[]> {
  const { megabytes, ratio } = await benchThousandsOfSets()
  const sets: Figure = {
    what: `reading, LiteLLM's page of ${megabytes.toFixed(1)} MB and 17,000 series / eight engines, by size`,
    value: ratio,
    unit: 'times',
    most: 1,
    note: 'nearly each of its lines is wanted, and about a quarter of theirs',
  }
  const ratios = (await benchReading()).flatMap(({ body, goal, ...ratio }): Figure[] => [
    {
      what: `reading, ${body}: the whole page to the package / ours`,
      value: ratio.package,
      unit: 'times',
      ...(goal === undefined ? {} : { least: goal }),
    },
    {
      what: `reading, ${body}: lines, prefix, expression / ours`,
      value: ratio.lines,
      unit: 'times',
      ...(goal === undefined ? {} : { least: 1 }),
    },
  ])
  return [...ratios, sets]
}

async function bundles(): Promise<Figure[]> {
  const { root, dist } = buildBundles(hasRuntime ? [NODE] : [process.execPath], ['vllm'])
  const names = readdirSync('functions').map((file) => basename(file, '.ts'))
  const sizes = names.map((name) => ({ name, bytes: statSync(join(dist, `${name}.cjs`)).size }))
  const packed = readdirSync(dist)
    .filter((file) => file.startsWith('vllm.'))
    .reduce((sum, file) => sum + deflateRawSync(readFileSync(join(dist, file)), { level: 9 }).length, 0)
  rmSync(root, { recursive: true, force: true })
  const largest = sizes.reduce((a, b) => (b.bytes > a.bytes ? b : a))
  return [
    { what: 'largest bundle', value: largest.bytes / 1_024, unit: 'KiB', most: 768, note: largest.name },
    { what: 'package of a function, zipped, with its code cache', value: packed / 1_024, unit: 'KiB', most: 1_024 },
  ]
}

async function start(): Promise<Figure[]> {
  if (!hasRuntime) return skip('process start: npm ci --prefix test/runtime')
  const costs = await benchStart()
  return costs.flatMap(({ name, took, ratio, uncached }): Figure[] => {
    const what = `process start to the first answer, ${name === PLAIN ? 'its packages taken plainly' : name} / empty handler`
    const note = `${took.toFixed(0)} ms`
    if (uncached === undefined) return [{ what, value: ratio, unit: 'times', note }]
    return [
      { what, value: ratio, unit: 'times', most: 2.5, note },
      { what: `${what}, without a code cache`, value: uncached, unit: 'times', most: 3.6 },
    ]
  })
}

async function page(): Promise<Figure[]> {
  return [{ what: 'status page, 1,000 endpoints, from the state on', value: benchPage(), unit: 'ms', most: 300 }]
}

async function runs(): Promise<Figure[]> {
  const costs = await benchRuns(FLEETS, 7, IN_256_MIB)
  const [asking] = await benchRuns([{ endpoints: 1_000, work: 'ask' }], 7, IN_256_MIB)
  const largest = costs.filter(({ endpoints }) => endpoints === 1_000)
  const figures = costs.flatMap((cost) => figuresOf(cost))
  const answering = costs.filter(({ hanging }) => hanging === 0)
  figures.push(...slopes('an endpoint', answering, ({ endpoints }) => endpoints, 1))
  const hundred = costs.find(({ endpoints }) => endpoints === 100)
  const thousand = largest[0]
  if (hundred && thousand) {
    const value = thousand.cpuPerScrape / hundred.cpuPerScrape
    figures.push({ what: 'CPU a scrape, 1,000 endpoints / 100', value, unit: 'times', most: 1.5, note: 'linear' })
  }
  if (!thousand || !asking || !hasPrometheus()) {
    return [...figures, ...skip('Prometheus: apt-get install prometheus')]
  }
  const theirs = await benchPrometheus()
  const against = (what: string, { cpuPerScrape }: FleetCost): Figure => ({
    what: `${what}, 1,000 endpoints / Prometheus, four rules`,
    value: cpuPerScrape / theirs,
    unit: 'times',
    note: `${cpuPerScrape.toFixed(2)} ms / ${theirs.toFixed(2)} ms`,
  })
  return [
    ...figures,
    { ...against('CPU a scrape', thousand), most: Number(process.versions.node.split('.')[0]) < 24 ? 0.9 : 0.75 },
    against('CPU of asking and throwing the page away', asking),
  ]
}

/** What 100 KB more of each page cost, of families that nobody asks for. */
async function bytes(): Promise<Figure[]> {
  const costs = await benchRuns(PAGES, 5, IN_256_MIB)
  const each = costs.map(({ kilobytes = 0, cpuPerScrape }): Figure => {
    return { what: `pages of ${kilobytes} KB: CPU a scrape`, value: cpuPerScrape, unit: 'ms' }
  })
  return [...each, ...slopes('100 KB of each page', costs, ({ kilobytes = 0 }) => kilobytes / 100, 200)]
}

/** Straight lines through the costs. @param per divides CPU and state: the endpoints, where not they are what grows. */
function slopes(of: string, costs: readonly FleetCost[], x: (cost: FleetCost) => number, per: number): Figure[] {
  const slope = (what: string, unit: Figure['unit'], digits: number, y: (cost: FleetCost) => number): Figure => {
    const { slope, base, fit } = lineThrough(costs.map((cost) => [x(cost), y(cost)]))
    const note = `beyond ${base.toFixed(digits)} ${unit}; R² ${fit.toFixed(3)}`
    return { what: `${of} costs: ${what}`, value: slope, unit, note }
  }
  return [
    slope('CPU', 'ms', 2, ({ cpu }) => cpu / per),
    slope('memory', 'MiB', 0, ({ memory }) => memory / MIB),
    slope('state', 'bytes', 0, ({ stateBytesPerEndpoint, endpoints }) => (stateBytesPerEndpoint * endpoints) / per),
  ]
}

function figuresOf(cost: FleetCost): Figure[] {
  const { endpoints, hanging } = cost
  const of = `run, ${endpoints.toLocaleString('en')} endpoint${endpoints === 1 ? '' : 's'}${hanging > 0 ? `, ${hanging} hanging` : ''}`
  const wall = hanging > 0 ? { most: (SCRAPE_TIMEOUT + 1_000) / 1_000 } : {}
  return [
    { what: `${of}: wall`, value: cost.wall / 1_000, unit: 's', ...wall },
    { what: `${of}: CPU a scrape`, value: cost.cpuPerScrape, unit: 'ms' },
    { what: `${of}: memory`, value: cost.memory / MIB, unit: 'MiB', most: 256 },
    { what: `${of}: state an endpoint`, value: cost.stateBytesPerEndpoint / 1_024, unit: 'KiB', most: 8 },
    { what: `${of}: to S3`, value: cost.requests, unit: 'requests', most: 2 },
  ]
}

function skip(why: string): Figure[] {
  console.error(`skipped: ${why}`)
  return []
}

function isMissed({ value, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY }: Figure): boolean {
  return !(value >= least && value <= most)
}

function row(figure: Figure): string[] {
  const { what, value, unit, least, most, note = '' } = figure
  const goal = least !== undefined ? `≥ ${least}` : most !== undefined ? `≤ ${most}` : ''
  const verdict = goal === '' ? '' : isMissed(figure) ? 'MISSED' : 'ok'
  return [what, `${value.toFixed(value < 100 ? 2 : 0)} ${unit === 'times' ? '×' : unit}`, goal, verdict, note]
}

async function main(wanted: readonly string[]): Promise<number> {
  const parts = Object.entries(PARTS).filter(([name]) => wanted.length === 0 || wanted.includes(name))
  const figures: Figure[] = []
  for (const [, measure] of parts) figures.push(...(await measure()))
  console.log(align([['what', 'measured', 'goal', '', ''], ...figures.map(row)]))
  const results = { at: new Date().toISOString(), node: process.version, figures }
  writeFileSync(resolve(import.meta.dirname, 'results.json'), `${JSON.stringify(results, null, 2)}\n`)
  const missed = figures.filter(isMissed)
  console.log(missed.length === 0 ? '\nevery figure is met' : `\n${missed.length} figures are missed`)
  return missed.length === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
