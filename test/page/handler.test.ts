import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LambdaFunctionURLEvent } from 'aws-lambda'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { handler } from '../../functions/page.ts'
import { parsePage } from '../../src/config/page.ts'
import { parseConfig } from '../../src/config/parse.ts'
import { actLink, pictureLink, statusLink } from '../../src/page/links.ts'
import { writeState } from '../../src/state/schema.ts'
import { SECRET } from './asking.ts'
import { queueing, stateOf } from './states.ts'

const BASE = { url: '', secret: SECRET }
let folder: string
let incident: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'queuebell-page-'))
  const firedAt = Date.now() - 60_000
  incident = `chat/a|waiting|@${firedAt}`
  const state = stateOf({ 'chat/a': { ...queueing(), alerts: { waiting: { firedAt } } } }, {}, Date.now())
  writeFileSync(join(folder, 'vllm.json'), writeState(state))
  vi.stubEnv('STATE_DIR', folder)
  vi.stubEnv('PAGE_SECRET', SECRET)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

/** As a function URL sends it. */
async function asked(path: string, more: { method?: string; body?: string; base64?: boolean } = {}) {
  const { method = 'GET', body, base64 = false } = more
  const event = {
    rawPath: path,
    rawQueryString: '',
    headers: { Host: 'abc.lambda-url.eu-central-1.on.aws', Origin: 'null' },
    requestContext: { http: { method } },
    ...(body === undefined ? {} : { body: base64 ? Buffer.from(body).toString('base64') : body }),
    isBase64Encoded: base64,
  } as unknown as LambdaFunctionURLEvent
  return (await handler(event)) as Exclude<Awaited<ReturnType<typeof handler>>, string>
}

describe('the function behind its URL', () => {
  test('the status page, and an empty 404 for all else', async () => {
    expect(await asked(statusLink(BASE))).toMatchObject({ statusCode: 200, body: expect.stringContaining('chat/a') })
    expect(await asked('/s/wrong')).toMatchObject({ statusCode: 404, body: '' })
  })

  test.each([true, false])('a form, in base64 as it comes: %s', async (base64) => {
    const link = actLink(BASE, 'vllm', [incident], Date.now())
    const { statusCode, body } = await asked(link, { method: 'POST', body: 'do=acknowledge', base64 })
    expect([statusCode, body]).toEqual([200, expect.stringContaining('Acknowledged')])
    expect(Object.keys(JSON.parse(readFileSync(join(folder, 'vllm.json'), 'utf8')).acknowledged)).toEqual([incident])
  })

  test('a body of 5 KB is counted as it is, not as it comes', async () => {
    const link = actLink(BASE, 'vllm', [incident], Date.now())
    const body = `do=acknowledge&x=${'x'.repeat(5_000)}`
    for (const base64 of [true, false]) {
      expect(await asked(link, { method: 'POST', body, base64 })).toMatchObject({ statusCode: 413, body: '' })
    }
    const small = `do=silence-1h&x=${'x'.repeat(4_000)}`
    expect((await asked(link, { method: 'POST', body: small, base64: true })).statusCode).toBe(200)
  })

  test('a picture goes out in base64', async () => {
    const { isBase64Encoded, body = '' } = await asked(pictureLink(BASE, 'vllm', incident, Date.now()))
    expect(isBase64Encoded).toBe(true)
    expect(Buffer.from(body, 'base64').subarray(1, 4).toString()).toBe('PNG')
  })

  test('a wrong configuration is an error of the call', async () => {
    vi.stubEnv('PAGE_SECRET', 'short')
    await expect(asked('/')).rejects.toThrow(/PAGE_SECRET: may be one secret of 32 characters or more/)
  })
})

describe('its variables', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    ['no secret', {}, /^PAGE_SECRET: is not set/],
    ['a short one', { PAGE_SECRET: 'x'.repeat(31) }, /32 characters/],
    ['a short second one', { PAGE_SECRET: `${SECRET},short` }, /32 characters/],
    ['three', { PAGE_SECRET: [SECRET, SECRET, SECRET].join() }, /two separated by a comma/],
    ['no such zone', { PAGE_SECRET: SECRET, TIMEZONE: 'Europe/Atlantis' }, /time zone/],
  ])('%s: refused, and no secret is shown', (_, env, why) => {
    const parsed = parsePage(env, { lambda: false })
    expect(parsed.ok ? '' : parsed.problems.join()).toMatch(why)
    expect(JSON.stringify(parsed)).not.toContain(SECRET)
  })

  test('an address may end in a slash; a watcher that has it needs the secret too', () => {
    const env = { VLLM_ENDPOINTS: 'a=http://10.0.0.1:8000', PAGE_URL: 'https://page.example/queuebell/' }
    expect(parseConfig('vllm', env, { lambda: false })).toMatchObject({ ok: false, problems: [/PAGE_SECRET/] })
    const parsed = parseConfig('vllm', { ...env, PAGE_SECRET: `${SECRET},${SECRET}-old` }, { lambda: false })
    expect(parsed).toMatchObject({ config: { page: { url: 'https://page.example/queuebell', secret: SECRET } } })
    expect(parsed.ok && parsed.config.secrets).toContain(SECRET)
  })

  test.each([
    ['Sat 02:00-04:00 Europe/Berlin', true],
    ['daily 03:00-03:30, Mon-Fri 23:00-01:00', true],
    ['2026-12-24T20:00+01:00/PT6H', true],
    ['Sat 02:00-04:00 Europe/Berlin, 2026-12-24T20:00+01:00/PT6H', true],
    ['2026-12-24T20:00+01:00/2026-12-25T02:00+01:00', true],
    ['Sat', false],
    ['Sat 2-4', false],
    ['Someday 02:00-04:00', false],
    ['Sat 02:00-25:00', false],
    ['Sat 02:00-04:00 Mars/Olympus', false],
    ['2026-12-24T20:00/PT6H', false],
    ['2026-12-24T20:00Z/PT0H', false],
    ['2026-12-24T20:00Z', false],
  ])('MAINTENANCE=%s: %s', (MAINTENANCE, ok) => {
    const parsed = parseConfig('vllm', { VLLM_ENDPOINTS: 'a=http://10.0.0.1:8000', MAINTENANCE }, { lambda: false })
    expect(parsed.ok).toBe(ok)
    if (!parsed.ok) expect(parsed.problems.join()).toMatch(/^MAINTENANCE/)
  })
})
