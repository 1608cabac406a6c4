import type { PageConfig } from '../config/page.ts'
import type { Backend } from '../model/backend.ts'
import type { Store } from '../model/store.ts'
import { changeState } from '../state/change.ts'
import { nextAt } from '../state/maintenance.ts'
import { endpointsOf, firingAt, press } from './act.ts'
import { actPage, CHOICES, type Choice, type Done } from './act-page.ts'
import { badgeSvg } from './badge.ts'
import { chartPng, type PictureTexts } from './chart-png.ts'
import type { Reader } from './document.ts'
import { ALL, badgeLink, partsOf } from './links.ts'
import { statusJson } from './machine-json.ts'
import { metricsText } from './metrics-text.ts'
import { chartOfRule } from './signal-of-rule.ts'
import { type LoadedState, loadAll, loadOne, type Owner, ownerOf } from './states.ts'
import { statusPage } from './status-page.ts'
import { POLICY } from './style.ts'
import { clockText, PAGE_WORDS, valueText } from './texts.ts'
import { type Claim, isSame, type Purpose, readToken } from './tokens.ts'
import type { Chart, PageView } from './view.ts'
import { type EndpointSettings, viewOfState } from './view-of-state.ts'

export interface PageRequest {
  method: string
  /** As requested, nothing decoded, without the query. */
  path: string
  /** Names in small letters. */
  headers: Readonly<Record<string, string | undefined>>
  body: string
  /** The body was longer than {@link MOST_BODY} and not kept. */
  bodyTooLarge: boolean
}

export interface PageAnswer {
  status: 200 | 400 | 403 | 404 | 413 | 503
  headers: Record<string, string>
  body: string | Buffer
}

export interface PageParts {
  config: PageConfig
  store: Store
  /** Epoch milliseconds. */
  now: number
  settingsOf(backend: Backend): (endpoint: string, names: readonly string[]) => EndpointSettings
}

/** Bytes. */
export const MOST_BODY = 4_096

/** Said with every answer: nobody keeps, indexes, passes on or guesses anything. */
const ALWAYS = {
  'cache-control': 'no-store',
  'x-robots-tag': 'noindex, nofollow',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
const BARE_POLICY = "default-src 'none'; frame-ancestors 'none'"
const HTML = 'text/html; charset=utf-8'

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

function nothing(): PageAnswer {
  return { status: 404, headers: { ...ALWAYS }, body: '' }
}

function say(status: PageAnswer['status'], type: string, body: string | Buffer): PageAnswer {
  const policy = type === HTML ? POLICY : BARE_POLICY
  return { status, headers: { ...ALWAYS, 'content-type': type, 'content-security-policy': policy }, body }
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
  return say(200, HTML, statusPage(view, readerOf(parts), badges))
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

async function showChoices(claim: Claim, parts: PageParts): Promise<PageAnswer> {
  const owner = ownerOf(claim.function)
  const loaded = owner && (await loadOne(parts.store, owner))
  return loaded ? say(200, HTML, choicesPage(loaded, claim, parts)) : nothing()
}

async function choose(request: PageRequest, claim: Claim, token: string, parts: PageParts): Promise<PageAnswer> {
  const owner = ownerOf(claim.function)
  if (!owner) return nothing()
  if (isForeign(request, parts.config)) return { status: 403, headers: { ...ALWAYS }, body: '' }
  if (request.bodyTooLarge || Buffer.byteLength(request.body) > MOST_BODY) {
    return { status: 413, headers: { ...ALWAYS }, body: '' }
  }
  const wanted = new URLSearchParams(request.body).get('do')
  const choice = CHOICES.find((one) => one === wanted)
  const done = choice ? await write(choice, claim, token, owner, parts) : ({ kind: 'unknown' } as const)
  const loaded = await loadOne(parts.store, owner)
  if (!loaded) return nothing()
  const status = done.kind === 'unknown' ? 400 : done.kind === 'failed' ? 503 : 200
  return say(status, HTML, choicesPage(loaded, claim, parts, done))
}

/**
 * A page of somebody else may not press for a reader who only opened it. Browsers send `null` from our own form, since
 * it passes no address on; what is no browser sends nothing.
 */
function isForeign({ headers }: PageRequest, { url }: PageConfig): boolean {
  if (headers['sec-fetch-site'] === 'cross-site') return true
  const { origin, host } = headers
  if (origin === undefined || origin === 'null') return false
  if (url !== undefined && origin === new URL(url).origin) return false
  return !URL.canParse(origin) || new URL(origin).host !== host
}

async function write(choice: Choice, claim: Claim, token: string, owner: Owner, parts: PageParts): Promise<Done> {
  const { store, now, config } = parts
  const incidents = claim.subject.split('\n')
  const morning = nextAt(MORNING, now, config.timezone)
  const by = { choice, incidents, name: owner.name, link: token.slice(-12), now, morning }
  let done: Done = { kind: 'failed' }
  try {
    const changed = await changeState(store, `${owner.name}.json`, (state) => {
      const pressed = press(state, by)
      done = pressed.done
      return pressed.state
    })
    return changed.kind === 'changed' ? done : { kind: 'failed' }
  } catch {
    return { kind: 'failed' }
  }
}

const MORNING = 9

/** @param done what a press has come to. */
function choicesPage(loaded: LoadedState, claim: Claim, parts: PageParts, done?: Done): string {
  const incidents = claim.subject.split('\n')
  const names = endpointsOf(incidents)
  const all = viewOf([loaded], parts)
  const view = {
    ...all,
    functions: all.functions.map((one) => ({
      ...one,
      endpoints: one.endpoints.filter(({ name }) => names.includes(name)),
    })),
  }
  const lasts =
    'state' in loaded &&
    names.some((name) => firingAt(loaded.state, name).some((incident) => incidents.includes(incident)))
  const morning = nextAt(MORNING, parts.now, parts.config.timezone)
  return actPage(view, names, { morning, lasts, ...(done ? { done } : {}) }, readerOf(parts))
}

function readerOf({ config: { language, timezone }, now }: PageParts): Reader {
  return { language, timezone, now }
}

async function viewOfAll(parts: PageParts): Promise<PageView> {
  try {
    return viewOf(await loadAll(parts.store), parts)
  } catch {
    return { now: parts.now, functions: [], broken: [{ function: ALL, why: 'the store does not answer' }] }
  }
}

function viewOf(loaded: readonly LoadedState[], { now, settingsOf }: PageParts): PageView {
  return {
    now,
    functions: loaded.flatMap((one) =>
      'state' in one ? [viewOfState(one.state, one, settingsOf(one.backend), now)] : [],
    ),
    broken: loaded.flatMap((one) => ('why' in one ? [{ function: one.name, why: one.why }] : [])),
  }
}
