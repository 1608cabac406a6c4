import { isRecord } from '../model/json.ts'
import type { Baseline } from '../signals/baseline.ts'
import type { History } from '../signals/history.ts'
import type { SloSlot } from '../signals/slo.ts'

/** The state as it is stored: what repeats or follows from the rest is left out, which is nearly half of it. */
export function packed(state: { endpoints: Record<string, Endpoint> }): object {
  const endpoints = Object.entries(state.endpoints).map(([name, endpoint]) => [name, packedEndpoint(endpoint)] as const)
  return { ...state, packed: true, endpoints: Object.fromEntries(endpoints) }
}

/** A stored state as the schema has it; anything else is returned as it is, for the schema to judge. */
export function unpacked(json: unknown): unknown {
  if (!isRecord(json) || json.packed !== true || !isRecord(json.endpoints)) return json
  const isOlder = json.v === 3
  const endpoints = Object.entries(json.endpoints).map(([name, endpoint]) => {
    try {
      return [name, unpackedEndpoint(isOlder ? fromVersion3(endpoint) : (endpoint as PackedEndpoint))] as const
    } catch {
      return [name, endpoint] as const
    }
  })
  return { ...json, endpoints: Object.fromEntries(endpoints) }
}

/** What is packed of an endpoint; the rest stays as it is. */
interface Endpoint {
  since: number
  goodAt?: number | undefined
  seen: string[]
  history?: History | undefined
  inside: Record<string, number>
  recent: [at: number, value: number | null, kv: number | null][]
  slo?: SloSlot[] | undefined
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
  peak?: number | undefined
  limit?: number | undefined
}
interface Symptom {
  times: number
}
interface Incident {
  openedAt: number
  verdicts: string[]
  begins: number[]
  symptoms: Record<string, Symptom>
}
type Counter = History['counters'][string][string]
type Histogram = History['histograms'][string][string]
type PackedHistogram = Omit<Histogram, 'bounds'> & { bounds: number[] | number }
type PackedHistory = Omit<History, 'counters' | 'histograms'> & {
  /** Of a counter that only counts: the latest value, and the steps. */
  counters: Record<string, Record<string, Counter | number[]>>
  /** Their bounds are a place in the list of bounds; up to version 3 the bounds themselves. */
  histograms: Record<string, Record<string, PackedHistogram>>
}
/** Milliseconds that it has been active at the last good answer, peak, limit; what is not as usual. */
type PackedAlert = [activeFor: number, peak: number | null, limit: number | null, rest?: Partial<Alert>]
type PackedIncident = Omit<Incident, 'verdicts' | 'begins' | 'symptoms'> &
  Partial<Pick<Incident, 'verdicts' | 'begins'>> & { symptoms: Record<string, Partial<Symptom>> }

interface PackedEndpoint extends Omit<Endpoint, 'history' | 'inside' | 'baselines' | 'alerts' | 'incidents'> {
  /** Each label once; a label set is the places of its labels in this list: `0,4,1`. */
  labels?: string[]
  /** Each list of bounds once: many histograms of a server have the same. */
  bounds?: number[][]
  history?: PackedHistory | undefined
  /** Since, from the endpoint's own since on; milliseconds until the latest; decimal places; values without their point. */
  baselines: Record<string, number[]>
  /** At the times of the kept readings. */
  inside: (number | null)[] | Endpoint['inside']
  alerts: Record<string, PackedAlert>
  incidents: Record<string, PackedIncident>
}

function packedEndpoint(endpoint: Endpoint): PackedEndpoint {
  const { history, inside, seen, recent, slo, baselines, alerts, incidents, goodAt } = endpoint
  const places = new Map<string, number>()
  const bounds = new Map<string, number>()
  const signals = new Set(history ? signalsOf(history) : [])
  const refer = (labels: string) =>
    pairsOf(labels)
      .map((pair) => placeIn(places, pair))
      .join()
  const short = history && {
    ...history,
    times: differences(history.times),
    histograms: renamed(history.histograms, refer, (histogram) => ({
      ...histogram,
      bounds: placeIn(bounds, JSON.stringify(histogram.bounds)),
    })),
    counters: renamed(history.counters, refer, ({ last, steps, ...others }) =>
      Object.keys(others).length === 0 ? [last, ...steps] : { last, steps, ...others },
    ),
  }
  return {
    ...endpoint,
    ...(short && {
      history: short,
      labels: [...places.keys()],
      bounds: [...bounds.keys()].map((list) => JSON.parse(list)),
    }),
    baselines: mapped(baselines, ({ since, at, values }) => [since - endpoint.since, at - since, ...pointless(values)]),
    seen: seen.filter((signal) => !signals.has(signal)),
    inside: alongside(inside, history?.times),
    recent: byDifference(recent),
    ...(slo && { slo: byDifference(slo) }),
    alerts: mapped(alerts, (alert) => packedAlert(alert, goodAt)),
    incidents: mapped(incidents, ({ verdicts, begins, symptoms, ...incident }) => ({
      ...incident,
      symptoms: mapped(symptoms, ({ times, ...symptom }) => ({ ...symptom, ...(times !== 1 && { times }) })),
      ...(verdicts.length > 0 && { verdicts }),
      ...((begins.length !== 1 || begins[0] !== incident.openedAt) && { begins }),
    })),
  }
}

