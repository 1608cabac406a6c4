import { describe, expect, test } from 'vitest'
import { TABLES } from '../../src/backends/backends.ts'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import { SIGNALS, type Signal } from '../../src/model/signals.ts'
import { missingSignals } from '../../src/rules/missing.ts'
import { rulesOf, specOf } from '../../src/rules/rules.ts'
import { readingsOf } from '../scrape/reading.ts'

const BACKENDS = Object.keys(TABLES) as ScrapedBackend[]

describe.each(BACKENDS)('the table of %s', (backend) => {
  const table = TABLES[backend]
  const rows = Object.entries(table.signals) as [Signal, NonNullable<(typeof table.signals)[Signal]>][]

  test('names every series once for a signal, in words that an exposition may hold', () => {
    for (const [signal, { from }] of rows) {
      const names = from.map(({ name, labels, oneOf }) => name + JSON.stringify([labels, oneOf]))
      expect(new Set(names).size, signal).toBe(names.length)
      for (const { name } of from) expect(name).toMatch(/^[a-zA-Z_:][a-zA-Z0-9_:]*$/)
    }
  })

  test('recognises the server by each series once', () => {
    const series = table.recognise.map((mark) => mark.series)
    expect([...new Set(series)]).toEqual(series)
  })

  test('combines shares by the largest, health by the smallest, and requests by adding', () => {
    for (const [signal, { combine, perSubject }] of rows) {
      const { kind, unit } = SIGNALS[signal]
      if (kind !== 'gauge' || perSubject) continue
      const expected = signal === 'engine_healthy' ? 'min' : unit === 'requests' ? 'sum' : 'max'
      expect(combine ?? 'sum', signal).toBe(expected)
    }
  })

  test('feeds the rules that this backend has', () => {
    const published = rows.map(([signal]) => signal)
    // llama.cpp publishes no times of requests: siblings cannot be compared there.
    const rules = rulesOf(backend).filter((id) => backend !== 'llamacpp' || id !== 'sibling')
    for (const id of rules) {
      const { signals: all, oneIsEnough, absentUntilFirst = [] } = specOf(id).needs ?? { signals: [] }
      // Without what not every server counts, it judges by the rest.
      const signals = all.filter((signal) => !absentUntilFirst.includes(signal) || published.includes(signal))
      const fed = signals.filter((signal) => published.includes(signal))
      if (oneIsEnough) expect(fed.length, id).toBeGreaterThan(0)
      else expect(fed, id).toEqual(signals)
    }
  })
})

/** What a server must publish for us to see at all. */
const CORE: Record<ScrapedBackend, Signal[]> = {
  vllm: ['waiting', 'running', 'kv_cache'],
  tgi: ['waiting'],
  tei: ['waiting'],
  sglang: ['waiting', 'running', 'kv_cache'],
  llamacpp: ['waiting', 'running'],
  dcgm: ['gpu_utilisation', 'gpu_memory', 'gpu_temperature', 'gpu_xid'],
  gateway: ['running', 'kv_cache'],
  trtllm: ['waiting', 'running', 'finished'],
  dynamo: ['waiting', 'running', 'finished'],
  litellm: ['running', 'finished', 'upstream_health'],
  epp: ['waiting', 'running', 'kv_cache', 'finished', 'upstream_health'],
  router: ['running', 'finished', 'upstream_health'],
  triton: ['finished'],
  lmdeploy: ['waiting', 'running', 'kv_cache'],
  mistralrs: ['waiting', 'running'],
  genai: ['e2e', 'finished'],
  'ray-serve': ['waiting', 'running', 'finished', 'upstream_health'],
}

test.each(BACKENDS)('%s is blind without its core series', (backend) => {
  const table = TABLES[backend]
  const core = (Object.keys(table.signals) as Signal[]).filter((signal) => table.signals[signal]?.core)
  expect(core.sort()).toEqual(CORE[backend].sort())
})

test('case 46: headers without samples leave vLLM blind, an empty body leaves TGI and TEI be', () => {
  const headers = '# TYPE vllm:num_requests_waiting gauge\n# TYPE vllm:gpu_cache_usage_perc gauge\n'
  expect(missingSignals(readingsOf('vllm', headers), 'vllm', [], [])).toEqual(['waiting', 'running', 'kv_cache'])
  expect(missingSignals(readingsOf('tgi', ''), 'tgi', [], [])).toEqual([])
  expect(missingSignals(readingsOf('tei', ''), 'tei', [], [])).toEqual([])
})

test('cases 68, 70: of the fields of a GPU exporter, whose owner chooses them, any one is enough', () => {
  const missing = (body: string) => missingSignals(readingsOf('dcgm', body), 'dcgm', [], [])
  const [util, temperature] = ['DCGM_FI_DEV_GPU_UTIL{gpu="0"} 3\n', 'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 60\n']
  const memory = 'DCGM_FI_DEV_FB_USED{gpu="0"} 76000\nDCGM_FI_DEV_FB_FREE{gpu="0"} 4000\n'
  for (const page of [util, temperature, memory]) expect(missing(page)).toEqual([])
  expect(missing('DCGM_FI_DEV_POWER_USAGE{gpu="0"} 60\n').sort()).toEqual([...CORE.dcgm].sort())
})

test('a MIG instance without GPU_UTIL is not blind', () => {
  const body = 'DCGM_FI_PROF_GR_ENGINE_ACTIVE{UUID="GPU-1",GPU_I_ID="3"} 0.4\n'
  expect(missingSignals(readingsOf('dcgm', body), 'dcgm', [], [])).toEqual([])
})
