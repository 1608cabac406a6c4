import { describe, expect, test } from 'vitest'
import { TABLES } from '../../src/backends/backends.ts'
import type { ScrapedBackend } from '../../src/model/backend.ts'
import { explain } from '../../src/rules/explain.ts'
import type { RuleId } from '../../src/rules/rules.ts'
import { configOf, playRuns } from '../playing.ts'

const START = Date.UTC(2026, 10, 30, 12)
type Served = string | 'refused'

/** Plays pages a minute apart. @returns what the last run says of each rule: `judgement: why`. */
function play(
  pages: readonly Served[],
  env: Record<string, string> = {},
  backend: ScrapedBackend = 'vllm',
): Partial<Record<RuleId, string>> {
  const runs = pages.map((page, minute) => ({ at: minute * 60_000, seen: () => page }))
  const decisions = playRuns(configOf(backend, env), runs, START).at(-1)?.evaluation.decisions ?? []
  return Object.fromEntries(
    decisions.map(({ decision }) => [
      decision.rule.id,
      `${decision.heldBy ? 'held back' : decision.judgement}: ${explain(decision) ?? ''}`,
    ]),
  )
}

/** A vLLM page on which `n` requests have finished since the start, none of them long. */
function page(n: number, { waiting = 0, running = 1, kv = 0.1 } = {}): string {
  const histogram = (name: string) =>
    [
      `${name}_bucket{le="1"} ${n}`,
      `${name}_bucket{le="+Inf"} ${n}`,
      `${name}_sum ${n / 10}`,
      `${name}_count ${n}`,
    ].join('\n')
  return [
    `vllm:num_requests_waiting ${waiting}`,
    `vllm:num_requests_running ${running}`,
    `vllm:kv_cache_usage_perc ${kv}`,
    `vllm:request_success_total{finished_reason="stop"} ${n}`,
    `vllm:generation_tokens_total ${n * 100}`,
    `vllm:prompt_tokens_total ${n * 100}`,
    `vllm:prefix_cache_queries_total ${n * 10}`,
    `vllm:prefix_cache_hits_total ${n}`,
    `vllm:num_preemptions_total 0`,
    histogram('vllm:time_to_first_token_seconds'),
    histogram('vllm:request_queue_time_seconds'),
    '',
  ].join('\n')
}

