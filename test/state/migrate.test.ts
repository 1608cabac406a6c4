import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { createLog } from '../../src/log.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { run } from '../../src/run.ts'
import { settle } from '../../src/state/outbox.ts'
import { readState, writeState } from '../../src/state/schema.ts'
import { createMemoryStore } from '../../src/store/memory.ts'
import { openInbox } from '../../tools/simulator/inbox.ts'
import { openWatched } from '../faults/watched.ts'
import { configOf, observationOf } from '../playing.ts'
import { vllm, vllmHistogram } from '../stories/pages.ts'

/** Written by version 0.1.0: `chat/a` was told as firing, `chat/b` fires and its notification still waits. */
const OLD = readFileSync('test/state/state-v1.json', 'utf8')
const { ranAt, endpoints } = JSON.parse(OLD)
const MINUTE = 60_000

test('an alert of an older state is as it was, under its new names', () => {
  const read = readState(OLD)
  if (read.kind !== 'state') throw new Error(JSON.stringify(read))
  const { told, since, clears, ...same } = endpoints['chat/a'].alerts.waiting
  expect(read.state.endpoints['chat/a']?.alerts.waiting).toEqual({ ...same, activeAt: since, clearRuns: clears })
  expect(read.state.endpoints['chat/a']?.incidents.work?.lastSentAt).toBe(told)
  expect(read.state.outbox[0]?.notification.context?.numbers.waiting).toBe(55)
})

