import type { Dashboard, Panel, ThresholdsMode } from '@grafana/schema'
import { TABLES } from '../backends/backends.ts'
import { formatDuration } from '../config/duration.ts'
import type { BackendTable, ScrapedBackend } from '../model/backend.ts'
import type { Config } from '../model/config.ts'
import type { HistogramSignal } from '../model/signals.ts'
import { type Dialect, gauge, increase, mean, quantile } from './promql.ts'

interface Line {
  name: string
  expr: string | undefined
}

interface PanelSpec {
  title: string
  description: string
  /** Grafana's own name of the unit. */
  unit: string
  lines: readonly Line[]
  /** The rule whose limit is drawn. */
  rule: string
  max?: number
}

const SCHEMA_VERSION = 40
const DATASOURCE = { type: 'prometheus', uid: '$datasource' }
const WIDTH = 12
const HEIGHT = 8
/** Chosen at the top of the dashboard. */
const CHOSEN = 'job=~"$job", instance=~"$instance"'

/** A dashboard of Grafana 11 for one function: seven panels, with the limits of its configuration as lines. */
export function grafanaDashboard(config: Config, options: { match: string }): Dashboard {
  const { backend } = config
  const match = [CHOSEN, options.match].filter((one) => one !== '').join(', ')
  const window = formatDuration(config.window)
  const dialect: Dialect = { table: TABLES[backend as ScrapedBackend], match, window }
  const gpu: Dialect = { table: TABLES.dcgm, match: '', window }
  const panels = panelsOf(dialect, gpu, config.window).filter(({ lines }) =>
    lines.some(({ expr }) => expr !== undefined),
  )
  return {
    uid: `queuebell-${backend}`,
    title: `Queuebell: ${backend}`,
    description: 'The series that the rules judge, with their limits. Written by `npm run export -- grafana`.',
    tags: ['queuebell', backend],
    schemaVersion: SCHEMA_VERSION,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    templating: { list: variables(dialect.table) },
    annotations: { list: [] },
    panels: panels.map((panel, index) => panelOf(panel, index, config)),
  }
}

function panelsOf(dialect: Dialect, gpu: Dialect, window: number): PanelSpec[] {
  const share = (part: string | undefined, whole: string | undefined) =>
    part && whole ? `(${part}) / on (job, instance) ((${whole}) > 0)` : undefined
  const perSecond = (expr: string | undefined) => expr && `(${expr}) / ${window / 1000}`
  const p99 = (signal: HistogramSignal) => quantile(0.99, signal, dialect, 1)
  return [
    {
      title: 'Latency',
      description: 'Time to first token, between tokens and of the whole request, over the window that is judged.',
      unit: 's',
      rule: 'ttft',
      lines: [
        { name: 'TTFT p99', expr: p99('ttft') },
        { name: 'TTFT p50', expr: quantile(0.5, 'ttft', dialect, 1) },
        { name: 'ITL p99', expr: p99('itl') },
        { name: 'E2E p99', expr: p99('e2e') },
        { name: 'queue mean', expr: mean('queue_wait', dialect, 1) },
      ],
    },
    {
      title: 'Throughput',
      description: 'Tokens generated and read, and requests finished, a second.',
      unit: 'short',
      rule: 'throughput',
      lines: [
        { name: 'generated tokens/s', expr: perSecond(increase('generation_tokens', dialect)) },
        { name: 'prompt tokens/s', expr: perSecond(increase('prompt_tokens', dialect)) },
        { name: 'requests/s', expr: perSecond(increase('finished', dialect)) },
      ],
    },
    {
      title: 'KV cache',
      description: 'Share of the KV cache in use; preemptions follow where it is full.',
      unit: 'percentunit',
      rule: 'kv_cache',
      max: 1,
      lines: [{ name: 'in use', expr: gauge('kv_cache', dialect) }],
    },
    {
      title: 'Queue',
      description: 'Requests that wait, and those that run.',
      unit: 'short',
      rule: 'waiting',
      lines: [
        { name: 'waiting', expr: gauge('waiting', dialect) },
        { name: 'running', expr: gauge('running', dialect) },
        { name: 'preemptions/s', expr: perSecond(increase('preemptions', dialect)) },
      ],
    },
    {
      title: 'GPU',
      description: 'Memory in use and time busy of each GPU, from the DCGM exporter.',
      unit: 'percentunit',
      rule: 'gpu_memory',
      max: 1,
      lines: [
        { name: 'memory {{gpu}}', expr: gauge('gpu_memory', gpu, 'instance, gpu') },
        { name: 'busy {{gpu}}', expr: gauge('gpu_utilisation', gpu, 'instance, gpu') },
      ],
    },
    {
      title: 'Prefix cache hits',
      description:
        "Share of prompt tokens found in the prefix cache; the rule judges a fall from the server's own past.",
      unit: 'percentunit',
      rule: 'prefix_hits',
      max: 1,
      lines: [
        { name: 'hits', expr: share(increase('prefix_hits', dialect), increase('prefix_queries', dialect)) },
        { name: 'of the last batch', expr: gauge('hit_share', dialect) },
      ],
    },
    {
      title: 'Errors',
      description: 'Share of the requests that ended with an error of the server.',
      unit: 'percentunit',
      rule: 'errors',
      lines: [{ name: 'failed', expr: share(increase('failed', dialect), increase('finished', dialect)) }],
    },
  ]
}

