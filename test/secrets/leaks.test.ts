import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Bundles, buildBundles } from '../bundles.ts'
import { startRunner } from '../faults/runner.ts'
import { type Asked, openEcho, type Way } from './echo.ts'
import { found, MARKERS, type Secret } from './markers.ts'

let bundles: Bundles
beforeAll(() => {
  bundles = buildBundles()
}, 180_000)
afterAll(() => rmSync(bundles.root, { recursive: true, force: true }))

/** Channels whose servers repeat all that they are asked: by an address, by a token, in a path, a body or a header. */
const channelsAt = (url: string): Record<string, string> => ({
  PUSH_HOOK: `slack+${url}/services/T1/B1/${MARKERS.slackHook}`,
  PUSH_CHAT: `discord+${url}/api/webhooks/1/${MARKERS.discordHook}`,
  PUSH_CARDS: `teams+${url}/workflows/1/invoke?sig=${MARKERS.teamsSig}`,
  PUSH_BOT: `telegram+${url}?chat=1`,
  PUSH_BOT_TOKEN: `1234:${MARKERS.botToken}`,
  PUSH_PAGER: `pagerduty+${url}`,
  PUSH_PAGER_TOKEN: MARKERS.routingKey,
  PUSH_OWN: `webhook+${url}/${MARKERS.hookPath}`,
  PUSH_OWN_TOKEN: MARKERS.hookSecret,
  PUSH_NTFY: `ntfy+${url}/topic`,
  PUSH_NTFY_TOKEN: `user:${MARKERS.ntfyPassword}`,
  PUSH_AM: `alertmanager+${url}`,
  PUSH_AM_TOKEN: `user:${MARKERS.ntfyPassword}`,
})

const NOBODY = 'http://127.0.0.1:2'

interface AlertContext {
  endpoint: [number, Way] | 'refused'
  inbox: [number, Way]
  /** Of all services beside the inbox. */
  channels?: [number, Way]
  env?: Record<string, string>
  /** One of each kind is played by `npm test`, the rest is left to the long run: each starts six processes. */
  always?: true
}

const SCENES: Record<string, AlertContext> = {
  'endpoint refuses, push delivered': { endpoint: 'refused', inbox: [200, 'ok'] },
  'endpoint 401 in JSON, push delivered': { endpoint: [401, 'json'], inbox: [200, 'ok'] },
  'endpoint 404 as a web page, push delivered': { endpoint: [404, 'html'], inbox: [200, 'ok'] },
  'endpoint 200 as a web page, push 400': { endpoint: [200, 'html'], inbox: [400, 'json'], always: true },
  'endpoint 200 as text, push 500 as a web page': { endpoint: [200, 'text'], inbox: [500, 'html'] },
  'endpoint 500 in text, push 401 in text': { endpoint: [500, 'text'], inbox: [401, 'text'] },
  'endpoint redirects, push redirects': { endpoint: [302, 'elsewhere'], inbox: [301, 'elsewhere'] },
  'endpoint cut off, push 404': { endpoint: [200, 'cut'], inbox: [404, 'json'] },
  'endpoint well and its queue long, push delivered': { endpoint: [200, 'page'], inbox: [200, 'ok'] },
  'token in the query, push 403': {
    endpoint: [403, 'json'],
    inbox: [403, 'text'],
    env: { NOTIFLY_AUTH: 'query' },
    always: true,
  },
  'token in its own header, push 422': {
    endpoint: [500, 'json'],
    inbox: [422, 'json'],
    env: { NOTIFLY_AUTH: 'gotify' },
  },
  'ten services that deliver': { endpoint: [500, 'json'], inbox: [200, 'ok'], channels: [200, 'ok'] },
  'ten services that answer 400 in JSON': { endpoint: [500, 'json'], inbox: [200, 'ok'], channels: [400, 'json'] },
  'ten services that answer 401 in text': {
    endpoint: [500, 'text'],
    inbox: [200, 'ok'],
    channels: [401, 'text'],
    always: true,
  },
  'ten services that answer 200 with a web page': { endpoint: 'refused', inbox: [200, 'ok'], channels: [200, 'html'] },
  'ten services that redirect': { endpoint: 'refused', inbox: [200, 'ok'], channels: [302, 'elsewhere'] },
  'in Russian, push delivered': { endpoint: [500, 'json'], inbox: [200, 'ok'], env: { ALERT_LANGUAGE: 'ru' } },
}

