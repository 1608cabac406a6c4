import { describe, expect, test } from 'vitest'
import type { Answer } from '../../src/model/observation.ts'
import { configOf, messagesOf, type PlayedRun, playRuns, type Seen } from '../playing.ts'
import { readingsOf } from '../scrape/reading.ts'
import { page, type Vllm, vllm, vllmHistogram } from '../stories/pages.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 5, 1)
/** A past takes an hour. */
const PAST = 75

/** A page a minute; what is told from `from` on, as [minute, title, body]. */
function told(pages: (minute: number) => Seen, last: number, env: Record<string, string> = {}, from = 0) {
  const runs = Array.from({ length: last + 1 }, (_, minute) => ({ at: minute * MINUTE, seen: () => pages(minute) }))
  return messagesFrom(playRuns(configOf('vllm', env), runs), from)
}

function messagesFrom(runs: readonly PlayedRun[], from = 0) {
  return runs.slice(from).flatMap((run, index) =>
    messagesOf(run).map(({ title, body }) => ({
      minute: from + index,
      title,
      body,
      first: body.split('\n')[0] ?? '',
    })),
  )
}

/** An hour at 30 requests a minute, then what the story says. */
function busy(minute: number, then: (since: number) => Vllm & { done?: number }): string {
  const since = Math.max(0, minute - PAST)
  const { done = 30 * since, more, ...rest } = since > 0 ? then(since) : {}
  const finished = 30 * (minute - since) + done
  const first = vllmHistogram('time_to_first_token_seconds', { '1': finished, '+Inf': finished }, finished * 0.2)
  return vllm({
    running: 4,
    finished,
    tokens: 200 * finished,
    prompt: 400 * finished,
    ...rest,
    more: { ...first, ...more },
  })
}

const byEngine = (name: string, values: readonly number[]) =>
  Object.fromEntries(values.map((value, engine) => [`vllm:${name}{engine="${engine}",model_name="m"}`, value]))

describe('why, in the first message', () => {
  test('case 208: the queue of two engines while six idle is told as routing, in number and by name', () => {
    const pages = (minute: number) =>
      page({
        ...byEngine('num_requests_running', [51, 31, 2, 2, 2, 2, 2, 2]),
        ...byEngine('num_requests_waiting', [117, 108, 0, 0, 0, 0, 0, 0]),
        ...byEngine('kv_cache_usage_perc', [0.8, 0.7, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05]),
        ...byEngine('generation_tokens_total', Array(8).fill(minute * 5_000)),
        ...byEngine('request_success_total', Array(8).fill(minute * 20)),
      })
    const [first, ...more] = told(pages, 9)
    expect(first?.body).toContain('225 requests wait on engine 0, engine 1 while 6 other engines idle.')
    expect(first?.body).not.toMatch(/nvidia-smi|Add a replica/)
    expect(more).toEqual([])
  })

  test('the same of the replicas of a group', () => {
    const config = configOf('vllm', {
      VLLM_ENDPOINTS: ['a', 'b', 'c'].map((name) => `chat/${name}=http://127.0.0.1:9009/${name}`).join(' '),
    })
    const runs = Array.from({ length: 4 }, (_, minute) => ({
      at: minute * MINUTE,
      seen: ({ name }: { name: string }) =>
        vllm(
          name === 'chat/a'
            ? { waiting: 60, running: 30, finished: 40 * minute, tokens: 9_000 * minute }
            : { running: 1, finished: minute, tokens: 200 * minute },
        ),
    }))
    const [first] = messagesFrom(playRuns(config, runs))
    expect(first?.body).toContain('60 requests wait on chat/a while 2 other replicas idle.')
  })

  test('case 201: a queue that is all deferred is no matter for the GPU', () => {
    const deferred = { 'vllm:num_requests_waiting_by_reason{engine="0",model_name="m",reason="deferred"}': 30 }
    const slow = (since: number) => ({ waiting: 30, done: 10 * since, more: deferred })
    const wait = (since: number) =>
      vllmHistogram('request_queue_time_seconds', { '1': 0, '60': 10 * since, '+Inf': 10 * since }, 300 * since)
    const [first] = told(
      (minute) => busy(minute, (since) => ({ ...slow(since), more: { ...deferred, ...wait(since) } })),
      PAST + 8,
      {},
      PAST,
    )
    expect(first?.body).toContain('Deferred: all 30 that wait')
    expect(first?.body).not.toContain('nvidia-smi')
  })

  test('with a past that is too short the facts of this server stand in, and one advice', () => {
    const pages = (minute: number) =>
      vllm({ waiting: 28 * minute, running: 8, finished: 12 * minute, tokens: 3_000 * minute })
    const [first] = told(pages, 3)
    expect(first?.body).toContain('40 requests came a minute, 12 finished.')
    expect(first?.body).toContain('Add a replica')
    expect(first?.body).not.toContain('if not')
  })

  test('a restart comes before the queue', () => {
    const pages = (minute: number) =>
      busy(minute, (since) => ({ started: 1_770_000_000, waiting: 40, finished: 5 * since, tokens: 900 * since }))
    const [first] = told(pages, PAST + 3, {}, PAST)
    expect(first?.first).toMatch(/^The server restarted: .* 40 requests are waiting/)
  })
})

