import { describe, expect, test } from 'vitest'
import { compose } from '../../src/messages/compose.ts'
import type { Backend } from '../../src/model/backend.ts'
import type { Config } from '../../src/model/config.ts'
import type { Message } from '../../src/model/message.ts'
import type { Notification } from '../../src/model/notification.ts'
import { evaluate } from '../../src/rules/evaluate.ts'
import { settle } from '../../src/state/outbox.ts'
import { emptyState } from '../../src/state/schema.ts'
import { configOf, messagesOf, observationOf, playRuns } from '../playing.ts'
import { page, vllm } from '../stories/pages.ts'

const MINUTE = 60_000

/** What is told of one endpoint that serves these pages a minute, each run with the configuration of its moment. */
function told(backend: Backend, runs: readonly { config: Config; page: string; minute: number }[]): Notification[] {
  let state = emptyState()
  return runs.flatMap(({ config, page, minute }) => {
    const now = minute * MINUTE
    const observations = config.endpoints.map((endpoint) => observationOf(backend, endpoint, page, now))
    const evaluation = evaluate(state, observations, config, now)
    const delivered = evaluation.state.outbox.map(({ notification: { id } }) => ({ id, kind: 'delivered' as const }))
    const notifications = evaluation.state.outbox.map(({ notification }) => notification)
    state = settle(evaluation.state, delivered, now, 'run')
    return notifications.filter(({ rule }) => rule !== 'gap')
  })
}

describe('case 327: a limit that is changed while it fires is judged at once', () => {
  const before = configOf('vllm')
  const queue = (minute: number) => vllm({ waiting: 40, running: 4, tokens: 100 * minute, finished: 5 * minute })
  const later = (config: Config) =>
    [0, 1, 2, 3, 60, 240, 300, 540].map((minute) => ({
      config: minute < 2 ? before : config,
      page: queue(minute),
      minute,
    }))

  test('raised above the value: over once, as "limit changed", priority 4, and never reminded of', () => {
    const all = told('vllm', later(configOf('vllm', { WAITING_LIMIT: '50' })))
    expect(all.map(({ reason, rule, at, ended, priority }) => [at / MINUTE, reason, rule, ended, priority])).toEqual([
      [0, 'fired', 'waiting', undefined, 8],
      [2, 'resolved', 'waiting', 'limit-changed', 4],
    ])
  })

  test('lowered: it goes on, and nothing is told anew', () => {
    const runs = later(configOf('vllm', { WAITING_LIMIT: '10', WAITING_REPEAT: 'off' }))
    expect(told('vllm', runs).map(({ reason }) => reason)).toEqual(['fired'])
  })

  test('raised, but still below the value: it goes on', () => {
    const runs = later(configOf('vllm', { WAITING_LIMIT: '30', WAITING_REPEAT: 'off' }))
    expect(told('vllm', runs).map(({ reason }) => reason)).toEqual(['fired'])
  })
})

describe('case 328: a configuration that is changed while an alert fires', () => {
  const queue = (minute: number) => vllm({ waiting: minute < 6 ? 40 : 1, running: 4, finished: 5 * minute })
  const change = (to: Config) =>
    Array.from({ length: 10 }, (_, minute) => ({
      config: minute < 3 ? configOf('vllm') : to,
      page: queue(minute),
      minute,
    }))
  const said = (to: Config) =>
    told('vllm', change(to)).map(({ at, endpoint, reason }) => `${at / MINUTE} ${endpoint} ${reason}`)

  test('its rule is switched off: nothing more is told, no end either', () => {
    expect(said(configOf('vllm', { WAITING_LIMIT: 'off', GROWTH_LIMIT: 'off' }))).toEqual(['0 a fired'])
  })

  test('its limit is lowered: no second beginning, one end', () => {
    expect(said(configOf('vllm', { WAITING_LIMIT: '10' }))).toEqual(['0 a fired', '7 a resolved'])
  })

  test('its language: one end, whose rule is named in that language', () => {
    const config = configOf('vllm', { ALERT_LANGUAGE: 'ru' })
    const [, end, ...more] = told('vllm', change(config))
    expect(more).toEqual([])
    const body = end && compose([end], 'ru', { markdown: false, link: () => undefined, now: end.at }).body
    expect(body).toContain('Алерт «Очередь инференса растёт» длился')
  })

  test('its endpoint is called otherwise: told once under the new name, and nothing of the old one', () => {
    const to = configOf('vllm', { VLLM_ENDPOINTS: 'b=http://127.0.0.1:9009/a' })
    expect(said(to)).toEqual(['0 a fired', '3 b fired', '7 b resolved'])
  })
})

describe('a code that is gone without being 0', () => {
  const gpu = (xid?: number) =>
    page({
      'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"}': 50,
      'DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-1"}': xid,
    })
  const messages = (pages: readonly string[]): Message[] =>
    playRuns(
      configOf('dcgm'),
      pages.map((served, minute) => ({ at: minute * MINUTE, seen: () => served })),
    ).flatMap(messagesOf)

  test('is not known to be over: the exporter only forgot it', () => {
    const [fired, end, ...more] = messages([gpu(0), gpu(79), gpu(79), gpu(), gpu(), gpu()])
    expect(fired?.title).toContain('gpu 0: XID 79')
    expect(fired?.body).toContain('reboot the host')
    expect(end?.title).toContain('not known to be over')
    expect(end?.body).toContain('nvidia-smi')
    expect(more).toEqual([])
  })

  test('0 is the end', () => {
    const [, end] = messages([gpu(0), gpu(79), gpu(0), gpu(0)])
    expect(end?.title).toContain('GPU no longer reports an error')
  })
})

describe('case 405: a crash loop', () => {
  const every = 10_000
  const play = (starts: readonly number[]) =>
    playRuns(
      configOf('vllm'),
      starts.map((started, i) => ({
        at: i * every,
        seen: () => vllm({ running: 2, waiting: 4, tokens: 5 + (i % 3), started: 1_760_000_000 + started }),
      })),
    ).flatMap(messagesOf)

  test('of six kills in 100 s is told once, though each scrape found a server, and says what is lost', () => {
    const messages = play([0, 0, 18, 36, 36, 52, 70, 70, 86, 100, 100, 100])
    expect(messages.map(({ title }) => title)).toEqual([expect.stringContaining('server restarts again and again')])
    expect(messages[0]?.body).toContain('what was queued or being computed is lost each time')
  })

  test('case 409: two servers behind one address by turns are told as such, once', () => {
    const messages = play(Array.from({ length: 30 }, (_, i) => (i % 2) * 500))
    expect(messages.map(({ title }) => title)).toEqual([expect.stringContaining('two servers answer by turns')])
  })
})
