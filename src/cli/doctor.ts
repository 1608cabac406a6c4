import { TABLES } from '../backends/backends.ts'
import { parseConfig } from '../config/parse.ts'
import { openDispatcher } from '../http/connections.ts'
import { tlsProblems } from '../http/tls.ts'
import { pushWays, tlsSettings } from '../http/ways.ts'
import { mask } from '../log.ts'
import { CATALOGUES } from '../messages/compose.ts'
import type { Backend, BackendTable, ScrapedBackend } from '../model/backend.ts'
import { type Config, ConfigError, type PushServer } from '../model/config.ts'
import type { Log } from '../model/io.ts'
import { type PushOutcome, pushTo } from '../push/push.ts'
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
  const parsed = all.map((backend) => parseConfig(backend, process.env, { lambda: false }))
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
  const checks = await checkWatcher(configs, process.versions.node)
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

/** Tests the push servers of a configuration and prints what each answered. @returns whether all took it. */
export async function testPush(config: Config): Promise<boolean> {
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
