import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/config/parse.ts'
import { type LastWrite, receive } from '../../src/heartbeats/receive.ts'
import { readSchedule } from '../../src/heartbeats/schedule.ts'
import type { IO } from '../../src/model/io.ts'
import { run } from '../../src/run.ts'
import { createMemoryStore } from '../../src/store/memory.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

interface Sent {
  /** ISO, UTC. */
  at: string
  path: string
}

interface Told {
  /** UTC, to the minute. */
  at: string
  title: string
  body: string
}

/** Worker, receiver and checker on one clock, the checker every `every` minutes: what was told, and when. */
async function play(
  env: Record<string, string>,
  { from, to, sent, every = 10 }: { from: string; to: string; sent: readonly Sent[]; every?: number },
) {
  let now = Date.parse(from)
  const store = createMemoryStore(() => now)
  const parsed = parseConfig('heartbeat-check', { STATE_DIR: 'nowhere', ...env }, { lambda: false, readSchedule })
  if ('problems' in parsed) throw new Error(parsed.problems.join())
  const { config } = parsed
  const quiet = () => {}
  const io: IO = {
    now: () => now,
    sleep: async () => {},
    store,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    runId: () => `run-${now}`,
    print: quiet,
  }
  const workers = config.endpoints.map(({ name, beat }) => ({ name, interval: beat?.interval ?? 0 }))
  const lastWrites = new Map<string, LastWrite>()
  const told: Told[] = []
  const results = []
  const waiting = [...sent]
  for (let tick = now; tick <= Date.parse(to); tick += every * MINUTE) {
    for (let next = waiting[0]; next && Date.parse(next.at) <= tick; next = waiting[0]) {
      waiting.shift()
      now = Date.parse(next.at)
      const [path = '', query = ''] = next.path.split('?')
      const answer = await receive(
        {
          method: 'POST',
          path,
          query: new URLSearchParams(`token=t&${query}`),
          headers: {},
          body: '',
          bodyTooLarge: false,
        },
        { token: 't', workers },
        { now, lastWrites, put: store.put },
      )
      expect(answer.status).toBe(204)
    }
    now = tick
    const { messages, result } = await run({ config, io, deadline: now + 50_000 })
    results.push(result.endpoints[0])
    for (const { title, body } of messages) told.push({ at: new Date(now).toISOString().slice(0, 16), title, body })
  }
  return { told, results }
}

const times = ({ told }: { told: readonly Told[] }) => told.map(({ at, title }) => [at, title.split(' ')[0]])

/** Two in the morning, and half past: the one is left out in spring, the other comes twice in autumn. */
const NIGHTLY = {
  HEARTBEAT_WORKERS: 'nightly=cron+1h',
  HEARTBEAT_NIGHTLY_SCHEDULE: '30 2 * * *',
  HEARTBEAT_NIGHTLY_TIMEZONE: 'Europe/Berlin',
}

