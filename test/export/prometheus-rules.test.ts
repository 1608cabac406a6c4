import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TABLES } from '../../src/backends/backends.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { alertName, type PrometheusRules, prometheusRules } from '../../src/export/prometheus-rules.ts'
import { ruleFile } from '../../src/export/yaml.ts'
import { prefixOf, type ScrapedBackend } from '../../src/model/backend.ts'
import type { Config } from '../../src/model/config.ts'
import type { Observation } from '../../src/model/observation.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { createPageReader } from '../../src/scrape/page-reader.ts'
import { readPage } from '../../src/scrape/read.ts'
import { settle } from '../../src/state/outbox.ts'
import { emptyState } from '../../src/state/schema.ts'
import { LONG } from '../long.ts'
import { EDGE_STORIES } from '../stories/edges.ts'
import { FAULT_STORIES } from '../stories/faults.ts'
import { HARDWARE_STORIES } from '../stories/hardware.ts'
import { MODEL_STORIES } from '../stories/models.ts'
import { OTHER_STORIES } from '../stories/others.ts'
import { REPORTED_STORIES } from '../stories/reported.ts'
import { SERVER_STORIES } from '../stories/servers.ts'
import { SPEED_STORIES } from '../stories/speed.ts'
import { STANDSTILL_STORIES } from '../stories/standstill.ts'
import type { Served, Story } from '../stories/story.ts'
import { VLLM_STORIES } from '../stories/vllm.ts'
import { WIDENED_STORIES } from '../stories/widened.ts'

const promtool = spawnSync('promtool', ['--version']).status === 0
const why = 'promtool is absent: apt-get install prometheus'
/** Minutes of a story. */
const LONGEST = 400
const START = Date.UTC(2026, 5, 1)

/** One of so many is judged by `npm test`: each costs a process of promtool. */
const ONE_OF = 16

/** Runs at half a minute: promtool's steps are whole ones. */
const UNEVEN = 'two copies that run at nearly one moment'

const STORIES = [
  ...VLLM_STORIES,
  ...OTHER_STORIES,
  ...HARDWARE_STORIES,
  ...EDGE_STORIES,
  ...FAULT_STORIES,
  ...STANDSTILL_STORIES,
  ...SERVER_STORIES,
  ...SPEED_STORIES,
  ...WIDENED_STORIES,
  ...MODEL_STORIES,
  ...REPORTED_STORIES,
].filter(({ backend, name, runs }) => {
  const minutes = runs.map(({ minute }) => minute)
  // A database takes no sample from before its last; days of minutes are for `npm run test:long`.
  const isInOrder = minutes.every((minute, i) => i === 0 || minute > (minutes[i - 1] ?? 0))
  return backend in TABLES && !name.includes(UNEVEN) && isInOrder && (LONG || Math.max(...minutes) <= LONGEST)
})

/** Stories whose point no expression has, by a part of their name. */
const APART: Readonly<Record<string, string>> = {
  '19 requests that all failed': 'increase() extrapolates while a series is younger than its span',
  'preemptions: more than one a second': 'a rate over a span that is not full yet is lower there',
  'series of its own that feed no rule': 'which of the other series are the server’s own is not known there',
  'histogram in milliseconds': 'that bounds are in another unit than the name says is not seen there',
  'milliseconds in the buckets of': 'that values are in another unit than the name says is not seen there',
  'prompts are read again and again': 'a prompt that is read again moves the counters, and so is progress there',
  'closes as idle': 'an alert that closes for lack of traffic would need to know since when there was none',
  'half of the sum': 'a half that was seen before and is missing makes ours a lower bound',
  'nor its end without traffic':
    'an alert that closes for lack of traffic would need to know since when there was none',
  'the counter of finished requests is gone': 'which series were there before is not known there',
  'so is a counter of a server that never says': 'which series were there before is not known there',
  'one that was taken out of the gateway': 'an upstream that is gone is forgotten after a day',
  'a counter that cannot be read is no counter': 'a value that cannot be is stored as any other',
  'errors fires once, and ends': 'increase() extrapolates while a series is younger than its span',
  'only the gauge with the prefill in it: 70': 'which of its names feeds a gauge decides which limit holds',
  'a limit of its owner holds for that gauge too': 'which of its names feeds a gauge decides which limit holds',
  'each waits longer: told at the first of them': 'the window widens until it can judge',
  'the watcher has no past: told with the fifth': 'the window widens until it can judge',
  'late from the thirtieth on': 'the window widens until it can judge',
  'every request of a small model beside a big one': 'each model is judged by itself',
  'one in three requests of a small model': 'each model is judged by itself',
  'genai: blind: what was there is gone': 'a counter that is gone may wait for its first event',
  'waited while the engine slept': 'which waits fall into a sleep is not known there',
}

