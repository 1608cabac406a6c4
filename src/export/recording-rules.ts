import { TABLES } from '../backends/backends.ts'
import type { Config } from '../model/config.ts'
import type { CounterSignal } from '../model/signals.ts'
import { REQUESTS_AT_LEAST } from '../signals/derive.ts'
import { MEAN_AT_LEAST, QUANTILE_AT_LEAST } from '../signals/quantile.ts'
import { allOf, BY, BY_ENGINE, type Dialect, gauge, increase, mean, quantile, total } from './promql.ts'

export interface RecordingRule {
  record: string
  expr: string
}

/** The name of a recorded series. */
export function series(backend: string, name: string): string {
  return `queuebell:${backend.replace(/-/g, '_')}:${name}`
}

/** Each signal once, under a name of ours: what the alerts and a dashboard read. */
export function recordingRules(config: Config, dialect: Dialect): RecordingRule[] {
  const { backend } = config
  const own = (name: string) => series(backend, name)
  const recorded = rowsOf(dialect, config.window).flatMap(([name, expr]) => (expr ? [{ record: own(name), expr }] : []))
  const has = (name: string) => recorded.some(({ record }) => record === own(name))
  const [waiting, running] = [own('waiting'), own('running')]
  const inside = has('waiting') ? `(${waiting} or 0 * ${running})\n+ on (${BY}) ${running}` : running
  // Those that only wait for an adapter or a transfer do not wait for room.
  const deferred = `(${own('waiting_deferred')} or 0 * ${waiting})`
  // A name that has a limit of its own would be told by that of the others.
  const ofLimit = waitingOfLimit(dialect) ?? waiting
  const room = has('waiting_deferred') ? `clamp_min(${waiting} - on (${BY}) ${deferred}, 0)` : ofLimit
  return [
    ...recorded,
    ...(has('running') ? [{ record: own('inside'), expr: inside }] : []),
    ...(has('waiting') ? [{ record: own('waiting_for_room'), expr: room }] : []),
  ]
}

/** Name and expression; without one where the server does not publish it. */
function rowsOf(dialect: Dialect, window: number): [string, string | undefined][] {
  const finished = increase('finished', dialect)
  return [
    ['waiting', gauge('waiting', dialect)],
    ['running', gauge('running', dialect)],
    ['kv_cache', gauge('kv_cache', dialect)],
    ['finished', total('finished', dialect)],
    ['queue_wait', mean('queue_wait', dialect, MEAN_AT_LEAST)],
    ['queue_wait_p95', quantile(0.95, 'queue_wait', dialect, QUANTILE_AT_LEAST)],
    ['ttft_p99', quantile(0.99, 'ttft', dialect, QUANTILE_AT_LEAST)],
    ['itl_p99', quantile(0.99, 'itl', dialect, QUANTILE_AT_LEAST)],
    ['e2e_p99', quantile(0.99, 'e2e', dialect, QUANTILE_AT_LEAST)],
    ['failed_share', finished && failedShare(finished, dialect)],
    ['preemptions_per_second', perSecond('preemptions', dialect, window)],
    ['tokens_per_second', perSecond('generation_tokens', dialect, window)],
    ['requests_per_second', perSecond('finished', dialect, window)],
    ['gpu_memory', gauge('gpu_memory', dialect, gpu(dialect))],
    ['gpu_temperature', gauge('gpu_temperature', dialect, gpu(dialect))],
    ['gpu_utilisation', gauge('gpu_utilisation', dialect, gpu(dialect))],
    ['observer_degraded', gauge('observer_degraded', dialect)],
    ['upstream_health', gauge('upstream_health', dialect, gpu(dialect))],
    ['admission_rejected', total('admission_rejected', dialect)],
    ['engine_state_stale', total('engine_state_stale', dialect)],
    ['queue_full', total('queue_full', dialect)],
    ['admission_parked', total('admission_parked', dialect)],
    ['corrupted', total('corrupted', dialect)],
    ['transfer_failed', total('transfer_failed', dialect)],
    ['asleep', gauge('asleep', dialect, BY_ENGINE) ?? gauge('paused', dialect, BY_ENGINE)],
    ['engine_healthy', gauge('engine_healthy', dialect, BY_ENGINE)],
    ['waiting_deferred', gauge('waiting_deferred', dialect)],
    ['work', work(dialect)],
    ['progress', progress(dialect)],
  ]
}

