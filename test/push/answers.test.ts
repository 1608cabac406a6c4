import { afterAll, describe, expect, test } from 'vitest'
import { openDispatcher } from '../../src/http/connections.ts'
import type { ChannelConfig, Service } from '../../src/model/config.ts'
import { push } from '../../src/push/push.ts'
import type { PushOutcome } from '../../src/push/push-to.ts'
import { serve } from '../scrape/loopback.ts'
import { AT, channelAt, pushOf } from './pushing.ts'

const connections = openDispatcher()
afterAll(() => connections.close())

const message = { title: 'Title', body: 'Body', priority: 8 }
const PATHS: Partial<Record<Service, string>> = { ntfy: '/topic', telegram: '?chat=1', teams: '/x?sig=y' }

/** One push to a service that answers so. @returns what came of it, and the texts that were sent. */
async function answered(
  service: Service,
  answers: [status: number, body: unknown][],
  { path = PATHS[service] ?? '', ...more }: Partial<ChannelConfig> & { path?: string } = {},
): Promise<{ outcome: PushOutcome; requests: number }> {
  const server = await serve((_, response) => {
    const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, '']
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const channel = channelAt(service, server.url + path, { token: 't', ...more })
  const io = { now: () => AT, sleep: async () => {}, log: { debug() {}, info() {}, warn() {}, error() {} } }
  const options = { io, deadline: AT + 30_000, dispatcher: connections.dispatcher, secrets: [], maybeSent: false }
  const outcome = await push(pushOf(message), channel, {
    ...options,
    inForm: (form) => pushOf({ ...message, body: form }),
  })
  return { outcome, requests: server.requests.length }
}

const telegram = (error_code: number, description: string, parameters = {}): [number, unknown] => [
  error_code,
  { ok: false, error_code, description, parameters },
]
const bot = (error: string): [number, unknown] => [200, { ok: false, error }]
const BOT = { path: '/api?channel=C1' }

describe('what each service says about a message, about us, and about itself', () => {
  test.each<[Service, [number, unknown], PushOutcome['kind'], Partial<PushOutcome>, number, { path?: string }?]>([
    // service, answer, what came of it, and how, requests
    ['ntfy', [200, { id: 'x', event: 'message', topic: 't' }], 'delivered', {}, 1],
    ['ntfy', [200, '<html>'], 'waiting', { misconfigured: true }, 1],
    ['ntfy', [400, { code: 40009, error: 'topic invalid' }], 'waiting', { misconfigured: true }, 1],
    ['ntfy', [413, { code: 41301 }], 'refused', {}, 3],
    ['ntfy', [429, { code: 42901 }], 'waiting', { limits: 1 }, 1],
    ['ntfy', [507, {}], 'waiting', { misconfigured: false }, 3],
    ['telegram', [200, { ok: true, result: { message_id: 5 } }], 'delivered', { thread: { id: '5' } }, 1],
    ['telegram', [200, '<html>sign in</html>'], 'waiting', { misconfigured: true }, 1],
    ['telegram', telegram(400, 'Bad Request: message is too long'), 'refused', {}, 3],
    ['telegram', telegram(400, "Bad Request: can't parse entities: x"), 'refused', {}, 2],
    ['telegram', telegram(400, 'Bad Request: chat not found'), 'waiting', { misconfigured: true }, 1],
    ['telegram', telegram(403, 'Forbidden: bot was blocked by the user'), 'waiting', { misconfigured: true }, 1],
    ['telegram', telegram(404, 'Not Found'), 'waiting', { misconfigured: true }, 1],
    [
      'telegram',
      telegram(429, 'Too Many Requests', { retry_after: 600 }),
      'waiting',
      { retryAfter: 600_000, limits: 1 },
      1,
    ],
    ['slack', [200, 'ok'], 'delivered', {}, 1],
    ['slack', [400, 'invalid_payload'], 'refused', {}, 2],
    ['slack', [403, 'action_prohibited'], 'waiting', { misconfigured: true }, 1],
    ['slack', [404, 'no_service'], 'waiting', { misconfigured: true }, 1],
    ['slack', [410, 'channel_is_archived'], 'waiting', { misconfigured: true }, 1],
    ['slack', [200, { ok: true, ts: '1.2' }], 'delivered', { thread: { id: '1.2' } }, 1, BOT],
    ['slack', bot('ratelimited'), 'waiting', { limits: 1 }, 1, BOT],
    ['slack', bot('internal_error'), 'waiting', { misconfigured: false }, 3, BOT],
    ['slack', bot('not_in_channel'), 'waiting', { misconfigured: true }, 1, BOT],
    ['slack', bot('msg_too_long'), 'refused', {}, 3, BOT],
    ['discord', [200, { id: '99' }], 'delivered', { thread: { id: '99' } }, 1],
    ['discord', [400, { code: 50035, message: 'Invalid Form Body' }], 'refused', {}, 2],
    ['discord', [400, { code: 220001, message: 'forum' }], 'waiting', { misconfigured: true }, 1],
    ['discord', [404, { code: 10015, message: 'Unknown Webhook' }], 'waiting', { misconfigured: true }, 1],
    ['discord', [429, { message: 'limited', retry_after: 64.57 }], 'waiting', { retryAfter: 64_570, limits: 1 }, 1],
    ['teams', [202, ''], 'delivered', {}, 1],
    [
      'teams',
      [200, 'Webhook message delivery failed with error: endpoint returned HTTP error 429'],
      'waiting',
      { limits: 1 },
      1,
    ],
    ['teams', [404, { error: { code: 'WorkflowNotFound', message: 'gone' } }], 'waiting', { misconfigured: true }, 1],
    ['pagerduty', [202, { status: 'success', message: 'Event processed' }], 'delivered', {}, 1],
    ['pagerduty', [400, { status: 'invalid event', errors: ["'payload.summary' is missing"] }], 'refused', {}, 2],
    [
      'pagerduty',
      [400, { status: 'invalid event', errors: ["Length of 'routing_key' is incorrect"] }],
      'waiting',
      { misconfigured: true },
      1,
    ],
    ['pagerduty', [429, ''], 'waiting', { limits: 1 }, 1],
    ['alertmanager', [200, ''], 'delivered', {}, 1],
    ['alertmanager', [200, { status: 'success' }], 'delivered', {}, 1],
    ['alertmanager', [404, '404 page not found'], 'waiting', { misconfigured: true }, 1],
    ['webhook', [200, '<html>whatever</html>'], 'delivered', {}, 1],
    ['webhook', [204, ''], 'delivered', {}, 1],
    ['webhook', [200, { error: 'of another kind' }], 'delivered', {}, 1],
    ['webhook', [410, ''], 'waiting', { misconfigured: true }, 1],
    ['webhook', [422, ''], 'refused', {}, 2],
  ])('%s: %j is %s', async (service, answer, kind, how, requests, more = {}) => {
    const came = await answered(service, [answer], more)
    expect(came).toMatchObject({ outcome: { kind, ...how }, requests })
  })

  test('seconds that a service asks for in its JSON are waited for where they fit', async () => {
    const limited = telegram(429, 'Too Many Requests', { retry_after: 3 })
    const came = await answered('telegram', [limited, [200, { ok: true, result: { message_id: 6 } }]])
    expect(came).toMatchObject({ outcome: { kind: 'delivered' }, requests: 2 })
  })
})