function configOf(story: Pick<Story, 'backend' | 'env' | 'endpoints'>): Config {
  const endpoints = (story.endpoints ?? ['a']).map((name) => `${name}=http://${name.replace('/', '-')}:8000`).join(' ')
  const env = { [`${prefixOf(story.backend)}_ENDPOINTS`]: endpoints, ...story.env }
  const parsed = parseConfig(story.backend, env, { lambda: false })
  if (!parsed.ok) throw new Error(parsed.problems.join())
  return parsed.config
}

const servedTo = (name: string, served: Story['runs'][number]['served']): Served =>
  typeof served === 'string' || 'status' in served ? (served as Served) : (served[name] ?? 'refused')

/** What our rules have firing after each run: `waiting a-8000`. */
function ours(story: Story, config: Config, said: ReadonlySet<string>): Map<number, Set<string>> {
  const table = TABLES[story.backend as ScrapedBackend]
  let state = emptyState()
  const byMinute = new Map<number, Set<string>>()
  for (const { minute, served } of story.runs) {
    const now = START + minute * 60_000
    const observations = config.endpoints.map((endpoint): Observation => {
      const page = servedTo(endpoint.name, served)
      if (typeof page !== 'string' || page === 'refused')
        return { endpoint, took: 1, up: false, failure: { kind: 'refused' } }
      const reader = createPageReader(table)
      reader.push(new TextEncoder().encode(page))
      return { endpoint, took: 1, up: true, readings: readPage(reader.end(), table, { model: endpoint.model, now }) }
    })
    const evaluation = evaluate(state, observations, config, now)
    const delivered = evaluation.state.outbox.map(({ notification }) => ({
      id: notification.id,
      kind: 'delivered' as const,
    }))
    state = settle(evaluation.state, delivered, now, 'run')
    const firing = evaluation.endpoints.flatMap(({ name, alerts, subjects }) =>
      Object.entries(alerts).flatMap(([rule, phase]) => {
        if (phase !== 'firing' || !said.has(rule)) return []
        const on = `${rule} job: x, instance: "${name.replace('/', '-')}:8000"`
        // By endpoint there, by reason here.
        if (/^(rejected|stale|queue_full|parked|transfer)$/.test(rule)) return [on]
        const of = Object.entries(subjects?.[rule] ?? {}).filter(([, one]) => one === 'firing')
        return of.length === 0
          ? [on]
          : of.map(([subject]) => (/^(gpu|upstream)/.test(rule) ? on + labelsOf(subject, story) : on))
      }),
    )
    byMinute.set(minute, new Set(firing))
  }
  return byMinute
}

/** The labels of a subject, as the story's pages have them. */
function labelsOf(subject: string, { backend, runs }: Story): string {
  const { subject: named } = TABLES[backend as ScrapedBackend]
  const lines = runs.flatMap(({ served }) => (typeof served === 'string' ? served.split('\n') : []))
  if (named?.kind === 'upstream') {
    const ids = [named.id].flat()
    const labelsIn = (line: string) => new Map([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, k = '', v]) => [k, v]))
    const found = lines
      .map(labelsIn)
      .find((all) => ids.flatMap((id) => (all.get(id) === 'None' ? [] : (all.get(id) ?? []))).join(' at ') === subject)
    return ids.map((id) => (found?.has(id) ? `, ${id}: ${JSON.stringify(found.get(id))}` : '')).join('')
  }
  const [uuid = '', instance] = subject.split('/mig ')
  const line = lines.find(
    (one) => one.includes(`"${uuid}"`) && (instance === undefined || one.includes(`"${instance}"`)),
  )
  return [...(line ?? '').matchAll(/\b(UUID|gpu|GPU_I_ID)="([^"]*)"/g)]
    .map(([, label, text]) => `, ${label}: "${text}"`)
    .join('')
}