/** What waits, without the names that have limits of their own; `undefined` where none has. */
function waitingOfLimit(dialect: Dialect): string | undefined {
  const row = dialect.table.signals.waiting
  const from = row?.from.filter(({ limits }) => !limits)
  if (!row || from?.length === row.from.length) return undefined
  const signals = { ...dialect.table.signals, waiting: { ...row, from: from ?? [] } }
  return gauge('waiting', { ...dialect, table: { ...dialect.table, signals } })
}

/** Requests inside, by engine where engines are told apart. */
function work(dialect: Dialect): string | undefined {
  const parts = (['waiting', 'running'] as const).flatMap((signal) => gauge(signal, dialect, BY_ENGINE) ?? [])
  return parts.length === 0 ? undefined : `sum by (${BY_ENGINE}) (${allOf(parts.map((part) => `(${part})`))})`
}

/** The label sets of a subject: a GPU or its part, an upstream. */
export function gpu({ table }: Pick<Dialect, 'table'>): string {
  const { subject } = table
  if (!subject) return BY
  return subject.kind === 'gpu'
    ? `${BY}, ${subject.id}, ${subject.number}, ${subject.instance}`
    : `${BY}, ${subject.id}`
}

/**
 * Failed ones are among the finished where both are one series by its labels; else they come on top. Answers of the
 * API server alone always do.
 */
function failedShare(finished: string, dialect: Dialect): string | undefined {
  const { signals } = dialect.table
  const failed = increase('failed', dialect)
  const refused = withoutRefusals(dialect)
  const parts = [failed, refused]
  const known = parts.filter((part) => part !== undefined)
  if (known.length === 0) return undefined
  const names = new Set(signals.finished?.from.map(({ name }) => name))
  const isAmong = signals.failed?.from.some(({ name, among }) => among || names.has(name)) === true
  const ended = [finished, isAmong ? undefined : failed, refused].filter((part) => part !== undefined)
  const sum = (all: readonly string[]) => `sum by (${BY}) (${allOf(all.map((one) => `(${one})`))})`
  return `${sum(known)}\n/ on (${BY}) ((${sum(ended)} and on (${BY}) (${finished})) >= ${REQUESTS_AT_LEAST})`
}

/** Answers with 5xx, but for what the server's own cap on the queue turned away. */
function withoutRefusals(dialect: Dialect): string | undefined {
  const refused = increase('http_failed', dialect)
  const rejected = refused && increase('admission_rejected', dialect)
  return rejected === undefined ? refused : `clamp_min((${refused}) - ((${rejected}) or (${refused}) * 0), 0)`
}

function perSecond(signal: CounterSignal, dialect: Dialect, window: number): string | undefined {
  const grown = increase(signal, dialect)
  return grown && `(${grown}) / ${window / 1000}`
}

/** All that moves while an engine works. */
function progress(dialect: Dialect): string | undefined {
  if (dialect.table === TABLES.gateway) return undefined
  const moved = (['steps', 'generation_tokens', 'prompt_tokens', 'finished'] as const).flatMap(
    (signal) => total(signal, dialect, BY_ENGINE)?.split('\nor ') ?? [],
  )
  // Whatever is there adds up: a part that is absent is not 0 for the others.
  return moved.length === 0
    ? undefined
    : `sum by (${BY_ENGINE}) (\n${allOf(moved).replaceAll(') or label', ')\nor label')}\n)`
}
