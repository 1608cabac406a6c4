import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { RecordingError, type Scrape } from './entry.ts'
import type { Imported } from './import-prometheus.ts'
import {
  endpointOfTarget,
  type LabelValues,
  type StoredSeries,
  scrapesOfTarget,
  type Target,
  targetKey,
  targetOf,
} from './series.ts'
import { inOrder } from './timeline.ts'

/** A series while its samples come. */
interface Growing {
  name: string
  labels: LabelValues
  times: number[]
  values: number[]
}

/**
 * A dump of the OpenMetrics text format with a timestamp (seconds) on each sample, as `promtool tsdb dump-openmetrics`
 * writes it: series by series, so that all of it is held before the first page can be made.
 * @throws {RecordingError} when there is no sample with a time.
 */
export async function importOpenMetrics(path: string): Promise<Imported & { isCut: boolean }> {
  const { series, isCut } = await readSeries(path)
  const targets = new Map<string, { target: Target; series: StoredSeries[] }>()
  for (const one of series) {
    const target = targetOf(one.labels)
    const known = targets.get(targetKey(target)) ?? { target, series: [] }
    targets.set(targetKey(target), known)
    known.series.push(one)
  }
  if (targets.size === 0) throw new RecordingError(`${path}: no sample with a timestamp is there`)
  const all = [...targets.values()]
  const files = all.map(({ target, series }) => asynchronous(scrapesOfTarget(target, series)))
  return { endpoints: all.map(({ target }) => endpointOfTarget(target)), scrapes: inOrder(files), isCut }
}

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+) (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?: #.*)?$/i
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

async function readSeries(path: string): Promise<{ series: Growing[]; isCut: boolean }> {
  const series = new Map<string, Growing>()
  let isCut = true
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })
  try {
    for await (const line of lines) {
      if (line.startsWith('#')) {
        if (line === '# EOF') isCut = false
        continue
      }
      const found = SAMPLE.exec(line)
      if (!found) continue
      const [, name = '', labels = '', value = '', seconds = ''] = found
      const key = `${name}{${labels}`
      const known = series.get(key) ?? { name, labels: labelsOf(labels), times: [], values: [] }
      if (known.times.length === 0) series.set(key, known)
      known.times.push(Math.round(Number(seconds) * 1000))
      known.values.push(numberOf(value))
    }
  } catch (error) {
    throw new RecordingError(`${path}: ${error instanceof Error ? error.message : error}`)
  }
  return { series: [...series.values()].map(sorted), isCut }
}

function labelsOf(text: string): LabelValues {
  return Object.fromEntries([...text.matchAll(LABEL)].map(([, name = '', value = '']) => [name, unescaped(value)]))
}

function unescaped(value: string): string {
  return value.replace(/\\(.)/g, (_, sign: string) => (sign === 'n' ? '\n' : sign))
}

function numberOf(text: string): number {
  if (/^[+]?inf$/i.test(text)) return Number.POSITIVE_INFINITY
  return /^-inf$/i.test(text) ? Number.NEGATIVE_INFINITY : Number(text)
}

/** Blocks of a database follow each other in time; where they did not, the samples are put in order. */
function sorted(series: Growing): Growing {
  const { times, values } = series
  if (times.every((time, i) => i === 0 || time >= (times[i - 1] ?? time))) return series
  const order = times.map((_, i) => i).sort((a, b) => (times[a] ?? 0) - (times[b] ?? 0))
  return { ...series, times: order.map((i) => times[i] ?? 0), values: order.map((i) => values[i] ?? Number.NaN) }
}

async function* asynchronous(scrapes: Iterable<Scrape>): AsyncGenerator<Scrape> {
  yield* scrapes
}