describe('no secret leaves the process but in the place that is meant for it', () => {
  const [always, others] = [true, undefined].map((kind) =>
    Object.entries(SCENES).filter(([, one]) => one.always === kind),
  )
  test.each(always ?? [])('%s', { timeout: 120_000 }, plays)
  test.each(others ?? [])('%s', { timeout: 120_000, tags: ['long'] }, plays)

  async function plays(_: string, context: AlertContext): Promise<void> {
    const played = await open(context)
    const texts: Record<string, string> = {}
    const runner = await startRunner(join(bundles.dist, 'vllm.mjs'), played.env)
    for (let minute = 0; minute < 3; minute += 1) {
      texts[`run ${minute}`] = JSON.stringify(await runner.run({ now: Date.now() + minute * 60_000 }))
    }
    texts.log = runner.wrote()
    await runner.close()
    texts['--json'] = await command(['invoke', 'vllm', '--json'], played.env)
    texts['--dry-run --why'] = await command(['invoke', 'vllm', '--dry-run', '--why'], played.env)
    texts.doctor = await command(['doctor', 'vllm', '--push'], played.env)
    for (const file of readdirSync(played.stateDir, { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.json')) continue
      texts[`state ${file}`] = readFileSync(join(played.stateDir, file), 'utf8')
    }
    for (const [server, asked] of Object.entries(played.asked))
      texts[`sent to ${server}`] = asked.map((a) => outside(server, a)).join('\n')
    await played.close()
    // What is searched must be there: each place said something.
    expect(Object.entries(texts).filter(([name, said]) => said.length < 15 && !name.startsWith('sent to'))).toEqual([])
    expect(played.asked.inbox.length).toBeGreaterThan(0)
    const leaks = Object.entries(texts).flatMap(([place, said]) =>
      found(said).map((secret) => ({ place, secret, said: around(said, secret) })),
    )
    expect(leaks).toEqual([])
  }

  test.each([
    ['answers 403 and repeats the request', [403, 'text']],
    ['answers 500 and repeats the request', [500, 'html']],
    ['redirects', [301, 'elsewhere']],
  ] as [string, [number, Way]][])('a state store that %s', { timeout: 60_000 }, async (_, [status, way]) => {
    const store = await openEcho(status, way)
    const env = {
      STATE_BUCKET: 'bucket',
      S3_ENDPOINT: store.url,
      S3_FORCE_PATH_STYLE: 'yes',
      AWS_ACCESS_KEY_ID: MARKERS.s3KeyId,
      AWS_SECRET_ACCESS_KEY: MARKERS.s3Secret,
      AWS_SESSION_TOKEN: MARKERS.s3Session,
      LOG_LEVEL: 'debug',
      VLLM_ENDPOINTS: `a=${NOBODY}`,
    }
    const runner = await startRunner(join(bundles.dist, 'vllm.mjs'), env)
    const ended = await runner.run({ now: Date.now() })
    expect(ended.error).toMatch(/s3:\/\/bucket/)
    const said = [JSON.stringify(ended), runner.wrote(), await command(['invoke', 'vllm'], env)].join('\n')
    await runner.close()
    await store.close()
    expect(found(said)).toEqual([])
  })

  test('a configuration that cannot be read', { timeout: 60_000 }, async () => {
    const env = {
      VLLM_ENDPOINTS: `a=htp://user:${MARKERS.urlPassword}@h b=http://h:1/?api_key=${MARKERS.apiKey} ${MARKERS.bearer}`,
      VLLM_BASIC_AUTH: MARKERS.basicPassword,
      VLLM_BEARER_TOKEN: `${MARKERS.bearer} with blanks\tand more`,
      NOTIFLY_URL: `push.example.com/?token=${MARKERS.notiflyToken}`,
      NOTIFLY_FALLBACK_URL: `nonsense ${MARKERS.fallbackToken}`,
      PING_URL: `not an address/${MARKERS.pingKey}`,
      WAITING_LIMIT: '-3',
    }
    const said = await command(['invoke', 'vllm'], env)
    expect(said).toMatch(/problems/)
    expect(found(said)).toEqual([])
  })
})

test('a marker is found however it is written', () => {
  const forms = [
    MARKERS.notiflyToken,
    encodeURIComponent(MARKERS.notiflyToken),
    Buffer.from(MARKERS.notiflyToken).toString('base64'),
    Buffer.from(`u:${MARKERS.notiflyToken}`).toString('base64'),
    Buffer.from(`us:${MARKERS.notiflyToken}`).toString('base64url'),
  ]
  for (const form of forms) expect(found(`… ${form} …`)).toEqual(['notiflyToken'])
  expect(found('nothing here')).toEqual([])
})

async function open(context: AlertContext) {
  const stateDir = mkdtempSync(join(tmpdir(), 'queuebell-secrets-'))
  const [inbox, fallback, ping] = await Promise.all([
    openEcho(...context.inbox),
    openEcho(400, 'json'),
    openEcho(500, 'text'),
  ])
  const services = context.channels && (await openEcho(...context.channels))
  const endpoint = context.endpoint === 'refused' ? undefined : await openEcho(...context.endpoint)
  const base = endpoint?.url ?? NOBODY
  const withPassword = base.replace('//', `//user:${MARKERS.urlPassword}@`)
  const env = {
    VLLM_ENDPOINTS: [
      `one=${base}/?api_key=${MARKERS.apiKey}`,
      `two=${withPassword}/m/`,
      `three=${base}/b/`,
      `four=${base}/c/`,
    ].join(' '),
    VLLM_THREE_BEARER_TOKEN: MARKERS.bearer,
    VLLM_FOUR_BASIC_AUTH: `user:${MARKERS.basicPassword}`,
    NOTIFLY_URL: inbox.url,
    NOTIFLY_TOKEN: MARKERS.notiflyToken,
    NOTIFLY_FALLBACK_URL: fallback.url,
    NOTIFLY_FALLBACK_TOKEN: MARKERS.fallbackToken,
    PING_URL: `${ping.url}/ping/${MARKERS.pingKey}`,
    HEARTBEAT_TOKEN: MARKERS.heartbeatToken,
    AWS_SECRET_ACCESS_KEY: MARKERS.s3Secret,
    STATE_DIR: stateDir,
    LOG_LEVEL: 'debug',
    ...(services && channelsAt(services.url)),
    ...context.env,
  }
  return {
    env,
    stateDir,
    asked: {
      inbox: inbox.asked,
      fallback: fallback.asked,
      ping: ping.asked,
      ...(endpoint ? { endpoint: endpoint.asked } : {}),
    },
    async close() {
      await Promise.all(
        [inbox, fallback, ping, ...(endpoint ? [endpoint] : []), ...(services ? [services] : [])].map((server) =>
          server.close(),
        ),
      )
      rmSync(stateDir, { recursive: true })
    },
  }
}

/** A request without the place that is meant for its secret: what else is in it must hold none. */
function outside(server: string, { path, headers, body }: Asked): string {
  const { authorization: _, 'x-gotify-key': __, ...rest } = headers
  const shown = server === 'ping' ? '' : path.replace(/([?&](?:token|api_key)=)[^&]*/, '$1')
  return JSON.stringify({ shown, rest, body })
}

/** The command line in a folder without a .env. @returns all it printed. */
async function command(args: string[], env: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [join(bundles.dist, 'queuebell.mjs'), ...args], {
    cwd: bundles.root,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return (await Promise.all([text(child.stdout), text(child.stderr)])).join('\n')
}

function around(said: string, secret: Secret): string {
  const at = said.indexOf(MARKERS[secret].slice(0, 8))
  return said.slice(Math.max(0, at - 80), at + 40)
}
