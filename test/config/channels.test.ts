import { describe, expect, test } from 'vitest'
import { configOf, problemsOf } from './outcome.ts'

const URLS = {
  NOTIFLY_URL: 'https://push.example.com',
  NOTIFLY_TOKEN: 'token-1',
}
const names = (env: Record<string, string>) => configOf('vllm', env).channels.map(({ name }) => name)

describe('a channel', () => {
  test('is declared by its service and address, beside that of NOTIFLY_URL', () => {
    const { channels, heard } = configOf('vllm', {
      ...URLS,
      PUSH_TEAM: 'Slack+https://hooks.slack.com/services/T000/B000/xyzxyzxyz',
      PUSH_PAGER2: 'pagerduty+https://events.pagerduty.com/',
      PUSH_PAGER2_TOKEN: 'a-routing-key',
      PUSH_PAGER2_MIN_PRIORITY: '9',
      PUSH_TEAM_LANGUAGE: 'RU',
      ALERT_LANGUAGE: 'en',
    })
    expect(channels).toMatchObject([
      { name: 'notifly', service: 'notifly', minPriority: 0, language: 'en' },
      {
        name: 'pager2',
        service: 'pagerduty',
        url: 'https://events.pagerduty.com',
        token: 'a-routing-key',
        minPriority: 9,
      },
      { name: 'team', service: 'slack', language: 'ru', minPriority: 0, token: undefined },
    ])
    expect(heard).toEqual(['notifly', 'pager2', 'team'])
  })

  test('alone is enough in Lambda', () => {
    const env = { VLLM_ENDPOINTS: 'a=http://h', STATE_BUCKET: 'bucket' }
    expect(problemsOf('vllm', env, true)).toEqual([expect.stringMatching(/^NOTIFLY_URL: .* or PUSH_<NAME>/)])
    expect(configOf('vllm', { ...env, PUSH_A: 'ntfy+https://ntfy.sh/topic' }, true).heard).toEqual(['a'])
  })

  test.each<[Record<string, string>, RegExp]>([
    [{ PUSH_A: 'https://ntfy.sh/topic' }, /^PUSH_A: write the service before the address/],
    [{ PUSH_A: 'nfty+https://ntfy.sh/topic' }, /the service may be ntfy, perhaps$/],
    [{ PUSH_A: 'opsgenie+https://x' }, /may be one of notifly, gotify, ntfy/],
    [{ PUSH_A: 'ntfy+ntfy.sh/topic' }, /^PUSH_A: is no address; write http/],
    [{ PUSH_A: 'ntfy+https://ntfy.sh' }, /^PUSH_A: names no topic/],
    [{ PUSH_A: 'ntfy+https://ntfy.sh//' }, /^PUSH_A: names no topic/],
    [
      { PUSH_A: 'ntfy+https://ntfy.sh/sub/gpu alerts' },
      /^PUSH_A: ends in what is no topic: .* 1 to 64 letters, digits/,
    ],
    [{ PUSH_A: 'ntfy+https://ntfy.sh/тревога' }, /^PUSH_A: ends in what is no topic/],
    [{ PUSH_A: 'ntfy+https://ntfy.sh/a,b' }, /^PUSH_A: ends in what is no topic/],
    [{ PUSH_A: 'ntfy+https://ntfy.sh/%' }, /^PUSH_A: ends in what is no topic/],
    [{ PUSH_A: `ntfy+https://ntfy.sh/${'t'.repeat(65)}` }, /^PUSH_A: ends in what is no topic/],
    [{ PUSH_A: 'ntfy+https://u:p@ntfy.sh/t' }, /^PUSH_A: may not carry a user and a password; PUSH_A_TOKEN/],
    [{ PUSH_A: 'telegram+https://api.telegram.org', PUSH_A_TOKEN: '1:a' }, /^PUSH_A: names no chat/],
    [{ PUSH_A: 'telegram+https://api.telegram.org?chat=1' }, /^PUSH_A_TOKEN: is not set; telegram needs it/],
    [{ PUSH_A: 'telegram+https://t.me?chat=1&thread=x', PUSH_A_TOKEN: '1:a' }, /^PUSH_A: thread= may be a number/],
    [{ PUSH_A: 'slack+https://slack.com/api?channel=C1' }, /^PUSH_A_TOKEN: is not set; slack needs it/],
    [{ PUSH_A: 'pagerduty+https://events.pagerduty.com' }, /^PUSH_A_TOKEN: is not set; pagerduty needs it/],
    [{ PUSH_A: 'gotify+https://p/message', PUSH_A_TOKEN: 't' }, /^PUSH_A: is the base address .* leave out \/message/],
    [{ PUSH_A: 'webhook+https://h', PUSH_A_MIN_PRIORITY: '11' }, /^PUSH_A_MIN_PRIORITY is 11: may be a whole number/],
    [{ PUSH_A: 'webhook+https://h', PUSH_A_LANGUAGE: 'de' }, /^PUSH_A_LANGUAGE: may be en or ru/],
    [{ PUSH_A: 'webhook+https://h', PUSH_A_FALLBACK: 'b' }, /^PUSH_A_FALLBACK: no channel is called so; there are a$/],
    [{ PUSH_A: 'webhook+https://h', PUSH_A_FALLBACK: 'a' }, /^PUSH_A_FALLBACK: a channel cannot be its own fallback/],
    [{ PUSH_A: 'webhook+https://h', PUSH_A_TOKN: 'x' }, /^PUSH_A_TOKN: unknown setting, did you mean PUSH_A_TOKEN\?/],
    [
      { PUSH_TEAM: 'webhook+https://h', PUSH_TEM_TOKEN: 'x' },
      /^PUSH_TEM_TOKEN: PUSH_TEM is not set; did you mean PUSH_TEAM_TOKEN\?/,
    ],
    [{ ...URLS, PUSH_NOTIFLY: 'webhook+https://h' }, /^PUSH_NOTIFLY: NOTIFLY_URL is the channel notifly already/],
    [{ PUSH_A: 'webhook+https://h', PUSH: 'elsewhere' }, /^PUSH: names a channel that is not there; there are a$/],
    [{ PUSH_TEAM: 'webhook+https://h', VLLM_PUSH: 'taem' }, /^VLLM_PUSH: .*did you mean team\?/],
    [{ VLLM_PUSH: 'team' }, /^VLLM_PUSH: .*none is declared/],
  ])('%j is a problem', (env, expected) => {
    expect(problemsOf('vllm', env)).toEqual([expect.stringMatching(expected)])
  })

  test.each([
    ['slack+https://hooks.slack.com/services/T0/B0/xyzxyzxyz', /PUSH_A_TOKEN is not sent: .*; a bot is slack\+https:/],
    ['discord+https://discord.com/api/webhooks/1/xyzxyzxyz', /PUSH_A_TOKEN is not sent: the whole address of discord/],
    ['teams+https://x.logic.azure.com/workflows/a?sig=b', /PUSH_A_TOKEN is not sent/],
  ])('%s with a token is warned of: the address is all that it takes', (address, expected) => {
    const { warnings } = configOf('vllm', { ...URLS, PUSH_A: address, PUSH_A_TOKEN: 'xoxb-1' })
    expect(warnings).toEqual([expect.stringMatching(expected)])
  })

  test("another program's variable is ignored", () => {
    expect(configOf('vllm', { ...URLS, PUSH: 'true' })).toMatchObject({
      heard: ['notifly'],
      warnings: [expect.stringMatching(/^PUSH names channels/)],
    })
    expect(names({ PUSH_GATEWAY_URL: 'http://x', PUSH_ENABLED_FOR: '1' })).toEqual([])
  })
})

