import { afterEach, describe, expect, test } from 'vitest'
import type { InboxFault, Received } from '../../tools/simulator/inbox.ts'
import { openInbox } from '../../tools/simulator/inbox.ts'
import { openDeafHost } from './silent-host.ts'
import { openWatch, type Watch } from './watch.ts'

const NOBODY = { env: { NOTIFLY_URL: 'http://127.0.0.1:2' } }
const status = (code: number, headers: Record<string, string> = {}): InboxFault & { kind: 'status' } => ({
  kind: 'status',
  status: code,
  headers,
})

let watch: Watch
const open = async (env: Record<string, string> = {}) => {
  watch = await openWatch(env)
  return watch
}
afterEach(() => watch.close())

describe('a push server that fails', () => {
  test('case 95: is asked again until it delivers, once, and the reminder counts from the delivery', async () => {
    const { inbox, run, titles, state } = await open({ WAITING_REPEAT: '10m' })
    inbox.meet(status(500), 3)
    expect((await run(0, 42)).result.pushes).toEqual({ delivered: 0, waiting: 1, refused: 0 })
    expect((await run(1, 42, NOBODY)).result.pushes).toEqual({ delivered: 0, waiting: 1, refused: 0 })
    expect((await state()).endpoints.a?.incidents.work?.lastSentAt).toBeUndefined()
    expect((await run(2, 42)).result.pushes).toEqual({ delivered: 1, waiting: 0, refused: 0 })
    for (let minute = 3; minute <= 11; minute += 1) await run(minute, 42)
    expect({ attempts: inbox.attempts(), titles: titles() }).toEqual({
      attempts: 4,
      titles: [expect.stringMatching(/^🐌/)],
    })
    await run(12, 42)
    expect(titles()).toHaveLength(2)
  })

  test('case 104: delivered, its answer lost: one repetition that says so, in the next run, and no more', async () => {
    const { inbox, run } = await open()
    inbox.meet({ kind: 'lost' })
    expect((await run(0, 42)).result.pushes).toEqual({ delivered: 0, waiting: 1, refused: 0 })
    expect(inbox.received).toHaveLength(1)
    for (const minute of [1, 2, 3]) await run(minute, 42)
    expect(inbox.received).toHaveLength(2)
    expect(inbox.received.map(({ message }) => message.includes('Possible duplicate'))).toEqual([false, true])
  })

  test('case 104: one that takes each message and never answers in time is not told in every run', async () => {
    const { inbox, run } = await open()
    inbox.meet({ kind: 'lost' }, 99)
    for (let minute = 0; minute <= 10; minute += 1) await run(minute, 42)
    expect(inbox.received.length).toBeLessThanOrEqual(4)
    expect(inbox.attempts()).toBe(inbox.received.length)
  })

  test('that hangs costs its own time-out, and the run still ends in its time', async () => {
    const { inbox, run } = await open()
    inbox.meet({ kind: 'hang' })
    const started = performance.now()
    expect((await run(0, 42, { limit: 3_500 })).result.pushes).toEqual({ delivered: 0, waiting: 1, refused: 0 })
    expect(performance.now() - started).toBeLessThan(3_500)
    expect((await run(1, 42)).result.pushes.delivered).toBe(1)
  })

  test('with a ping that hangs as well, the run is still done in its time', async () => {
    const { inbox, run } = await open()
    const deaf = await openDeafHost()
    inbox.meet(status(500), 3)
    const started = performance.now()
    const pinging = { env: { PING_URL: `${deaf.url}/ping/abc` }, limit: 2_500 }
    expect((await run(0, 42, pinging)).result.pushes).toEqual({ delivered: 0, waiting: 1, refused: 0 })
    expect(performance.now() - started).toBeLessThan(3_000)
    await deaf.close()
  })

  test.each<[number, 'delivered' | 'waiting' | 'refused', boolean]>([
    [200, 'delivered', false],
    [202, 'delivered', false],
    [301, 'waiting', true],
    [308, 'waiting', true],
    [400, 'refused', true],
    [401, 'waiting', true],
    [402, 'waiting', true],
    [403, 'waiting', true],
    [404, 'waiting', true],
    [405, 'waiting', true],
    [408, 'waiting', false],
    [410, 'waiting', true],
    [413, 'refused', true],
    [422, 'refused', true],
    [429, 'waiting', false],
    [451, 'waiting', true],
    [500, 'waiting', false],
    [503, 'waiting', false],
  ])('case 109: %i leaves it %s; the run fails: %s; only 2xx is told', async (code, kind, fails) => {
    const { inbox, run, state } = await open()
    inbox.meet(status(code, { location: 'http://127.0.0.1:9/elsewhere' }), 3)
    const { result, problems } = await run(0, 42)
    expect(result.pushes).toEqual({ delivered: 0, waiting: 0, refused: 0, [kind]: 1 })
    expect(problems.length > 0).toBe(fails)
    expect((await state()).endpoints.a?.incidents.work?.lastSentAt !== undefined).toBe(kind === 'delivered')
    expect((await state()).outbox).toHaveLength(kind === 'waiting' ? 1 : 0)
  })

  test.each([301, 401, 402, 403, 404, 405, 410, 451])(
    'case 109, 321: %i fails each run until it is mended; then it is delivered',
    async (code) => {
      const { inbox, run, titles } = await open()
      inbox.meet(status(code), 3)
      for (const minute of [0, 1, 2]) {
        const { problems, result } = await run(minute, 42)
        expect(problems).toEqual([expect.stringMatching(new RegExp(`${code}.*NOTIFLY_(URL|TOKEN)`))])
        expect(result.pushes.waiting).toBe(1)
      }
      expect(await run(3, 42)).toMatchObject({ problems: [], result: { pushes: { delivered: 1, waiting: 0 } } })
      expect(titles()).toHaveLength(1)
    },
  )

  test.each([301, 401, 403, 404])(
    '%i fails the next run too, whatever time the server asks for beside it',
    async (code) => {
      const { inbox, run } = await open()
      inbox.meet(status(code, { 'retry-after': '3600' }), 2)
      for (const minute of [0, 1]) expect((await run(minute, 42)).problems).toHaveLength(1)
      expect((await run(2, 42)).result.pushes.delivered).toBe(1)
    },
  )

  test('the end of what the server wants to hear later waits as well, and for 15 minutes since it began', async () => {
    const { inbox, run, titles } = await open()
    inbox.meet(status(429, { 'retry-after': '1200' }), 1)
    await run(0, 42)
    for (let minute = 1; minute <= 15; minute += 1) expect((await run(minute, 1)).result.pushes.waiting).toBe(1)
    expect((await run(16, 1)).problems).toEqual([expect.stringMatching(/15 minutes/)])
    expect(inbox.attempts()).toBe(1)
    for (const minute of [17, 18, 19, 20, 21]) await run(minute, 1)
    expect(titles()).toEqual([expect.stringMatching(/^🕓/)])
  })

  test('Retry-After counts from the answer, not from the beginning of the run', async () => {
    const { inbox, run } = await open()
    inbox.meet(status(503), 1)
    inbox.meet(status(429, { 'retry-after': '120' }), 1) // a second after the first
    await run(0, 42)
    expect((await run(2, 42)).result.pushes).toEqual({ delivered: 0, waiting: 1, refused: 0 })
    expect((await run(3, 42)).result.pushes.delivered).toBe(1)
    expect(inbox.attempts()).toBe(3)
  })

  test('the fallback gets what it could not take while the first wants to be left alone', async () => {
    const fallback = await openInbox()
    const { inbox, run } = await open({ NOTIFLY_FALLBACK_URL: fallback.url, NOTIFLY_FALLBACK_TOKEN: 'token' })
    inbox.meet(status(429, { 'retry-after': '3600' }), 9)
    fallback.meet(status(503), 3)
    expect((await run(0, 42)).result.pushes.waiting).toBe(1)
    expect((await run(1, 42)).result.pushes.delivered).toBe(1)
    expect({ first: inbox.attempts(), fallback: fallback.received.length }).toEqual({ first: 1, fallback: 1 })
    await fallback.close()
  })

  test('case 100: 400 is dropped once, as bare facts too, with the reason in the log and the run failing, and nothing is told of its end', async () => {
    const { inbox, run, lines, titles } = await open()
    inbox.meet({ kind: 'status', status: 400, body: '{"error":"message too odd"}' }, 2)
    const { problems } = await run(0, 42)
    expect(problems).toEqual([expect.stringMatching(/refused a message for good \(400 message too odd\).*: 🐌/)])
    expect(lines.join('\n')).toContain('message too odd')
    for (const [minute, waiting] of [
      [1, 42],
      [2, 1],
      [3, 1],
      [4, 1],
    ] as const)
      await run(minute, waiting)
    expect({ titles: titles(), attempts: inbox.attempts() }).toEqual({ titles: [], attempts: 2 })
  })

  test('case 100: what is refused as it is arrives as its bare facts, in letters that nobody can object to', async () => {
    const { inbox, run } = await open()
    inbox.meet(status(400))
    expect(await run(0, 42)).toMatchObject({ problems: [], result: { pushes: { delivered: 1 } } })
    expect(inbox.received[0]).toMatchObject({
      title: 'Queuebell',
      message: 'a, waiting, fired, 42 (limit 20)',
      priority: 8,
    })
  })

  test('case 319: a sign-in page in front is no delivery: kept, each run fails and says so, then told once', async () => {
    const { inbox, run, titles } = await open()
    const page = {
      kind: 'status',
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<title>Sign in</title>',
    } as const
    inbox.meet(page, 2)
    for (const minute of [0, 1]) {
      const { problems, result } = await run(minute, 42)
      expect(problems).toEqual([
        expect.stringMatching(/200 a web page answered: Sign in\): is a sign-in page in front/),
      ])
      expect(result.pushes).toEqual({ delivered: 0, waiting: 1, refused: 0 })
    }
    expect(await run(2, 42)).toMatchObject({ problems: [], result: { pushes: { delivered: 1 } } })
    expect(titles()).toEqual([expect.stringMatching(/^🐌/)])
  })

  test('case 322: 429 without a time is tried at 0, 1, 3, 8, 18 … minutes, once each, whatever else is to be told', async () => {
    const { inbox, run, titles } = await open({ VLLM_ENDPOINTS: `a=${NOBODY.env.NOTIFLY_URL} b=http://127.0.0.1:3` })
    inbox.meet(status(429), 6)
    const tried: number[] = []
    for (let minute = 0; minute <= 40; minute += 1) {
      const before = inbox.attempts()
      await run(minute, 42)
      for (let times = before; times < inbox.attempts(); times += 1) tried.push(minute)
    }
    expect(tried).toEqual([2, 3, 5, 10, 20, 30, 40])
    expect(titles()).toHaveLength(1)
  })

  describe('answers without delivering until it is mended', () => {
    const json = { 'content-type': 'application/json' }
    const answers: [string, InboxFault & { kind: 'status' }, RegExp][] = [
      [
        '200 with a sign-in page',
        { ...status(200, { 'content-type': 'text/html' }), body: '<title>Sign in</title>' },
        /200 a web page answered: Sign in\).*sign-in page in front of NOTIFLY_URL/,
      ],
      [
        '200 with {"error":…}',
        { ...status(200, json), body: '{"error":"no such app"}' },
        /200 JSON with a failure answered: no such app\).*NOTIFLY_URL/,
      ],
      [
        '200 with {"ok":false}',
        { ...status(200, json), body: '{"ok":false,"description":"blocked"}' },
        /failure answered: blocked\)/,
      ],
      ['402', status(402), /402 .*NOTIFLY_(URL|TOKEN)/],
      ['405', status(405), /405 .*NOTIFLY_(URL|TOKEN)/],
      ['410', status(410), /410 .*NOTIFLY_(URL|TOKEN)/],
      // Not ours to mend: it fails the run only when something has waited for 15 minutes.
      ['429 without Retry-After', status(429), /15 minutes/],
    ]
    const MENDED = 31

    test.each(answers)(
      '%s: kept, the run fails and says why; mended, the alert is told, and its end',
      async (_, fault, why) => {
        const { inbox, run, titles, state } = await open()
        inbox.meet(fault, 1_000)
        const problems: string[][] = []
        for (let minute = 0; minute < MENDED; minute += 1) {
          const report = await run(minute, 42)
          problems.push(report.problems)
          expect(report.result.pushes).toEqual({ delivered: 0, waiting: 1, refused: 0 })
        }
        expect(titles()).toEqual([])
        const failed = problems.filter((all) => all.some((problem) => why.test(problem))).length
        expect(failed).toBeGreaterThanOrEqual(fault.status === 429 ? MENDED - 16 : MENDED)
        // At most one try a run while it lasts, and of a limit ever fewer.
        expect(inbox.attempts()).toBeLessThanOrEqual(fault.status === 429 ? 7 : MENDED)
        inbox.recover()
        let last = await run(MENDED, 42)
        for (let minute = MENDED + 1; minute < MENDED + 12; minute += 1) last = await run(minute, 42)
        expect(last.problems).toEqual([])
        expect(titles()).toEqual([expect.stringMatching(/^🐌/)])
        for (const minute of [MENDED + 12, MENDED + 13, MENDED + 14]) await run(minute, 1)
        expect(titles()).toEqual([expect.stringMatching(/^🐌/), expect.stringMatching(/^✅/)])
        expect((await state()).outbox).toEqual([])
      },
    )

    test.each(answers)('%s while the trouble comes and goes: told once, as past', async (_, fault) => {
      const { inbox, run, titles, state } = await open()
      inbox.meet(fault, 1_000)
      for (let minute = 0; minute < MENDED; minute += 1) await run(minute, minute < 10 ? 42 : 1)
      inbox.recover()
      for (let minute = MENDED; minute < MENDED + 12; minute += 1) await run(minute, 1)
      expect(titles()).toEqual([expect.stringMatching(/^🕓/)])
      expect((await state()).outbox).toEqual([])
    })

    test.each(answers)('%s with a fallback: told there, once, and its end', async (_, fault) => {
      const fallback = await openInbox()
      const { inbox, run } = await open({ NOTIFLY_FALLBACK_URL: fallback.url, NOTIFLY_FALLBACK_TOKEN: 'spare' })
      inbox.meet(fault, 1_000)
      for (let minute = 0; minute < 8; minute += 1) await run(minute, minute < 5 ? 42 : 1)
      expect(fallback.received.map(({ priority }) => priority)).toEqual([8, 4])
      expect(inbox.received).toEqual([])
      await fallback.close()
    })
  })

  test('case 324: away for ten hours while it fires: one message of then, no reminders afterwards, and one end', async () => {
    const { inbox, run, titles } = await open({ WAITING_REPEAT: '1h' })
    for (let minute = 0; minute <= 600; minute += 5) await run(minute, 42, NOBODY)
    await run(605, 42)
    expect(inbox.received).toHaveLength(1)
    expect(inbox.received[0]?.message).toContain('As of 00:00 UTC')
    for (const minute of [610, 615, 620]) await run(minute, 1)
    expect(titles()).toEqual([expect.stringMatching(/^🐌/), expect.stringMatching(/^✅/)])
    expect(inbox.received[1]?.message).toMatch(/lasted 10 h/)
  })

  test('case 324: ten incidents come and go while it answers 503: one message afterwards', async () => {
    const { inbox, run, state } = await open({ VLLM_GAP_LIMIT: 'off' })
    inbox.meet(status(503), 1_000)
    let minute = 0
    // An hour and a half apart: each is one of its own.
    for (let times = 0; times < 10; times += 1) {
      for (const waiting of [42, 42, 1, 1]) await run(minute++, waiting)
      minute += 90
    }
    inbox.recover()
    await run(minute, 1)
    await run(minute + 1, 1)
    expect(inbox.received).toHaveLength(1)
    expect(inbox.received[0]?.message.match(/Lasted from/g)).toHaveLength(3)
    expect(inbox.received[0]?.message).toContain('Happened 7 times between 04:42 UTC and 14:09 UTC')
    expect((await state()).outbox).toEqual([])
  })

  test.each<[string, (push: Received) => unknown]>([
    ['bearer', ({ headers }) => headers.authorization],
    ['gotify', ({ headers }) => headers['x-gotify-key']],
    ['query', ({ path }) => new URL(path, 'http://inbox').searchParams.get('token')],
  ])('case 325: a line feed at the end of a secret and of the address is cut off: %s', async (auth, secretOf) => {
    const first = await open()
    const env = { NOTIFLY_AUTH: auth, NOTIFLY_TOKEN: 'TokenOfTest1\n', NOTIFLY_URL: `${first.inbox.url}\n` }
    expect((await first.run(0, 42, { env })).result.pushes.delivered).toBe(1)
    const [push] = first.inbox.received
    expect(push && secretOf(push)).toBe(auth === 'bearer' ? 'Bearer TokenOfTest1' : 'TokenOfTest1')
  })

  test('Retry-After holds over the runs between, and not longer', async () => {
    const { inbox, run, titles } = await open()
    inbox.meet(status(429, { 'retry-after': '150' }))
    for (const minute of [0, 1, 2]) expect((await run(minute, 42)).result.pushes.waiting).toBe(1)
    expect(inbox.attempts()).toBe(1)
    expect((await run(3, 42)).result.pushes.delivered).toBe(1)
    expect(titles()).toHaveLength(1)
  })

  test('413 is answered with a shorter message in the same run', async () => {
    const { inbox, run } = await open()
    inbox.meet(status(413))
    expect((await run(0, 42)).result.pushes).toEqual({ delivered: 1, waiting: 0, refused: 0 })
    expect(inbox.attempts()).toBe(2)
    expect(Buffer.byteLength(inbox.received[0]?.message ?? '')).toBeLessThanOrEqual(1_024)
  })

  test('with a fallback is told there; a wrong token at the first still fails the run', async () => {
    const fallback = await openInbox()
    const { inbox, run } = await open({ NOTIFLY_FALLBACK_URL: fallback.url, NOTIFLY_FALLBACK_TOKEN: 'spare' })
    inbox.meet(status(503), 3)
    expect(await run(0, 42)).toMatchObject({ problems: [], result: { pushes: { delivered: 1, waiting: 0 } } })
    inbox.meet(status(401))
    await run(1, 1)
    const over = await run(2, 1)
    expect(over.result.pushes).toEqual({ delivered: 1, waiting: 0, refused: 0 })
    expect(over.problems).toEqual([expect.stringMatching(/401/)])
    expect(fallback.received.map(({ priority }) => priority)).toEqual([8, 4])
    expect(inbox.received).toEqual([])
    await fallback.close()
  })

  test('fails the run once something has waited longer than 15 minutes', async () => {
    const { run } = await open()
    for (let minute = 0; minute <= 15; minute += 1) expect((await run(minute, 42, NOBODY)).problems).toEqual([])
    expect((await run(16, 42, NOBODY)).problems).toEqual([expect.stringMatching(/15 minutes/)])
  })
})

