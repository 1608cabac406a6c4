import { openDispatcher } from '../http/connections.ts'
import { get } from '../http/get.ts'
import { briefly } from '../model/failure.ts'
import type { RecordedEndpoint, Scrape } from './entry.ts'
import { RecordingError } from './entry.ts'
import {
  endpointOfTarget,
  type LabelValues,
  type StoredSeries,
  scrapesOfTarget,
  type Target,
  targetKey,
  targetOf,
} from './series.ts'

export interface PrometheusSource {
  /** Without credentials and without a trailing slash. */
  url: string
  headers: Record<string, string>
  /** A series selector: `{job="vllm"}`. */
  match: string
  /** Epoch milliseconds. */
  from: number
  to: number
}

export interface Imported {
  endpoints: RecordedEndpoint[]
  scrapes: AsyncIterable<Scrape>
}

const HOUR = 3_600_000
const SHORTEST_SPAN = 60_000
/** Pages of this many targets are held at once for an hour; of more, for less than an hour. */
const TARGETS_AN_HOUR = 8
const TIMEOUT = 120_000
const MOST_BYTES = 512 * 1024 * 1024

/**
 * The raw samples of a Prometheus, or of what speaks its API: instant queries with a range selector, which give true
 * times and leave gaps, where a range query would resample and look back over them.
 * @throws {RecordingError} when it does not answer, or nothing matches.
 */
export async function importPrometheus(source: PrometheusSource): Promise<Imported> {
  const targets = await targetsOf(source)
  if (targets.length === 0) throw new RecordingError(`no series match ${source.match} in this time`)
  return { endpoints: targets.map(endpointOfTarget), scrapes: scrapesOf(source, targets) }
}

async function targetsOf(source: PrometheusSource): Promise<Target[]> {
  const { match, from, to } = source
  const query = { 'match[]': match, start: String(from / 1000), end: String(to / 1000) }
  const found = await ask<LabelValues[]>(source, 'series', query)
  const targets = new Map(found.map((labels) => [targetKey(targetOf(labels)), targetOf(labels)]))
  return [...targets].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, target]) => target)
}

async function* scrapesOf(source: PrometheusSource, targets: readonly Target[]): AsyncGenerator<Scrape> {
  const span = Math.max(SHORTEST_SPAN, HOUR / Math.ceil(targets.length / TARGETS_AN_HOUR))
  const last = new Map<string, number>()
  for (let from = source.from; from < source.to; from += span) {
    const to = Math.min(source.to, from + span)
    const found: Scrape[] = []
    for (const target of targets) {
      // Both ends of a range are in it, in Prometheus 2: what was written already comes again.
      const series = await samplesOf(source, target, from, to)
      for (const scrape of scrapesOfTarget(target, series))
        if (scrape.at > (last.get(scrape.endpoint) ?? Number.NEGATIVE_INFINITY)) found.push(scrape)
    }
    found.sort((a, b) => a.at - b.at)
    for (const scrape of found) {
      last.set(scrape.endpoint, scrape.at)
      yield scrape
    }
  }
}

interface Matrix {
  result: { metric: LabelValues; values?: [number, string][] }[]
}

/** The samples of one target between two moments; a span whose answer is too large is asked in halves. */
async function samplesOf(source: PrometheusSource, target: Target, from: number, to: number): Promise<StoredSeries[]> {
  const own = `job=${quoted(target.job)},instance=${quoted(target.instance)}`
  const range = `[${Math.ceil(to - from)}ms]`
  const queries = [`${narrowed(source.match, own)}${range}`, `{__name__=~"up|scrape_duration_seconds",${own}}${range}`]
  const series = new Map<string, StoredSeries>()
  for (const query of queries) {
    const { result } = await ask<Matrix>(source, 'query', { query, time: String(to / 1000) })
    for (const { metric, values } of result) {
      if (!values) continue // a native histogram has no text form
      const { __name__: name = '', ...labels } = metric
      const times = values.map(([time]) => Math.round(time * 1000))
      series.set(JSON.stringify(metric), { name, labels, times, values: values.map(([, value]) => value) })
    }
  }
  return [...series.values()]
}

/** A selector with more matchers: `{job="a"}`, `name`, `name{…}`. */
function narrowed(match: string, own: string): string {
  const text = match.trim()
  if (!text.endsWith('}')) return `${text}{${own}}`
  const inside = text.slice(0, -1).trimEnd()
  return `${inside}${inside.endsWith('{') || inside.endsWith(',') ? '' : ','}${own}}`
}

function quoted(text: string): string {
  return JSON.stringify(text)
}

async function ask<T>(source: PrometheusSource, path: string, query: Record<string, string>): Promise<T> {
  const connections = openDispatcher()
  const chunks: Uint8Array[] = []
  try {
    const got = await get(`${source.url}/api/v1/${path}?${new URLSearchParams(query)}`, {
      headers: { ...source.headers, accept: 'application/json', 'accept-encoding': 'gzip' },
      timeout: TIMEOUT,
      maxBytes: MOST_BYTES,
      dispatcher: connections.dispatcher,
      onChunk: (chunk) => void chunks.push(Uint8Array.from(chunk)),
    })
    if (!got.ok) throw new RecordingError(`${source.url}: ${briefly(got.failure)}`)
    return dataOf<T>(Buffer.concat(chunks).toString('utf8'), source)
  } finally {
    await connections.close()
  }
}

function dataOf<T>(text: string, { url }: PrometheusSource): T {
  try {
    const answer = JSON.parse(text) as { status?: string; data?: T; error?: string }
    if (answer.status === 'success' && answer.data !== undefined) return answer.data
    throw new RecordingError(`${url}: ${answer.error ?? 'the answer is not that of a Prometheus'}`)
  } catch (error) {
    if (error instanceof RecordingError) throw error
    throw new RecordingError(`${url}: the answer is not that of a Prometheus`)
  }
}
