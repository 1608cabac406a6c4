import type { RecordedEndpoint, Scrape } from './entry.ts'

export type LabelValues = Readonly<Record<string, string>>

/** One series of a time-series database, of one target. */
export interface StoredSeries {
  name: string
  labels: LabelValues
  /** Epoch milliseconds, ascending. */
  times: ArrayLike<number>
  /** As a page writes them. */
  values: ArrayLike<string | number>
}

/** What another watcher scraped: it has no name of ours. */
export interface Target {
  job: string
  instance: string
}

/** What Prometheus adds to each scrape; no server publishes it. */
const OF_PROMETHEUS = /^(up|scrape_.*|ALERTS|ALERTS_FOR_STATE)$/
/** A sample with a time of its own lies before the scrape that brought it; an older one is no part of that page. Milliseconds. */
const OLDEST = 5 * 60_000

export function targetOf(labels: LabelValues): Target {
  return { job: labels.job ?? '', instance: labels.instance ?? '' }
}

export function targetKey({ job, instance }: Target): string {
  return JSON.stringify([job, instance])
}

/** `vllm` at `10.0.0.5:8000` → `vllm/10-0-0-5-8000`: a job's targets are a group. */
export function endpointOfTarget({ job, instance }: Target): RecordedEndpoint {
  const parts = [job, instance].map(nameLike).filter((part) => part !== '')
  return { name: parts.join('/') || 'imported', ...(instance !== '' && { address: instance }) }
}

function nameLike(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}

/**
 * The scrapes of one target: a page for each time at which it was scraped, with the samples of that time; a failure
 * where `up` was 0. The labels that the database put on everything (`instance`, `job`, …) are those of `up`, and go.
 */
export function* scrapesOfTarget(target: Target, series: readonly StoredSeries[]): Generator<Scrape> {
  const up = series.find(({ name }) => name === 'up')
  const duration = series.find(({ name }) => name === 'scrape_duration_seconds')
  const added = new Set(Object.keys(up?.labels ?? { job: '', instance: '' }))
  const lines = series
    .filter(({ name }) => !OF_PROMETHEUS.test(name))
    .map((one) => ({ ...one, text: seriesText(one, added), next: 0 }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
  const endpoint = endpointOfTarget(target).name
  let before = Number.NEGATIVE_INFINITY
  for (const at of up ? [...Array.from(up.times)] : allTimes(lines)) {
    const oldest = Math.max(before, at - OLDEST)
    let page = ''
    for (const line of lines) {
      let value: string | number | undefined
      while (line.next < line.times.length && (line.times[line.next] ?? 0) <= at) {
        if ((line.times[line.next] ?? 0) > oldest) value = line.values[line.next]
        line.next += 1
      }
      if (value !== undefined) page += `${line.text} ${valueText(value)}\n`
    }
    before = at
    const took = Math.round((valueAt(duration, at) ?? 0) * 1000)
    const head = { at: Math.round(at), endpoint, took }
    if (up && valueAt(up, at) === 0)
      yield { ...head, failure: { kind: 'other', detail: 'Prometheus could not scrape it' } }
    else yield { ...head, page: Buffer.from(page) }
  }
}

function allTimes(series: readonly StoredSeries[]): number[] {
  return [...new Set(series.flatMap(({ times }) => Array.from(times)))].sort((a, b) => a - b)
}

function valueAt(series: StoredSeries | undefined, at: number): number | undefined {
  if (!series) return undefined
  let [low, high] = [0, series.times.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((series.times[middle] ?? 0) < at) low = middle + 1
    else high = middle
  }
  return series.times[low] === at ? Number(series.values[low]) : undefined
}

function seriesText({ name, labels }: StoredSeries, without: ReadonlySet<string>): string {
  const kept = Object.entries(labels)
    .filter(([label]) => label !== '__name__' && !without.has(label))
    .map(([label, value]) => `${label.replace(/^exported_(?=job$|instance$)/, '')}="${escaped(value)}"`)
  return kept.length === 0 ? name : `${name}{${kept.join(',')}}`
}

function escaped(value: string): string {
  return value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')
}

function valueText(value: string | number): string {
  if (typeof value === 'string') return value
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}