describe('who hears of an endpoint', () => {
  const two = { ...URLS, PUSH_TEAM: 'webhook+https://h/x', PUSH_PAGER: 'webhook+https://h/y' }
  const endpoints = { VLLM_ENDPOINTS: 'chat/a=http://h:8001 chat/b=http://h:8002 embed=http://h:8003' }
  const heardBy = (env: Record<string, string>) =>
    configOf('vllm', { ...two, ...endpoints, ...env }).endpoints.map(({ channels }) => channels?.join(' '))

  test.each<[Record<string, string>, (string | undefined)[]]>([
    [{}, [undefined, undefined, undefined]],
    [{ PUSH: 'team' }, ['team', 'team', 'team']],
    [{ PUSH: 'team', VLLM_PUSH: 'pager' }, ['pager', 'pager', 'pager']],
    [{ VLLM_CHAT_PUSH: 'team,pager' }, ['pager team', 'pager team', undefined]],
    [{ VLLM_CHAT_PUSH: 'team', VLLM_CHAT_A_PUSH: 'NOTIFLY pager' }, ['notifly pager', 'team', undefined]],
    [{ TGI_PUSH: 'team' }, [undefined, undefined, undefined]],
  ])('%j', (env, expected) => {
    expect(heardBy(env)).toEqual(expected)
  })

  test('and of the watcher itself: the function, or all, but not those that are only fallbacks', () => {
    const heard = (env: Record<string, string>) => configOf('vllm', { ...two, ...env }).heard
    expect(heard({})).toEqual(['notifly', 'pager', 'team'])
    expect(heard({ PUSH_TEAM_FALLBACK: 'pager' })).toEqual(['notifly', 'team'])
    expect(heard({ PUSH_TEAM_FALLBACK: 'notifly', PUSH: 'team notifly' })).toEqual(['notifly', 'team'])
    expect(heard({ VLLM_PUSH: 'pager' })).toEqual(['pager'])
  })
})