function panelOf(spec: PanelSpec, index: number, config: Config): Panel {
  const steps = [
    { color: 'green', value: null },
    ...limitsOf(spec.rule, config).map((value) => ({ color: 'red', value })),
  ]
  return {
    id: index + 1,
    type: 'timeseries',
    title: spec.title,
    description: spec.description,
    datasource: DATASOURCE,
    gridPos: { x: (index % 2) * WIDTH, y: Math.floor(index / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    targets: spec.lines.flatMap(({ name, expr }, i) =>
      expr === undefined
        ? []
        : [{ refId: String.fromCharCode(65 + i), datasource: DATASOURCE, expr, legendFormat: `{{instance}} ${name}` }],
    ),
    fieldConfig: {
      defaults: {
        unit: spec.unit,
        min: 0,
        ...(spec.max !== undefined && { max: spec.max }),
        thresholds: { mode: 'absolute' as ThresholdsMode, steps },
        custom: { thresholdsStyle: { mode: steps.length > 1 ? 'line' : 'off' }, showPoints: 'never', lineWidth: 1 },
      },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  }
}

/** A fall from its own past has no fixed height: no line. Where endpoints differ, each of their limits is one. */
function limitsOf(id: string, { endpoints, backend }: Config): number[] {
  const rules = endpoints.flatMap(({ rules }) => rules.filter((rule) => rule.id === id && rule.unit !== 'fall'))
  if (id === 'gpu_memory' && backend !== 'dcgm') return []
  return [...new Set(rules.map(({ limit }) => limit))].sort((a, b) => a - b)
}

function variables(table: BackendTable): NonNullable<NonNullable<Dashboard['templating']>['list']> {
  const main = table.signals.waiting ?? table.signals.running ?? table.signals.gpu_temperature
  const series = `{__name__=~"${main?.from.map(({ name }) => name).join('|')}"}`
  const query = (name: string, label: string, of: string) => ({
    name,
    type: 'query' as const,
    label,
    datasource: DATASOURCE,
    query: { query: `label_values(${of}, ${name})`, refId: name },
    definition: `label_values(${of}, ${name})`,
    refresh: 2,
    includeAll: true,
    multi: true,
    current: { text: 'All', value: '$__all', selected: true },
    options: [],
  })
  return [
    {
      name: 'datasource',
      type: 'datasource' as const,
      label: 'Data source',
      query: 'prometheus',
      refresh: 1,
      options: [],
      current: { text: '', value: '', selected: false },
    },
    query('job', 'Job', series),
    query('instance', 'Instance', `${series.slice(0, -1)}, job=~"$job"}`),
  ] as NonNullable<NonNullable<Dashboard['templating']>['list']>
}
