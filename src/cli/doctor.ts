import { TABLES } from '../backends/backends.ts'
import { parseConfig } from '../config/parse.ts'
import { openDispatcher } from '../http/connections.ts'
import { tlsProblems } from '../http/tls.ts'
import { endpointWays, pushWays, tlsSettings } from '../http/ways.ts'
import { mask } from '../log.ts'
import { CATALOGUES } from '../messages/compose.ts'
import type { Backend, BackendTable, ScrapedBackend } from '../model/backend.ts'
import { type Config, ConfigError, type Endpoint, type PushServer } from '../model/config.ts'
import { briefly } from '../model/failure.ts'
import type { Log } from '../model/io.ts'
import { wordsOf } from '../model/observation.ts'
import { observe } from '../observe.ts'
import { type PushOutcome, pushTo } from '../push/push.ts'
import { diagnose, type Finding } from '../rules/diagnose.ts'
import { limitOf, realIO } from '../scheduled.ts'
import type { Page } from '../scrape/page.ts'
import { readPage } from '../scrape/read.ts'
import { scrapePage } from '../scrape/scrape.ts'
import { shownUrl } from '../secrets/names.ts'
import { discover } from '../targets/discover.ts'
import { load } from '../targets/load.ts'
import { align } from './table.ts'
import { terminalLog } from './terminal-log.ts'

/**
 * Checks each endpoint of a function, those that its sources name among them. @returns the exit code: 1 when something
 * cannot be reached, a rule is blind, a source cannot be used, or the test push failed.
 */
export async function doctor(backend: Backend, options: { push: boolean }): Promise<number> {
  const parsed = parseConfig(backend, process.env, { lambda: false })
  if (!parsed.ok) {
    console.error(new ConfigError(parsed.problems).message)
    return 1
  }
  const unusable = tlsProblems(tlsSettings(parsed.config))
  if (unusable.length > 0) {
    console.error(new ConfigError(unusable).message)
    return 1
  }
  for (const warning of parsed.config.warnings) console.log(`! ${warning}`)
  const found = await find(parsed.config)
  if (found === undefined) return 1
  const { config } = found
  if (config.endpoints.length === 0) console.log('no endpoints: the sources name none now')
  const table: BackendTable | undefined = TABLES[backend as ScrapedBackend]
  const healthy = table ? await checkPages(config, table) : await checkAnswers(config)
  const pushed = options.push ? await testPush(config) : true
  return healthy && pushed && found.allRead ? 0 : 1
}

/** The endpoints to check; `undefined`, after an error was printed, when what the sources name cannot be used. */
async function find(config: Config): Promise<{ config: Config; allRead: boolean } | undefined> {
  try {
    const { endpoints, watch } = await discover(config, {}, { load, log: terminalLog(config) })
    const allRead = watch.every((sources) => !sources.unread?.length)
    return { config: { ...config, endpoints }, allRead }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    console.error(mask(error.message, config.secrets))
    return undefined
  }
}

async function checkPages(config: Config, table: BackendTable): Promise<boolean> {
  const connections = openDispatcher(endpointWays(config))
  try {
    const checks = await Promise.all(
      config.endpoints.map((endpoint) => checkPage(endpoint, table, config.backend, connections.dispatcher)),
    )
    for (const { lines } of checks) console.log(`${mask(lines.join('\n'), config.secrets)}\n`)
    return checks.every((check) => check.healthy)
  } finally {
    await connections.close()
  }
}

async function checkPage(
  endpoint: Endpoint,
  table: BackendTable,
  backend: Backend,
  dispatcher: unknown,
): Promise<{ healthy: boolean; lines: string[] }> {
  const got = await scrapePage(endpoint, table, { dispatcher })
  const head = `${endpoint.name}  ${shownUrl(endpoint.url)}`
  if ('failure' in got) return { healthy: false, lines: [head, `  no metrics: ${briefly(got.failure)}`] }
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
  const blind = findings.some((f) => f.state === 'blind' || f.state === 'undecidable') || !readings.modelFound
  return {
    healthy: isKnown && !blind,
    lines: [
      head,
      `  server: ${server ?? unrecognised(page, emptyIsFine)}${readings.model === undefined ? '' : `, model ${readings.model}`}`,
      `  page: ${bytes} bytes, ${page.sampleCount} samples${page.malformed > 0 ? `, ${page.malformed} lines that could not be read` : ''}`,
      ...(readings.modelFound ? [] : [`  model: ${endpoint.model ?? ''} is not on this server`]),
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

/** Canaries and heartbeats have no page: ask once and print what came back. */
async function checkAnswers(config: Config): Promise<boolean> {
  const io = realIO(config)
  const now = io.now()
  const observations = await observe(config, io, { now, deadline: now + limitOf(config), runId: io.runId() })
  const lines = observations.map((observation) => {
    const head = `${observation.endpoint.name}  ${shownUrl(observation.endpoint.url)}`
    if (observation.up === false) return `${head}\n  no answer: ${briefly(observation.failure)}`
    const gauges = observation.up ? observation.readings.gauges : {}
    const values = Object.entries(gauges).map(([name, gauge]) => `${name} ${gauge.value.toFixed(3)} s`)
    const beat = observation.up === true && observation.beat ? [beatText(observation.beat.age)] : []
    return [
      `${head}`,
      `  ${[observation.canary && wordsOf(observation.canary.status), observation.canary?.detail, ...beat, ...values].filter((part) => part !== undefined).join(', ')}`,
    ].join('\n')
  })
  console.log(mask(`${lines.join('\n')}\n`, config.secrets))
  return observations.every((o) => o.up !== false && o.canary?.status !== 'model-missing')
}

function beatText(age: number | undefined): string {
  return age === undefined ? 'never seen' : `last beat ${Math.round(age / 1000)} s ago`
}

/** The outcome of each try is printed once, at the end. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }
const WORDS: Record<PushOutcome['kind'], string> = {
  delivered: 'delivered',
  waiting: 'not taken',
  unanswered: 'sent, but its answer was lost',
  refused: 'refused',
}

async function testPush(config: Config): Promise<boolean> {
  if (!config.push) {
    console.log('push: no NOTIFLY_URL is set')
    return false
  }
  const io = { ...realIO(config), log: SILENT }
  const connections = openDispatcher(pushWays(config, [config.push, config.push.fallback]))
  const { title, body } = CATALOGUES[config.language].test
  const message = { title, body: body(config.backend), priority: 4 }
  const options = { io, config: config.push, dispatcher: connections.dispatcher, maybeSent: false }
  const test = async (server: PushServer, by: 'first' | 'fallback') => {
    const deadline = io.now() + 20_000
    const outcome = await pushTo(message, server, by, { ...options, deadline, shorter: () => message })
    const why = [outcome.status, outcome.reason].filter((part) => part !== undefined).join(' ')
    const advice = outcome.advice === undefined ? '' : `: ${outcome.advice}`
    const to = by === 'first' ? 'push' : 'push to the fallback'
    console.log(mask(`${to}: ${WORDS[outcome.kind]}${why === '' ? '' : ` (${why})`}${advice}`, config.secrets))
    return outcome.kind === 'delivered'
  }
  const { fallback } = config.push
  const first = await test(config.push, 'first')
  // Asked by itself: one that is only asked when the first is away would be found wrong only then.
  const second = fallback === undefined || (await test(fallback, 'fallback'))
  await connections.close()
  return first && second
}
