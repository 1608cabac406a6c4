import { describe, expect, test } from 'vitest'
import type { VerdictKind } from '../../src/model/explanation.ts'
import { type Firing, follow, type Seen, type Told } from '../../src/rules/incident.ts'
import type { Incident } from '../../src/state/incident-schema.ts'

const MINUTE = 60_000

/** `waiting 8`, `stalled 9!` (passes its critical limit), `ttft 8?` (not known in this run); what stops firing is left out. */
type Row = [minute: number, firing: string, told?: string | undefined, more?: Partial<Seen>]

/** Walks one incident through a story; each push is accepted at once. Told: reason, rule and priority, and what turned. */
function walk(story: readonly Row[], flapsAt: number | 'off' = 3): Incident | undefined {
  const flaps = flapsAt === 'off' ? undefined : flapsAt
  let incident: Incident | undefined
  let before: string[] = []
  for (const [minute, text, expected, more] of story) {
    const now = minute * MINUTE
    const firing = text
      .split(', ')
      .filter(Boolean)
      .map((one) => firingOf(one, before))
    const keys = firing.map(({ key }) => key)
    const ended = before.some((key) => !keys.includes(key)) ? ('clear' as const) : undefined
    const seen: Seen = {
      firing,
      coming: [],
      ended,
      idle: false,
      verdict: undefined,
      flaps,
      claimed: false,
      id: `@${minute}`,
      ...more,
    }
    const followed = follow(incident, seen, now)
    incident = followed.incident
    if (incident && followed.told) incident = { ...incident, lastSentAt: now }
    expect({ minute, told: said(followed.told) }).toEqual({ minute, told: expected })
    before = keys
  }
  return incident
}

function firingOf(text: string, before: readonly string[]): Firing {
  const [, key = '', priority, mark] = /^(\S+) (\d+)([!?])?$/.exec(text) ?? []
  const began = !before.includes(key)
  const repeat = 240 * MINUTE
  return {
    key,
    priority: Number(priority),
    repeat,
    peak: 1,
    lasts: mark !== '?',
    began,
    renewed: false,
    misled: false,
    critical: mark === '!',
  }
}

function said(told: Told | undefined): string | undefined {
  if (!told) return undefined
  const { reason, key, priority, turn, flaps } = told
  const often = flaps && `${flaps.times} times, ${Math.round(flaps.bad / MINUTE)} min bad`
  return [reason, key, reason === 'resolved' ? undefined : priority, turn, often].filter(Boolean).join(' ')
}

const verdict = (kind: VerdictKind) => ({ verdict: kind })

describe('one trouble is told as one', () => {
  test('symptoms that join are silent, the end is told when none is left', () => {
    const incident = walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [1, 'waiting 8, ttft 8'],
      [2, 'waiting 8, ttft 8, kv_cache 7'],
      [3, 'ttft 8, kv_cache 7'],
      [4, 'kv_cache 7'],
      [5, '', 'resolved'],
      [6, ''],
    ])
    expect(incident?.over).toBe(true)
  })

  test('one of a higher priority than all told so far is told as worse, once', () => {
    walk([
      [0, 'growth 7', 'fired growth 7'],
      [1, 'waiting 8, growth 7', 'worse waiting 8 priority'],
      [2, 'stalled 9, waiting 8', 'worse stalled 9 priority'],
      [3, 'waiting 8'],
      [4, 'stalled 9, waiting 8'],
      [5, '', 'resolved'],
    ])
  })

  test('passing the critical limit is told once, with priority 9; a first push beyond it has that at once', () => {
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [1, 'waiting 8!', 'worse waiting 9 critical'],
      [2, 'waiting 8'],
      [3, 'waiting 8!'],
      [4, '', 'resolved'],
    ])
    walk([
      [0, 'waiting 8!', 'fired waiting 9'],
      [1, 'waiting 8!, stalled 9'],
    ])
  })

  test('what only waits for its time counts at the first push, and is not told again when it fires', () => {
    const soon = (priority: number, critical: boolean) => ({ coming: [{ priority, critical }] })
    walk([
      [0, 'growth 7', 'fired growth 8', soon(8, false)],
      [3, 'stuck 8, growth 7'],
      [4, '', 'resolved'],
    ])
    walk([
      [0, 'waiting 8', 'fired waiting 9', soon(7, true)],
      [5, 'waiting 8, kv_cache 7!'],
      [6, 'waiting 8!, kv_cache 7!'],
      [7, '', 'resolved'],
    ])
  })

  test('what only waits for its time is no turn of an incident that is told already', () => {
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [1, 'waiting 8', undefined, { coming: [{ priority: 7, critical: true }] }],
      [5, 'waiting 8, kv_cache 7!', 'worse kv_cache 9 critical'],
    ])
  })

  test('a verdict that turns to what needs another hand is told once; one that was there at first is not', () => {
    walk([
      [0, 'waiting 8', 'fired waiting 8', verdict('load-grew')],
      [1, 'waiting 8', undefined, verdict('heavier')],
      [2, 'waiting 8', 'worse waiting 8 verdict', verdict('broke')],
      [3, 'waiting 8', undefined, verdict('load-grew')],
      [4, 'waiting 8', undefined, verdict('broke')],
    ])
    walk([
      [0, 'waiting 8', 'fired waiting 8', verdict('broke')],
      [1, 'waiting 8', undefined, verdict('broke')],
    ])
  })

  test('a reminder comes when its time has passed since the last push, and tells what is known to fire then', () => {
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [60, 'waiting 8!', 'worse waiting 9 critical'],
      [240, 'waiting 8, ttft 8'],
      [299, 'waiting 8?, ttft 8'],
      [300, 'waiting 8?, ttft 8', 'repeated ttft 9'],
      [539, 'waiting 8?, ttft 8?'],
      [540, 'waiting 8?, ttft 8?'],
      [541, 'waiting 8', 'repeated waiting 9'],
    ])
  })

  test('a queue that is empty for want of requests ends when they are back and all is well, or after 15 minutes', () => {
    const idle = { idle: true }
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [1, '', undefined, idle],
      [2, '', undefined, idle],
      [3, '', 'resolved'],
    ])
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [1, '', undefined, idle],
      [15, '', undefined, idle],
      [16, '', 'resolved', idle],
    ])
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [1, '', 'resolved', { ...idle, ended: 'restarted' }],
    ])
  })

  test('what is gone without an end, as when its rule is switched off, is not told', () => {
    expect(
      walk([
        [0, 'waiting 8', 'fired waiting 8'],
        [1, '', undefined, { ended: undefined }],
      ]),
    ).toBeUndefined()
  })

  test('nothing is settled while another run tells it', () => {
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [1, '', undefined, { claimed: true }],
      [2, '', 'resolved'],
    ])
  })
})