describe('the ruler', () => {
  const grown = (since: number) => ({
    waiting: 100 * since,
    running: 16,
    done: 60 * since,
    tokens: 200 * (30 * PAST + 60 * since),
    prompt: 400 * (30 * PAST + 60 * since),
  })

  test('counts what one replica manages, how many are needed, and when the queue will be ten times the limit', () => {
    const [first, ...more] = told(
      (minute) => busy(minute, (since) => ({ ...grown(since), waiting: 22 * since })),
      PAST + 8,
      {},
      PAST,
    )
    expect(first?.body).toContain('Load grew: 3.1× as many requests')
    expect(first?.body).toContain('One replica manages about 1 request/s, 1.6/s come: 2 replicas are needed.')
    const all = [first, ...more].map((message) => message?.body).join('\n')
    expect(all).not.toMatch(/\d\.\d{3}/)
  })

  test('says nothing from fewer than 20 finished requests', () => {
    const pages = (minute: number) =>
      vllm({ waiting: 25 + 5 * minute, running: 2, finished: 2 * minute, tokens: 1_000 * minute })
    for (const { body } of told(pages, 9)) expect(body).not.toMatch(/manages|At this rate/)
  })
})

const GPU = 'gpu="3",UUID="GPU-5fd4f087-86f3-7a43-b711-4771313afc50",modelName="NVIDIA H100 80GB HBM3"'

/** The exporter beside a server. */
function exporter(xid: number) {
  return readingsOf(
    'dcgm',
    page({ [`DCGM_FI_DEV_XID_ERRORS{${GPU}}`]: xid, [`DCGM_FI_DEV_GPU_TEMP{${GPU}}`]: 60 }),
    undefined,
    START,
  )
}

describe('cause above symptom', () => {
  /** A served page with the exporter beside it. */
  const beside = (backend: 'vllm' | 'gateway', served: string | undefined, xid: number): Seen =>
    Object.assign(answer(backend, served), { gpu: exporter(xid) })

  const answer = (backend: 'vllm' | 'gateway', served: string | undefined): Answer =>
    served === undefined
      ? { up: false, failure: { kind: 'refused' } }
      : { up: true, readings: readingsOf(backend, served, undefined, START) }

  test('an engine that dies with its GPU names the GPU first, and at its end', () => {
    const pages = (minute: number) =>
      beside('vllm', minute < 5 || minute > 9 ? vllm({ finished: minute }) : undefined, minute < 5 ? 0 : 79)
    const messages = told(pages, 12)
    expect(messages.map(({ title }) => title)).toEqual(['🔴 a: server is down', '✅ a: answers again'])
    expect(messages[0]?.first).toMatch(/^gpu 3 \(H100\): XID 79, the GPU has fallen off the bus/)
    expect(messages[0]?.body).toContain('Drain the node')
    expect(messages[1]?.first).toContain('Cause: gpu 3 (H100), XID 79.')
  })

  test('a gateway whose upstream has lost its GPU names the GPU, not only the upstream', () => {
    const gateway = (health: number) =>
      `vllm_requests_running 3\nvllm_kv_usage_perc 0.3\nupstream_health{upstream="b"} ${health}\n`
    const config = configOf('gateway')
    const runs = Array.from({ length: 8 }, (_, minute) => ({
      at: minute * MINUTE,
      seen: () => beside('gateway', gateway(minute < 4 ? 1 : 0), minute < 4 ? 0 : 79),
    }))
    const [first] = messagesFrom(playRuns(config, runs))
    expect(first?.first).toMatch(/^gpu 3 \(H100\): XID 79/)
  })

  test('a gateway, its engine and the exporter, all watched, when the GPU falls off the bus: the first line of each message names it', () => {
    const isIll = (minute: number) => minute >= 4 && minute < 10
    const gateway = (minute: number) =>
      `vllm_requests_running 3\nvllm_kv_usage_perc 0.3\nupstream_health{upstream="b"} ${isIll(minute) ? 0 : 1}\n`
    const xid = (minute: number) => (minute < 4 ? 0 : 79)
    const watched: ['gateway' | 'vllm' | 'dcgm', (minute: number) => Seen][] = [
      ['gateway', (minute) => beside('gateway', gateway(minute), xid(minute))],
      ['vllm', (minute) => beside('vllm', isIll(minute) ? undefined : vllm({ finished: minute }), xid(minute))],
      ['dcgm', (minute) => ({ up: true, readings: exporter(minute < 10 ? xid(minute) : 0) })],
    ]
    for (const [backend, seen] of watched) {
      const runs = Array.from({ length: 14 }, (_, minute) => ({ at: minute * MINUTE, seen: () => seen(minute) }))
      const messages = messagesFrom(playRuns(configOf(backend), runs))
      // A beginning and an end each.
      expect([backend, messages.length]).toEqual([backend, 2])
      for (const { first } of messages) expect(`${backend}: ${first}`).toContain('gpu 3 (H100)')
    }
  })

  test('a code that was there before the trouble, or at the first look, is no cause', () => {
    const hung = (minute: number) => vllm({ waiting: minute < 40 ? 0 : 30, running: 4, finished: 30 * minute })
    for (const since of [0, 5]) {
      const [first] = told((minute) => beside('vllm', hung(minute), minute < since ? 0 : 31), 42)
      expect(first?.title).toContain('30 waiting')
      expect(first?.first).not.toContain('gpu 3')
    }
  })
})
