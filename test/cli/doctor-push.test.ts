import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { doctor } from '../../src/cli/doctor.ts'
import { SERVICES, type Service } from '../../src/model/config.ts'
import { type PlayedService, playService, variablesFor } from '../push/services.ts'
import { serve } from '../scrape/loopback.ts'

const PAGE = `# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="llama"} 3
vllm:num_requests_running{engine="0",model_name="llama"} 1
vllm:kv_cache_usage_perc{engine="0",model_name="llama"} 0.1
`
const said: string[] = []
let dir: string
let services: PlayedService[]

beforeEach(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'queuebell-doctor-'))
  services = await Promise.all(SERVICES.map(playService))
  const page = await serve((_, response) => response.end(PAGE))
  vi.stubEnv('STATE_DIR', dir)
  vi.stubEnv('VLLM_ENDPOINTS', `chat/a=${page.url}`)
  vi.spyOn(console, 'log').mockImplementation((text) => said.push(String(text)))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  said.length = 0
  await Promise.all(services.map((service) => service.close()))
  await rm(dir, { recursive: true })
})

async function testPushes(variables: Record<string, string>): Promise<[number, string[]]> {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  const code = await doctor('vllm', { push: true })
  return [code, said.filter((line) => line.startsWith('push'))]
}

describe('doctor --push', () => {
  test('tests every channel and says what it answered', async () => {
    const [code, lines] = await testPushes(variablesFor(services))
    expect(code).toBe(0)
    expect(lines.sort()).toEqual(
      [
        'push to alertmanager: delivered (200)',
        'push to discord: delivered (200)',
        'push to gotify: delivered (200)',
        'push to ntfy: delivered (200)',
        'push to own: delivered (200)',
        'push to pagerduty: delivered (202)',
        'push to slack: delivered (200)',
        'push to teams: delivered (202)',
        'push to telegram: delivered (200)',
        'push to webhook: delivered (204)',
      ].sort(),
    )
    // What PagerDuty opened is closed again.
    expect(services.map(({ asked }) => asked.length)).toEqual(
      services.map(({ service }) => (service === 'pagerduty' ? 2 : 1)),
    )
  })

  test.each<[Service, string]>([
    ['notifly', '(401 you need to provide a valid access token): is PUSH_OWN_TOKEN still valid? Wanted: app token'],
    ['gotify', '(401 you need to provide a valid access token): is PUSH_GOTIFY_TOKEN still valid? Wanted: app token'],
    ['ntfy', '(401 unauthorized): is PUSH_NTFY_TOKEN still valid? Wanted: access token, or user:password'],
    ['telegram', "(401 Unauthorized): is PUSH_TELEGRAM_TOKEN the bot's token, whole, as @BotFather gives it?"],
    ['slack', "(200 invalid_auth): is PUSH_SLACK_TOKEN the bot's token (xoxb-…), with the scope chat:write?"],
    [
      'discord',
      '(401 Invalid Webhook Token): is PUSH_DISCORD still the whole address of the webhook? One that was deleted has to be made anew',
    ],
    [
      'teams',
      '(401 The request must be authenticated only by Shared Access scheme.): is PUSH_TEAMS still the whole address of the webhook? One that was deleted has to be made anew',
    ],
    [
      'pagerduty',
      '(400 Event object is invalid): is PUSH_PAGERDUTY_TOKEN the integration key (32 characters) of an Events API v2?',
    ],
    [
      'alertmanager',
      '(401 Unauthorized): is PUSH_ALERTMANAGER_TOKEN still valid? Wanted: bearer token, or user:password',
    ],
    ['webhook', '(401): is PUSH_WEBHOOK_TOKEN still valid? Wanted: signing secret of Standard Webhooks, whsec_…'],
  ])('%s with a wrong token: not taken %s', async (service, words) => {
    const played = services.find((one) => one.service === service)
    if (!played) throw new Error(service)
    const { address = played.address, token = played.token } = played.wrong
    const [code, lines] = await testPushes(variablesFor([{ ...played, address, token }]))
    const name = service === 'notifly' ? 'own' : service
    expect([code, lines]).toEqual([1, [`push to ${name}: not taken ${words}`]])
    expect(said.join('\n')).not.toMatch(/wr0ng|s3cret/)
  })

  test('a sign-in page in front of any of them but a webhook is no delivery', async () => {
    for (const service of services)
      service.meet({ status: 200, headers: { 'content-type': 'text/html' }, body: '<title>Sign in</title>' })
    const [code, lines] = await testPushes(variablesFor(services))
    expect(code).toBe(1)
    expect(lines.filter((line) => line.includes('a web page answered: Sign in')).length).toBe(9)
  })

  test('says that nothing is configured', async () => {
    expect(await testPushes({})).toEqual([
      1,
      ['push: no channel is set: set NOTIFLY_URL and NOTIFLY_TOKEN, or PUSH_<NAME>'],
    ])
  })
})