describe('coming and going', () => {
  const twice: Row[] = [
    [0, 'waiting 8', 'fired waiting 8'],
    [5, '', 'resolved'],
    [20, 'waiting 8', 'fired waiting 8'],
    [30, '', 'resolved'],
  ]

  test('the third beginning within two hours is told as that, then nothing until an hour of calm, which is told once', () => {
    walk([
      ...twice,
      [40, 'waiting 8', 'fired waiting 8 3 times, 15 min bad'],
      [50, ''],
      [60, 'waiting 8'],
      [70, ''],
      [129, ''],
      [130, '', 'resolved 4 times, 35 min bad'],
      [131, ''],
    ])
  })

  test('bad for an hour without a break is told once, and then as any other', () => {
    walk([
      ...twice,
      [40, 'waiting 8', 'fired waiting 8 3 times, 15 min bad'],
      [99, 'waiting 8'],
      [100, 'waiting 8', 'repeated waiting 8 3 times, 75 min bad'],
      [101, 'waiting 8'],
      [110, '', 'resolved'],
    ])
  })

  test('a turn for the worse is told meanwhile', () => {
    walk([
      ...twice,
      [40, 'waiting 8', 'fired waiting 8 3 times, 15 min bad'],
      [50, 'waiting 8!', 'worse waiting 9 critical'],
    ])
  })

  test('no reminder comes meanwhile', () => {
    walk([
      ...twice,
      [40, 'waiting 8', 'fired waiting 8 3 times, 15 min bad'],
      ...Array.from({ length: 20 }, (_, i): Row[] => [
        [60 + i * 40, ''],
        [80 + i * 40, 'waiting 8'],
      ]).flat(),
    ])
  })

  test('beginnings further apart than two hours are each told', () => {
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [5, '', 'resolved'],
      [70, 'waiting 8', 'fired waiting 8'],
      [75, '', 'resolved'],
      [121, 'waiting 8', 'fired waiting 8'],
      [125, '', 'resolved'],
    ])
  })

  test('FLAPS=off tells each', () => {
    walk([...twice, [40, 'waiting 8', 'fired waiting 8'], [50, '', 'resolved']], 'off')
  })

  test('traffic that stops and goes counts, though its pauses are told as no end', () => {
    const idle = { idle: true }
    walk([
      [0, 'waiting 8', 'fired waiting 8'],
      [5, '', undefined, idle],
      [10, 'waiting 8'],
      [15, '', undefined, idle],
      [20, 'waiting 8', 'fired waiting 8 3 times, 10 min bad'],
      [25, '', undefined, idle],
      [30, 'waiting 8'],
      [35, '', undefined, idle],
      [95, '', 'resolved 4 times, 20 min bad', idle],
    ])
  })
})
