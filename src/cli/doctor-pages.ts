import { openDispatcher } from '../http/connections.ts'
import { endpointWays } from '../http/ways.ts'
import { mask } from '../log.ts'
import { tellFailure } from '../messages/failure-line.ts'
import { sanitizeText } from '../messages/sanitize.ts'
import { type Backend, type BackendTable, prefixOf } from '../model/backend.ts'
import type { Config, Endpoint } from '../model/config.ts'
import type { Failure } from '../model/failure.ts'
import { diagnose, type Finding } from '../rules/diagnose.ts'
import type { Page } from '../scrape/page.ts'
import { readPage } from '../scrape/read.ts'
import { scrapePage } from '../scrape/scrape.ts'
import { modelsOf } from '../scrape/select.ts'
import { askVersion } from '../scrape/version.ts'
import { shownUrl } from '../secrets/names.ts'
import { align } from './table.ts'
import { lookAt } from './whose-page.ts'

/** Looks at the page of each endpoint and prints what its rules read. @returns whether all is well. */
export async function checkPages(config: Config, table: BackendTable): Promise<boolean> {
  const ends = new Map<string, number>()
  const connections = openDispatcher({ ...endpointWays(config), onCertificate: ends.set.bind(ends) })
  try {
    const checks = await Promise.all(
      config.endpoints.map((endpoint) => checkPage(endpoint, table, config.backend, connections.dispatcher)),
    )
    for (const [i, { lines }] of checks.entries()) {
      const own = [...lines, ...certificateLines(config.endpoints[i], ends)]
      console.log(`${mask(own.join('\n'), config.secrets)}\n`)
    }
    return checks.every((check) => check.healthy)
  } finally {
    await connections.close()
  }
}

/** Of an address by https, when its certificate ends. */
function certificateLines(endpoint: Endpoint | undefined, ends: ReadonlyMap<string, number>): string[] {
  const end = endpoint && ends.get(new URL(endpoint.url).origin)
  if (end === undefined) return []
  const days = Math.floor((end - Date.now()) / 86_400_000)
  const limit = endpoint?.rules.find(({ id }) => id === 'tls_expiry')?.limit ?? 0
  return [
    `  certificate: ends in ${days} days (${new Date(end).toISOString().slice(0, 10)})${days < limit ? ', soon' : ''}`,
  ]
}

async function checkPage(
  endpoint: Endpoint,
  table: BackendTable,
  backend: Backend,
  dispatcher: unknown,
): Promise<{ healthy: boolean; lines: string[] }> {
  const got = await scrapePage(endpoint, table, { dispatcher })
  const head = `${endpoint.name}  ${shownUrl(endpoint.url)}`
  if ('failure' in got) {
    const { what, todo } = tellFailure(got.failure, backend)
    const whose = (await whoseIs(endpoint, backend, dispatcher)) ?? (await elsewhere(endpoint, got.failure, dispatcher))
    return { healthy: false, lines: [head, `  no metrics: ${what}`, `  → ${whose ?? todo}`] }
  }
  const { page, bytes } = got
  const readings = readPage(page, table, { model: endpoint.model, now: Date.now() })
  const recognised = table.recognise.find(({ series }) => page.recognised.has(series) || page.samples.has(series))
  const server = recognised?.as
  if (recognised?.instead !== undefined)
    return { healthy: false, lines: [head, `  server: ${recognised.as}: ${recognised.instead}`] }
  const emptyIsFine = page.sampleCount === 0 && table.emptyIsHealthy === true
  const isKnown = server !== undefined || emptyIsFine
  const diagnosed = diagnose(readings, table, endpoint, backend)
  // On another server's page, or without the model, every rule is blind for one reason, which is told.
  const isPlain = !readings.modelFound || (!isKnown && diagnosed.every(({ state }) => state !== 'sees'))
  const findings = isPlain ? [] : diagnosed
  const whose = isKnown ? undefined : await whoseIs(endpoint, backend, dispatcher)
  const version = isKnown ? await askVersion(endpoint, table, { dispatcher }) : undefined
  const blind = findings.some((f) => f.state === 'blind' || f.state === 'undecidable') || !readings.modelFound
  return {
    healthy: isKnown && !blind,
    lines: [
      head,
      `  server: ${server ?? whose ?? unrecognised(page, emptyIsFine)}${version === undefined ? '' : `, version ${version}`}${readings.model === undefined ? '' : `, model ${readings.model}`}`,
      `  page: ${bytes} bytes, ${page.sampleCount} samples${page.malformed > 0 ? `, ${page.malformed} lines that could not be read` : ''}`,
      ...(readings.modelFound ? [] : [modelLine(endpoint, modelsOf(page, table), backend)]),
      ...(findings.length > 0 ? indent(align(findings.map(row))) : []),
    ],
  }
}

/** Why a page does not tell which server it is of. */
function unrecognised(page: Page, emptyIsFine: boolean): string {
  if (emptyIsFine) return 'nothing published yet: it starts with the first request'
  if (page.sampleCount === 0 && page.comments > 0) {
    return 'only HELP and TYPE lines, not one sample: the process that answers does not see the engine'
  }
  return 'not recognised: is this the right port and path?'
}

const MARKS: Record<Finding['state'], string> = {
  sees: 'ok',
  waits: 'waits',
  absent: '-',
  blind: 'BLIND',
  undecidable: 'BLIND',
}

function row({ rule, state, notes }: Finding): string[] {
  return [MARKS[state], rule.id, notes.join('; ')]
}

function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`)
}

/** Which models there are, where the configured one is not. */
function modelLine({ model = '' }: Endpoint, there: readonly string[], backend: Backend): string {
  const set = `set ${prefixOf(backend)}_MODEL, or leave it out`
  return `  model: ${model} is not on this server; there: ${there.map((name) => sanitizeText(name, 60)).join(', ')}. ${capital(set)}.`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Whose page it is, where another function's server answers: endpoints are easily exchanged. */
async function whoseIs(endpoint: Endpoint, backend: Backend, dispatcher: unknown): Promise<string | undefined> {
  const { url, timeout, authorization } = endpoint
  const looked = await lookAt(url, { dispatcher, timeout, authorization })
  if (looked.kind !== 'page') return undefined
  const other = looked.whose.find((whose) => whose.backend !== backend)
  if (other === undefined) return undefined
  const [here, there] = [`${prefixOf(backend)}_ENDPOINTS`, `${prefixOf(other.backend)}_ENDPOINTS`]
  return `this is the page of ${other.as}, not of ${backend}: move ${endpoint.name} from ${here} to ${there}`
}

/** TensorRT-LLM answers JSON at `/metrics`, and its metrics lie at another path; the others have nothing there. */
async function elsewhere(endpoint: Endpoint, { kind }: Failure, dispatcher: unknown): Promise<string | undefined> {
  if (kind !== 'not-prometheus' && kind !== 'not-found') return undefined
  for (const path of ['/metrics', '/prometheus/metrics']) {
    const { href } = new URL(path, endpoint.url)
    if (href === endpoint.url) continue
    const looked = await lookAt(href, { ...endpoint, dispatcher })
    const [whose] = looked.kind === 'page' ? looked.whose : []
    if (whose)
      return `the metrics of ${whose.as} are at ${path}: set ${prefixOf(whose.backend)}_ENDPOINTS to ${endpoint.name}=${shownUrl(href)}`
  }
  return undefined
}
