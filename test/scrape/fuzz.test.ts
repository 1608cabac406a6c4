import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { vllmBody } from '../../bench/body.ts'
import { TABLES } from '../../src/backends/backends.ts'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import { SIGNALS, type Signal } from '../../src/model/signals.ts'
import type { Page } from '../../src/scrape/page.ts'
import { createPageReader } from '../../src/scrape/page-reader.ts'
import { readPage } from '../../src/scrape/read.ts'
import { NOW, readingsOf } from './reading.ts'

const BACKENDS = Object.keys(TABLES) as ScrapedBackend[]
const SEED = 20261130

/** A body in a few hundred lines that has every form: gauges, counters, histograms, GPUs, comments, odd spellings. */
const BODY = Buffer.from(
  `\ufeff${vllmBody({ model: 'модель/é' })
    .split('\n')
    .filter((_, i) => i % 3 !== 0)
    .join('\n')}
DCGM_FI_DEV_FB_USED{gpu="0", UUID="GPU-1",err_msg="a } b"} 76000 1796040000000\r
DCGM_FI_DEV_FB_FREE{gpu="0",UUID="GPU-1",} 4000 # {trace_id="x"} 1 2
tgi_request_duration{quantile="0.5"} 1.2
sglang:num_queue_reqs{priority="",tp_rank="0"} +Inf
upstream_health{upstream="a\\\\b\\n\\"c\\""} NaN
`,
)

function inChunks(body: Uint8Array, cuts: readonly number[], backend: ScrapedBackend): Page {
  const reader = createPageReader(TABLES[backend])
  const ends = [...cuts.map((cut) => cut % (body.length + 1)), body.length].sort((a, b) => a - b)
  let from = 0
  for (const end of ends) {
    reader.push(body.subarray(from, end))
    from = end
  }
  return reader.end()
}

/** What must hold of whatever came: nothing impossible is a reading. */
function expectBelievable(backend: ScrapedBackend, page: Page): void {
  const readings = readPage(page, TABLES[backend], { model: undefined, now: NOW })
  const within = (signal: Signal, value: number) => {
    expect(value).toBeGreaterThanOrEqual(SIGNALS[signal].min)
    expect(value).toBeLessThanOrEqual(
      SIGNALS[signal].kind === 'gauge' ? SIGNALS[signal].max * 1000 : Number.MAX_SAFE_INTEGER,
    )
  }
  for (const [signal, { value }] of Object.entries(readings.gauges)) within(signal as Signal, value)
  for (const sets of Object.values(readings.counters))
    for (const { value } of Object.values(sets)) within('finished', value)
  for (const gauges of Object.values(readings.subjects))
    for (const [signal, value] of Object.entries(gauges)) within(signal as Signal, value)
  for (const sets of Object.values(readings.histograms))
    for (const { bounds, counts, sum } of Object.values(sets)) {
      expect(counts).toHaveLength(bounds.length + 1)
      expect(
        bounds.every((bound, i) => Number.isFinite(bound) && bound > (bounds[i - 1] ?? Number.NEGATIVE_INFINITY)),
      ).toBe(true)
      expect(counts.every((count) => count >= 0)).toBe(true)
      expect(sum === undefined || Number.isFinite(sum)).toBe(true)
    }
  expect(page.lines).toBe(page.comments + page.sampleCount + page.malformed)
}

