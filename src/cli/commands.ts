import { configuredBackends } from '../config/configured.ts'
import { withParameters } from '../secrets/parameters.ts'
import {
  type CommandLine,
  type CommandName,
  flagsOf,
  helpOf,
  isFunction,
  nearestFunction,
  readCommandLine,
} from './command-line.ts'
import { doctor } from './doctor.ts'
import { doctorPage } from './doctor-page.ts'
import { loadEnvFile } from './env-file.ts'
import { parseListen, type Serving } from './http-server.ts'
import { doctorAddress } from './identify.ts'
import { init } from './init.ts'
import { type InvokeOptions, invoke } from './invoke.ts'
import { doPast, type PastCommand, planPast } from './past.ts'
import { serve } from './receive.ts'
import { servePage } from './serve-page.ts'
import { silence } from './silence.ts'
import { swallowed } from './swallowed.ts'
import { typed, version } from './version.ts'

/** The command line. @returns the exit code. */
export async function runCommand(args: string[]): Promise<number> {
  const read = readCommandLine(args)
  if (!read.ok) return misused(read.why, read.command)
  const { line } = read
  if (line.kind === 'version') return print(version())
  if (line.kind === 'help') return print(helpOf(line.command))
  const { command, words, options } = line
  const lost = swallowed(command, flagsOf(command), args.slice(args.indexOf(command) + 1), process.env)
  if (lost !== undefined) return failed(lost)
  switch (command) {
    case 'init':
      return words.length > 0
        ? misused(`init takes nothing after it: ${words.join(' ')}`, 'init')
        : init('.env', process.stdin)
    case 'doctor':
      return doctorOf(words, options)
    case 'invoke':
      return invokeOf(words, options)
    case 'silence':
      return silenceOf(words)
    case 'record':
    case 'replay':
    case 'suggest':
    case 'import':
    case 'export':
      return pastOf(command, words, options)
    default:
      return command satisfies never
  }
}

type Given = Extract<CommandLine, { kind: 'command' }>

async function doctorOf([name, ...more]: string[], options: Given['options']): Promise<number> {
  const push = { push: options.push === true }
  if (more.length > 0) return misused(`doctor takes one function, and nothing after it: ${more.join(' ')}`, 'doctor')
  if (name === undefined) return (await loadVariables()) ?? doctorAll(push)
  if (isAddress(name)) return doctorAddress(name)
  if (!isFunction(name)) return misused(`there is no function ${name}${nearestFunction(name)}`, 'doctor')
  if (name === 'heartbeat-receive')
    return misused('heartbeat-receive has nothing to check: it waits for its workers', 'doctor')
  if (name === 'page') return (await loadVariables()) ?? doctorPage()
  return (await loadVariables()) ?? (name === 'all' ? doctorAll(push) : doctor(name, push))
}

/** A URL, or a host with its port. */
function isAddress(word: string): boolean {
  return /^https?:\/\//i.test(word) || /^(\[[\da-f:]+\]|[\w.-]+):\d+(\/|$)/i.test(word)
}

/** All that is configured; where nothing is, that is the problem. */
async function doctorAll(options: { push: boolean }): Promise<number> {
  const backends = configuredBackends(process.env)
  return backends.length === 0 ? failed(NOTHING_CONFIGURED) : doctor(backends, options)
}

async function invokeOf([name, ...more]: string[], options: Given['options']): Promise<number> {
  if (name === undefined) return misused('invoke needs the name of a function', 'invoke')
  if (!isFunction(name)) return misused(`there is no function ${name}${nearestFunction(name)}`, 'invoke')
  if (more.length > 0) return misused(`invoke takes one function, and nothing after it: ${more.join(' ')}`, 'invoke')
  const answers = name === 'heartbeat-receive' || name === 'page'
  const serves = answers || (name === 'all' && 'every' in options)
  const foreign = Object.keys(options).find((option) => (option === 'serve' ? !serves : answers))
  if (foreign !== undefined) return misused(`invoke ${name} has no option --${foreign}`, 'invoke')
  const unread = await loadVariables()
  if (unread !== undefined) return unread
  if (name === 'heartbeat-receive') return receive(textOf(options.serve) ?? '8080')
  if (name === 'page') return servePages(textOf(options.serve) ?? '8081')
  if (name === 'all') return invokeAll(options)
  return invoke(name, invokeOptions(options))
}