describe('an unknown number says why', () => {
  test('on the first reading', () => {
    const said = play([page(100)])
    for (const rule of ['ttft', 'queue_wait', 'errors', 'prefix_hits', 'throughput', 'stalled'] as const)
      expect(said[rule]).toBe('unknown: first reading: an increase needs two')
    expect(said.growth).toBe('unknown: has 1 of the 6 runs in a row that it compares')
  })

  test('without traffic', () => {
    const said = play([page(100), page(100, { running: 0 })])
    for (const rule of ['ttft', 'queue_wait', 'errors', 'prefix_hits'] as const)
      expect(said[rule]).toBe('unknown: no traffic in the window')
    expect(said.throughput).toBe('unknown: nothing is running')
  })

  test('with too little of it', () => {
    const said = play([page(100), page(103)])
    expect(said).toMatchObject({
      ttft: 'unknown: too few requests: 3 of 20',
      queue_wait: 'unknown: too few requests: 3 of 5',
      errors: 'unknown: too few requests: 3 of 20',
      prefix_hits: 'unknown: too few tokens looked up: 30 of 1000',
    })
  })

  test('while its own past is short', () => {
    const said = play([page(100), page(1_100)])
    expect(said.prefix_hits).toBe('unknown: its own past is too short: it needs an hour and 10 values')
    expect(said.throughput).toMatch(/^unknown: its own past is too short: .* at this many running$/)
  })

  test('when a series is gone', () => {
    const without = (name: string) =>
      page(100)
        .split('\n')
        .filter((line) => !line.startsWith(name))
        .join('\n')
    const said = play([without('vllm:num_requests_waiting')])
    expect(said.waiting).toBe('unknown: not on the page: waiting')
    expect(play([without('vllm:time_to')]).ttft).toBe('unknown: not on the page: ttft')
  })

  test('when the limit is beyond what the buckets tell', () => {
    const slow = (n: number) => page(n).replace(/(le="1"\}) \d+/g, '$1 0')
    expect(play([slow(100), slow(200)]).ttft).toBe(
      "unknown: only known to be at least this: the limit is above the server's largest bucket",
    )
  })

  test('when the server does not answer, and while that holds the others back', () => {
    expect(play(['refused']).waiting).toBe('unknown: no usable answer: refused ECONNREFUSED')
    const said = play(['refused', 'refused', 'refused'])
    expect(said.down).toBe('breach: fires now')
    expect(said.waiting).toBe('held back: held back by down')
  })

  test('case 70: when one GPU has no memory lines beside another that has', () => {
    const beside = ['GPU-2', 'GPU-1'].map((gpu) => `DCGM_FI_DEV_GPU_UTIL{UUID="${gpu}"} 1\n`).join('')
    const memory = (used: number) => `DCGM_FI_DEV_FB_USED{UUID="GPU-2"} ${used}\nDCGM_FI_DEV_FB_FREE{UUID="GPU-2"} 9\n`
    expect(play([beside + memory(1)], {}, 'dcgm').gpu_memory).toBe('unknown: not on the page for GPU-1: gpu_memory')
    expect(play([beside + memory(-1)], {}, 'dcgm').gpu_memory).toBe(
      'unknown: gpu_memory is not believable: out-of-range',
    )
  })

  test('where a rule has nothing to measure', () => {
    expect(play(['refused'], {}, 'dcgm').gpu_xid).toBe('unknown: no usable answer: refused ECONNREFUSED')
  })
})

describe('an alert says where it stands', () => {
  const full = page(100, { kv: 0.95 })
  const queue = page(100, { waiting: 40 })

  test.each<[string, Served[], RuleId, string]>([
    ['pending', [full], 'kv_cache', 'breach: pending since 12:00:00Z, fires at 12:05:00Z'],
    [
      'pending without a number',
      [full, 'refused'],
      'kv_cache',
      'unknown: no usable answer: refused ECONNREFUSED; pending since 12:00:00Z',
    ],
    ['ended while pending', [full, page(100)], 'kv_cache', 'clear: ended before it fired'],
    ['fired', [queue], 'waiting', 'breach: fires now'],
    ['firing', [queue, queue], 'waiting', 'breach: firing since 12:00:00Z'],
    ['clear for a run', [queue, page(100)], 'waiting', 'clear: firing since 12:00:00Z, clear 1 of 2 runs'],
    ['over', [queue, page(100), page(100)], 'waiting', 'clear: over'],
  ])('%s', (_, pages, rule, expected) => {
    expect(play(pages, { VLLM_STALLED_LIMIT: 'off' })[rule]).toBe(expected)
  })
})

test.each(Object.keys(TABLES) as ScrapedBackend[])(
  '%s: every rule says something, whatever the answer; only the gap is judged for the whole run',
  (backend) => {
    const rules =
      configOf(backend)
        .endpoints[0]?.rules.map(({ id }) => id)
        .filter((id) => id !== 'gap') ?? []
    expect(rules.length).toBeGreaterThan(3)
    for (const answer of ['refused', '\n', page(5)] as const) {
      const said = play([answer], {}, backend)
      expect(Object.keys(said).sort()).toEqual([...rules].sort())
      for (const words of Object.values(said)) expect(words).not.toMatch(/undefined|NaN|\[object/)
      for (const [rule, words] of Object.entries(said))
        if (words.startsWith('unknown')) expect([rule, words]).not.toEqual([rule, 'unknown: '])
    }
  },
)
