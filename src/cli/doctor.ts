import { TABLES } from '../backends/backends.ts'
import { parseConfig } from '../config/parse.ts'
import { readSchedule } from '../heartbeats/schedule.ts'
import { openDispatcher } from '../http/connections.ts'
import { tlsProblems } from '../http/tls.ts'
import { pushWays, tlsSettings } from '../http/ways.ts'
import { mask } from '../log.ts'
import { CATALOGUES } from '../messages/compose.ts'
import type { Backend, BackendTable, ScrapedBackend } from '../model/backend.ts'
import { type ChannelConfig, type Config, ConfigError, functionName, NOTIFLY } from '../model/config.ts'
import type { Log } from '../model/io.ts'
import type { Push } from '../push/channel.ts'
import { type PushOutcome, pushTo } from '../push/push-to.ts'
import { realIO } from '../scheduled.ts'
import { discover } from '../targets/discover.ts'
import { load } from '../targets/load.ts'
import { checkAnswers } from './doctor-answers.ts'
import { checkPages } from './doctor-pages.ts'
import { checkWatcher } from './doctor-watcher.ts'
import { envFileNotes } from './env-file.ts'
import { terminalLog } from './terminal-log.ts'

/**
 * Checks each endpoint of a function, or of several, those that sources name among them, and what the watcher itself
 * needs. @returns the exit code: 1 when something cannot be reached or used, a rule is blind, or the test push failed.
 */
export async function doctor(backends: Backend | readonly Backend[], options: { push: boolean }): Promise<number> {
  const all = typeof backends === 'string' ? [backends] : backends
  const parsed = all.map((backend) => parseConfig(backend, process.env, { lambda: false, readSchedule }))
  const problems = parsed.flatMap((one) => ('problems' in one ? one.problems : []))
  if (problems.length > 0) {
    console.error(new ConfigError([...new Set(problems)]).message)
    return 1
  }
  const configs = parsed.flatMap((one) => (one.ok ? [one.config] : []))
  const unusable = configs.flatMap((config) => tlsProblems(tlsSettings(config)))
  if (unusable.length > 0) {
    console.error(new ConfigError([...new Set(unusable)]).message)
    return 1
  }
  const notes = [...configs.flatMap(({ warnings }) => warnings), ...envFileNotes('.env')]
  for (const note of new Set(notes)) console.log(`! ${note}`)
  const checks = await checkWatcher(configs, process.versions.node, options)
  const secrets = configs.flatMap((config) => config.secrets)
  for (const { ok, line } of checks) console.log(mask(`${ok ? '' : 'PROBLEM '}${line}`, secrets))
  let healthy = checks.every(({ ok }) => ok)
  for (const config of configs) {
    console.log(`\n${config.backend}`)
    if (!(await checkFunction(config))) healthy = false
  }
  const [first] = configs
  const pushed = options.push && first ? await testPush(first) : true
  return healthy && pushed ? 0 : 1
}

async function checkFunction(given: Config): Promise<boolean> {
  const found = await find(given)
  if (found === undefined) return false
  const { config } = found
  if (config.endpoints.length === 0) console.log('no endpoints: the sources name none now')
  const table: BackendTable | undefined = TABLES[config.backend as ScrapedBackend]
  return (table ? await checkPages(config, table) : await checkAnswers(config)) && found.allRead
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

/** The outcome of each try is printed once, at the end. */
const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} }
const WORDS: Record<PushOutcome['kind'], string> = {
  delivered: 'delivered',
  waiting: 'not taken',
  unanswered: 'sent, but its answer was lost',
  refused: 'refused',
}

/** Tests every channel by itself and prints what each answered; fallbacks too: one that is only asked when another is away would be found wrong only then. @returns whether all took it. */
export async function testPush(config: Config): Promise<boolean> {
  if (config.channels.length === 0) {
    console.log('push: no channel is set: set NOTIFLY_URL and NOTIFLY_TOKEN, or PUSH_<NAME>')
    return false
  }
  const spares = config.channels.flatMap(({ fallback }) => (fallback?.isSpare ? [fallback] : []))
  const connections = openDispatcher(pushWays(config))
  const all = [...config.channels, ...spares]
  const tested = await Promise.all(all.map((channel) => testChannel(channel, config, connections.dispatcher)))
  await connections.close()
  return tested.every((isTaken) => isTaken)
}

async function testChannel(channel: ChannelConfig, config: Config, dispatcher: unknown): Promise<boolean> {
  const io = { ...realIO(config), log: SILENT }
  const now = io.now()
  const what = testOf(channel, config, now)
  const outcome = await pushTo(what, channel, channel.isSpare ? 'fallback' : 'first', {
    io,
    dispatcher,
    deadline: now + 20_000,
    secrets: config.secrets,
    inForm: () => what,
  })
  const why = [outcome.status, outcome.reason].filter((part) => part !== undefined).join(' ')
  const advice = outcome.advice === undefined ? '' : `: ${outcome.advice}`
  const to = channel.isSpare ? 'push to the fallback' : channel.name === NOTIFLY ? 'push' : `push to ${channel.name}`
  console.log(mask(`${to}: ${WORDS[outcome.kind]}${why === '' ? '' : ` (${why})`}${advice}`, config.secrets))
  return outcome.kind === 'delivered'
}

/** A fact without an end: on a service that keeps incidents it is over by itself, or is one that a person closes. */
function testOf(channel: ChannelConfig, config: Config, now: number): Push {
  const { title, body } = CATALOGUES[channel.language].test
  const message = { title, body: body(config.backend), priority: TEST_PRIORITY }
  const incident = `|test|${functionName(config)}@${now}`
  const fact = {
    id: `${incident}/told-once/${now}`,
    incident,
    reason: 'told-once',
    rule: 'test',
    priority: TEST_PRIORITY,
    at: now,
    firedAt: now,
  } as const
  return {
    message,
    facts: [fact],
    tell: () => message,
    threadOf: () => undefined,
    functionName: functionName(config),
    interval: 60_000,
    now,
  }
}

const TEST_PRIORITY = 4
