import { formatDuration } from '../config/duration.ts'
import { BREACH_SIGNS, UNITS } from '../config/units.ts'
import { tellFailure } from '../messages/failure-line.ts'
import { sanitizeText } from '../messages/sanitize.ts'
import type { Backend } from '../model/backend.ts'
import type { Config, Endpoint } from '../model/config.ts'
import type { DerivedSignal } from '../model/notification.ts'
import type { EndpointResult, RunResult } from '../model/result.ts'
import type { Rule, RuleUnit } from '../model/rule.ts'
import type { Evaluation } from '../rules/evaluate.ts'
import { explain } from '../rules/explain.ts'
import type { RuleId } from '../rules/rules.ts'

/** The columns of the table: a signal, its heading, its unit, and the rule whose limit stands under the heading. */
const COLUMNS: readonly { signal: DerivedSignal; head: string; unit: RuleUnit; rule?: RuleId }[] = [
  { signal: 'waiting', head: 'waiting', unit: 'requests', rule: 'waiting' },
  { signal: 'running', head: 'running', unit: 'requests' },
  { signal: 'kv_cache', head: 'KV cache', unit: 'share', rule: 'kv_cache' },
  { signal: 'queue_wait', head: 'queue wait', unit: 'seconds', rule: 'queue_wait' },
  { signal: 'ttft_p99', head: 'TTFT p99', unit: 'seconds', rule: 'ttft' },
  { signal: 'itl_p99', head: 'ITL p99', unit: 'seconds', rule: 'itl' },
  { signal: 'tokens_per_second', head: 'tok/s', unit: 'requests' },
  { signal: 'prefix_hit_share', head: 'prefix hits', unit: 'share' },
  { signal: 'failed_share', head: 'failed', unit: 'share', rule: 'errors' },
  { signal: 'canary_wait', head: 'canary wait', unit: 'seconds', rule: 'canary' },
  { signal: 'canary_ttft', head: 'canary TTFT', unit: 'seconds', rule: 'canary' },
  { signal: 'canary_load', head: 'load', unit: 'seconds', rule: 'cold_load' },
  { signal: 'gpu_memory', head: 'GPU memory', unit: 'share', rule: 'gpu_memory' },
  { signal: 'gpu_utilisation', head: 'GPU busy', unit: 'share' },
  { signal: 'gpu_temperature', head: 'GPU °C', unit: '°C', rule: 'gpu_temperature' },
  { signal: 'beat_age', head: 'last beat', unit: 'seconds', rule: 'heartbeat' },
]

/** One run as a person sees it in the terminal: a row an endpoint, limits under the headings, phases that are not ok, failures and notes below. */
export function renderRun(result: RunResult, config: Config): string {
  const head = `${result.backend}  ${result.at}  ${result.outcome}`
  if (result.endpoints.length === 0) return head
  const columns = COLUMNS.filter((c) => result.endpoints.some((e) => e.signals[c.signal] !== undefined))
  const rows = [
    ['endpoint', 'up', ...columns.map((c) => c.head), 'alerts'],
    ['', '', ...columns.map((c) => limitText(c.rule, config.endpoints)), ''],
    ...result.endpoints.map((e) => [
      e.name + (e.model === undefined ? '' : ` (${sanitizeText(e.model, 24)})`),
      e.up ? 'up' : isAwaited(e, result.backend) ? '–' : 'DOWN',
      ...columns.map((c) => valueText(e, c.signal, c.unit)),
      alertsText(e),
    ]),
  ]
  const { delivered, waiting, refused } = result.pushes
  const below = result.endpoints.flatMap((endpoint) => linesBelow(endpoint, result.backend))
  return [
    head,
    '',
    align(rows),
    ...(below.length > 0 ? ['', ...below] : []),
    '',
    // Without a push server a push is only printed here: nobody has been told.
    `pushes: ${delivered} ${config.channels.length > 0 ? 'delivered' : 'printed'}, ${waiting} waiting, ${refused} refused`,
  ].join('\n')
}

/** Each decision of a run with its numbers: what `--why` prints. */
export function renderDecisions(decisions: Evaluation['decisions']): string {
  const rows = decisions.map(({ endpoint, decision }) => {
    const { rule, measured, judgement, before, after, heldBy } = decision
    const value =
      measured.value === undefined ? '–' : `${measured.atLeast ? '≥ ' : ''}${UNITS[rule.unit].brief(measured.value)}`
    return [
      endpoint,
      measured.subject === undefined ? rule.id : `${rule.id} ${sanitizeText(measured.subject, 24)}`,
      value,
      bound(rule),
      rule.clear === undefined ? '–' : UNITS[rule.unit].brief(rule.clear),
      formatDuration(rule.for),
      heldBy ? 'held back' : judgement,
      before === after ? after : `${before} → ${after}`,
      explain(decision) ?? '',
    ]
  })
  return align([['endpoint', 'rule', 'value', 'limit', 'clear', 'for', 'judged', 'phase', 'why'], ...rows])
}

/** Columns as wide as their widest cell, two blanks between them. */
export function align(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => [...(row[i] ?? '')].length)))
  const pad = (cell: string, i: number) => cell + ' '.repeat((widths[i] ?? 0) - [...cell].length)
  return rows
    .map((row) => row.map(pad).join('  ').trimEnd())
    .filter((line) => line !== '')
    .join('\n')
}

/** A worker that has not reported, and need not have yet. */
function isAwaited({ signals, alerts }: EndpointResult, backend: Backend): boolean {
  return backend === 'heartbeat-check' && signals.beat_age === undefined && alerts.heartbeat === undefined
}

function linesBelow(endpoint: EndpointResult, backend: Backend): string[] {
  const { failure, notes } = endpoint
  const told = failure && tellFailure(failure, backend)
  return [
    ...(told ? [`${endpoint.name}: ${told.what} at ${endpoint.url}`, `  ${told.todo}`] : []),
    ...(notes ?? []).map((note) => `${endpoint.name}: ${note}`),
  ]
}

function alertsText(endpoint: EndpointResult): string {
  const taken = endpoint.acknowledged ?? []
  const phases = Object.entries(endpoint.alerts).map(([id, phase]) =>
    taken.includes(id) ? `${id} ${phase}, acknowledged` : `${id} ${phase}`,
  )
  if (endpoint.silenced !== undefined) phases.push(`silenced until ${endpoint.silenced.slice(0, 16)}Z`)
  if (endpoint.verdict) phases.push(`(${endpoint.verdict})`)
  return phases.length === 0 ? 'ok' : phases.join(', ')
}

function valueText(endpoint: EndpointResult, signal: DerivedSignal, unit: RuleUnit): string {
  const value = endpoint.signals[signal]
  if (value === undefined) return '–'
  return `${endpoint.atLeast?.includes(signal) ? '≥ ' : ''}${UNITS[unit].brief(value)}`
}

/** The limit under a heading: where endpoints differ, the span. */
function limitText(id: RuleId | undefined, endpoints: readonly Endpoint[]): string {
  const rules = endpoints.flatMap((e) => e.rules.filter((r) => r.id === id))
  const texts = [...new Set(rules.map(bound))]
  return texts.length > 1 ? 'differs' : (texts[0] ?? '')
}

function bound(rule: Rule): string {
  if (rule.unit === 'switch') return '–'
  return `${BREACH_SIGNS[rule.breach]} ${UNITS[rule.unit].brief(rule.limit)}`
}
