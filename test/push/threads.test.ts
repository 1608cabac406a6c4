import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { SERVICES, type Service } from '../../src/model/config.ts'
import { factOf } from './pushing.ts'
import { type Asked, type PlayedService, playService, variablesFor } from './services.ts'
import { createTelling } from './telling.ts'

const MINUTE = 60_000
let services: Record<Service, PlayedService>
beforeEach(async () => {
  const played = await Promise.all(SERVICES.map(playService))
  services = Object.fromEntries(played.map((one) => [one.service, one])) as Record<Service, PlayedService>
})
afterEach(async () => {
  await Promise.all(Object.values(services).map((one) => one.close()))
})

const fired = factOf('fired')
const at = (minute: number) => fired.firedAt + minute * MINUTE
const worse = factOf('worse', { at: at(10), priority: 9, value: 250 })
const repeated = factOf('repeated', { at: at(240), value: 120 })
const resolved = factOf('resolved', { at: at(300), priority: 4, peak: 250 })

/** One incident in four runs, over all services at once. */
async function toldAll() {
  const telling = createTelling(variablesFor(Object.values(services)))
  const problems: string[] = []
  for (const [minute, fact] of [
    [0, fired],
    [10, worse],
    [240, repeated],
    [300, resolved],
  ] as const)
    problems.push(...(await telling.run(minute, fact)).problems)
  return { telling, problems }
}

describe('one incident, told through ten services, worse, reminded of and ended', () => {
  test('no request is refused, and afterwards nothing is left to be told or remembered', async () => {
    const { telling, problems } = await toldAll()
    expect(problems).toEqual([])
    for (const one of Object.values(services))
      expect([one.service, one.taken().length]).toEqual([one.service, one.asked.length])
    expect(telling.state().outbox).toEqual([])
    // Alertmanager hears of the end twice more.
    for (const minute of [301, 302]) await telling.run(minute)
    expect(telling.state().threads).toBeUndefined()
    expect(services.alertmanager.asked).toHaveLength(6)
    await telling.run(303)
    expect(services.alertmanager.asked).toHaveLength(6)
  })

  test.each<[Service, (asked: readonly Asked[]) => unknown, unknown]>([
    ['notifly', (asked) => asked.map(({ body }) => body.priority), [8, 9, 8, 4]],
    ['gotify', (asked) => asked.map(({ path }) => path), Array(4).fill('/push/message')],
    [
      'ntfy',
      (asked) => [new Set(asked.map(({ body }) => body.sequence_id)).size, asked.map(({ body }) => body.priority)],
      [1, [4, 5, 4, 3]],
    ],
    [
      'telegram',
      (asked) => asked.map(({ body }) => [body.reply_parameters?.message_id, body.disable_notification]),
      [[undefined, false], ...[false, false, true].map((silent) => [101, silent])],
    ],
    [
      'slack',
      (asked) => asked.map(({ path, body }) => [path.slice(10), body.ts ?? body.thread_ts, body.reply_broadcast]),
      [
        ['postMessage', undefined, undefined],
        ['update', '1764000010.000100', undefined],
        ['postMessage', '1764000010.000100', true],
        ['update', '1764000010.000100', undefined],
        ['postMessage', '1764000010.000100', undefined],
        ['update', '1764000010.000100', undefined],
        ['postMessage', '1764000010.000100', undefined],
      ],
    ],
    [
      'discord',
      (asked) => asked.map(({ method, path }) => `${method} ${path.replace(/.*T0ken/, '')}`),
      [
        'POST ?wait=true',
        'POST ?wait=true',
        'PATCH /messages/990000000001',
        'PATCH /messages/990000000000',
        'PATCH /messages/990000000001',
        'PATCH /messages/990000000000',
      ],
    ],
    ['teams', (asked) => asked.map(({ status }) => status), [202, 202, 202, 202]],
    [
      'pagerduty',
      (asked) => asked.map(({ body }) => [body.event_action, body.dedup_key, body.payload?.severity]),
      [
        ['trigger', fired.incident, 'error'],
        ['trigger', fired.incident, 'critical'],
        ['trigger', fired.incident, 'error'],
        ['resolve', fired.incident, undefined],
      ],
    ],
    [
      'alertmanager',
      (asked) =>
        asked.map(({ body }) => [
          body.length,
          (Date.parse(body[0].endsAt) - at(0)) / MINUTE,
          body[0].labels.severity,
          body[0].annotations.value,
        ]),
      [
        [1, 3, 'error', '42'],
        [1, 13, 'error', '250'],
        [1, 243, 'error', '120'],
        [1, 300, 'error', '42'],
      ],
    ],
    [
      'webhook',
      (asked) => asked.map(({ headers, body }) => [headers['webhook-id'] === body.data.id, body.type]),
      ['fired', 'worse', 'repeated', 'resolved'].map((reason) => [true, `incident.${reason}`]),
    ],
  ])('%s', async (service, shown, expected) => {
    await toldAll()
    expect(shown(services[service].asked)).toEqual(expected)
  })

  test('the labels of an Alertmanager stay what they were, whatever it turned into', async () => {
    await toldAll()
    expect(new Set(services.alertmanager.asked.map(({ body }) => JSON.stringify(body[0].labels))).size).toBe(1)
  })
})

