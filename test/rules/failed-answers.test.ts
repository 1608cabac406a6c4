import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { refusalOf } from '../../src/canary/refusal.ts'
import { CATALOGUES } from '../../src/messages/compose.ts'
import type { Answer } from '../../src/model/observation.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { limitOf } from '../../src/scheduled.ts'
import { createLongestLine } from '../../src/scrape/longest-line.ts'
import { emptyReadings } from '../../src/signals/readings.ts'
import { claimDue } from '../../src/state/outbox.ts'
import { emptyState, readState, writeState } from '../../src/state/schema.ts'
import { queueNotification } from '../messages/notifications.ts'
import { configOf, messagesOf, observationOf, playRuns } from '../playing.ts'
import { vllm } from '../stories/pages.ts'

const OPENAI = { OPENAI_ENDPOINTS: 'a=http://127.0.0.1:9009', OPENAI_MODEL: 'm' }
const failed: Answer = { up: false, failure: { kind: 'timeout' }, canary: { status: 'failed' } }
const skipped: Answer = { up: undefined, canary: { status: 'skipped', detail: '24 requests waiting' } }
const good: Answer = { up: true, readings: { ...emptyReadings(), modelFound: true }, canary: { status: 'answered' } }

/** What is told of a canary that is seen like this each minute. */
function told(answers: readonly Answer[]): { reason: string; rule: string; minute: number }[] {
  return playRuns(
    configOf('openai', OPENAI),
    answers.map((answer, minute) => ({ at: minute * 60_000, seen: () => answer })),
  ).flatMap(({ evaluation }, minute) => evaluation.notifications.map(({ reason, rule }) => ({ reason, rule, minute })))
}

describe('case 404: a canary that was skipped for a long queue is proof of life', () => {
  test('it ends a row of failures', () => {
    expect(told([good, failed, failed, skipped, failed, failed, skipped, failed])).toEqual([])
    expect(told([good, failed, failed, failed])).toEqual([{ reason: 'fired', rule: 'down', minute: 3 }])
  })

  test('twice in a row it ends down', () => {
    expect(told([failed, failed, failed, skipped, skipped])).toEqual([
      { reason: 'fired', rule: 'down', minute: 2 },
      { reason: 'resolved', rule: 'down', minute: 4 },
    ])
  })

  test('the endpoint is up meanwhile', () => {
    const runs = [failed, skipped].map((answer, minute) => ({ at: minute * 60_000, seen: () => answer }))
    expect(playRuns(configOf('openai', OPENAI), runs).at(-1)?.evaluation.endpoints[0]?.up).toBe(true)
  })
})

test('case 406: a canary that waited for its time-out is no gap; a watcher that was away is', () => {
  const config = { ...configOf('openai', OPENAI), interval: 10_000 }
  const [endpoint] = config.endpoints
  if (!endpoint) throw new Error('no endpoint')
  const play = (times: readonly number[], took: number) => {
    let state = emptyState()
    return times.flatMap((now) => {
      const observed = { ...observationOf('openai', endpoint, failed, now), took }
      const evaluation = evaluate(state, [observed], config, now)
      state = evaluation.state
      return evaluation.notifications.filter(({ rule }) => rule === 'gap').map(() => now)
    })
  }
  const times = [0, 10, 20, 60, 100, 140].map((second) => second * 1_000)
  expect(play(times, 30_000.4)).toEqual([])
  expect(play(times, 5)).toContain(60_000)
})

