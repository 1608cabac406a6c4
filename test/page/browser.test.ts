import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Serving, serveHttp } from '../../src/cli/http-server.ts'
import type { Message } from '../../src/model/message.ts'
import { MOST_BODY, type PageAnswer, type PageRequest } from '../../src/page/exchange.ts'
import { escapeHtml } from '../../src/page/html.ts'
import { actLink, pictureLink, statusLink } from '../../src/page/links.ts'
import { readState, type State } from '../../src/state/schema.ts'
import { openPageStory } from '../../tools/simulator/page-demo.ts'
import { openTestPage, SECRET } from './asking.ts'
import { type Course, many, NOW, stateOf } from './states.ts'

/** Debian's; without it these tests are left out. */
const CHROMIUM = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
const PHONE = { width: 390, height: 844 }
const DESK = { width: 1280, height: 800 }
/** Where the pictures go that a person looks at: `QUEUEBELL_PICTURES=pictures npx vitest run test/page/browser.test.ts`. */
const PICTURES = process.env.QUEUEBELL_PICTURES ?? mkdtempSync(join(tmpdir(), 'queuebell-pictures-'))

let browser: Browser
let serving: Serving
let ask: (path: string, request: Partial<PageRequest> & { now?: number }) => Promise<PageAnswer>
/** What the browser said or asked for that it had no reason to. */
let complaints: string[] = []

