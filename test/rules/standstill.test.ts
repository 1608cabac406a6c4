import { describe, expect, test } from 'vitest'
import { explain } from '../../src/rules/explain.ts'
import { allAbove } from '../../src/signals/quantile.ts'
import { configOf, messagesOf, playRuns } from '../playing.ts'
import { page, vllm } from '../stories/pages.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

type Backend = 'vllm' | 'sglang' | 'llamacpp'

/** Every notification of a server that answers by the clock, with the seconds at which it was told. */
function told(
  backend: Backend,
  pageAt: (second: number) => string,
  { every, until }: { every: number; until: number },
) {
  const runs = Array.from({ length: Math.floor(until / every) + 1 }, (_, i) => ({
    at: i * every * SECOND,
    seen: () => pageAt(i * every),
  }))
  const config = configOf(backend, { [`${backend.toUpperCase()}_GAP_LIMIT`]: 'off', INTERVAL: `${every}s` })
  return playRuns(config, runs).flatMap((run, i) =>
    run.evaluation.notifications.map((one) => ({
      at: i * every,
      rule: one.rule,
      reason: one.reason,
      subject: one.subject,
      body: messagesOf(run)[0]?.body ?? '',
    })),
  )
}

describe('watched every 10 s', () => {
  test('case 219: a gauge that lags half a minute behind its work is no standstill', () => {
    const served = (second: number) => {
      const [burst, into] = [Math.floor(second / 120), second % 120]
      const done = burst * 60 + Math.min(60, into)
      const more = { 'sglang:realtime_tokens_total{model_name="m",mode="decode"}': 800 * done }
      const running = into < 90 ? 24 : 0
      return page({
        'sglang:num_running_reqs{model_name="m"}': running,
        'sglang:num_queue_reqs{model_name="m"}': 0,
        'sglang:token_usage{model_name="m"}': 0.3,
        ...more,
      })
    }
    expect(told('sglang', served, { every: 10, until: 1_200 })).toEqual([])
  })

  test('a standstill is told a minute after the last movement, and by its engine', () => {
    const served = (second: number) =>
      page(
        Object.assign(
          {},
          ...[0, 1, 2, 3].map((id) => {
            const moved = id === 2 ? Math.min(second, 100) : second
            const series = (name: string) => `vllm:${name}{engine="${id}",model_name="m"}`
            return {
              [series('num_requests_running')]: id === 2 ? 3 : 2,
              [series('num_requests_waiting')]: id === 2 ? 6 : 0,
              [series('kv_cache_usage_perc')]: 0.2,
              [series('generation_tokens_total')]: 50 * moved,
            }
          }),
        ),
      )
    const [first, ...others] = told('vllm', served, { every: 10, until: 600 })
    expect([first?.at, first?.rule, first?.subject, others]).toEqual([160, 'stalled', 'engine 2', []])
    expect(first?.body).toContain('engine 2: 3 running and 6 waiting')
  })
})

interface Llama {
  processing?: number
  deferred?: number
  steps: number
  predicted?: number
  prompt?: number
  promptSeconds?: number
}

/** A page of llama.cpp, which prints six significant digits. */
function llama({ processing = 1, deferred = 0, steps, predicted = 0, prompt = 0, promptSeconds = 0 }: Llama): string {
  const printed = (value: number) => Number(value.toPrecision(6))
  return page({
    'llamacpp:requests_processing': processing,
    'llamacpp:requests_deferred': deferred,
    'llamacpp:n_decode_total': printed(steps),
    'llamacpp:tokens_predicted_total': printed(predicted),
    'llamacpp:tokens_predicted_seconds_total': printed(predicted / 30),
    'llamacpp:prompt_tokens_total': printed(prompt),
    'llamacpp:prompt_seconds_total': printed(promptSeconds),
  })
}

describe('llama.cpp', () => {
  test.each([
    ['from idle', { steps: 0, predicted: 0, prompt: 0, promptSeconds: 0 }, 10],
    ['from idle, for an hour', { steps: 5_000, predicted: 5_000, prompt: 900, promptSeconds: 2 }, 60],
  ])('case 400: a long prompt is no standstill, %s', (_, past, every) => {
    const served = (second: number) => llama({ ...past, processing: second < 60 ? 0 : 1 })
    expect(told('llamacpp', served, { every, until: 3_600 })).toEqual([])
  })

  test('case 400: a long prompt after another request is no standstill', () => {
    const before = (second: number) => ({
      steps: 20 * second,
      predicted: 20 * second,
      prompt: 12 * second,
      promptSeconds: second,
    })
    const served = (second: number) => llama(before(Math.min(second, 300)))
    expect(told('llamacpp', served, { every: 30, until: 800 })).toEqual([])
  })

  test('work that was under way and stopped is one', () => {
    const served = (second: number) =>
      llama({ steps: 20 * Math.min(second, 300), predicted: 700, prompt: 9_000, promptSeconds: 3 })
    expect(told('llamacpp', served, { every: 60, until: 900 }).map(({ at, rule }) => [at, rule])).toEqual([
      [420, 'stalled'],
    ])
  })

  test.each([
    [1.2e8, 30, 10, 20],
    [1.2e8, 5, 60, 90],
    [1.2e9, 30, 60, 180],
  ])('case 401: %d steps printed with six digits, %d a second, asked every %d s', (start, speed, every, minutes) => {
    const served = (second: number) =>
      llama({
        processing: 2,
        steps: start + speed * second,
        predicted: start + 20 * Math.floor(second / 60) * 60,
        prompt: 1.1e7 + 10 * second,
        promptSeconds: 2_000 + second / 100,
      })
    expect(told('llamacpp', served, { every, until: minutes * 60 })).toEqual([])
  })
})

test.each([
  ['moved by six printed steps in five minutes: unknown', 1.2e8, 20, undefined],
  ['moved by many: known', 1.2e6, 20, 20],
  ['printed to the unit: known', 1_000, 20, 20],
])('case 401: a speed of tokens that %s', (_, start, speed, expected) => {
  const runs = [0, 1, 2, 3, 4, 5].map((minute) => ({
    at: minute * MINUTE,
    seen: () => llama({ steps: 30 * 60 * minute, predicted: start + speed * 60 * minute }),
  }))
  const [last] = playRuns(configOf('llamacpp'), runs).at(-1)?.evaluation.endpoints ?? []
  expect(last?.signals.tokens_per_second).toBe(expected)
})

test('--why says since when a standstill is measured, and why a long prompt is none', () => {
  const runs = [0, 1, 2].map((minute) => ({
    at: minute * MINUTE,
    seen: () => vllm({ running: 3, tokens: Math.min(minute, 1) * 100 }),
  }))
  const last = playRuns(configOf('vllm'), runs).at(-1)?.evaluation.decisions ?? []
  const why = last.filter(({ decision }) => decision.rule.id === 'stalled').map(({ decision }) => explain(decision))
  expect(why).toEqual(['measured since 00:01:00Z'])
})

test.each([
  ['none at all', [0, 0, 0], 0, false],
  ['all in the bucket above', [0, 2, 2], 1_300, true],
  ['one in the bucket below', [1, 2, 2], 700, false],
  ['one whose own sum is above', [1, 1, 1], 620, true],
  ['one beyond the last bound', [0, 0, 1], 9_000, true],
])('buckets and sum show that each had waited longer than 600 s: %s', (_, counts, sum, expected) => {
  expect(allAbove(600, { bounds: [640, 2_560], counts, sum })).toBe(expected)
})