describe('what is told when', () => {
  test('a problem that ended before it could be told is told once, as past', async () => {
    const { run, inbox } = await open()
    await run(0, 42, NOBODY)
    await run(1, 42, NOBODY)
    await run(2, 1, NOBODY)
    await run(3, 1, NOBODY)
    expect((await run(4, 1)).result.pushes).toEqual({ delivered: 1, waiting: 0, refused: 0 })
    await run(5, 1)
    expect(inbox.received).toHaveLength(1)
    expect(inbox.received[0]).toMatchObject({ title: expect.stringMatching(/^🕓/), priority: 4 })
    expect(inbox.received[0]?.message).toMatch(/00:00.*00:03/)
  })

  test('what comes and goes for hours while nothing can be told is told as one: nothing is lost, and the state stays small', async () => {
    const { run, titles, state, inbox } = await open({ FLAPS: 'off' })
    const sizes: number[] = []
    let minute = 0
    for (let times = 0; times < 60; times += 1) {
      for (const waiting of [42 + times, 1, 1]) await run(minute++, waiting, NOBODY)
      sizes.push(JSON.stringify(await state()).length)
    }
    expect(sizes.at(-1)).toBeLessThan(1.2 * (sizes[10] ?? 0))
    expect((await state()).outbox.map(({ notification }) => notification.times ?? 1)).toEqual([1, 1, 1, 57])
    await run(minute++, 1)
    await run(minute++, 1)
    expect(titles()).toEqual([expect.stringMatching(/^🕓/)])
    expect(inbox.received[0]?.message).toMatch(/Happened 57 times between 00:09 UTC and 02:59 UTC/)
    expect((await state()).outbox).toEqual([])
  })

  test('one that changes while a message waits is told as it is by then, in one push', async () => {
    const { run, inbox, titles } = await open()
    await run(0, 42, NOBODY)
    await run(1, 50, NOBODY)
    await run(2, 50)
    expect(titles()).toHaveLength(1)
    await run(3, 1)
    await run(4, 1)
    expect(inbox.received.map(({ priority }) => priority)).toEqual([8, 4])
  })

  test('more than three endpoints at once are one digest, counted as one push, and one for their end', async () => {
    const first = await open()
    const names = ['a', 'b', 'c', 'd', 'e']
    const env = { VLLM_ENDPOINTS: names.map((name) => `${name}=${first.watched.url}`).join(' ') }
    expect((await first.run(0, 42, { env })).result.pushes).toEqual({ delivered: 1, waiting: 0, refused: 0 })
    const [told] = first.inbox.received
    for (const name of names) expect(`${told?.title}\n${told?.message}`).toMatch(new RegExp(`\\b${name}\\b`))
    const { endpoints } = await first.state()
    expect(names.filter((name) => endpoints[name]?.incidents.work?.lastSentAt === undefined)).toEqual([])
    await first.run(1, 1, { env })
    await first.run(2, 1, { env })
    expect(first.inbox.received.map(({ priority }) => priority)).toEqual([8, 4])
  })

  test('case 96: all endpoints gone with one cause is one message, and one when they are back', async () => {
    const first = await open()
    const names = Array.from({ length: 20 }, (_, i) => `r${i}`)
    const at = (url: string) => ({ env: { VLLM_ENDPOINTS: names.map((name) => `${name}=${url}`).join(' ') } })
    await first.run(0, 1, at(first.watched.url))
    for (const minute of [1, 2, 3, 4]) await first.run(minute, 1, at('http://127.0.0.1:2'))
    expect(first.inbox.received).toHaveLength(1)
    for (const minute of [5, 6, 7]) await first.run(minute, 1, at(first.watched.url))
    expect(first.inbox.received.map(({ priority }) => priority)).toEqual([9, 4])
  })

  test('case 51: a roll-out that refuses four times, then shows nothing yet, is one down and one end', async () => {
    const { run, inbox } = await open()
    const gone = { env: { VLLM_ENDPOINTS: 'a=http://127.0.0.1:2' } }
    await run(0, 1)
    for (const minute of [1, 2, 3, 4]) await run(minute, 1, gone)
    expect(inbox.received.map(({ message }) => message)).toEqual([expect.stringContaining('ECONNREFUSED')])
    for (const minute of [5, 6, 7, 8]) await run(minute, 1)
    expect(inbox.received.map(({ priority }) => priority)).toEqual([9, 4])
  })

  test('case 88: what recovered while the watcher was away is resolved once, after two good runs', async () => {
    const { run, titles } = await open()
    for (const minute of [0, 1, 2, 3]) await run(minute, 42)
    await run(33, 1)
    expect(titles().filter((title) => title.startsWith('✅'))).toHaveLength(0)
    for (const minute of [34, 35, 36]) await run(minute, 1)
    expect(titles().filter((title) => title.startsWith('✅'))).toHaveLength(1)
  })

  test('case 97: what was told as down stays told, whatever the next runs see', async () => {
    const { run, titles } = await open()
    const gone = { env: { VLLM_ENDPOINTS: 'a=http://127.0.0.1:2' } }
    await run(0, 1)
    for (const minute of [1, 2, 3]) await run(minute, 1, gone)
    expect(titles()).toHaveLength(1)
    await run(4, 1) // one good run is no recovery, and the failures after it no second incident
    for (const minute of [5, 6, 7, 8]) await run(minute, 1, gone)
    expect(titles()).toHaveLength(1)
  })

  test('case 98: an endpoint that left the configuration leaves the state, its untold alerts too; back again it starts anew', async () => {
    const { run, state, titles, watched } = await open()
    const two = { env: { VLLM_ENDPOINTS: `a=${watched.url} b=${watched.url}` } }
    await run(0, 42, { env: { ...two.env, ...NOBODY.env } })
    await run(1, 42)
    expect(Object.keys((await state()).endpoints)).toEqual(['a'])
    expect(titles()).toEqual([expect.stringMatching(/ a: /)])
    await run(2, 42, two)
    expect(titles()).toHaveLength(2)
    expect(titles()[1]).toMatch(/ b: /)
  })

  test('an endpoint may have a name that every object has', async () => {
    const { run, titles, watched } = await open()
    const env = { VLLM_ENDPOINTS: `constructor=${watched.url}` }
    for (const [minute, waiting] of [42, 42, 1, 1].entries()) await run(minute, waiting, { env })
    expect(titles()).toEqual([expect.stringMatching(/^🐌 constructor: /), expect.stringMatching(/^✅ constructor: /)])
  })

  test.each([
    ['an endpoint', { endpoint: 'a' }],
    ['the watcher', {}],
  ])('what waits to be told of %s by a rule of another version is let go of, and no run fails', async (_, about) => {
    const { run, store, state, titles } = await open()
    await run(0, 1)
    const notification = {
      id: 'i/fired/0',
      incident: 'i',
      reason: 'fired',
      rule: 'later',
      priority: 8,
      at: 0,
      firedAt: 0,
    }
    const outbox = [{ notification: { ...notification, ...about }, since: 0, tries: 0 }]
    await store.put('vllm.json', JSON.stringify({ ...(await state()), outbox }))
    expect((await run(1, 1)).problems).toEqual([])
    expect(titles()).toEqual([])
    expect((await state()).outbox).toEqual([])
  })

  test('a message that cannot be written is told in bare words, and holds nothing back', async () => {
    const { run, store, state, inbox } = await open()
    await run(0, 42, NOBODY)
    const text = JSON.stringify(await state())
    const verdict = '"verdict":{"kind":"of a later version"}'
    await store.put('vllm.json', text.replace('"numbers":', `${verdict},"numbers":`))
    const { problems } = await run(1, 42)
    expect(problems).toEqual([expect.stringMatching(/could not be written/)])
    expect(inbox.received).toMatchObject([{ message: 'a, waiting, fired, 42 (limit 20)', priority: 8 }])
    expect((await run(2, 42)).problems).toEqual([])
    expect(inbox.received).toHaveLength(1)
  })

  test('case 122: a state that cannot be read is told once, and what still lasts is told anew', async () => {
    const { run, store, titles } = await open()
    await run(0, 42)
    await store.put('vllm.json', '{"v":1,"alerts":{')
    await run(1, 42)
    await run(2, 42)
    expect(titles()).toHaveLength(3)
    expect(await store.list('vllm.broken-')).toHaveLength(1)
  })
})