describe.skipIf(!existsSync(CHROMIUM))('in a browser (skipped where Chromium is not installed)', () => {
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
    serving = await serveHttp(0, ({ path, ...request }) => ask(path, request), { mostBody: MOST_BODY })
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await serving?.close()
  })

  const base = () => ({ url: serving.url, secret: SECRET })

  async function show(
    state: State,
    options: { size: typeof PHONE; dark?: boolean; language?: 'en' | 'ru' },
  ): Promise<{ page: Page; state: () => Promise<State> }> {
    const opened = await openTestPage(
      { vllm: state },
      { language: options.language ?? 'en', timezone: 'Europe/Berlin' },
    )
    ask = opened.ask
    complaints = []
    const page = await browser.newPage({
      viewport: options.size,
      colorScheme: options.dark ? 'dark' : 'light',
      deviceScaleFactor: options.size === PHONE ? 2 : 1,
    })
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url())
      if (protocol !== 'data:' && origin !== serving.url) complaints.push(`asked for ${request.url()}`)
    })
    const now = async () => {
      const read = readState((await opened.store.load('vllm.json'))?.text ?? '')
      if (read.kind !== 'state') throw new Error('no state')
      return read.state
    }
    return { page, state: now }
  }

  const SIGHTS = [
    ['1', many(1)],
    ['1-trouble', many(1, 1)],
    ['10', many(10)],
    ['10-trouble', many(10, 2)],
    ['200', many(200)],
    ['200-trouble', many(200, 23)],
  ] as const satisfies [string, Record<string, Course>][]

  describe.each(SIGHTS)('%s endpoints', (name, courses) => {
    const SEEN = '%s, %o, dark: %s: fits, can be read, asks nobody else'
    const some = name.endsWith('trouble') ? {} : { tags: ['long'] }
    test.each([
      ['en', PHONE, false],
      ['ru', DESK, true],
    ] as const)(SEEN, some, look)
    test.each([
      ['en', PHONE, true],
      ['en', DESK, false],
      ['en', DESK, true],
      ['ru', PHONE, false],
    ] as const)(SEEN, { tags: ['long'] }, look)

    async function look(language: 'en' | 'ru', size: typeof PHONE, dark: boolean): Promise<void> {
      const { page } = await show(stateOf(courses), { size, dark, language })
      await page.goto(statusLink(base()))
      const device = size === PHONE ? 'phone' : 'desk'
      await page.screenshot({ path: join(PICTURES, `${name}-${language}-${dark ? 'dark' : 'light'}-${device}.png`) })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(size.width)
      expect(await page.evaluate(FAINT)).toEqual([])
      expect(complaints).toEqual([])
      const bottom = await page.evaluate(
        '(document.querySelector("#e") ?? document.querySelector("main")).getBoundingClientRect().bottom',
      )
      if (name.startsWith('10')) expect(bottom, 'ten endpoints in one screen').toBeLessThanOrEqual(size.height)
      await page.close()
    }
  })

  const INCIDENT = `chat/a|waiting|@${NOW - 5 * 60_000}`

  test.each([PHONE, DESK])('acknowledging by a click, and the way back (%o)', async (size) => {
    const { page, state } = await show(stateOf(many(10, 1)), { size })
    await page.goto(statusLink(base()))
    await page.goto(actLink(base(), 'vllm', [INCIDENT], NOW))
    expect(await page.evaluate(FAINT)).toEqual([])
    if (size === PHONE) await page.screenshot({ path: join(PICTURES, 'act-en-light-phone.png') })
    expect((await state()).acknowledged).toBeUndefined()
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page.getByRole('status').waitFor()
    expect(await page.getByRole('status').textContent()).toMatch(/^Acknowledged by link at 13:05/)
    expect(await page.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0)
    expect((await state()).acknowledged).toEqual({ [INCIDENT]: { at: NOW, by: 'link' } })
    await page.getByRole('button', { name: 'Silence for 1 h' }).click()
    await page.getByText('Silenced until 14:05').first().waitFor()
    // As it is now: nothing is sent again by going there.
    const before = await state()
    await page.goBack()
    await page.goBack()
    expect(await page.textContent('main')).toContain('Inference queue')
    expect(await state()).toEqual(before)
    await page.goto(statusLink(base()))
    expect(await page.textContent('main')).toMatch(/Acknowledged by link/)
    expect(complaints).toEqual([])
    await page.close()
  })

  test('with the keyboard alone: past the header to the endpoints, a group folded, a button pressed', async () => {
    const { page, state } = await show(stateOf(many(10, 1)), { size: DESK })
    await page.goto(statusLink(base()))
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('To the endpoints')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SUMMARY')
    const open = () => page.evaluate('document.activeElement.parentElement.open')
    expect(await open()).toBe(true)
    await page.keyboard.press('Enter')
    expect(await open()).toBe(false)
    await page.goto(actLink(base(), 'vllm', [INCIDENT], NOW))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('status').waitFor()
    expect(Object.keys((await state()).acknowledged ?? {})).toEqual([INCIDENT])
    await page.close()
  })

  test('a screen reader finds headings, lists and what each chart shows', async () => {
    const { page } = await show(stateOf(many(10, 2)), { size: DESK })
    await page.goto(statusLink(base()))
    const headings = await page.getByRole('heading').allTextContents()
    expect(headings[0]).toContain('Queuebell')
    expect(headings).toEqual(expect.arrayContaining(['What fires', 'Endpoints', 'Watchers']))
    expect(await page.getByRole('img', { name: /waiting 2 → 42 in 14 min, limit 20/ }).count()).toBe(1)
    expect(await page.locator('svg:not([role=img]):not([aria-hidden=true])').count()).toBe(0)
    expect(await page.locator('html').getAttribute('lang')).toBe('en')
    await page.close()
  })

  test('the two pictures of the README: the page, and a push as a phone shows it', {
    timeout: 240_000,
    tags: ['long'],
  }, async () => {
    const story = await openPageStory(Date.UTC(2026, 10, 30, 12, 0), () => {})
    const stateNow = async () => {
      const read = readState((await story.store.load('vllm.json'))?.text ?? '')
      if (read.kind !== 'state') throw new Error('no state')
      return read.state
    }
    let push: Message | undefined
    let picture: PageAnswer | undefined
    for (let minute = 0; minute < 11; minute++) {
      const pushed = (await story.next()).find(({ title }) => title.startsWith('🐌'))
      if (!pushed || push) continue
      push = pushed
      const { ask: then } = await openTestPage({ vllm: await stateNow() })
      picture = await then(pictureLink(base(), 'vllm', 'chat/a|waiting|@1', NOW).replace(serving.url, ''))
    }
    await story.close()
    const { page } = await show(await stateNow(), { size: { width: 900, height: 560 } })
    const asIs = ask
    ask = (path, request) => asIs(path, { ...request, now: story.clock.now() })
    await page.goto(statusLink(base()))
    expect(await page.textContent('body')).toContain('Trouble at')
    await page.screenshot({ path: join(PICTURES, 'page.png') })
    await page.setViewportSize({ width: 420, height: 400 })
    await page.goto('about:blank')
    await page.setContent(phone(push, picture?.body as Buffer))
    await page.locator('main').screenshot({ path: join(PICTURES, 'push.png') })
    expect(push?.links).toHaveLength(1)
    await page.close()
  })

  test('the picture of a push, in the widths of Gotify and of Telegram', async () => {
    const { page } = await show(stateOf(many(10, 1)), { size: PHONE })
    const { body } = await ask(pictureLink(base(), 'vllm', INCIDENT, NOW).replace(serving.url, ''), {})
    writeFileSync(join(PICTURES, 'chart.png'), body)
    const source = `data:image/png;base64,${(body as Buffer).toString('base64')}`
    await page.setContent(
      `<body style="margin:0;background:#ddd">${[328, 360].map((width) => `<p style="margin:12px"><img width="${width}" src="${source}"></p>`).join('')}`,
    )
    expect(
      await page.evaluate('[...document.images].every((image) => image.complete && image.naturalWidth === 800)'),
    ).toBe(true)
    await page.screenshot({ path: join(PICTURES, 'chart-widths.png') })
    await page.close()
  })
})