/** The pages of a story as Prometheus stores them: a value a minute, `_` where there was none. */
function inputSeries(story: Story, config: Config): string[] {
  const last = story.runs.at(-1)?.minute ?? 0
  const series = new Map<string, string[]>()
  const put = (name: string, minute: number, value: string) => {
    const values = series.get(name) ?? Array.from({ length: last + 1 }, () => '_')
    series.set(name, values)
    values[minute] = value
  }
  for (const { minute, served } of story.runs)
    for (const { name } of config.endpoints) {
      const on = `instance="${name.replace('/', '-')}:8000", job="x"`
      const page = servedTo(name, served)
      const isPage = typeof page === 'string' && page !== 'refused' && !page.trimStart().startsWith('<')
      put(`up{${on}}`, minute, isPage ? '1' : '0')
      put(
        `scrape_samples_scraped{${on}}`,
        minute,
        isPage ? String(page.split('\n').filter((line) => /^[^#\s]/.test(line)).length) : '0',
      )
      for (const line of isPage ? page.split('\n') : []) {
        const found = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
        if (!found) continue
        const [, metric = '', labels, value = ''] = found
        put(`${metric}{${labels ? `${labels}, ` : ''}${on}}`, minute, value.replace('+Inf', 'Inf'))
      }
    }
  // A series that was there and is not is stale at once, as after a real scrape.
  return [...series].map(([name, values]) => {
    const marked = values.map((value, i) => (value === '_' && i > 0 && values[i - 1] !== '_' ? 'stale' : value))
    return `  - series: ${JSON.stringify(name)}\n    values: ${JSON.stringify(marked.join(' '))}`
  })
}

/** @returns what promtool says where it differs from ours; empty: they agree at every minute. */
function differences(story: Story): { said: Set<string>; output: string } {
  const config = configOf(story)
  const rules = prometheusRules(config, { match: 'job="x"' })
  const said = new Set(rules.rules.flatMap((rule) => ('alert' in rule ? [rule.labels.rule ?? ''] : [])))
  const folder = mkdtempSync(join(tmpdir(), 'rules-'))
  try {
    writeFileSync(join(folder, 'rules.yml'), ruleFile([bare(rules)]))
    const expected = [...ours(story, config, said)].flatMap(([minute, firing]) =>
      [...said].map((rule) => {
        const on = [...firing].filter((one) => one.startsWith(`${rule} `)).map((one) => one.slice(rule.length + 1))
        const alerts = on.map((instance) => `      - exp_labels: {${instance}}`)
        return [
          `  - eval_time: ${minute}m`,
          `    alertname: ${alertName(story.backend, rule)}`,
          `    exp_alerts:${alerts.length > 0 ? `\n${alerts.join('\n')}` : ' []'}`,
        ].join('\n')
      }),
    )
    const file = [
      'rule_files: [rules.yml]',
      'evaluation_interval: 1m',
      'tests:',
      '- interval: 1m',
      '  input_series:',
      ...inputSeries(story, config),
      '  alert_rule_test:',
      ...expected,
    ].join('\n')
    writeFileSync(join(folder, 'test.yml'), file)
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', join(folder, 'test.yml')])
    return { said, output: status === 0 ? '' : `${stdout}${stderr}` }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Without what a person reads: labels of our own and texts with numbers. Subjects are one. */
function bare(rules: PrometheusRules): PrometheusRules {
  return {
    ...rules,
    rules: rules.rules.map((rule) => ('alert' in rule ? { ...rule, labels: {}, annotations: {} } : rule)),
  }
}

describe('promtool over the stories', { timeout: 120_000 }, () => {
  test.skipIf(promtool || process.env.CI !== 'true')('in CI, promtool is there to judge', () =>
    expect(promtool, why).toBe(true),
  )

  const named = STORIES.map((story) => [`${story.backend}: ${story.name}`, story] as const)
  test.skipIf(!promtool).each(named.filter((_, i) => i % ONE_OF === 0))('%s', judge)
  test.skipIf(!promtool).each(named.filter((_, i) => i % ONE_OF !== 0))('%s', { tags: ['long'] }, judge)

  function judge(name: string, story: Story): void {
    const apart = Object.entries(APART).find(([part]) => name.includes(part))
    const { output } = differences(story)
    if (apart) expect(output, `no longer differs: ${apart[1]}`).not.toBe('')
    else expect(output).toBe('')
  }
})
