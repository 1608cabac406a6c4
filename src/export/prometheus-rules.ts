import { TABLES } from '../backends/backends.ts'
import { formatDuration } from '../config/duration.ts'
import type { ScrapedBackend } from '../model/backend.ts'
import type { Config, Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Rule } from '../model/rule.ts'
import type { GaugeSignal } from '../model/signals.ts'
import { BY, BY_ENGINE, type Dialect } from './promql.ts'
import { gpu, type RecordingRule, recordingRules, series } from './recording-rules.ts'

export interface AlertingRule {
  alert: string
  expr: string
  for?: string
  keep_firing_for?: string
  labels: Record<string, string>
  annotations: Record<string, string>
}

export interface PrometheusRules {
  /** One group a function, evaluated at its pace. */
  name: string
  interval: string
  rules: (RecordingRule | AlertingRule)[]
  /** Rules of this configuration that PromQL cannot say, and why. */
  unsaid: { rule: string; why: string }[]
}

/** As the rule's own measure. */
const GROWING_RUNS = 5

const OWN_PAST = "it is compared with the endpoint's own past, learned while nothing fired and kept by parallelism"
const NOT_SCRAPED = 'it comes from a request or a beat of ours, which Prometheus does not have'

/** What PromQL cannot say, or not without saying something else. */
const UNSAYABLE: Readonly<Record<string, string>> = {
  prefix_hits: OWN_PAST,
  throughput: OWN_PAST,
  token_time: OWN_PAST,
  cpu_fallback: OWN_PAST,
  canary_rate: OWN_PAST,
  sibling: 'it is compared with the median of the others of its group, by time per token, else by whole requests',
  stuck: 'whether each request that finished had waited longer than the limit is counted over runs that it remembers',
  restarts: 'a restart shows as a new start time or as counters that fall, and is remembered for an hour',
  gpu_remap: 'a failed remap stays published until the GPU is replaced: only its beginning is one',
  gpu_throttle: 'the reasons are bits of one number, and PromQL has no operation on bits',
  pool: 'Prometheus does not know which replicas belong to a group, nor those that a name no longer gives',
  gap: 'it tells that the watcher itself did not run: for Prometheus that is a dead-man alert of your own',
  gpu_xid: 'a code stays published after the event: only a change is one, and a new code is a new incident',
  gpu_lost: 'which GPUs there were is remembered for a week, also over restarts',
  canary: NOT_SCRAPED,
  busy: NOT_SCRAPED,
  cold_load: NOT_SCRAPED,
  heartbeat: NOT_SCRAPED,
  quota: NOT_SCRAPED,
  wrong_answer: NOT_SCRAPED,
  tls_expiry: NOT_SCRAPED,
}

/** The rules of one function for Prometheus, with the limits of its configuration. */
export function prometheusRules(config: Config, options: { match: string }): PrometheusRules {
  const table = TABLES[config.backend as ScrapedBackend]
  const interval = config.interval ?? 60_000
  const dialect: Dialect = { table, match: options.match, window: formatDuration(config.window) }
  const writer = { config, dialect, interval, match: options.match }
  const recorded = recordingRules(config, dialect)
  const all = new Map(config.endpoints.flatMap(({ rules }) => rules).map((rule) => [rule.id, rule]))
  const alerts: AlertingRule[] = []
  const unsaid: PrometheusRules['unsaid'] = []
  // Those that hold others back first: a rule sees what was found before it at the same moment.
  const inOrder = [...all.keys()].sort((a, b) => rank(a) - rank(b))
  for (const id of inOrder) {
    const said = UNSAYABLE[id] === undefined ? settingsOf(config, id).flatMap((one) => alertOf(one, writer) ?? []) : []
    if (said.length > 0) alerts.push(...said)
    else unsaid.push({ rule: id, why: UNSAYABLE[id] ?? NOT_WRITTEN })
  }
  return {
    name: `queuebell-${config.backend}`,
    interval: formatDuration(interval),
    rules: [...recorded, ...alerts],
    unsaid,
  }
}

function rank(id: string): number {
  return id === 'down' ? 0 : id === 'stalled' ? 1 : 2
}

const NOT_WRITTEN = 'no expression that agrees with ours has been found, or the server lacks the series'

interface Writer {
  config: Config
  dialect: Dialect
  interval: number
  match: string
}

/** One rule as it holds for some endpoints: all of them, or those with these numbers. */
interface Setting {
  rule: Rule
  /** Absent: every target. */
  endpoints?: Endpoint[]
}

function settingsOf({ endpoints }: Config, id: string): Setting[] {
  const byNumbers = new Map<string, Setting & { endpoints: Endpoint[] }>()
  for (const endpoint of endpoints) {
    const rule = endpoint.rules.find((one) => one.id === id)
    if (!rule) continue
    const key = [rule.limit, rule.clear, rule.for, rule.priority].join(' ')
    const known = byNumbers.get(key) ?? { rule, endpoints: [] }
    known.endpoints.push(endpoint)
    byNumbers.set(key, known)
  }
  const settings = [...byNumbers.values()]
  const isAll = settings.length === 1 && settings[0]?.endpoints.length === endpoints.length
  return isAll ? settings.map(({ rule }) => ({ rule })) : settings
}

