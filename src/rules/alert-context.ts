import { defined } from '../model/defined.ts'
import type { AlertContext, DerivedSignal, Numbers } from '../model/notification.ts'
import { shownUrl } from '../secrets/names.ts'
import { mainSignal, type Snapshot } from './snapshot.ts'
import type { Why } from './why.ts'

/** Numbers that a message may show; not totals since the server's start. */
const SHOWN: readonly DerivedSignal[] = [
  'waiting',
  'running',
  'waiting_deferred',
  'kv_cache',
  'queue_wait',
  'ttft_p50',
  'ttft_p99',
  'itl_p99',
  'tokens_per_second',
  'requests_per_second',
  'prefix_hit_share',
  'preemptions_per_second',
  'failed_share',
  'gpu_memory',
  'gpu_utilisation',
  'gpu_temperature',
  'canary_total',
  'canary_wait',
  'canary_load',
  'canary_prefill',
  'canary_decode',
  'canary_ttft',
  'canary_rate',
  'observer_degraded',
]
const SETTINGS =
  /^(num_gpu_blocks|block_size|gpu_memory_utilization|enable_prefix_caching|kv_cache_memory_bytes|max_num_seqs|cache_dtype|cpu_offload_gb)$/
/** A trend is told only while it continues and a straight line explains this much of it over this many runs; a step is not a trend. */
const TREND_FIT = 0.8
const TREND_RUNS = 5

/** Whole minutes; below one, whole seconds: a watcher that runs each 5 s has not seen "0 s". */
function minutesOf(ms: number): number {
  return ms >= 60_000 ? Math.round(ms / 60_000) : Math.round(ms / 1_000) / 60
}

/** The endpoint as a message may describe it, small enough to wait in the outbox; without the number of other endpoints. */
export function alertContextOf(
  snapshot: Snapshot,
  { verdict, flow, ruler, isForetold }: Why,
  now: number,
): Omit<AlertContext, 'of'> {
  const { derived, observation, after, readings } = snapshot
  const numbers: Numbers = {}
  for (const name of SHOWN) {
    const value = isWidened(name, snapshot) ? undefined : derived.numbers[name]
    if (value !== undefined) numbers[name] = Number(value.toPrecision(4))
  }
  const atLeast = derived.atLeast.filter((name) => numbers[name] !== undefined)
  const settings = Object.fromEntries(Object.entries(readings?.settings ?? {}).filter(([name]) => SETTINGS.test(name)))
  const { canary } = observation
  const model = after.model ?? snapshot.endpoint.model
  const oldest = after.recent[0]?.[0] ?? now
  const hasSpark = after.recent.filter(([, value]) => value !== null).length > 1
  return {
    backend: snapshot.backend,
    url: shownUrl(snapshot.endpoint.url),
    numbers,
    ...(model === undefined ? {} : { model }),
    ...(atLeast.length > 0 ? { atLeast } : {}),
    ...(readings?.gauges.kv_cache?.at === undefined ? {} : { kvAt: readings.gauges.kv_cache.at }),
    ...partlyOutOf(snapshot),
    ...failedByOf(snapshot),
    ...defined({ verdict, flow, ruler }),
    ...(after.history?.restartedAt === undefined ? {} : { restarted: true }),
    ...(snapshot.noProgress ? { noProgress: true } : {}),
    ...(snapshot.window ? { window: Math.round(snapshot.window.seconds) } : {}),
    ...(hasSpark ? { spark: after.recent.map(([, value]) => value), sparkMinutes: minutesOf(now - oldest) } : {}),
    ...(isForetold && mainSignal(snapshot.backend) === 'waiting' ? queueTrend(snapshot) : {}),
    ...trend(
      'kvPerMinute',
      after.recent.map(([at, , kv]) => [at, kv]),
    ),
    ...(Object.keys(settings).length > 0 ? { settings } : {}),
    ...generationOf(snapshot),
    ...defined({ version: after.version?.text }),
    ...gpuOf(snapshot),
    ...(canary ? { canary } : {}),
  }
}

/** It holds for longer than the window beside whose numbers it would stand; its own rule says for how long. */
function isWidened(name: DerivedSignal, { window }: Snapshot): boolean {
  if (name === 'queue_wait') return window?.spans?.queue_wait !== undefined
  return (name === 'ttft_p50' || name === 'ttft_p99') && window?.spans?.ttft !== undefined
}