describe('what is secret', () => {
  test.each([
    [
      'slack+https://hooks.slack.com/services/T0AAAAAAA/B0BBBBBBB/s3cretSlack',
      undefined,
      ['s3cretSlack', '/services/T0AAAAAAA/B0BBBBBBB/s3cretSlack'],
    ],
    [
      'slack+https://hooks.slack.com/services/t/b/lowercaseonly',
      undefined,
      ['lowercaseonly', '/services/t/b/lowercaseonly'],
    ],
    ['discord+https://discord.com/api/webhooks/1122334455/s3cret-Disc0rd', undefined, ['s3cret-Disc0rd']],
    ['teams+https://prod-1.logic.azure.com/workflows/abc/triggers/manual?sig=s3cretSig', undefined, ['s3cretSig']],
    ['webhook+https://h/hooks/s3cretHook', 'whsec_s3cret', ['s3cretHook', 'whsec_s3cret']],
    ['telegram+https://api.telegram.org?chat=1', '12345:s3cretBot', ['12345:s3cretBot', 's3cretBot']],
    [
      'ntfy+https://ntfy.sh/t',
      'user:s3cretPw',
      ['user:s3cretPw', 's3cretPw', Buffer.from('user:s3cretPw').toString('base64')],
    ],
    ['pagerduty+https://events.pagerduty.com', 's3cretRouting', ['s3cretRouting']],
  ] as const)('%s', (address, token, expected) => {
    const { secrets } = configOf('vllm', { PUSH_A: address, ...(token && { PUSH_A_TOKEN: token }) })
    for (const secret of expected) expect(secrets).toContain(secret)
  })

  test('no problem shows any of it', () => {
    const marker = 's3cretMarker9'
    const problems = problemsOf('vllm', {
      PUSH_A: `https://hooks.slack.com/services/${marker}`,
      PUSH_B: `slck+https://hooks.slack.com/services/${marker}`,
      PUSH_C: `ntfy+https://user:${marker}@ntfy.sh/x`,
      PUSH_D: `discord+nonsense ${marker}`,
      PUSH_E_TOKEN: marker,
      PUSH: `${marker}`,
    })
    expect(problems.length).toBeGreaterThanOrEqual(5)
    expect(problems.join('\n')).not.toContain(marker)
  })
})