function alertOf(setting: Setting, writer: Writer): AlertingRule | undefined {
  const { rule, endpoints } = setting
  const { config, interval } = writer
  const instances = endpoints?.map(({ url }) => new URL(url).host.replace(/[.+*?^$()[\]{}|\\]/g, '\\\\$&'))
  const only = instances ? `instance=~"${instances.join('|')}"` : ''
  const condition = conditionOf(rule, writer, only)
  if (!condition) return undefined
  const alert = alertName(config.backend, rule.id)
  const { expr, holds = rule.for, value } = condition
  return {
    alert,
    expr: value ? withClear(value, rule, alert, only, writer) : expr,
    ...(holds > 0 && { for: formatDuration(holds) }),
    // Over at the second clear run in a row.
    keep_firing_for: formatDuration(interval),
    labels: { severity: rule.priority >= 8 ? 'critical' : 'warning', priority: String(rule.priority), rule: rule.id },
    annotations: defined({
      summary: `${rule.id} at {{ $labels.instance }}: {{ $value }} (limit ${rule.limit})`,
      dashboard: endpoints?.length === 1 ? endpoints[0]?.dashboardUrl : undefined,
      runbook_url: endpoints?.length === 1 ? endpoints[0]?.runbookUrl : undefined,
    }),
  }
}

export function alertName(backend: string, rule: string): string {
  const camel = (text: string) => text.replace(/(^|[_-])(\w)/g, (_, __, letter: string) => letter.toUpperCase())
  return `Queuebell${camel(backend)}${camel(rule)}`
}

interface Condition {
  expr: string
  /** A series that is compared with limit and clear. */
  value?: string
  holds?: number
}

/** Numbers that a series of ours has; each is compared with the limit and its clear. */
const VALUES: Readonly<Record<string, GaugeSignal | string>> = {
  waiting: 'waiting_for_room',
  inflight: 'inside',
  kv_cache: 'kv_cache',
  queue_wait: 'queue_wait',
  ttft: 'ttft_p99',
  itl: 'itl_p99',
  e2e: 'e2e_p99',
  queue_tail: 'queue_wait_p95',
  errors: 'failed_share',
  preemptions: 'preemptions_per_second',
  gpu_memory: 'gpu_memory',
  gpu_temperature: 'gpu_temperature',
  observer: 'observer_degraded',
}
/** Counted since the last run. */
const INCREASES: Readonly<Record<string, string>> = {
  rejected: 'admission_rejected',
  stale: 'engine_state_stale',
  queue_full: 'queue_full',
  parked: 'admission_parked',
  corrupted: 'corrupted',
  transfer: 'transfer_failed',
}

function conditionOf(rule: Rule, { config, dialect, interval, match }: Writer, only: string): Condition | undefined {
  const { backend } = config
  const within = [match, only].filter((one) => one !== '').join(', ')
  const of = (name: string) => `${series(backend, name)}${only === '' ? '' : `{${only}}`}`
  const up = `up${within === '' ? '' : `{${within}}`}`
  const step = formatDuration(interval)
  const value = VALUES[rule.id]
  if (value !== undefined) return { expr: '', value: of(value) }
  const counted = INCREASES[rule.id]
  if (counted !== undefined) {
    const before = `${of(counted)} offset ${step}`
    const born = `((${of(counted)} unless on (${BY}) ${before}) and on (${BY}) ${up} offset ${step} == 1)`
    const holds = rule.id === 'transfer' ? { holds: interval } : {}
    return { expr: `${of(counted)} - ${before} > ${rule.limit}\nor ${born} > ${rule.limit}`, ...holds }
  }
  switch (rule.id) {
    case 'down':
      return { expr: `${isOurs(up, config)} == 0`, holds: (rule.limit - 1) * interval + rule.for }
    case 'blind':
      return { expr: blind(up, within, dialect, config), holds: (rule.limit - 1) * interval + rule.for }
    case 'stalled':
      return { expr: stalled(rule, config, interval, only) }
    case 'growth': {
      const at = (runs: number) => of('waiting') + (runs === 0 ? '' : ` offset ${formatDuration(runs * interval)}`)
      const rises = Array.from({ length: GROWING_RUNS }, (_, i) => `(${at(i)} > ${at(i + 1)})`)
      return { expr: `(${at(0)} - ${at(GROWING_RUNS)} >= ${rule.limit})\nand ${rises.join('\nand ')}` }
    }
    case 'upstream':
      return { expr: `${of('upstream_health')} == 0` }
    default:
      return undefined
  }
}