function unpackedEndpoint({ labels, bounds = [], history: short, ...endpoint }: PackedEndpoint): Endpoint {
  const { inside, seen, recent, slo, baselines, alerts, incidents, goodAt } = endpoint
  const lookUp = (places: string) => textOf(places, labels ?? [])
  const history = short && {
    ...short,
    times: sums(short.times),
    histograms: renamed(short.histograms, lookUp, (histogram) => ({
      ...histogram,
      bounds: typeof histogram.bounds === 'number' ? listAt(bounds, histogram.bounds) : histogram.bounds,
    })),
    counters: renamed(short.counters, lookUp, (counter): Counter => {
      if (!Array.isArray(counter)) return counter
      const [last = Number.NaN, ...steps] = counter
      return { last, steps }
    }),
  }
  return {
    ...endpoint,
    ...(history && { history }),
    baselines: mapped(baselines, ([after = Number.NaN, lasts = Number.NaN, ...values]) => {
      const since = endpoint.since + after
      return { since, at: since + lasts, values: pointed(values) }
    }),
    seen: history ? [...new Set([...seen, ...signalsOf(history)])].sort() : seen,
    inside: Array.isArray(inside) ? byTime(inside, history?.times ?? []) : inside,
    recent: bySum(recent),
    ...(slo && { slo: bySum(slo) }),
    alerts: mapped(alerts, (alert) => unpackedAlert(alert, goodAt)),
    incidents: mapped(incidents, ({ symptoms, ...incident }) => ({
      verdicts: [],
      begins: [incident.openedAt],
      ...incident,
      symptoms: mapped(symptoms, (symptom) => ({ times: 1, ...symptom })),
    })),
  }
}

function packedAlert(
  { phase, activeAt, firedAt, seenAt, clearRuns, peak, limit, ...others }: Alert,
  goodAt = 0,
): PackedAlert {
  const rest = {
    ...others,
    ...(phase !== 'firing' && { phase }),
    ...(firedAt !== undefined && firedAt !== activeAt && { firedAt }),
    ...(seenAt !== goodAt && { seenAt }),
    ...(clearRuns > 0 && { clearRuns }),
  }
  const short = [goodAt - activeAt, peak ?? null, limit ?? null] as const
  return Object.keys(rest).length === 0 ? [...short] : [...short, rest]
}

function unpackedAlert([activeFor, peak, limit, rest = {}]: PackedAlert, goodAt = 0): Alert {
  const { phase = 'firing' } = rest
  const activeAt = goodAt - activeFor
  return {
    phase,
    activeAt,
    seenAt: goodAt,
    clearRuns: 0,
    ...(phase === 'firing' && { firedAt: activeAt }),
    ...(peak !== null && { peak }),
    ...(limit !== null && { limit }),
    ...rest,
  }
}

/** Version 3 had these as they are: times, the slots of an SLO, alerts, and the beginning and the values of a baseline. */
function fromVersion3(endpoint: unknown): PackedEndpoint {
  const old = endpoint as Omit<PackedEndpoint, 'alerts'> & { alerts: Record<string, Alert> }
  const { history, slo, baselines, alerts, goodAt } = old
  return {
    ...old,
    ...(history && { history: { ...history, times: differences(history.times) } }),
    ...(slo && { slo: byDifference(slo) }),
    alerts: mapped(alerts, (alert) =>
      packedAlert(
        {
          ...alert,
          clearRuns: alert.clearRuns ?? 0,
          seenAt: alert.seenAt ?? goodAt,
          firedAt: alert.firedAt ?? (alert.phase === 'firing' ? alert.activeAt : undefined),
        },
        goodAt,
      ),
    ),
    baselines: mapped(baselines, ([since = Number.NaN, lasts = Number.NaN, ...values]) => [
      since - old.since,
      lasts,
      ...pointless(values),
    ]),
  }
}

/** The first as it is, of each other how much it is more than the one before. */
function differences(times: readonly number[]): number[] {
  return times.map((time, i) => time - (times[i - 1] ?? 0))
}

function sums(steps: readonly number[]): number[] {
  let sum = 0
  return steps.map((step) => {
    sum += step
    return sum
  })
}

function byDifference<Row extends [at: number, ...values: unknown[]]>(rows: readonly Row[]): Row[] {
  const steps = differences(rows.map(([at]) => at))
  return rows.map(([, ...values], i) => [steps[i], ...values] as Row)
}

function bySum<Row extends [at: number, ...values: unknown[]]>(rows: readonly Row[]): Row[] {
  const times = sums(rows.map(([after]) => after))
  return rows.map(([, ...values], i) => [times[i], ...values] as Row)
}

/** `[0.0275, 0.03]` as `[4, 275, 300]`: decimal places, then whole numbers. A quotient of two such is read as exactly the same number. */
function pointless(values: readonly number[]): number[] {
  const places = Math.max(0, ...values.map((value) => placesOf(value)))
  return [places, ...values.map((value) => Math.round(value * 10 ** places))]
}

function pointed([places = 0, ...values]: readonly number[]): number[] {
  return values.map((value) => value / 10 ** places)
}

function placesOf(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e')
  return Math.max(0, (digits.split('.')[1]?.length ?? 0) - Number(exponent))
}

/** One label with its value, as it stands in a label set. */
const PAIR = /[^,=]+="(?:[^"\\]|\\.)*"/g

/** A text that is no list of labels stays whole. */
function pairsOf(labels: string): string[] {
  const pairs = labels.match(PAIR) ?? []
  return pairs.join() === labels ? pairs : [labels]
}

/** The place of a text in a list in which each stands once; it is added at the end. */
function placeIn(places: Map<string, number>, text: string): number {
  const place = places.get(text) ?? places.size
  places.set(text, place)
  return place
}

function listAt(lists: readonly number[][], place: number): number[] {
  const list = lists[place]
  if (list === undefined) throw new Error(`no such bounds: ${place}`)
  return list
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
