import type { Backend, BackendTable, ScrapedBackend } from '../backends/backend.ts'
import { TABLES } from '../backends/backends.ts'
import { type Config, ConfigError, type Endpoint } from '../config/config.ts'
import { parseConfig } from '../config/parse.ts'
import { mask } from '../log.ts'
import { observe } from '../observe.ts'
import { push } from '../push/push.ts'
import { examine, type Finding } from '../rules/examine.ts'
import { realIO } from '../scheduled.ts'
import { createPageReader } from '../scrape/exposition.ts'
import { get, openDispatcher } from '../scrape/get.ts'
import type { Page } from '../scrape/page.ts'
import { readPage } from '../scrape/read.ts'
import type { Failure } from '../state/failure.ts'
import { align } from './table.ts'

/** Checks each endpoint of a function. @returns the exit code: 1 when something cannot be reached, a rule is blind, or the test push failed. */
export async function doctor(backend: Backend, options: { push: boolean }): Promise<number> {
  const parsed = parseConfig(backend, process.env, { lambda: false })
  if ('problems' in parsed) {
    console.error(new ConfigError(parsed.problems).message)
    return 1
  }
  const { config } = parsed
  for (const warning of config.warnings) console.log(`! ${warning}`)
  const table: BackendTable | undefined = TABLES[backend as ScrapedBackend]
  const healthy = table ? await checkPages(config, table) : await checkAnswers(config)
  const pushed = options.push ? await testPush(config) : true
  return healthy && pushed ? 0 : 1
}

async function checkPages(config: Config, table: BackendTable): Promise<boolean> {
  const connections = openDispatcher()
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
  const reader = createPageReader(table)
  const got = await get(endpoint.url, {
    timeout: endpoint.timeout,
    dispatcher,
    ...(endpoint.authorization === undefined ? {} : { headers: { authorization: endpoint.authorization } }),
    onChunk: (chunk) => reader.push(chunk),
  })
  const head = `${endpoint.name}  ${endpoint.url}`
  if (!got.ok) return { healthy: false, lines: [head, `  not reachable: ${failureText(got.failure)}`] }
  const page = reader.end()
  const readings = readPage(page, table, { model: endpoint.model, now: Date.now() })
  const server = table.recognise.find(({ series }) => page.recognised.has(series) || page.samples.has(series))?.as
  const findings = examine(readings, table, endpoint, backend)
  const blind = findings.some((f) => f.state === 'blind' || f.state === 'undecidable') || !readings.modelFound
  const emptyIsFine = page.sampleCount === 0 && table.emptyIsHealthy === true
  return {
    healthy: (server !== undefined || emptyIsFine) && !blind,
    lines: [
      head,
      `  server: ${server ?? unrecognised(page, emptyIsFine)}${readings.model === undefined ? '' : `, model ${readings.model}`}`,
      `  page: ${got.bytes} bytes, ${page.sampleCount} samples${page.malformed > 0 ? `, ${page.malformed} lines that could not be read` : ''}`,
      ...(readings.modelFound ? [] : [`  model: ${endpoint.model ?? ''} is not on this server`]),
      ...indent(align(findings.map(row))),
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

const MARKS: Record<Finding['state'], string> = { sees: 'ok', waits: 'waits', blind: 'BLIND', undecidable: 'BLIND' }

function row({ rule, state, notes }: Finding): string[] {
  return [MARKS[state], rule.id, notes.join('; ')]
}

function indent(text: string): string[] {
  return text.split('\n').map((line) => `  ${line}`)
}

/** Canaries and heartbeats have no page: ask once and tell what came. */
async function checkAnswers(config: Config): Promise<boolean> {
  const io = realIO(config)
  const now = io.now()
  const observations = await observe(config, io, { now, deadline: now + 60_000, runId: io.runId() })
  const lines = observations.map((observation) => {
    const head = `${observation.endpoint.name}  ${observation.endpoint.url}`
    if (observation.up === false) return `${head}\n  not reachable: ${failureText(observation.failure)}`
    const gauges = observation.up ? observation.readings.gauges : {}
    const values = Object.entries(gauges).map(([name, gauge]) => `${name} ${gauge.value.toFixed(3)} s`)
    const beat = observation.up === true && observation.beat ? [beatText(observation.beat.age)] : []
    return [
      `${head}`,
      `  ${[observation.canary?.status, observation.canary?.detail, ...beat, ...values].filter((part) => part !== undefined).join(', ')}`,
    ].join('\n')
  })
  console.log(mask(`${lines.join('\n')}\n`, config.secrets))
  return observations.every((o) => o.up !== false && o.canary?.status !== 'model-missing')
}

function beatText(age: number | undefined): string {
  return age === undefined ? 'never seen' : `last beat ${Math.round(age / 1000)} s ago`
}

function failureText({ kind, status, code, detail }: Failure): string {
  return [kind, status, code, detail].filter((part) => part !== undefined).join(', ')
}

async function testPush(config: Config): Promise<boolean> {
  if (!config.push) {
    console.log('push: no NOTIFLY_URL is set')
    return false
  }
  const io = realIO(config)
  const connections = openDispatcher()
  const message = {
    title: '🔔 Queuebell: test',
    body: `A test push of ${config.backend}. Nothing is wrong.`,
    priority: 4,
  }
  const outcome = await push(message, config.push, {
    io,
    deadline: io.now() + 20_000,
    dispatcher: connections.dispatcher,
    maybeSent: false,
    shorter: () => message,
  })
  await connections.close()
  const why = [outcome.status, outcome.reason].filter((part) => part !== undefined).join(' ')
  console.log(mask(`push: ${outcome.kind}${why === '' ? '' : ` (${why})`}`, config.secrets))
  return outcome.kind === 'delivered' && !outcome.misconfigured
}