test('what an older state told is not told again, what waited in its outbox is, and both ends are told', async () => {
  const inbox = await openInbox()
  const watched = await openWatched()
  const store = createMemoryStore()
  await store.save('vllm.json', OLD, undefined)
  const env = {
    VLLM_ENDPOINTS: `chat/a=${watched.url} chat/b=${watched.url}`,
    NOTIFLY_URL: inbox.url,
    NOTIFLY_TOKEN: 'token',
  }
  const parsed = parseConfig('vllm', env, { lambda: false })
  if ('problems' in parsed) throw new Error(parsed.problems.join('\n'))
  const { config } = parsed
  const waiting = [50, 3, 3]
  for (const [minute, value] of waiting.entries()) {
    const now = ranAt + (minute + 1) * MINUTE
    watched.waiting = value
    watched.seconds = 10_000 + minute * 60
    const io = {
      now: () => now,
      sleep: async () => {},
      store,
      log: createLog(
        'silent',
        [],
        () => {},
        () => now,
      ),
      runId: () => `run-${minute}`,
      print: () => {},
    }
    await run({ config, io, tick: now, deadline: now + 50_000 })
  }
  expect(inbox.received.map(({ title }) => title.replace(/ \(.*/, ''))).toEqual([
    expect.stringContaining('chat/b'),
    expect.stringContaining('chat/a'),
    expect.stringContaining('chat/b'),
  ])
  await inbox.close()
  await watched.close()
})

describe('a state of version 2, from before there were incidents', () => {
  // Of chat/a the queue was told. Of chat/b it waits to be told. Of chat/c the cache was told and the queue waits.
  const text = readFileSync('test/state/state-v2.json', 'utf8')
  const config = configOf('vllm', {
    VLLM_ENDPOINTS: 'chat/a=http://10.0.0.5:8000 chat/b=http://10.0.0.6:8000 chat/c=http://10.0.0.7:8000',
    KV_CACHE_FOR: '0s',
  })
  const read = () => {
    const state = readState(text)
    if (state.kind !== 'state') throw new Error(JSON.stringify(state))
    return state.state
  }

  test('has one incident for each endpoint, with what was told of it', () => {
    const { endpoints, outbox } = read()
    const told = Object.entries(endpoints).map(([name, { incidents }]) => [
      name,
      Object.keys(incidents.work?.symptoms ?? {}),
      incidents.work?.lastSentAt !== undefined,
    ])
    expect(told).toEqual([
      ['chat/a', ['waiting'], true],
      ['chat/b', ['waiting'], false],
      ['chat/c', ['kv_cache', 'waiting'], true],
    ])
    expect(outbox.map(({ notification: { endpoint, reason } }) => `${endpoint} ${reason}`)).toEqual([
      'chat/b fired',
      'chat/c worse',
    ])
  })

  test('is continued without a second push, what waited is told, and each end once', () => {
    let state = read()
    const { ranAt = 0 } = state
    const told: string[] = []
    for (const [minute, waiting] of [50, 50, 3, 3, 3].entries()) {
      const now = ranAt + (minute + 1) * MINUTE
      const page = (kv: number) =>
        vllm({ waiting, running: 8, kv, finished: 2_000 + minute * 60, tokens: 200_000 + minute * 9_000 })
      const observations = config.endpoints.map((endpoint) =>
        observationOf('vllm', endpoint, page(endpoint.name === 'chat/c' && waiting > 20 ? 0.95 : 0.4), now),
      )
      const { state: next } = evaluate(state, observations, config, now)
      told.push(...next.outbox.map(({ notification: { endpoint, reason } }) => `${minute} ${endpoint} ${reason}`))
      state = settle(
        next,
        next.outbox.map(({ notification: { id } }) => ({ id, kind: 'delivered' as const })),
        now,
        'run',
      )
    }
    expect(told).toEqual([
      '0 chat/b fired',
      '0 chat/c worse',
      '3 chat/a resolved',
      '3 chat/b resolved',
      '3 chat/c resolved',
    ])
  })
})

describe('a state of version 3, which was stored at greater length', () => {
  // Of chat/a the queue, its waits and the share in time were told. Of chat/b the queue waits to be told.
  const text = readFileSync('test/state/state-v3.json', 'utf8')
  const stored = JSON.parse(text)
  const config = configOf('vllm', {
    VLLM_ENDPOINTS: 'chat/a=http://10.0.0.5:8000 chat/b=http://10.0.0.6:8000',
    SLO_TTFT: '2s',
  })
  /** Of chat/a 120 requests were late. */
  const times = (all: number, late: number) =>
    Object.assign(
      {},
      ...['request_queue_time_seconds', 'e2e_request_latency_seconds', 'time_to_first_token_seconds'].map((name) =>
        vllmHistogram(name, { 0.3: all - late, 5: all - late, 10: all, '+Inf': all }, 0.1 * (all - late) + 8 * late),
      ),
    )
  const read = () => {
    const state = readState(text)
    if (state.kind !== 'state') throw new Error(JSON.stringify(state))
    return state.state
  }

  test('is read whole: times, alerts, baselines, slots and bounds', () => {
    const { endpoints, outbox } = read()
    const [before, after] = [stored.endpoints['chat/a'], endpoints['chat/a']]
    expect(after?.history?.times).toEqual(before.history.times)
    expect(after?.slo).toEqual(before.slo)
    const [since, lasts, ...values] = before.baselines.arrivals
    expect(after?.baselines.arrivals).toEqual({ since, at: since + lasts, values })
    const { goodAt, alerts } = before
    const usual = { clearRuns: 0, seenAt: goodAt }
    for (const [key, alert] of Object.entries<Record<string, unknown>>(alerts))
      expect(after?.alerts[key]).toEqual({ ...usual, firedAt: alert.activeAt, ...alert })
    const [bounds] = Object.values(before.history.histograms.ttft).map((one) => (one as { bounds: number[] }).bounds)
    expect(Object.values(after?.history?.histograms.ttft ?? {}).map((one) => one.bounds)).toEqual([bounds])
    expect(outbox.map(({ notification: { endpoint, reason } }) => `${endpoint} ${reason}`)).toEqual(['chat/b fired'])
  })

  test('is written shorter, and read as the same again', () => {
    const written = writeState(read())
    expect(Buffer.byteLength(written)).toBeLessThan(0.95 * Buffer.byteLength(JSON.stringify(stored)))
    expect(readState(written)).toEqual({ kind: 'state', state: read() })
  })

  test('is continued without a second push, what waited is told, and each end once', () => {
    let state = read()
    const { ranAt = 0 } = state
    const told: string[] = []
    for (const [minute, waiting] of [50, 50, ...Array<number>(18).fill(3)].entries()) {
      const now = ranAt + (minute + 1) * MINUTE
      const finished = 6_000 + 60 * minute
      const page = (late: number) =>
        vllm({
          waiting,
          running: 8,
          kv: 0.4,
          finished,
          tokens: 150 * finished,
          prompt: 334 * finished,
          more: times(finished, late),
        })
      const observations = config.endpoints.map((endpoint) =>
        observationOf('vllm', endpoint, page(endpoint.name === 'chat/a' ? 120 : 0), now),
      )
      const { state: next } = evaluate(state, observations, config, now)
      told.push(
        ...next.outbox.map(({ notification: { endpoint, rule, reason } }) => `${minute} ${endpoint} ${rule} ${reason}`),
      )
      const delivered = next.outbox.map(({ notification: { id } }) => ({ id, kind: 'delivered' as const }))
      state = settle(next, delivered, now, 'run')
    }
    expect(told).toEqual([
      '0 chat/b waiting fired',
      '3 chat/b waiting resolved',
      '5 chat/a waiting resolved',
      '5 chat/a slo resolved',
    ])
  })
})
