import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SERVICES, type Service } from '../../src/model/config.ts'
import { type PlayedService, playService, variablesFor } from '../push/services.ts'
import { openWatch, type Watch } from './watch.ts'

let services: Record<Service, PlayedService>
let watch: Watch | undefined
beforeEach(async () => {
  const played = await Promise.all(SERVICES.map(playService))
  services = Object.fromEntries(played.map((one) => [one.service, one])) as Record<Service, PlayedService>
})
afterEach(async () => {
  await watch?.close()
  await Promise.all(Object.values(services).map((one) => one.close()))
})

const some = (...names: Service[]) => variablesFor(names.map((name) => services[name]))
const titles = (service: Service): string[] =>
  services[service]
    .taken()
    .map(({ body }) => body.title ?? body.text ?? body.content ?? body.payload?.summary ?? body.event_action)

describe('channels fail each by itself', () => {
  test('one is away for ten hours, one answers 429, one has a wrong token: the others hear in time; afterwards no flood, nothing lost, nothing twice', async () => {
    const { inbox, run, state } = await open(some('discord', 'ntfy', 'telegram', 'slack', 'pagerduty'))
    const wrong = { env: { PUSH_TELEGRAM_TOKEN: services.telegram.wrong.token ?? '' } }
    services.discord.meet({ status: 503 }, 10_000)
    services.ntfy.meet({ status: 429, body: { code: 42901, http: 429, error: 'limit reached' } }, 4)
    const hours: number[] = []
    // Five incidents come and go, an hour and a half apart; the sixth lasts.
    for (let minute = 0; minute <= 600; minute += 5) {
      const waiting = minute % 100 < 30 ? 42 : 1
      const { problems } = await run(minute, waiting, wrong)
      expect(problems.join('\n')).toMatch(
        /the channel telegram did not take a message \(401 Unauthorized\): is PUSH_TELEGRAM_TOKEN/,
      )
      hours.push(inbox.received.length)
    }
    const inTime = inbox.received.map(({ title }) => title)
    expect(inTime).toHaveLength(13) // six began and ended, the seventh began
    expect(hours[0]).toBe(1)
    for (const service of ['slack', 'pagerduty'] as const)
      expect(
        services[service].taken().filter(({ path }) => !path.endsWith('update')),
        service,
      ).toHaveLength(13)
    // Within the half hour of the first incident the limit was over.
    expect(titles('ntfy')).toHaveLength(13)
    expect([services.discord.taken(), services.telegram.taken()]).toEqual([[], []])
    const size = JSON.stringify(await state()).length
    services.discord.recover()
    await run(605, 42)
    // One message each for all that came and went, and for what lasts.
    expect(titles('discord')).toHaveLength(1)
    expect(services.discord.taken()[0]?.body.content).toMatch(/Queue|waiting|🐌/)
    expect(services.telegram.taken()).toHaveLength(1)
    expect(services.discord.taken()[0]?.body.content).toMatch(/times|Was/i)
    await run(610, 1)
    await run(615, 1)
    for (const service of ['discord', 'telegram'] as const)
      expect([service, services[service].taken().length]).toEqual([service, 2])
    expect(inbox.received).toHaveLength(14)
    expect((await state()).outbox).toEqual([])
    expect(size).toBeLessThan(40_000)
  })

  test('a channel that hangs takes no time from the others', async () => {
    const { inbox, run } = await open(some('ntfy'))
    services.ntfy.meet('lost', 1)
    const { result } = await run(0, 42)
    expect([inbox.received.length, result.pushes]).toEqual([1, { delivered: 1, waiting: 1, refused: 0 }])
    await run(1, 42)
    expect([inbox.received.length, services.ntfy.asked.length]).toEqual([1, 2])
  })

  test('what PagerDuty knows by its key is sent again at once when an answer is lost, and is no repetition', async () => {
    const { run } = await open(some('pagerduty'))
    services.pagerduty.meet('lost', 1)
    expect((await run(0, 42)).result.pushes).toEqual({ delivered: 2, waiting: 0, refused: 0 })
    expect(services.pagerduty.asked.map(({ body }) => body.dedup_key)).toEqual([
      expect.any(String),
      services.pagerduty.asked[0]?.body.dedup_key,
    ])
  })
})