describe('whose refusal it is', () => {
  const facts = (status: number, words: string) => {
    const refused = refusalOf(new Response(null, { status }), words, false) as { facts?: { refusal?: string } }
    return refused.facts === undefined ? 'failed' : (refused.facts.refusal ?? 'full')
  }
  test.each([
    [429, 'No deployments available for selected model, Try again in 60 seconds … cooldown_list=[…]', 'no-backend'],
    [429, 'All deployments are in cool-down', 'no-backend'],
    [429, 'Rate limit reached for api key sk-…: 10 requests per minute', 'own-limit'],
    [429, 'You exceeded your current quota, please check your plan and billing details', 'own-limit'],
    [400, 'Budget has been exceeded! Current cost: 10.1, Max budget: 10.0', 'own-limit'],
    [402, 'Payment Required', 'own-limit'],
    [429, 'Too many requests', 'full'],
    [503, 'server busy, please try again.  maximum pending requests exceeded', 'full'],
    [503, 'Model is overloaded', 'full'],
    [503, '503 Service Unavailable No server is available to handle this request.', 'failed'],
    [503, '503 Service Temporarily Unavailable', 'failed'],
    [400, 'max_tokens is too large', 'failed'],
  ])('case 242 and case 402: %i %s → %s', (status, words, expected) => {
    expect(facts(status, words)).toBe(expected)
  })

  test('case 242: the push says that the gateway has no backend, not that the server is full', () => {
    const refused: Answer = {
      up: true,
      readings: { ...emptyReadings(), modelFound: true },
      canary: { status: 'busy', refusal: 'no-backend', detail: 'No deployments available' },
    }
    const runs = [good, refused].map((answer, minute) => ({ at: minute * 60_000, seen: () => answer }))
    const [message] = playRuns(configOf('openai', OPENAI), runs).flatMap(messagesOf)
    expect(message?.title).toContain('gateway has no backend left')
    expect(message?.body).not.toMatch(/queue is full|Add a replica/)
  })
})

describe("case 402: a balancer's own answer is no full queue", () => {
  test.each([
    [503, '503 Service Unavailable No server is available to handle this request.'],
    [503, '503 Service Temporarily Unavailable'],
    [502, '502 Bad Gateway'],
    [504, '504 Gateway Time-out'],
  ])('%i %s: the engine behind is gone', (status, detail) => {
    for (const { failures } of Object.values(CATALOGUES)) {
      const { headline, todo } = failures.http
      const said = `${headline({ kind: 'http', status, detail }, false)} ${todo({ kind: 'http', status, detail }, false)}`
      expect(said).toMatch(/proxy|прокси/i)
      expect(said).not.toMatch(/overloaded|do not restart|may still work|перегружен|не перезапускайте|может работать/)
    }
  })

  test('503 of a server that loads its model is told as that, without a guess at its load', () => {
    const loading = { kind: 'http', status: 503, detail: 'Loading model' } as const
    expect(CATALOGUES.en.failures.http.headline(loading, false)).toBe('Model is still loading (HTTP 503)')
    for (const { failures } of Object.values(CATALOGUES)) {
      const said = `${failures.http.headline(loading, false)} ${failures.http.todo(loading, false)}`
      expect(said).not.toMatch(/overloaded|full|перегружен|переполнен/)
    }
    const other = { kind: 'http', status: 503, detail: 'loading took the model down' } as const
    expect(CATALOGUES.en.failures.http.headline(other, false)).toContain('overloaded or loading')
  })
})

describe('case 410: whole milliseconds in the state', () => {
  test('of a remaining time that is no whole number', () => {
    const left = limitOf(configOf('vllm'), { getRemainingTimeInMillis: () => 299_999.4 })
    expect(Number.isInteger(left)).toBe(true)
  })

  test('of the end of a claim', () => {
    const item = { notification: queueNotification(), since: 0, tries: 0 }
    const { state } = claimDue({ ...emptyState(), outbox: [item] }, 'run', 1_000, 299_999.4)
    expect(readState(writeState(state)).kind).toBe('state')
  })
})

test('case 215: the line that makes a page too large is named, also over pieces', () => {
  const lines = createLongestLine()
  const push = (text: string) => lines.push(Buffer.from(text))
  push('vllm:num_requests_waiting 3\nvllm:cache_config_info{a="')
  for (let i = 0; i < 20; i++) push('x'.repeat(100_000))
  push('"} 1\nshort 2\n')
  expect(lines.longest()).toEqual({ bytes: 26 + 2_000_000 + 4, name: 'vllm:cache_config_info' })
  const { todo } = CATALOGUES.en.failures['too-large']
  expect(todo({ kind: 'too-large', detail: 'one line of 2.0 MB: x' }, false)).toContain('One line')
  expect(todo({ kind: 'too-large' }, false)).toContain('multiplies series')
})

describe('case 231: llama.cpp says of itself what is wrong', () => {
  const first = (status: number, detail: string) => {
    const failed: Answer = { up: false, failure: { kind: 'http', status, detail } }
    const runs = [0, 1, 2].map((minute) => ({ at: minute * 60_000, seen: () => failed }))
    return playRuns(configOf('llamacpp'), runs).flatMap(messagesOf)[0]
  }

  test('501: its metrics are switched off, and how to switch them on', () => {
    expect(first(501, 'This server does not support metrics endpoint.')?.body).toContain(
      'Start the server with --metrics.',
    )
  })

  test('503: it is there and loads, and is not to be restarted', () => {
    const message = first(503, 'Loading model')
    expect(message?.title).toContain('model is still loading (HTTP 503)')
    expect(message?.body).toContain('do not restart it')
  })
})

