import { describe, expect, test } from 'vitest'
import { actLink, badgeLink, pictureLink, statusLink } from '../../src/page/links.ts'
import { makeToken } from '../../src/page/tokens.ts'
import { BASE, openTestPage, SECRET } from './asking.ts'
import { calm, NOW, queueing, stateOf } from './states.ts'

const INCIDENT = `chat/a|waiting|@${NOW - 12 * 60_000}`
const ACT = actLink(BASE, 'vllm', [INCIDENT], NOW)
const LINKS = {
  status: statusLink(BASE),
  act: ACT,
  picture: pictureLink(BASE, 'vllm', INCIDENT, NOW),
  badge: badgeLink(BASE),
}
const STATES = { vllm: stateOf({ 'chat/a': queueing(12), 'chat/b': calm(3) }) }
const FORM = { host: 'page.example', 'content-type': 'application/x-www-form-urlencoded' }
const HOUR = 3_600_000

/** What lies in the store, byte by byte. */
async function contents({ store }: Awaited<ReturnType<typeof openTestPage>>) {
  return Promise.all((await store.list('')).map(async ({ key }) => [key, await store.load(key)]))
}

test('a scanner that follows every link with GET and HEAD changes nothing', async () => {
  const page = await openTestPage(STATES)
  const before = await contents(page)
  for (const link of Object.values(LINKS)) {
    for (const method of ['GET', 'HEAD', 'GET']) {
      const { status, body, headers } = await page.ask(link, { method, body: 'do=silence-4h' })
      expect(status).toBe(200)
      if (method === 'HEAD') expect(body).toBe('')
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'x-robots-tag': 'noindex, nofollow',
        'x-content-type-options': 'nosniff',
      })
      expect(headers['set-cookie']).toBeUndefined()
      expect(headers['content-security-policy']).toContain("default-src 'none'")
      expect(headers['content-security-policy']).not.toMatch(/unsafe|script-src|\*/)
    }
  }
  expect(await contents(page)).toEqual(before)
})

test('who opens the link, and how often, makes no difference to what it shows', async () => {
  const { ask } = await openTestPage(STATES)
  const [first, second] = [await ask(ACT), await ask(ACT, { headers: { 'user-agent': 'scanner' } })]
  expect(second).toEqual(first)
})

const end = NOW + HOUR
const FORGED: [string, string][] = [
  ['an unknown path', '/'],
  ['a path with nothing', '/a/'],
  ['a path below', `${ACT}/more`],
  ['a favicon', '/favicon.ico'],
  ['robots.txt', '/robots.txt'],
  ['a wrong token', '/a/abc.def'],
  ['a token of another secret', `/a/${makeToken('b'.repeat(40), 'act', { function: 'vllm', subject: INCIDENT, end })}`],
  ['a token that is past its end', `/a/${makeToken(SECRET, 'act', { function: 'vllm', subject: INCIDENT, end: NOW })}`],
  ['the status token where one acts', LINKS.status.replace('/s/', '/a/')],
  ['the picture token where one acts', LINKS.picture.replace('/i/', '/a/').replace('.png', '')],
  ['the badge token on the status page', LINKS.badge.replace('/badge/', '/s/').replace('.svg', '')],
  ['the acting token on the status page', ACT.replace('/a/', '/s/')],
  ['a function that is none', `/a/${makeToken(SECRET, 'act', { function: '../x', subject: INCIDENT, end })}`],
  ['a function that never ran', `/a/${makeToken(SECRET, 'act', { function: 'tgi', subject: INCIDENT, end })}`],
]

test.each(FORGED)('%s is an empty 404, and changes nothing', async (_, path) => {
  const page = await openTestPage(STATES)
  const before = await contents(page)
  const answers = []
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
    answers.push(await page.ask(path, { method, headers: FORM, body: 'do=acknowledge' }))
  }
  for (const { status, body, headers } of answers) {
    expect([status, body]).toEqual([404, ''])
    expect(headers).toEqual(answers[0]?.headers)
  }
  expect(await contents(page)).toEqual(before)
})

