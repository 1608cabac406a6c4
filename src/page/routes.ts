import type { PageConfig } from '../config/page.ts'
import { choose, showChoices } from './act-routes.ts'
import { badgeSvg } from './badge.ts'
import { chartPng, type PictureTexts } from './chart-png.ts'
import type { Reader } from './document.ts'
import { HTML, nothing, type PageAnswer, type PageRequest, say } from './exchange.ts'
import { ALL, badgeLink, partsOf } from './links.ts'
import { statusJson } from './machine-json.ts'
import { metricsText } from './metrics-text.ts'
import { type PageParts, readerOf, viewOf, viewOfAll } from './parts.ts'
import { chartOfRule } from './signal-of-rule.ts'
import { loadOne, ownerOf } from './states.ts'
import { statusPage } from './status-page.ts'
import { clockText, PAGE_WORDS, valueText } from './texts.ts'
import { type Claim, isSame, type Purpose, readToken } from './tokens.ts'
import type { Chart } from './view.ts'

/**
 * Answers one request of the page. A GET or HEAD changes nothing, whatever it asks for; without a token that fits, every
 * request is the same empty 404.
 */
export async function answer(request: PageRequest, parts: PageParts): Promise<PageAnswer> {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (!isRead && request.method !== 'POST') return nothing()
  const found = await route(request, parts, isRead)
  return request.method === 'HEAD' ? { ...found, body: '' } : found
}

async function route(request: PageRequest, parts: PageParts, isRead: boolean): Promise<PageAnswer> {
  const { config, now } = parts
  const { path } = request
  const { kind, token } = placeOf(path)
  const claim = kind && readToken(config.secrets, kind, token, now)
  if (kind !== undefined && !claim) return nothing()
  if (kind === 'act' && claim) {
    return isRead ? showChoices(claim, parts) : choose(request, claim, token, parts)
  }
  if (!isRead) return nothing()
  if (kind === 'status') return status(request, parts)
  if (kind === 'image' && claim) return picture(claim, parts)
  if (kind === 'badge' && claim) return badge(claim, parts)
  if (path === '/status.json' && isMachine(request, config)) {
    return say(200, 'application/json; charset=utf-8', `${JSON.stringify(statusJson(await viewOfAll(parts)))}\n`)
  }
  if (path === '/metrics' && isMachine(request, config)) {
    return say(200, 'text/plain; version=0.0.4; charset=utf-8', metricsText(await viewOfAll(parts)))
  }
  return nothing()
}

/** Seconds. */
const REFRESH = 60

const PLACES = {
  status: /^\/s\/([\w.-]+)$/,
  act: /^\/a\/([\w.-]+)$/,
  image: /^\/i\/([\w.-]+)\.png$/,
  badge: /^\/badge\/([\w.-]+)\.svg$/,
} as const satisfies Record<Purpose, RegExp>

function placeOf(path: string): { kind?: Purpose; token: string } {
  for (const [kind, place] of Object.entries(PLACES) as [Purpose, RegExp][]) {
    const token = place.exec(path)?.[1]
    if (token !== undefined) return { kind, token }
  }
  return { token: '' }
}

/** Without a token of its own there is no door for machines. */
function isMachine({ headers }: PageRequest, { token }: PageConfig): boolean {
  const given = /^bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  return token !== undefined && given !== undefined && isSame(given, token)
}

async function status(request: PageRequest, parts: PageParts): Promise<PageAnswer> {
  const view = await viewOfAll(parts)
  const [secret = ''] = parts.config.secrets
  const base = { url: parts.config.url ?? originOf(request), secret }
  const badges = view.functions.map(({ name }) => ({ of: name, url: badgeLink(base, name) }))
  return say(200, HTML, statusPage(view, readerOf(parts), { badges, refresh: parts.refresh ?? REFRESH }))
}

/** As the reader's own browser reached us. */
function originOf({ headers }: PageRequest): string {
  const host = headers.host ?? ''
  return /^[\w.:[\]-]+$/.test(host) ? `${headers['x-forwarded-proto'] === 'https' ? 'https' : 'http'}://${host}` : ''
}

async function badge(claim: Claim, parts: PageParts): Promise<PageAnswer> {
  if (claim.function === ALL) return say(200, 'image/svg+xml', badgeSvg(await viewOfAll(parts), undefined))
  const owner = ownerOf(claim.function)
  const loaded = owner && (await loadOne(parts.store, owner))
  return loaded ? say(200, 'image/svg+xml', badgeSvg(viewOf([loaded], parts), claim.function)) : nothing()
}

async function picture(claim: Claim, parts: PageParts): Promise<PageAnswer> {
  const owner = ownerOf(claim.function)
  const loaded = owner && (await loadOne(parts.store, owner))
  if (!loaded) return nothing()
  const { endpoint: name, rule } = partsOf(claim.subject)
  const [shown] = viewOf([loaded], parts).functions
  const endpoint = shown?.endpoints.find((one) => one.name === name)
  if (!endpoint) return nothing()
  const chart = chartOfRule(rule, owner.backend, endpoint.charts) ?? { signal: 'waiting', points: [] }
  return say(200, 'image/png', chartPng(chart, textsOf(chart, name, readerOf(parts))))
}

/** Letters and digits alone: the picture goes to readers of any language. */
function textsOf(chart: Chart, title: string, reader: Reader): PictureTexts {
  const english = { ...reader, language: 'en' } as const
  const { points, limit, signal } = chart
  const last = points.findLast(([, value]) => value !== null)?.[1] ?? undefined
  const text = (value: number) => valueText(signal, value, 'en')
  const at = (point: Chart['points'][number] | undefined) =>
    point === undefined ? '' : clockText(point[0], point[0], english)
  return {
    title,
    value: last === undefined ? '-' : `${text(last)} ${PAGE_WORDS.en.signal[signal] ?? signal}`,
    ...(limit === undefined ? {} : { limit: `> ${text(limit)}` }),
    from: at(points[0]),
    to: at(points.at(-1)),
  }
}