test('case 209: a cache that is full though nothing runs is told as not given back, and nothing is to be resized', () => {
  const pages = Array.from({ length: 12 }, (_, minute) =>
    vllm({ kv: minute < 5 ? 0.4 : 0.95, finished: 30, tokens: 900 }),
  )
  const runs = pages.map((page, minute) => ({ at: minute * 60_000, seen: () => page }))
  const [message, ...more] = playRuns(configOf('vllm'), runs).flatMap(messagesOf)
  expect(message?.body).toContain('though nothing runs: its blocks are not given back')
  expect(message?.body).toContain('A restart frees them')
  expect(message?.body).not.toMatch(/gpu_memory_utilization|max_num_seqs/)
  expect(more).toEqual([])
})

const LITELLM = path.resolve('../shared/metrics/litellm-1.95-partial-datadog.prom')
test.skipIf(!existsSync(LITELLM))(
  "case 246: another gateway's page under `gateway` is blind at the second run, with what is missing (skipped: ../shared/metrics is not there)",
  () => {
    const body = readFileSync(LITELLM, 'utf8')
    const runs = [0, 1, 2].map((minute) => ({ at: minute * 60_000, seen: () => body }))
    const played = playRuns(configOf('gateway'), runs)
    expect(played.map((run) => messagesOf(run).length)).toEqual([0, 1, 0])
    expect(played.flatMap(messagesOf)[0]?.body).toMatch(/requests running|requests waiting/)
  },
)

test.each([
  [['refused', 'refused', { status: 503 }], 'No usable answer 3 times in a row, the last time: '],
  [[{ status: 503 }, { status: 503 }, { status: 503 }], 'No usable answer 3 times in a row: '],
] as const)('a row of failures is told as the one cause that it had, else as its last: %j', (row, expected) => {
  const runs = row.map((seen, minute) => ({ at: minute * 60_000, seen: () => seen }))
  const [message] = playRuns(configOf('vllm'), runs).flatMap(messagesOf)
  expect(message?.body).toContain(expected)
})

test('a server that has loaded its model answers again, and did not end its silence by a restart', () => {
  const good = (started: number) => vllm({ started })
  const pages = [
    good(1_760_000_000),
    ...[0, 1, 2].map(() => ({ status: 503 })),
    good(1_760_000_600),
    good(1_760_000_600),
  ]
  const runs = pages.map((seen, minute) => ({ at: minute * 60_000, seen: () => seen }))
  const [, end] = playRuns(configOf('vllm'), runs).flatMap(messagesOf)
  expect(end?.title).toContain('answers again')
  expect(end?.body).not.toContain('restarted')
})

describe('a server that was gone and then refuses the key', () => {
  const gone: Answer = { up: false, failure: { kind: 'refused', code: 'ECONNREFUSED' } }
  const refuses: Answer = { up: false, failure: { kind: 'not-authorised', status: 401 } }
  const titles = (answers: readonly Answer[]) =>
    playRuns(
      configOf('vllm'),
      answers.map((answer, minute) => ({ at: minute * 60_000, seen: () => answer })),
    ).flatMap((run, minute) => messagesOf(run).map(({ title }) => `${minute} ${title}`))

  test('is told once more, as that, and names the variable', () => {
    const [first, second, ...more] = titles([gone, gone, gone, refuses, refuses, refuses, gone, refuses, refuses])
    expect(first).toMatch(/^2 .*server is down/)
    expect(second).toMatch(/^4 .*not authorised \(401\)/)
    expect(more).toEqual([])
  })

  test('and a refusal from the first on is told once', () => {
    expect(titles([refuses, refuses, refuses, gone, refuses, refuses]).length).toBe(1)
  })

  test('is not told of one such answer, nor of another cause', () => {
    const loads: Answer = { up: false, failure: { kind: 'http', status: 503 } }
    expect(titles([gone, gone, gone, refuses, loads, loads, refuses, gone]).length).toBe(1)
  })
})
