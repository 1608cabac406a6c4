import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics'
import { mask } from '../log.ts'
import { type Config, functionName } from '../model/config.ts'
import type { DerivedSignal } from '../model/notification.ts'
import type { EndpointResult, RunResult } from '../model/result.ts'

const NAMESPACE = 'Queuebell'

/** What is known of a run when it has ended. */
export interface RunFigures {
  /** Epoch milliseconds: the run's own time. */
  now: number
  /** Milliseconds. */
  ms: number
  /** The handler rejects: Lambda counts an error. */
  failed: boolean
  /** Absent where the run ended before it had one. */
  result?: RunResult
}

interface MetricForm {
  unit: (typeof MetricUnit)[keyof typeof MetricUnit]
  /** The signal times this is the metric. CloudWatch's percent goes to 100, a share to 1. */
  scale?: 100
}

const { Count, CountPerSecond, Milliseconds, NoUnit, Percent, Seconds } = MetricUnit
const share: MetricForm = { unit: Percent, scale: 100 }

/**
 * The signals that become metrics: what a dashboard draws. Each costs money, so of a latency only the
 * p99 is published, and of totals since the server's start only the rates.
 */
const SIGNALS: Readonly<Record<DerivedSignal, MetricForm | undefined>> = {
  up: { unit: NoUnit },
  waiting: { unit: Count },
  running: { unit: Count },
  waiting_deferred: { unit: Count },
  paused: undefined,
  asleep: undefined,
  kv_cache: share,
  queue_wait: { unit: Seconds },
  queue_wait_p95: undefined,
  ttft_p50: undefined,
  ttft_p90: undefined,
  ttft_p99: { unit: Seconds },
  itl_p50: undefined,
  itl_p90: undefined,
  itl_p99: { unit: Seconds },
  e2e_p50: undefined,
  e2e_p90: undefined,
  e2e_p99: { unit: Seconds },
  tokens_per_second: { unit: CountPerSecond },
  requests_per_second: { unit: CountPerSecond },
  prefix_hit_share: share,
  preemptions_per_second: { unit: CountPerSecond },
  failed_share: share,
  finished: undefined,
  failed: undefined,
  http_failed: undefined,
  corrupted: undefined,
  transfer_failed: undefined,
  preemptions: undefined,
  prompt_tokens: undefined,
  generation_tokens: undefined,
  prefix_queries: undefined,
  prefix_hits: undefined,
  gpu_memory: share,
  gpu_utilisation: share,
  gpu_temperature: { unit: NoUnit },
  gpu_xid: { unit: NoUnit },
  canary_total: { unit: Seconds },
  canary_wait: { unit: Seconds },
  canary_load: { unit: Seconds },
  canary_prefill: undefined,
  canary_decode: undefined,
  canary_ttft: { unit: Seconds },
  canary_rate: { unit: NoUnit },
  quota_left: share,
  vram_share: share,
  beat_age: { unit: Seconds },
  observer_degraded: { unit: NoUnit },
  upstream_health: { unit: NoUnit },
  admission_rejected: undefined,
  admission_parked: undefined,
  engine_state_stale: undefined,
  queue_full: undefined,
}

/**
 * A run in CloudWatch's embedded metric format, one JSON document a line: one of the function's own figures and, with
 * `METRICS=all`, one for each endpoint with its signals. A document has far fewer than the hundred metrics it may hold.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
export function metricLines(figures: RunFigures, config: Config): string[] {
  if (config.metrics === undefined || config.metrics === 'off') return []
  const document = writer(figures.now)
  const name = functionName(config)
  const own = document({ function: name }, ownFigures(figures))
  if (config.metrics === 'own') return [own]
  const endpoints = figures.result?.endpoints ?? []
  return [
    own,
    ...endpoints.map((one) => document({ function: name, endpoint: mask(one.name, config.secrets) }, signalsOf(one))),
  ]
}

type Figure = [name: string, unit: MetricForm['unit'], value: number]

/** A run that another one made superfluous saw nothing: its counts would be zeros that mean nothing. */
function ownFigures({ ms, failed, result }: RunFigures): Figure[] {
  const always: Figure[] = [
    ['DurationMs', Milliseconds, ms],
    ['Failed', Count, failed ? 1 : 0],
  ]
  if (result?.outcome !== 'completed') return always
  const { endpoints, pushes } = result
  const firing = endpoints.flatMap((e) => Object.values(e.alerts)).filter((phase) => phase === 'firing')
  const counts: [string, number][] = [
    ['Endpoints', endpoints.length],
    ['Down', endpoints.filter((e) => !e.up).length],
    ['Blind', endpoints.filter((e) => e.alerts.blind === 'firing').length],
    ['Firing', firing.length],
    ['PushesDelivered', pushes.delivered],
    ['PushesWaiting', pushes.waiting],
    ['PushesRefused', pushes.refused],
  ]
  return [...counts.map(([name, value]): Figure => [name, Count, value]), ...always]
}

/** An unknown signal is absent. */
function signalsOf({ signals }: EndpointResult): Figure[] {
  return Object.entries(signals).flatMap(([name, value]): Figure[] => {
    const form = SIGNALS[name as DerivedSignal]
    return form && Number.isFinite(value) ? [[name, form.unit, value * (form.scale ?? 1)]] : []
  })
}

/** The library makes the documents; the caller writes them. Its own dimension `service` is not wanted. */
function writer(now: number): (dimensions: Record<string, string>, figures: readonly Figure[]) => string {
  const silent = () => {}
  const logger = { trace: silent, debug: silent, info: silent, warn: silent, error: silent, critical: silent }
  const metrics = new Metrics({ namespace: NAMESPACE, logger })
  metrics.clearDefaultDimensions()
  return (dimensions, figures) => {
    for (const [name, value] of Object.entries(dimensions)) metrics.addDimension(name, value)
    for (const [name, unit, value] of figures) metrics.addMetric(name, unit, Number(value.toPrecision(6)))
    metrics.setTimestamp(now)
    const text = JSON.stringify(metrics.serializeMetrics())
    metrics.clearDimensions()
    metrics.clearMetrics()
    return text
  }
}