/** Every function that is configured, and beside them the receiver of heartbeats where a port is named. */
async function invokeAll(options: Given['options']): Promise<number> {
  const backends = configuredBackends(process.env)
  if (backends.length === 0) return failed(NOTHING_CONFIGURED)
  const receiving = options.serve === undefined ? [] : [receive(textOf(options.serve) ?? '8080')]
  const json = options.json === true ? ('lines' as const) : false
  const codes = await Promise.all([invoke(backends, { ...invokeOptions(options), json }), ...receiving])
  return Math.max(...codes)
}

const NOTHING_CONFIGURED = [
  'nothing is configured to watch: there is no VLLM_ENDPOINTS nor that of another function, in the environment or in .env.',
  `${typed('init')} writes a first .env; ${typed('doctor http://10.0.0.5:8000')} says what answers at an address.`,
].join('\n')

function invokeOptions(options: Given['options']): InvokeOptions {
  return {
    dryRun: options['dry-run'] === true,
    json: options.json === true,
    why: options.why === true,
    every: textOf(options.every),
    shard: textOf(options.shard),
  }
}

async function silenceOf(words: readonly string[]): Promise<number> {
  const unread = await loadVariables()
  if (unread !== undefined) return unread
  const said = await silence(words, process.env, Date.now())
  return said.ok ? print(said.text) : said.misused ? misused(said.text, 'silence') : failed(said.text)
}

async function pastOf(command: PastCommand, words: string[], options: Given['options']): Promise<number> {
  const planned = planPast(command, words, options)
  if (!planned.ok) return misused(planned.why, command)
  // A recorder asks with the secrets; the others have no use for them, nor for the store where they lie.
  const unread = command === 'record' ? await loadVariables() : failedOf(loadEnvFile('.env'))
  return unread ?? doPast(planned.act)
}

function failedOf(why: string | undefined): number | undefined {
  return why === undefined ? undefined : failed(why)
}

function textOf(option: string | true | undefined): string | undefined {
  return option === true ? undefined : option
}

/** `.env`, and what a function reads from the parameter store. @returns the exit code where they cannot be read. */
async function loadVariables(): Promise<number | undefined> {
  const unread = loadEnvFile('.env')
  if (unread !== undefined) return failed(unread)
  try {
    Object.assign(process.env, await withParameters(process.env, Date.now()))
    return undefined
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

/** Serves heartbeats until the process is stopped. */
function receive(listen: string): Promise<number> {
  return serveUntilStopped(listen, async ({ port, host }) => {
    const serving = await serve(port, process.env, { host })
    console.log(`heartbeats are received at ${serving.url}/<worker>`)
    return serving
  })
}

/** Serves the page until the process is stopped. */
function servePages(listen: string): Promise<number> {
  return serveUntilStopped(listen, async ({ port, host }) => {
    const serving = await servePage(port, process.env, { host })
    console.log(`the page is served at ${serving.url}\n\nstatus  ${serving.status}\nbadge   ${serving.badge}`)
    return serving
  })
}

async function serveUntilStopped(
  listen: string,
  start: (place: { host: string; port: number }) => Promise<Serving>,
): Promise<number> {
  const place = parseListen(listen)
  if (!place) return misused(`--serve ${listen}: neither a port nor an address with one, as in 0.0.0.0:8080`, 'invoke')
  try {
    const serving = await start(place)
    await new Promise<void>((resolve) => {
      process.once('SIGINT', resolve)
      process.once('SIGTERM', resolve)
    })
    await serving.close()
    return 0
  } catch (error) {
    return failed(error instanceof Error ? error.message : String(error))
  }
}

function misused(why: string, command?: CommandName): number {
  console.error(`${why}\n\n${helpOf(command)}`)
  return 1
}

function failed(why: string): number {
  console.error(why)
  return 1
}

function print(text: string): number {
  console.log(text)
  return 0
}