describe('a nightly job over the nights when clocks change', () => {
  test('in spring 02:30 does not exist: it is due at 03:00, and a job that ran then is not late', async () => {
    const sent = ['2026-03-28T01:31:00Z', '2026-03-29T01:01:00Z', '2026-03-30T00:31:00Z']
    const played = await play(NIGHTLY, {
      from: '2026-03-27T12:00:00Z',
      to: '2026-03-30T12:00:00Z',
      sent: sent.map((at) => ({ at, path: '/nightly' })),
    })
    expect(played.told).toEqual([])
  })

  test('in spring a job that did not run is told an hour after 03:00 by its clock', async () => {
    const played = await play(NIGHTLY, {
      from: '2026-03-27T12:00:00Z',
      to: '2026-03-30T12:00:00Z',
      sent: ['2026-03-28T01:31:00Z', '2026-03-30T00:31:00Z'].map((at) => ({ at, path: '/nightly' })),
    })
    expect(times(played)).toEqual([
      ['2026-03-29T02:00', '💔'],
      ['2026-03-29T06:00', '💔'],
      ['2026-03-29T10:00', '💔'],
      ['2026-03-29T14:00', '💔'],
      ['2026-03-29T18:00', '💔'],
      ['2026-03-29T22:00', '💔'],
      ['2026-03-30T00:50', '✅'],
    ])
    expect(played.told[0]?.body).toContain('Nothing came of 03:00 (calendar 30 2 * * *, Europe/Berlin, 1 h of grace)')
  })

  test('in autumn 02:30 comes twice: one run is due, and one beat is enough', async () => {
    for (const second of ['2026-10-25T00:31:00Z', '2026-10-25T01:25:00Z']) {
      const played = await play(NIGHTLY, {
        from: '2026-10-24T12:00:00Z',
        to: '2026-10-26T12:00:00Z',
        sent: [second, '2026-10-26T01:31:00Z'].map((at) => ({ at, path: '/nightly' })),
      })
      expect(played.told).toEqual([])
    }
  })

  test('in autumn a job that did not run is told once, an hour after the first 02:30', async () => {
    const played = await play(
      { ...NIGHTLY, HEARTBEAT_REPEAT: 'off' },
      {
        from: '2026-10-24T12:00:00Z',
        to: '2026-10-26T12:00:00Z',
        sent: [
          { at: '2026-10-24T12:05:00Z', path: '/nightly' },
          { at: '2026-10-26T01:31:00Z', path: '/nightly' },
        ],
      },
    )
    expect(times(played)).toEqual([
      ['2026-10-25T01:30', '💔'],
      ['2026-10-26T01:50', '✅'],
    ])
  })
})

describe('a run that never ends', () => {
  const JOB = { HEARTBEAT_WORKERS: 'job=cron+1h', HEARTBEAT_JOB_SCHEDULE: '0 3 * * *', OVERRUN_REPEAT: 'off' }
  const night = (day: number, minutes = 50) => [
    { at: `2026-06-0${day}T03:00:00Z`, path: '/job/start' },
    { at: new Date(Date.parse(`2026-06-0${day}T03:00:00Z`) + minutes * MINUTE).toISOString(), path: '/job' },
  ]
  const fourth = { at: '2026-06-04T03:00:00Z', path: '/job/start' }

  test('is told after three times its usual run, and its end once it came', async () => {
    const played = await play(JOB, {
      from: '2026-06-01T00:00:00Z',
      to: '2026-06-04T09:00:00Z',
      sent: [...night(1), ...night(2), ...night(3), fourth, { at: '2026-06-04T07:05:00Z', path: '/job' }],
    })
    expect(times(played)).toEqual([
      ['2026-06-04T05:40', '🏃'],
      ['2026-06-04T07:20', '✅'],
    ])
    expect(played.told[0]?.body).toContain('The run has lasted 2 h 40 min, usually it takes 50 min.')
  })

  test('by its own limit, from its first run on', async () => {
    const played = await play(
      { ...JOB, HEARTBEAT_JOB_RUN_LIMIT: '90m' },
      { from: '2026-06-04T00:00:00Z', to: '2026-06-04T09:00:00Z', sent: [fourth] },
    )
    expect(times(played)).toEqual([['2026-06-04T04:40', '🏃']])
  })

  test('twice the usual is not told', async () => {
    const played = await play(JOB, {
      from: '2026-06-01T00:00:00Z',
      to: '2026-06-04T09:00:00Z',
      sent: [...night(1), ...night(2), ...night(3), ...night(4, 100)],
    })
    expect(played.told).toEqual([])
  })
})