describe('a message that a person deleted becomes a new one', () => {
  test.each<[Service, (asked: readonly Asked[]) => unknown, unknown]>([
    ['telegram', (asked) => asked.map(({ status }) => status), [200, 200]],
    [
      'slack',
      (asked) => asked.map(({ path, body }) => [path.slice(10), body.thread_ts]),
      [
        ['postMessage', undefined],
        ['update', undefined],
        ['postMessage', undefined],
      ],
    ],
    [
      'discord',
      (asked) => asked.map(({ method, status }) => [method, status]),
      [
        ['POST', 200],
        ['PATCH', 404],
        ['POST', 200],
      ],
    ],
  ])('%s', async (service, shown, expected) => {
    const telling = createTelling(variablesFor([services[service]]))
    await telling.run(0, fired)
    services[service].forget()
    const { delivered, problems } = await telling.run(240, repeated)
    expect([delivered, problems, shown(services[service].asked)]).toEqual([1, [], expected])
  })

  test.each<[Service, { status: number; body: unknown }]>([
    ['slack', { status: 200, body: { ok: false, error: 'token_revoked' } }],
    ['telegram', { status: 401, body: { ok: false, error_code: 401, description: 'Unauthorized' } }],
    ['discord', { status: 401, body: { message: 'Invalid Webhook Token', code: 50027 } }],
  ])('but a token that %s refuses is tried once a run: no message would be taken', async (service, answer) => {
    const telling = createTelling(variablesFor([services[service]]))
    await telling.run(0, fired)
    services[service].meet(answer, 9)
    expect((await telling.run(240, repeated)).problems).toHaveLength(1)
    expect(services[service].asked).toHaveLength(2)
    services[service].recover()
    expect((await telling.run(241)).delivered).toBe(1)
    expect(services[service].asked.slice(2).every(({ body }) => JSON.stringify(body).includes('120'))).toBe(true)
  })

  test('to which a Telegram chat goes on replying', async () => {
    const telling = createTelling(variablesFor([services.telegram]))
    await telling.run(0, fired)
    services.telegram.forget()
    await telling.run(240, repeated)
    await telling.run(300, resolved)
    expect(services.telegram.asked.map(({ body }) => body.reply_parameters?.message_id)).toEqual([undefined, 101, 102])
  })

  test('Telegram, where it takes no reply at all', async () => {
    const telling = createTelling(variablesFor([services.telegram]))
    await telling.run(0, fired)
    services.telegram.meet({
      status: 400,
      body: { ok: false, error_code: 400, description: 'Bad Request: message to be replied not found' },
    })
    expect((await telling.run(240, repeated)).delivered).toBe(1)
    expect(services.telegram.asked.map(({ body }) => body.reply_parameters === undefined)).toEqual([true, false, true])
  })
})

describe('a change of an earlier message that a service would take later', () => {
  const limited = { status: 429, headers: { 'retry-after': '600' } }
  const calls = () => services.slack.asked.map(({ path, status }) => `${path.slice(10)} ${status}`)

  test('is waited for, or the first message would say for good that it lasts', async () => {
    const telling = createTelling(variablesFor([services.slack]))
    await telling.run(0, fired)
    services.slack.meet(limited)
    expect((await telling.run(300, resolved)).delivered).toBe(0)
    await telling.run(311)
    expect(calls()).toEqual(['postMessage 200', 'update 429', 'update 200', 'postMessage 200'])
    expect(telling.state()).toMatchObject({ outbox: [] })
  })

  test('does not hold back what is worse', async () => {
    const telling = createTelling(variablesFor([services.slack]))
    await telling.run(0, fired)
    services.slack.meet(limited)
    expect((await telling.run(10, worse)).delivered).toBe(1)
    expect(calls()).toEqual(['postMessage 200', 'update 429', 'postMessage 200'])
  })

  test('and that only follows, is asked for once more in the run', async () => {
    const telling = createTelling(variablesFor([services.discord]))
    await telling.run(0, fired)
    await telling.run(10, worse)
    services.discord.meet({ status: 200, body: { id: '990000000001' } })
    services.discord.meet({ status: 429, body: { message: 'You are being rate limited.', retry_after: 0.4 } })
    await telling.run(300, resolved)
    const ends = services.discord.asked.slice(2).map(({ path, status }) => [path.split('/').at(-1), status])
    expect(ends).toEqual([
      ['990000000001', 200],
      ['990000000000', 429],
      ['990000000000', 200],
    ])
  })
})

