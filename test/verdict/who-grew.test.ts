import { expect, test } from 'vitest'
import { byParts } from '../../src/signals/parts.ts'
import { whoGrew } from '../../src/verdict/who-grew.ts'
import { play } from '../playing.ts'
import { page } from '../stories/pages.ts'

/** Requests a minute of each model, tokens of one of its requests, and how many wait. */
interface Model {
  name: string
  rate: number
  tokens?: number
  waiting?: number
}

/** Counters of a server whose models come at rates that change over time. */
function vllmOf(minutes: readonly (readonly Model[])[]): string[] {
  const totals = new Map<string, { finished: number; tokens: number }>()
  return minutes.map((models) => {
    const series = models.map(({ name, rate, tokens = 200, waiting = 0 }) => {
      const before = totals.get(name) ?? { finished: 0, tokens: 0 }
      const total = { finished: before.finished + rate, tokens: before.tokens + rate * tokens }
      totals.set(name, total)
      const labels = `engine="0",model_name="${name}"`
      return {
        [`vllm:num_requests_running{${labels}}`]: 8,
        [`vllm:num_requests_waiting{${labels}}`]: waiting,
        [`vllm:kv_cache_usage_perc{${labels}}`]: 0.3,
        [`vllm:request_success_total{${labels},finished_reason="stop"}`]: total.finished,
        [`vllm:generation_tokens_total{${labels}}`]: total.tokens,
        [`vllm:prompt_tokens_total{${labels}}`]: total.finished * 300,
      }
    })
    return page(Object.assign({}, ...series))
  })
}

const CALM = 75
const calm = (...models: readonly Model[]) => Array.from({ length: CALM }, () => models)

const why = (pages: readonly string[], backend: 'vllm' | 'sglang' = 'vllm') => {
  const { messages, told } = play(backend, pages, { THROUGHPUT_LIMIT: 'off' })
  return { lines: messages.flatMap(({ body }) => body.split('\n')), verdicts: told.map((one) => one.context?.verdict) }
}

test('an adapter that floods a server is named, with its share and the usual one', () => {
  const base = { name: 'base', rate: 80 }
  const pages = vllmOf([
    ...calm(base, { name: 'sql-lora', rate: 20 }),
    [base, { name: 'sql-lora', rate: 80, waiting: 120 }],
    [base, { name: 'sql-lora', rate: 80, waiting: 240 }],
  ])
  const { lines, verdicts } = why(pages)
  expect(verdicts[0]).toMatchObject({ kind: 'load-grew', grown: { part: 'model sql-lora' } })
  expect(lines.find((line) => line.startsWith('Load grew'))).toMatch(
    /Most of the rise is “sql-lora”: 7\d % of the requests, usually 2\d %\.$/,
  )
})

test('near miss: where all came more alike, nobody is named', () => {
  const pages = vllmOf([
    ...calm({ name: 'base', rate: 80 }, { name: 'sql-lora', rate: 20 }),
    [
      { name: 'base', rate: 120, waiting: 160 },
      { name: 'sql-lora', rate: 30, waiting: 40 },
    ],
  ])
  const { lines, verdicts } = why(pages)
  expect(verdicts[0]).toMatchObject({ kind: 'load-grew' })
  expect(lines.join()).not.toContain('Most of the rise')
})

test('one model alone is not named: there is nothing to tell it from', () => {
  const pages = vllmOf([...calm({ name: 'base', rate: 100 }), [{ name: 'base', rate: 140, waiting: 200 }]])
  const { lines, verdicts } = why(pages)
  expect(verdicts[0]).toMatchObject({ kind: 'load-grew' })
  expect(lines.join()).not.toContain('Most of the rise')
})

test('a model whose requests got heavier is named by its share of the tokens', () => {
  const base = { name: 'base', rate: 80 }
  const long = { name: 'summaries', rate: 20, tokens: 4_000, waiting: 25 }
  const pages = vllmOf([
    ...calm(base, { name: 'summaries', rate: 20 }),
    ...Array.from({ length: 6 }, () => [base, long]),
  ])
  const { lines } = why(pages)
  expect(lines.find((line) => line.startsWith('Requests got heavier'))).toMatch(
    /Most of the rise is “summaries”: \d\d % of the tokens, usually 20 %\.$/,
  )
})

test('a priority class of SGLang is named although its series are parts of a total', () => {
  const sglang = (minute: number, low: number, rate = 100) =>
    page({
      'sglang:num_queue_reqs{model_name="m",priority=""}': 10 + low,
      'sglang:num_queue_reqs{model_name="m",priority="0"}': 10,
      'sglang:num_queue_reqs{model_name="m",priority="5"}': low,
      'sglang:num_running_reqs{model_name="m",priority=""}': 30,
      'sglang:num_running_reqs{model_name="m",priority="0"}': 20,
      'sglang:num_running_reqs{model_name="m",priority="5"}': 10,
      'sglang:token_usage{model_name="m"}': 0.4,
      'sglang:num_requests_total{model_name="m"}': minute * rate,
      'sglang:generation_tokens_total{model_name="m"}': minute * rate * 100,
      'sglang:realtime_tokens_total{model_name="m",mode="decode"}': minute * rate * 100,
    })
  const pages = [...Array.from({ length: CALM }, (_, minute) => sglang(minute, 5)), sglang(CALM, 150)]
  const { lines } = why(pages, 'sglang')
  expect(lines.find((line) => line.startsWith('Load grew'))).toMatch(
    /Most of the rise has priority 5: 8\d % of the requests, usually 33 %\.$/,
  )
})

test('a part that was not there before grew from nothing; of a kind without a past nothing is said', () => {
  const past = { 'model a': 1, 'model b': 0 }
  expect(whoGrew({ 'model a': 0.4, 'model c': 0.6 }, past, 2.5)).toEqual({ part: 'model c', share: 0.6, usual: 0 })
  expect(whoGrew({ 'priority 1': 0.1, 'priority 2': 0.9 }, past, 2.5)).toBeUndefined()
  expect(whoGrew({ 'model a': 0.9, 'model c': 0.1 }, past, 2.5)).toBeUndefined()
  expect(whoGrew({ 'model a': 0.4, 'model c': 0.6 }, past, undefined)).toBeUndefined()
})

test('labels of people, keys and teams are no part, whatever they are called', () => {
  const labels = 'end_user="ada",fairness_id="t-1",model_name="a\\"b",priority="3",team="x"'
  const table = { modelLabels: ['model_name'], classLabel: 'priority' }
  expect(byParts({ [labels]: 2 }, table)).toEqual({ 'model a"b': 2, 'priority 3': 2 })
})
