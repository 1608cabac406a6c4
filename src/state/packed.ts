import { isRecord } from '../model/json.ts'
import type { Baseline } from '../signals/baseline.ts'
import type { History } from '../signals/history.ts'

/** The state as it is stored: what repeats or follows from the rest is left out, which is a third of it. */
export function packed(state: { endpoints: Record<string, Endpoint> }): object {
  const endpoints = Object.entries(state.endpoints).map(([name, endpoint]) => [name, packedEndpoint(endpoint)] as const)
  return { ...state, packed: true, endpoints: Object.fromEntries(endpoints) }
}

/** A stored state as the schema has it; anything else is returned as it is, for the schema to judge. */
export function unpacked(json: unknown): unknown {
  if (!isRecord(json) || json.packed !== true || !isRecord(json.endpoints)) return json
  const endpoints = Object.entries(json.endpoints).map(([name, endpoint]) => {
    try {
      return [name, unpackedEndpoint(endpoint as PackedEndpoint)] as const
    } catch {
      return [name, endpoint] as const
    }
  })
  return { ...json, endpoints: Object.fromEntries(endpoints) }
}

/** What is packed of an endpoint; the rest stays as it is. */
interface Endpoint {
  goodAt?: number | undefined
  seen: string[]
  history?: History | undefined
  inside: Record<string, number>
  recent: [at: number, value: number | null, kv: number | null][]
  baselines: Record<string, Baseline>
  alerts: Record<string, Alert>
  incidents: Record<string, Incident>
}
interface Alert {
  phase: 'pending' | 'firing'
  activeAt: number
  firedAt?: number | undefined
  seenAt: number
  clearRuns: number
}
interface Incident {
  openedAt: number
  verdicts: string[]
  begins: number[]
}
type Counter = History['counters'][string][string]
/** Of a counter that only counts: the latest value, and the steps. */
type PackedHistory = Omit<History, 'counters'> & { counters: Record<string, Record<string, Counter | number[]>> }

interface PackedEndpoint extends Omit<Endpoint, 'history' | 'inside' | 'baselines' | 'alerts' | 'incidents'> {
  /** Each label once; a label set is the places of its labels in this list: `0,4,1`. */
  labels?: string[]
  history?: PackedHistory | undefined
  /** Since, milliseconds until the latest, values. */
  baselines: Record<string, number[]>
  /** At the times of the kept readings. */
  inside: (number | null)[] | Endpoint['inside']
  alerts: Record<string, Omit<Alert, 'clearRuns' | 'seenAt'> & Partial<Alert>>
  incidents: Record<string, Omit<Incident, 'verdicts' | 'begins'> & Partial<Incident>>
}

function packedEndpoint(endpoint: Endpoint): PackedEndpoint {
  const { history, inside, seen, recent, baselines, alerts, incidents, goodAt } = endpoint
  const places = new Map<string, number>()
  const signals = new Set(history ? signalsOf(history) : [])
  const refer = (labels: string) =>
    pairsOf(labels)
      .map((pair) => placeOf(pair, places))
      .join()
  const short = history && {
    ...history,
    histograms: renamed(history.histograms, refer, (histogram) => histogram),
    counters: renamed(history.counters, refer, ({ last, steps, ...others }) =>
      Object.keys(others).length === 0 ? [last, ...steps] : { last, steps, ...others },
    ),
  }
  return {
    ...endpoint,
    ...(short && { history: short, labels: [...places.keys()] }),
    baselines: mapped(baselines, ({ since, at, values }) => [since, at - since, ...values]),
    seen: seen.filter((signal) => !signals.has(signal)),
    inside: alongside(inside, history?.times),
    recent: recent.map(([at, ...values], i) => [at - (recent[i - 1]?.[0] ?? 0), ...values]),
    alerts: mapped(alerts, ({ clearRuns, seenAt, firedAt, ...alert }) => ({
      ...alert,
      ...(clearRuns > 0 && { clearRuns }),
      ...(seenAt !== goodAt && { seenAt }),
      ...(firedAt !== undefined && firedAt !== alert.activeAt && { firedAt }),
    })),
    incidents: mapped(incidents, ({ verdicts, begins, ...incident }) => ({
      ...incident,
      ...(verdicts.length > 0 && { verdicts }),
      ...((begins.length !== 1 || begins[0] !== incident.openedAt) && { begins }),
    })),
  }
}

function unpackedEndpoint({ labels, history: short, ...endpoint }: PackedEndpoint): Endpoint {
  const { inside, seen, recent, baselines, alerts, incidents, goodAt } = endpoint
  const lookUp = (places: string) => textOf(places, labels ?? [])
  const history = short && {
    ...short,
    histograms: renamed(short.histograms, lookUp, (histogram) => histogram),
    counters: renamed(short.counters, lookUp, (counter): Counter => {
      if (!Array.isArray(counter)) return counter
      const [last = Number.NaN, ...steps] = counter
      return { last, steps }
    }),
  }
  let at = 0
  return {
    ...endpoint,
    ...(history && { history }),
    baselines: mapped(baselines, ([since = Number.NaN, lasts = Number.NaN, ...values]) => ({
      since,
      at: since + lasts,
      values,
    })),
    seen: history ? [...new Set([...seen, ...signalsOf(history)])].sort() : seen,
    inside: Array.isArray(inside) ? byTime(inside, history?.times ?? []) : inside,
    recent: recent.map(([after, ...values]) => {
      at += after
      return [at, ...values]
    }),
    alerts: mapped(alerts, (alert) => ({
      clearRuns: 0,
      seenAt: goodAt as number,
      ...(alert.phase === 'firing' && { firedAt: alert.activeAt }),
      ...alert,
    })),
    incidents: mapped(incidents, (incident) => ({ verdicts: [], begins: [incident.openedAt], ...incident })),
  }
}

/** One label with its value, as it stands in a label set. */
const PAIR = /[^,=]+="(?:[^"\\]|\\.)*"/g

/** A text that is no list of labels stays whole. */
function pairsOf(labels: string): string[] {
  const pairs = labels.match(PAIR) ?? []
  return pairs.join() === labels ? pairs : [labels]
}

function placeOf(pair: string, places: Map<string, number>): number {
  const place = places.get(pair) ?? places.size
  places.set(pair, place)
  return place
}

function textOf(places: string, labels: readonly string[]): string {
  if (places === '') return ''
  const found = places.split(',').map((place) => labels[Number(place)])
  if (found.includes(undefined)) throw new Error(`no such label: ${places}`)
  return found.join()
}

function renamed<A, B>(
  all: Record<string, Record<string, A>>,
  rename: (labels: string) => string,
  change: (past: A) => B,
): Record<string, Record<string, B>> {
  return mapped(all, (sets) =>
    Object.fromEntries(Object.entries(sets).map(([labels, past]) => [rename(labels), change(past)])),
  )
}

function signalsOf({ counters, histograms }: History | PackedHistory): string[] {
  return [...Object.keys(counters), ...Object.keys(histograms)]
}

function alongside(inside: Endpoint['inside'], times: readonly number[] | undefined): PackedEndpoint['inside'] {
  const isWhole = times !== undefined && Object.keys(inside).every((at) => times.includes(Number(at)))
  return isWhole ? times.map((at) => inside[at] ?? null) : inside
}

function byTime(values: readonly (number | null)[], times: readonly number[]): Endpoint['inside'] {
  return Object.fromEntries(values.flatMap((value, i) => (value === null ? [] : [[String(times[i]), value]])))
}

function mapped<A, B>(all: Record<string, A>, change: (one: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(all).map(([key, one]) => [key, change(one)]))
}