/** A push as Android shows it, opened, with its picture and its button. */
function phone(message: Message | undefined, picture: Buffer): string {
  const { title = '', body = '', links = [] } = message ?? {}
  const lines = body.split('\n').slice(0, 4).map(escapeHtml).join('<br>')
  const image = `data:image/png;base64,${picture.toString('base64')}`
  return `<body style="margin:0;background:#dfe3e8;font:14px/1.4 system-ui,sans-serif"><main style="padding:14px;background:#dfe3e8"><article style="background:#fff;border-radius:22px;padding:14px 16px;color:#16191d"><small style="color:#57606a">🔔 Queuebell · now</small><h1 style="font-size:15px;margin:6px 0 2px">${escapeHtml(title)}</h1><p style="margin:0 0 10px">${lines}</p><img src="${image}" width="360" style="max-width:100%;border-radius:12px;display:block"><p style="margin:12px 0 2px;color:#2f6fb2;font-weight:600">${links.map(({ label }) => escapeHtml(label)).join(' · ')}</p></article></main>`
}

/** Texts whose contrast with what is behind them is less than WCAG's AA asks for: 4.5, or 3 where they are large. https://www.w3.org/TR/WCAG22/#contrast-minimum */
const FAINT = `(() => {
  const channels = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number)
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    return 0.2126 * x + 0.7152 * y + 0.0722 * z
  }
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = channels(getComputedStyle(at).backgroundColor)
      if (colour.length === 3 || colour[3] > 0) return colour
    }
    return [255, 255, 255]
  }
  const faint = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement
    if (!walker.currentNode.data.trim() || ['STYLE', 'TITLE'].includes(element.tagName)) continue
    const style = getComputedStyle(element)
    const [a, b] = [light(channels(style.color)), light(ground(element))].sort((x, y) => y - x)
    const ratio = (a + 0.05) / (b + 0.05)
    const size = parseFloat(style.fontSize)
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700)
    if (ratio < (large ? 3 : 4.5)) faint.push(walker.currentNode.data.trim().slice(0, 40) + ' ' + ratio.toFixed(2))
  }
  return faint
})()`