/** Of any engine: work at each of the last readings, and nothing moved between them; or the server itself calls it unhealthy. */
function stalled(rule: Rule, { backend }: Config, interval: number, only: string): string {
  const where = only === '' ? '' : `{${only}}`
  const of = (name: string) => `${series(backend, name)}${where}`
  // The readings at both ends, and those between.
  const span = formatDuration(rule.limit * interval + interval / 2)
  const still = [
    `min_over_time(${of('work')}[${span}]) > 0`,
    `and on (${BY_ENGINE}) count_over_time(${of('work')}[${span}]) > ${rule.limit}`,
    `and on (${BY_ENGINE}) changes(${of('progress')}[${span}]) == 0`,
    `and on (${BY_ENGINE}) count_over_time(${of('progress')}[${span}]) > ${rule.limit}`,
    `unless on (${BY}) ${of('asleep')} > 0`,
  ].join('\n')
  return `max by (${BY}) (\n${still}\n)\nor max by (${BY}) (${of('engine_healthy')} == bool 0) > 0`
}

/** `up` is of every job: without a match, of those alone that ever showed a series of this server. */
function isOurs(up: string, { backend }: Config): string {
  if (up.includes('{')) return up
  const { signals } = TABLES[backend as ScrapedBackend]
  const main = (['waiting', 'running', 'finished'] as const).find((one) => signals[one]) ?? 'gpu_temperature'
  return `(up and on (${BY}) last_over_time(${series(backend, main)}[1d]))`
}

/** Of what a server cannot be judged without, the series that are recorded. */
const RECORDED_CORE: ReadonlySet<string> = new Set(['waiting', 'running', 'kv_cache', 'finished'])

/** One that was there is not gone without a reason; a counter may wait for its first event after a restart. */
const RECORDED_GAUGES = ['waiting', 'running', 'kv_cache'] as const

/** What the server cannot be judged without is missing in a good scrape, or what was there is gone. */
function blind(up: string, within: string, { table }: Dialect, config: Config): string {
  const { backend } = config
  // One that appears with its first event is missing from every server that is new.
  const core = Object.entries(table.signals).flatMap(([signal, row]) =>
    row?.core && !row.perSubject && !row.zeroBeside && RECORDED_CORE.has(signal) ? [signal] : [],
  )
  const subjects = Object.entries(table.signals).flatMap(([signal, row]) =>
    row?.core && row.perSubject ? [signal] : [],
  )
  const samples = `scrape_samples_scraped${within === '' ? '' : `{${within}}`} > 0`
  const seen = table.emptyIsHealthy ? ` and on (${BY}) ${samples}` : ''
  const good = `(${isOurs(up, config)} == 1${seen})`
  const without = (one: string) => `unless on (${BY}) ${series(backend, one)}`
  const gone = RECORDED_GAUGES.filter(
    (one) => table.signals[one] && (table.oneCoreIsEnough || !core.includes(one)),
  ).map((one) => `(${good} and on (${BY}) last_over_time(${series(backend, one)}[1d]) ${without(one)})`)
  if (table.oneCoreIsEnough)
    return [`(${[good, ...core.map(without), ...subjects.map(without)].join(' ')})`, ...gone].join('\nor ')
  if (core.length > 0) return [...core.map((one) => `(${good} ${without(one)})`), ...gone].join('\nor ')
  const any = subjects.filter((one) => one !== 'gpu_xid').map((one) => `unless on (${BY}) ${series(backend, one)}`)
  return `${good} ${any.join(' ')}`
}

/**
 * Fires beyond the limit, goes on until the clear limit, and while the number is not known or means nothing: no answer
 * is no end. While the server is down, or for its KV use stalled, nothing begins.
 */
function withClear(value: string, rule: Rule, alert: string, only: string, { config, match }: Writer): string {
  const beyond = rule.breach === 'above' ? '>' : '>='
  const within = [match, only].filter((one) => one !== '').join(', ')
  const up = `up${within === '' ? '' : `{${within}}`}`
  const { backend } = config
  const alerts = (names: readonly string[]) =>
    `ALERTS{alertname=~"${names.join('|')}", alertstate="firing"${only === '' ? '' : `, ${only}`}}`
  const firing = alerts([alert])
  const holding = alerts(['down', ...(rule.id === 'kv_cache' ? ['stalled'] : [])].map((id) => alertName(backend, id)))
  const table = TABLES[backend as ScrapedBackend]
  const subject = /^(gpu|upstream)/.test(rule.id) ? gpu({ table }) : BY
  const clear = rule.clear === undefined ? [] : [`(${value} ${beyond} ${rule.clear} and on (${subject}) ${firing})`]
  const known = `max by (${subject}) (${firing})`
  return [
    `(${value} ${beyond} ${rule.limit} unless on (${BY}) ${holding})`,
    ...clear,
    `((${known} unless on (${subject}) ${value}) and on (${BY}) ${up})`,
    `(${known} and on (${BY}) ${holding})`,
  ].join('\nor ')
}