describe('whatever comes', () => {
  test('cuts between chunks, wherever they are, change nothing', () => {
    const whole = inChunks(BODY, [], 'vllm')
    fc.assert(
      fc.property(fc.array(fc.nat(BODY.length), { maxLength: 60 }), (cuts) => {
        expect(inChunks(BODY, cuts, 'vllm')).toEqual(whole)
      }),
      { seed: SEED, numRuns: 150 },
    )
  })

  test('byte by byte is the same page', () => {
    expect(
      inChunks(
        BODY,
        Array.from({ length: BODY.length }, (_, i) => i),
        'dcgm',
      ),
    ).toEqual(inChunks(BODY, [], 'dcgm'))
  })

  test('a body with bytes changed, lost or doubled is read as far as it goes, and believably', () => {
    const mutation = fc.record({ at: fc.nat(BODY.length - 1), lost: fc.nat(40), put: fc.uint8Array({ maxLength: 20 }) })
    fc.assert(
      fc.property(
        fc.array(mutation, { minLength: 1, maxLength: 30 }),
        fc.constantFrom(...BACKENDS),
        (mutations, backend) => {
          let body: Uint8Array = BODY
          for (const { at, lost, put } of mutations)
            body = Buffer.concat([body.subarray(0, at), put, body.subarray(at + lost)])
          expectBelievable(backend, inChunks(body, [], backend))
        },
      ),
      { seed: SEED, numRuns: 400 },
    )
  })

  test('lines made of the format’s own characters never throw and are counted', () => {
    const part = fc.constantFrom(
      ...[
        'vllm:num_requests_waiting',
        '{',
        '}',
        '"',
        '\\',
        ',',
        '=',
        ' ',
        '\t',
        '\r',
        '\n',
        '#',
        'le',
        '1',
        '.',
        'e',
        '+Inf',
        'NaN',
        '_bucket',
        'é',
        '\u00a0',
        ':',
        '-',
      ],
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), fc.array(fc.nat(), { maxLength: 5 }), (parts, cuts) => {
        const body = Buffer.from(parts.join(''))
        const page = inChunks(body, cuts, 'vllm')
        expect(page).toEqual(inChunks(body, [], 'vllm'))
        expectBelievable('vllm', page)
      }),
      { seed: SEED, numRuns: 3_000 },
    )
  })

  test('label values survive whatever they hold', () => {
    const value = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(value, value, (model, other) => {
        const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
        const line = `vllm:num_requests_waiting{zone="${escaped(other)}",model_name="${escaped(model)}"} 4\n`
        expect(readingsOf('vllm', line, model)).toMatchObject({
          model,
          modelFound: true,
          gauges: { waiting: { value: 4 } },
        })
      }),
      { seed: SEED, numRuns: 1_000 },
    )
  })

  test('numbers are read as JavaScript prints them', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (share, count) => {
        const { gauges } = readingsOf(
          'vllm',
          `vllm:kv_cache_usage_perc ${share}\nvllm:num_requests_waiting ${count}.0\n`,
        )
        expect(gauges).toEqual({ kv_cache: { value: share }, waiting: { value: count } })
      }),
      { seed: SEED, numRuns: 1_000 },
    )
  })
})

describe('a lot of it', () => {
  test('a million random bytes: no sample, no exception', () => {
    let state = SEED
    const bytes = Uint8Array.from({ length: 1_000_000 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    })
    for (const backend of BACKENDS) {
      const page = inChunks(bytes, [1, 70_000, 70_001, 500_000], backend)
      expect(page.samples.size + page.buckets.size).toBe(0)
      expect(page.malformed).toBeGreaterThan(1_000)
      expectBelievable(backend, page)
    }
  })

  test.each([
    ['one line without an end', (i: number) => 'x'.repeat(1000 + (i % 2))],
    ['unwanted series', (i: number) => `litellm_requests_total{key="key-${i}",user="someone-${i}"} ${i}\n`.repeat(16)],
    [
      'wanted series, each another one',
      (i: number) => Array.from({ length: 16 }, (_, k) => `vllm:num_requests_waiting{engine="${i}-${k}"} 1\n`).join(''),
    ],
    ['one wanted series, again and again', () => 'vllm:num_requests_waiting{engine="0"} 1\n'.repeat(24)],
  ])('16 MiB of %s fill no memory', (_, part) => {
    const reader = createPageReader(TABLES.vllm)
    globalThis.gc?.()
    const before = process.memoryUsage()
    let most = 0
    for (let pushed = 0, i = 0; pushed < 16 * 1024 * 1024; i++) {
      const chunk = Buffer.from(part(i))
      reader.push(chunk)
      pushed += chunk.length
      if (i % 2_000 === 0) {
        const { heapUsed, external } = process.memoryUsage()
        most = Math.max(most, heapUsed + external - before.heapUsed - before.external)
      }
    }
    const page = reader.end()
    expect(readPage(page, TABLES.vllm, { model: undefined, now: NOW }).faults.length).toBeLessThanOrEqual(1)
    expect(most).toBeLessThan(160 * 1024 * 1024)
  })
})