describe('a message about several incidents', () => {
  const other = { incident: `chat/a|ttft|@${fired.firedAt}`, rule: 'ttft', value: 12, limit: 10 }
  test('is not brought up to date with the end of one of them: that would deny the others', async () => {
    const telling = createTelling(variablesFor([services.discord, services.ntfy, services.telegram]))
    await telling.run(0, fired, factOf('fired', other))
    await telling.run(300, resolved)
    expect(services.discord.asked.map(({ method }) => method)).toEqual(['POST', 'POST'])
    expect(new Set(services.ntfy.asked.map(({ body }) => body.sequence_id)).size).toBe(2)
    expect(services.telegram.asked[1]?.body.reply_parameters).toBeUndefined()
    await telling.run(310, factOf('resolved', { ...other, at: at(310), priority: 4 }))
    expect(telling.state()).toMatchObject({ outbox: [] })
    expect(telling.state().threads).toBeUndefined()
  })

  test('is brought up to date when all of them end at once', async () => {
    const telling = createTelling(variablesFor([services.discord, services.ntfy]))
    await telling.run(0, fired, factOf('fired', other))
    await telling.run(300, resolved, factOf('resolved', { ...other, at: at(300), priority: 4 }))
    expect(services.discord.asked.map(({ method }) => method)).toEqual(['POST', 'PATCH'])
    expect(new Set(services.ntfy.asked.map(({ body }) => body.sequence_id)).size).toBe(1)
  })

  test('that came and went before it could be told is not left open at PagerDuty', async () => {
    const telling = createTelling(variablesFor([services.pagerduty]))
    services.pagerduty.meet({ status: 503 }, 3)
    await telling.run(0, fired)
    await telling.run(5, factOf('late', { at: at(5), endedAt: at(5) }))
    expect(services.pagerduty.taken().map(({ body }) => body.event_action)).toEqual(['trigger', 'resolve'])
  })

  test('is not shown as the one message that an Alertmanager gets all of it in', async () => {
    const telling = createTelling(variablesFor([services.alertmanager, services.webhook]))
    const embed = factOf('fired', { incident: `embed|waiting|@${fired.firedAt}`, endpoint: 'embed' })
    const { messages } = await telling.run(0, fired, embed)
    expect(services.alertmanager.asked.map(({ body }) => body.length)).toEqual([2])
    expect(messages.map(({ title }) => title.split(':')[0])).toEqual(['🐌 chat/a', '🐌 embed'])
  })

  test('is an event each for PagerDuty and a webhook', async () => {
    const telling = createTelling(variablesFor([services.pagerduty, services.webhook]))
    await telling.run(0, fired, factOf('fired', other))
    expect(services.pagerduty.asked.map(({ body }) => body.dedup_key)).toEqual([fired.incident, other.incident])
    expect(services.webhook.asked.map(({ body }) => body.data.rule)).toEqual(['waiting', 'ttft'])
  })
})

describe('a channel that takes what another could not', () => {
  const away = { status: 503 }
  const reasons = (service: Service) => services[service].taken().map(({ body }) => body.type.slice(9))
  const hooks = () => ({
    ...variablesFor([services.telegram, services.slack, services.webhook]),
    PUSH_TELEGRAM_FALLBACK: 'webhook',
    PUSH_SLACK_FALLBACK: 'webhook',
  })

  test('is told each turn of the incident once, and hears its end', async () => {
    const telling = createTelling(hooks())
    services.telegram.meet(away, 6)
    await telling.run(0, fired)
    expect([reasons('webhook'), services.slack.taken().length]).toEqual([['fired'], 1])
    await telling.run(10, worse)
    expect(reasons('webhook')).toEqual(['fired', 'worse'])
    // What it was told itself Telegram hears of now, and of the end.
    await telling.run(11)
    await telling.run(300, resolved)
    expect(reasons('webhook')).toEqual(['fired', 'worse', 'resolved'])
    expect(services.telegram.taken().map(({ body }) => body.text.split('\n')[0])).toEqual([
      expect.stringContaining('worse'),
      expect.stringContaining('✅'),
    ])
    expect(telling.state()).toMatchObject({ outbox: [] })
  })

  test('hears it once where two channels are away that have it for a fallback', async () => {
    const telling = createTelling(hooks())
    services.telegram.meet(away, 3)
    services.slack.meet(away, 3)
    await telling.run(0, fired)
    expect(reasons('webhook')).toEqual(['fired'])
    await telling.run(1)
    await telling.run(300, resolved)
    expect(reasons('webhook')).toEqual(['fired', 'resolved'])
    expect(telling.state()).toMatchObject({ outbox: [] })
  })
})
