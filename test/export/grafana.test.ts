import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { runCommand } from '../../src/cli/commands.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { grafanaDashboard } from '../../src/export/grafana.ts'
import type { Backend } from '../../src/model/backend.ts'

function dashboard(backend: Backend, env: Record<string, string> = {}) {
  const parsed = parseConfig(
    backend,
    { [`${backend.toUpperCase()}_ENDPOINTS`]: 'a=http://h:8000', ...env },
    { lambda: false },
  )
  if (!parsed.ok) throw new Error(parsed.problems.join())
  return grafanaDashboard(parsed.config, { match: '' })
}

type Panel = {
  title: string
  targets: { expr: string }[]
  fieldConfig: { defaults: { thresholds: { steps: { value: number | null }[] } } }
}
const panelsOf = (of: ReturnType<typeof dashboard>) => (of.panels ?? []) as unknown as Panel[]
const limitsOf = (panel: Panel | undefined) => panel?.fieldConfig.defaults.thresholds.steps.map(({ value }) => value)

describe('a dashboard for vLLM', () => {
  test('has the seven panels of a good board', () => {
    expect(panelsOf(dashboard('vllm')).map(({ title }) => title)).toEqual([
      'Latency',
      'Throughput',
      'KV cache',
      'Queue',
      'GPU',
      'Prefix cache hits',
      'Errors',
    ])
  })

  test('draws the limits of this configuration', () => {
    const panels = panelsOf(dashboard('vllm', { VLLM_WAITING_LIMIT: '33', VLLM_TTFT_LIMIT: '1.5s' }))
    const of = (title: string) => limitsOf(panels.find((panel) => panel.title === title))
    expect([of('Queue'), of('Latency'), of('KV cache'), of('Errors'), of('Throughput')]).toEqual([
      [null, 33],
      [null, 1.5],
      [null, 0.9],
      [null, 0.05],
      [null],
    ])
  })

  test('asks for what is chosen at its top, under every name that the server has for it', () => {
    const queue = panelsOf(dashboard('vllm')).find(({ title }) => title === 'Queue')
    expect(queue?.targets[0]?.expr).toContain('vllm:num_requests_waiting{job=~"$job", instance=~"$instance"}')
    expect(queue?.targets[0]?.expr).toContain('\nor sum by (job, instance) (ray_vllm:num_requests_waiting')
  })
})

const BACKENDS = ['vllm', 'tgi', 'tei', 'sglang', 'llamacpp', 'gateway', 'dcgm'] as const
const promtool = spawnSync('promtool', ['--version']).status === 0

test.each(BACKENDS)('%s: panels do not overlap, and each has an expression', (backend) => {
  const { panels = [] } = dashboard(backend)
  const places = panels.map((panel) => JSON.stringify((panel as { gridPos?: object }).gridPos))
  expect(new Set(places).size).toBe(panels.length)
  expect(panelsOf(dashboard(backend)).every(({ targets }) => targets.length > 0)).toBe(true)
})

test.skipIf(!promtool).each(BACKENDS)('%s: Prometheus can read every expression', (backend) => {
  const exprs = panelsOf(dashboard(backend)).flatMap(({ targets }) => targets.map(({ expr }) => expr))
  const rules = exprs.map((expr, i) => ({
    record: `r${i}`,
    expr: expr.replaceAll('$job', 'x').replaceAll('$instance', 'y'),
  }))
  const file = join(mkdtempSync(join(tmpdir(), 'grafana-')), 'rules.json')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
  const { status, stderr } = spawnSync('promtool', ['check', 'rules', file])
  expect([status, stderr.toString()]).toEqual([0, ''])
})

test('the command prints it as JSON, and refuses what Prometheus has nothing of', async () => {
  const written: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const codes = [
    await runCommand(['export', 'grafana', 'vllm']),
    await runCommand(['export', 'grafana', 'ollama']),
    await runCommand(['export', 'influx']),
  ]
  vi.restoreAllMocks()
  expect(codes).toEqual([0, 1, 1])
  expect(JSON.parse(written.join('')).schemaVersion).toBeGreaterThanOrEqual(39)
})