describe('who may press', () => {
  test.each<[string, Record<string, string>, number]>([
    ['our own form (its origin is hidden)', { origin: 'null', 'sec-fetch-site': 'same-origin' }, 200],
    ['our own form (its origin is told)', { origin: 'https://page.example' }, 200],
    ["a phone's app, which is no browser", {}, 200],
    ['a page of somebody else', { origin: 'https://evil.example' }, 403],
    ['a page of somebody else with our name in its own', { origin: 'https://page.example.evil.example' }, 403],
    ['a page of somebody else that hides its origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }, 403],
    ['a page that says it has no address at all', { origin: 'nonsense' }, 403],
  ])('%s', async (_, headers, status) => {
    const page = await openTestPage(STATES)
    const before = await contents(page)
    const given = await page.ask(ACT, { method: 'POST', headers: { ...FORM, ...headers }, body: 'do=acknowledge' })
    expect(given.status).toBe(status)
    if (status === 200) expect(await contents(page)).not.toEqual(before)
    else expect([given.body, await contents(page)]).toEqual(['', before])
  })

  test('a body of more than 4 KiB is refused', async () => {
    const page = await openTestPage(STATES)
    const before = await contents(page)
    const body = `do=acknowledge&x=${'x'.repeat(5_000)}`
    for (const given of [{ body }, { body: '', bodyTooLarge: true }]) {
      expect(await page.ask(ACT, { method: 'POST', headers: FORM, ...given })).toMatchObject({ status: 413, body: '' })
    }
    expect(await contents(page)).toEqual(before)
  })

  test.each(['', 'do=', 'do=silence-400d', 'do=constructor', 'x=1', '%'])('a choice that is none: %j', async (body) => {
    const page = await openTestPage(STATES)
    const before = await contents(page)
    const { status, body: html } = await page.ask(ACT, { method: 'POST', headers: FORM, body })
    expect([status, await contents(page)]).toEqual([400, before])
    expect(String(html)).toContain('Nothing was done')
  })
})

describe('machines', () => {
  test.each(['/status.json', '/metrics'])('%s is open to the bearer of PAGE_TOKEN alone', async (path) => {
    const { ask } = await openTestPage(STATES)
    const as = (authorization?: string) => ask(path, authorization === undefined ? {} : { headers: { authorization } })
    expect((await as('Bearer machine-token')).status).toBe(200)
    for (const wrong of [undefined, '', 'Bearer', 'Bearer machine-tokem', 'machine-token', `Bearer ${SECRET}`])
      expect(await as(wrong)).toMatchObject({ status: 404, body: '' })
  })

  test('/status.json has the names of the result, and what only a page knows', async () => {
    const { ask } = await openTestPage(STATES)
    const { body } = await ask('/status.json', { headers: { authorization: 'Bearer machine-token' } })
    const { functions, problems } = JSON.parse(String(body))
    expect(problems).toEqual([])
    expect(functions[0]).toMatchObject({ function: 'vllm', backend: 'vllm', age: 0, late: false })
    expect(functions[0].endpoints[0]).toMatchObject({
      name: 'chat/a',
      group: 'chat',
      up: true,
      signals: { waiting: 42, running: 16, kv_cache: 0.93 },
      alerts: { waiting: 'firing' },
      firing: [{ rule: 'waiting', since: '2026-11-30T11:53:00.000Z', value: 42, limit: 20, incident: INCIDENT }],
    })
    expect(functions[0].endpoints[1].alerts).toEqual({})
  })
})

test('two secrets hold while they are changed, one alone does not', async () => {
  const next = 'the-next-secret-that-is-long-enough-as-well'
  const { ask } = await openTestPage(STATES, { secrets: [next, SECRET] })
  for (const link of Object.values(LINKS)) expect((await ask(link)).status).toBe(200)
  const later = await openTestPage(STATES, { secrets: [next] })
  for (const link of Object.values(LINKS)) expect((await later.ask(link)).status).toBe(404)
})

test('links to act end after a day, pictures after a week, the status page does not', async () => {
  const { ask } = await openTestPage(STATES)
  const at = async (hours: number) =>
    Promise.all(Object.values(LINKS).map(async (link) => (await ask(link, { now: NOW + hours * HOUR })).status))
  expect(await at(23)).toEqual([200, 200, 200, 200])
  expect(await at(24)).toEqual([200, 404, 200, 200])
  expect(await at(24 * 7)).toEqual([200, 404, 404, 200])
  expect(await at(24 * 400)).toEqual([200, 404, 404, 200])
})
