import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { createEngine } from '../../tools/simulator/engine.ts'
import { vllmPage } from '../../tools/simulator/page.ts'

const START = Date.UTC(2026, 10, 30)
const CAPTURE = resolve('../shared/metrics/vllm-v1-2026-09-after-load-lmswitch.prom')

function page(): string {
  const engine = createEngine(START, { seed: 2, model: 'llama-3.1-8b' }, { arrivals: 5 })
  engine.advance(START + 5 * 60_000)
  return vllmPage(engine)
}

/** Name, labels and value of each sample. */
function samples(text: string) {
  return text
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => {
      const [, name = '', labels = '', value = ''] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
      return { line, name, labels, value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) }
    })
}

test('every line is a sample with a number, and ends with a line feed', () => {
  const text = page()
  expect(text.endsWith('\n')).toBe(true)
  for (const { line, name, value } of samples(text))
    expect([line, name !== '', Number.isNaN(value)]).toEqual([line, true, false])
})

test('every series of the engine names it and the model', () => {
  const own = samples(page()).filter(({ name }) => name.startsWith('vllm:') && name !== 'vllm:cache_config_info')
  expect(own.length).toBeGreaterThan(200)
  for (const { line } of own) expect(line).toMatch(/engine="0".*model_name="llama-3.1-8b"/)
})

test('buckets never fall, and the last is the count', () => {
  const all = samples(page())
  const families = new Set(all.filter(({ name }) => name.endsWith('_bucket')).map(({ name }) => name.slice(0, -7)))
  expect(families.size).toBe(11)
  for (const family of families) {
    const buckets = all.filter(({ name }) => name === `${family}_bucket`).map(({ value }) => value)
    expect(buckets).toEqual([...buckets].sort((a, b) => a - b))
    expect(all.find(({ name }) => name === `${family}_count`)?.value).toBe(buckets.at(-1))
  }
})

test('the parts of the queue by reason add up to the queue', () => {
  const all = samples(page())
  const sum = (name: string) => all.filter((one) => one.name === name).reduce((total, { value }) => total + value, 0)
  expect(sum('vllm:num_requests_waiting')).toBeGreaterThan(0)
  expect(sum('vllm:num_requests_waiting_by_reason')).toBe(sum('vllm:num_requests_waiting'))
})

test('numbers are written as Python writes them', () => {
  const engine = createEngine(START, { model: 'a"b\\c\nd' })
  engine.advance(START + 3 * 60 * 60_000)
  const text = vllmPage(engine)
  expect(text).toMatch(/vllm:prompt_tokens_total\{[^}]*\} \d\.\d+e\+06\n/)
  expect(text).toMatch(/vllm:num_requests_running\{.*\} \d+\.0\n/)
  expect(text).toContain('le="0.25"')
  expect(text).toContain('model_name="a\\"b\\\\c\\nd"')
})

test.skipIf(!existsSync(CAPTURE))(
  'every series name of ours is one that a real vLLM of 2026 has, with the same bounds',
  () => {
    const real = samples(readFileSync(CAPTURE, 'utf8'))
    const realNames = new Set(real.map(({ name }) => name))
    const ours = samples(page())
    expect(ours.map(({ name }) => name).filter((name) => !realNames.has(name))).toEqual([])
    const bounds = (of: typeof real, name: string) =>
      of.filter((one) => one.name === name).map(({ labels }) => /le="([^"]*)"/.exec(labels)?.[1])
    for (const family of [
      'time_to_first_token_seconds',
      'inter_token_latency_seconds',
      'e2e_request_latency_seconds',
      'request_queue_time_seconds',
      'iteration_tokens_total',
    ]) {
      expect(bounds(ours, `vllm:${family}_bucket`)).toEqual(bounds(real, `vllm:${family}_bucket`))
    }
  },
)