describe('who hears', () => {
  test('PUSH by endpoint, and by all', async () => {
    const both = some('ntfy', 'slack')
    const { inbox, run } = await open({ ...both, PUSH: 'notifly', VLLM_A_PUSH: 'ntfy, SLACK' })
    await run(0, 42)
    expect([inbox.received.length, services.ntfy.taken().length, services.slack.taken().length]).toEqual([0, 1, 1])
  })

  test('the least priority judges the beginning, and the end goes to whoever was told', async () => {
    const env = { ...some('ntfy', 'pagerduty'), PUSH_PAGERDUTY_MIN_PRIORITY: '9', PUSH_NTFY_MIN_PRIORITY: '8' }
    const { inbox, run } = await open(env)
    for (const [minute, waiting] of [
      [0, 42],
      [1, 1],
      [2, 1],
    ] as const)
      await run(minute, waiting)
    expect([inbox.received.length, services.ntfy.taken().length, services.pagerduty.asked.length]).toEqual([2, 2, 0])
  })

  test('each in its language', async () => {
    const { inbox, run } = await open({ ...some('ntfy'), PUSH_NTFY_LANGUAGE: 'ru' })
    await run(0, 42)
    expect([inbox.received[0]?.message, services.ntfy.taken()[0]?.body.message]).toEqual([
      expect.not.stringMatching(/[а-я]/i),
      expect.stringMatching(/[а-я]/i),
    ])
  })

  test('a fallback gets what the first could not take, and its end, and nothing else', async () => {
    const { run } = await open({ ...some('ntfy', 'slack'), PUSH_NTFY_FALLBACK: 'slack' })
    await run(0, 42)
    await run(1, 1)
    await run(2, 1)
    expect([services.ntfy.taken().length, services.slack.asked.length]).toEqual([2, 0])
    services.ntfy.meet({ status: 503 }, 3)
    await run(3, 42)
    await run(4, 1)
    await run(5, 1)
    // Told through the fallback: so the end is told there.
    expect([services.ntfy.taken().length, titles('slack').length]).toEqual([2, 3])
  })

  test('a fallback that hears by itself is not told twice, and one with a higher least priority is not told at all', async () => {
    const env = { ...some('ntfy', 'slack', 'gotify'), PUSH_NTFY_FALLBACK: 'slack', PUSH: 'ntfy slack' }
    const { run } = await open({ ...env, PUSH_SLACK_FALLBACK: 'gotify', PUSH_GOTIFY_MIN_PRIORITY: '9' })
    for (const service of ['ntfy', 'slack'] as const) services[service].meet({ status: 503 }, 3)
    expect((await run(0, 42)).result.pushes).toEqual({ delivered: 0, waiting: 2, refused: 0 })
    await run(1, 42)
    expect([services.ntfy, services.slack, services.gotify].map((one) => one.taken().length)).toEqual([1, 1, 0])
  })
})

describe('what changes between runs', () => {
  test('a channel that is taken away leaves what waits for it to the others, one that is added hears of what begins', async () => {
    const { inbox, run, state } = await open()
    inbox.meet({ kind: 'status', status: 503 }, 3)
    await run(0, 42)
    const without = { env: { ...some('ntfy'), NOTIFLY_URL: '', NOTIFLY_TOKEN: '' } }
    await run(1, 42, without)
    expect(titles('ntfy')).toHaveLength(1)
    const both = { env: some('ntfy', 'slack') }
    await run(2, 1, both)
    await run(3, 1, both)
    // The end goes to whoever was told.
    expect([titles('ntfy').length, titles('slack').length, inbox.received.length]).toEqual([2, 0, 0])
    expect((await state()).threads).toBeUndefined()
  })

  test('one that was told before there were others hears of the end', async () => {
    const { inbox, run } = await open()
    await run(0, 42)
    const both = { env: some('ntfy') }
    await run(1, 1, both)
    await run(2, 1, both)
    expect([inbox.received.length, services.ntfy.asked.length]).toEqual([2, 0])
  })

  test('with one push server the state has no threads and no legs', async () => {
    const { inbox, run, state } = await open()
    inbox.meet({ kind: 'status', status: 503 }, 3)
    await run(0, 42)
    const { outbox, threads } = await state()
    expect([Object.keys(outbox[0] ?? {}).sort(), threads]).toEqual([['notification', 'since', 'tries'], undefined])
    await run(1, 42)
    expect((await state()).threads).toBeUndefined()
  })
})

async function open(env: Record<string, string> = {}): Promise<Watch> {
  watch = await openWatch(env)
  return watch
}