/** V1 counts prefix tokens and, from 0.9.2 on, calls its cache otherwise; V0 does neither. */
function generationOf({ backend, readings }: Snapshot): Partial<AlertContext> {
  const { kv_cache: cache = '', prefix_queries: queries } = readings?.sources ?? {}
  if (backend !== 'vllm') return {}
  if (queries !== undefined || cache.endsWith('kv_cache_usage_perc')) return { engine: 'v1' }
  return cache.endsWith('gpu_cache_usage_perc') ? { engine: 'v0' } : {}
}

/** A gateway may call an upstream neither healthy nor gone. */
function partlyOutOf({ readings }: Snapshot): Partial<AlertContext> {
  const names = Object.entries(readings?.subjects ?? {}).flatMap(([name, { upstream_health: health }]) =>
    health !== undefined && health > 0 && health < 1 ? [name] : [],
  )
  return names.length === 0 ? {} : { partlyOut: names.join(', ') }
}

/** An upstream or a kind of error, named only if more than half of the window's failures have it. */
function failedByOf({ window }: Snapshot): Partial<AlertContext> {
  const failures = new Map<string, number>()
  let all = 0
  for (const [labels, n] of Object.entries(window?.byLabels.failed ?? {})) {
    all += n
    const name = /(?:^|,)(?:upstream|server|err|error_type|exception_class|error_code|reason)="((?:[^"\\]|\\.)*)"/.exec(
      labels,
    )?.[1]
    if (name) failures.set(name, (failures.get(name) ?? 0) + n)
  }
  for (const [labels, n] of Object.entries(window?.byLabels.http_failed ?? {})) {
    all += n
    const path = /(?:^|,)handler="((?:[^"\\]|\\.)*)"/.exec(labels)?.[1]
    const name = path === undefined ? 'HTTP 5xx' : `HTTP 5xx ${path}`
    failures.set(name, (failures.get(name) ?? 0) + n)
  }
  const found = [...failures].find(([, n]) => n > all / 2)
  return found ? { failedBy: found[0] } : {}
}

/** How fast the queue changes, and how long it may become before it is worth a word. */
function queueTrend({ after, endpoint }: Snapshot): Partial<AlertContext> {
  const found = trend(
    'waitingPerMinute',
    after.recent.map(([at, value]) => [at, value]),
  )
  const limit = endpoint.rules.find(({ id }) => id === 'waiting')?.limit
  return { ...found, ...(limit !== undefined && limit > 0 ? { farQueue: FAR * limit } : {}) }
}
/** Times the limit of the queue. */
const FAR = 10

/** Slope a minute by least squares over the last runs, where a straight line fits them. */
function trend(name: 'waitingPerMinute' | 'kvPerMinute', points: [number, number | null][]): Partial<AlertContext> {
  const known = points
    .flatMap(([at, value]): [number, number][] => (value === null ? [] : [[at / 60_000, value]]))
    .slice(-8)
  if (known.length < TREND_RUNS) return {}
  const mean = (pick: 0 | 1) => known.reduce((sum, point) => sum + point[pick], 0) / known.length
  const [meanX, meanY] = [mean(0), mean(1)]
  const sxx = known.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0)
  const sxy = known.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0)
  const syy = known.reduce((sum, [, y]) => sum + (y - meanY) ** 2, 0)
  if (sxx === 0 || syy === 0 || sxy ** 2 / (sxx * syy) < TREND_FIT) return {}
  const [before, latest] = known.slice(-2).map(([, value]) => value)
  if (Math.sign((latest ?? 0) - (before ?? 0)) !== Math.sign(sxy)) return {}
  return { [name]: Number((sxy / sxx).toPrecision(3)) }
}

function gpuOf(snapshot: Snapshot): Partial<AlertContext> {
  const gpus = Object.values(snapshot.observation.gpu?.subjects ?? {})
  const highest = (pick: 'gpu_utilisation' | 'gpu_temperature' | 'gpu_xid') => {
    const values = gpus.flatMap((gpu) => gpu[pick] ?? [])
    return values.length > 0 ? Math.max(...values) : undefined
  }
  const [utilisation, temperature, xid] = [highest('gpu_utilisation'), highest('gpu_temperature'), highest('gpu_xid')]
  if (utilisation === undefined && temperature === undefined && !xid) return {}
  return {
    gpu: {
      ...(utilisation === undefined ? {} : { utilisation }),
      ...(temperature === undefined ? {} : { temperature }),
      ...(xid ? { xid } : {}),
    },
  }
}