describe('progress', () => {
  const IMPORT = { HEARTBEAT_WORKERS: 'import=10m+5m', HEARTBEAT_REPEAT: 'off' }
  /** Ten a minute from 12:00 on, as far as `until`; a word every minute. */
  const counted = (minutes: number, until: number): Sent[] => [
    { at: '2026-06-01T12:00:00Z', path: '/import/start' },
    ...Array.from({ length: minutes }, (_, minute) => ({
      at: new Date(Date.parse('2026-06-01T12:01:00Z') + minute * MINUTE).toISOString(),
      path: `/import/progress/${Math.min((minute + 1) * 10, until)}/1000`,
    })),
  ]

  test('one that stands at 412 of 1,000 is told, though it beats', async () => {
    const played = await play(IMPORT, {
      from: '2026-06-01T12:00:00Z',
      to: '2026-06-01T13:30:00Z',
      sent: counted(90, 412),
      every: 1,
    })
    expect(times(played)).toEqual([['2026-06-01T12:58', '💔']])
    expect(played.told[0]?.body).toContain('The worker stands at 412 of 1,000 for 16 min.')
  })

  test('the result says how far it is and when it will be done, and what has not reported is not up', async () => {
    const played = await play(IMPORT, {
      from: '2026-06-01T11:58:00Z',
      to: '2026-06-01T12:30:00Z',
      sent: counted(30, 1_000),
      every: 1,
    })
    expect(played.results[0]).toMatchObject({ up: false, notes: ['has not reported yet'] })
    expect(played.results.at(-1)).toMatchObject({
      up: true,
      notes: ['in a run for 30 min, 300 of 1000, about 70 min left'],
    })
    expect(played.told).toEqual([])
  })

  test('silent in the middle: the message says where it was', async () => {
    const played = await play(IMPORT, {
      from: '2026-06-01T12:00:00Z',
      to: '2026-06-01T12:50:00Z',
      sent: counted(20, 1_000),
      every: 1,
    })
    expect(times(played)).toEqual([['2026-06-01T12:36', '💔']])
    expect(played.told[0]?.body).toContain('200 of 1,000')
  })

  test('n and of may come as a query', async () => {
    const played = await play(IMPORT, {
      from: '2026-06-01T12:00:00Z',
      to: '2026-06-01T12:02:00Z',
      sent: [{ at: '2026-06-01T12:01:00Z', path: '/import/progress?n=412&of=1000' }],
      every: 1,
    })
    expect(played.results.at(-1)?.notes?.[0]).toContain('412 of 1000')
  })
})

describe('its variables', () => {
  const problems = (env: Record<string, string>) => {
    const parsed = parseConfig('heartbeat-check', env, { lambda: false, readSchedule })
    return parsed.ok ? [] : parsed.problems
  }

  test.each([
    [{}, 'HEARTBEAT_JOB_SCHEDULE: is not set'],
    [{ HEARTBEAT_JOB_SCHEDULE: '0 3 * *' }, 'five fields'],
    [{ HEARTBEAT_JOB_SCHEDULE: '0 25 * * *' }, 'HEARTBEAT_JOB_SCHEDULE is 0 25 * * *'],
    [{ HEARTBEAT_JOB_SCHEDULE: '0 3 30 2 *' }, 'no time that ever comes'],
    [{ HEARTBEAT_JOB_SCHEDULE: '0 3 * * *', HEARTBEAT_JOB_TIMEZONE: 'Mars/Base' }, 'HEARTBEAT_JOB_TIMEZONE'],
    [{ HEARTBEAT_JOB_SCHEDULE: '0 3 * * *', HEARTBEAT_JOB_RUN_LIMIT: '2' }, 'HEARTBEAT_JOB_RUN_LIMIT'],
  ])('%j', (env, says) => {
    const found = problems({ HEARTBEAT_WORKERS: 'job=cron+1h', ...env })
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(says)
  })

  test('a calendar of a worker with an interval is a mistake', () => {
    const env = { HEARTBEAT_WORKERS: 'job=1h+1h', HEARTBEAT_JOB_SCHEDULE: '0 3 * * *' }
    expect(problems(env)[0]).toContain('job has an interval')
  })

  test('a zone for all of them, and their runs', () => {
    const env = {
      HEARTBEAT_WORKERS: 'job=cron+1h other=60s+30s',
      HEARTBEAT_SCHEDULE: '0 3 * * 1-5',
      TIMEZONE: 'Asia/Tokyo',
      HEARTBEAT_RUN_LIMIT: '2h',
    }
    expect(problems(env)).toEqual([])
  })
})

test('a day is due once by the clock of its zone, whatever the clock does', () => {
  const read = readSchedule('30 2 * * *', 'Europe/Berlin')
  if (!read.ok) throw new Error(read.why)
  const due = new Set<number>()
  for (let at = Date.parse('2026-01-01T03:00:00Z'); at < Date.parse('2027-01-01T03:00:00Z'); at += 6 * HOUR)
    due.add(read.schedule.previous(at) ?? 0)
  expect(due.size).toBe(365)
})
