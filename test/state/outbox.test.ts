import { describe, expect, test } from 'vitest'
import type { Notification } from '../../src/model/notification.ts'
import { firstAtOf } from '../../src/state/legs.ts'
import { claimDue as claim, type Delivery, settle } from '../../src/state/outbox.ts'
import { emptyState, type State } from '../../src/state/schema.ts'

const MINUTE = 60_000
const NOTE: Notification = {
  id: 'a|waiting|@0/fired/0',
  incident: 'a|waiting|@0',
  reason: 'fired',
  rule: 'waiting',
  endpoint: 'a',
  priority: 8,
  at: 0,
  firedAt: 0,
}
const queued = (): State => ({ ...emptyState(), outbox: [{ notification: NOTE, since: 0, tries: 0 }] })
/** Of the one channel that there is. */
const claimDue: (...given: Parameters<typeof claim>) => { state: State; due: Notification[] } = (...given) => {
  const { state, due } = claim(...given)
  return { state, due: due.map(({ notification }) => notification) }
}
const came = (kind: Delivery['kind'], retryAt?: number): Delivery[] => [
  { id: NOTE.id, kind, ...(retryAt === undefined ? {} : { retryAt }) },
]

describe('a claim', () => {
  test('keeps what one run tries from every other until its end, and not longer', () => {
    const { state, due } = claimDue(queued(), 'one', 0, 50_000)
    expect(due).toEqual([NOTE])
    expect(claimDue(state, 'other', 49_999, 100_000).due).toEqual([])
    expect(claimDue(state, 'other', 50_000, 100_000).due).toEqual([{ ...NOTE, maybeSent: true }])
  })

  test('of another run is not freed by the one that had it before', () => {
    const first = claimDue(queued(), 'frozen', 0, 50_000).state
    const second = claimDue(first, 'other', MINUTE, 110_000).state
    for (const kind of ['waiting', 'unanswered'] as const) {
      const state = settle(second, came(kind), 0, 'frozen')
      expect(claimDue(state, 'third', MINUTE + 1, 120_000).due).toEqual([])
    }
  })

  test('or a pause that a clock a day ahead wrote holds nothing back until that day has come', () => {
    const claimed = claimDue(queued(), 'ahead', 1_440 * MINUTE, 1_441 * MINUTE).state
    expect(claimDue(claimed, 'right', MINUTE, 2 * MINUTE).due).toHaveLength(1)
    const paused = settle(claimed, came('waiting', 1_470 * MINUTE), 1_440 * MINUTE, 'ahead')
    expect(claimDue(paused, 'right', MINUTE, 2 * MINUTE).due).toHaveLength(1)
  })

  test('of news takes along what of its incident waits for another try, and of no other', () => {
    const paused = settle(claimDue(queued(), 'one', 0, 50_000).state, came('waiting', 10 * MINUTE), 0, 'one')
    const worse: Notification = { ...NOTE, id: 'a|waiting|@0/worse/1', reason: 'worse' }
    const other: Notification = { ...NOTE, id: 'b|waiting|@0/fired/1', incident: 'b|waiting|@0', endpoint: 'b' }
    const dueWith = (news: Notification) =>
      claimDue(
        { ...paused, outbox: [...paused.outbox, { notification: news, since: 0, tries: 0 }] },
        'two',
        MINUTE,
        110_000,
      ).due
    expect(dueWith(worse)).toEqual([NOTE, worse])
    expect(dueWith(other)).toEqual([other])
  })

  test('of another run does not keep what the first one delivered after all in the outbox', () => {
    const first = claimDue(queued(), 'slow', 0, 50_000).state
    const second = claimDue(first, 'other', MINUTE, 110_000).state
    expect(settle(second, came('delivered'), 0, 'slow').outbox).toEqual([])
  })
})

describe('what is settled', () => {
  const settledAfter = (kind: Delivery['kind'], retryAt?: number) =>
    settle(claimDue(queued(), 'one', 0, 50_000).state, came(kind, retryAt), 0, 'one')

  test.each([
    ['delivered', 0],
    ['refused', 0],
    ['waiting', 1],
    ['unanswered', 1],
  ] as const)('%s leaves %i in the outbox', (kind, left) => {
    expect(settledAfter(kind).outbox).toHaveLength(left)
  })

  test('waits as long as the server asked for', () => {
    const state = settledAfter('waiting', 90_000)
    expect(claimDue(state, 'next', 89_999, 100_000).due).toEqual([])
    expect(claimDue(state, 'next', 90_000, 140_000).due).toEqual([NOTE])
  })

  test('is due for the fallback while the first server wants to be left alone, and not for a day', () => {
    const claimed = claimDue(queued(), 'one', 0, 50_000).state
    const { outbox } = settle(claimed, [{ id: NOTE.id, kind: 'waiting', firstAt: 90_000 }], 0, 'one')
    const next = claimDue({ ...emptyState(), outbox }, 'next', MINUTE, 2 * MINUTE)
    expect(next.due).toEqual([NOTE])
    const at = (now: number) => firstAtOf(next.state.outbox, { channel: 'notifly', ids: new Set([NOTE.id]), now })
    expect([at(MINUTE), at(90_000), at(-1_440 * MINUTE)]).toEqual([90_000, undefined, undefined])
    expect(settle(next.state, came('waiting'), MINUTE, 'next').outbox[0]?.firstAt).toBeUndefined()
  })

  test('case 104: an answer that is lost again and again makes the pauses longer, up to 5 minutes', () => {
    let state = queued()
    const sent: number[] = []
    for (let minute = 0; minute <= 20; minute += 1) {
      const now = minute * MINUTE
      const claimed = claimDue(state, `run ${minute}`, now, now + 50_000)
      state = claimed.state
      if (claimed.due.length > 0) {
        sent.push(minute)
        state = settle(state, came('unanswered'), now, `run ${minute}`)
      }
    }
    expect(sent).toEqual([0, 1, 3, 7, 12, 17])
  })

  test('is noted on the incident only by what was delivered', () => {
    const incident = { id: 'a|waiting|@0', openedAt: 0, verdicts: [], symptoms: {}, begins: [0] }
    const endpoint = {
      since: 0,
      failures: 0,
      seen: [],
      blindRuns: 0,
      stalledRuns: 0,
      inside: {},
      recent: [],
      baselines: {},
      gpus: {},
      xids: {},
      alerts: {},
      incidents: { work: incident },
    }
    const state = { ...claimDue(queued(), 'one', 0, 50_000).state, endpoints: { a: endpoint } }
    const told = (kind: Delivery['kind']) => settle(state, came(kind), 7, 'one').endpoints.a?.incidents.work?.lastSentAt
    expect(told('delivered')).toBe(7)
    for (const kind of ['waiting', 'unanswered', 'refused'] as const) expect(told(kind)).toBeUndefined()
  })
})
