import { parseArgs } from 'node:util'
import { BACKENDS, type Backend } from '../model/backend.ts'
import { withParameters } from '../secrets/parameters.ts'
import { doctor } from './doctor.ts'
import { loadEnvFile } from './env-file.ts'
import { invoke } from './invoke.ts'
import { isPastCommand, PAST_USAGE, runPast } from './past.ts'
import { parseListen, serve } from './receive.ts'

const USAGE = `queuebell: a push before your users see the spinner

  invoke <function>     one run with the environment and .env
      --dry-run         sends and saves nothing
      --json            prints the result object
      --every 30s       repeats until stopped
      --why             prints each rule's decision
      --shard 2/8       only the second of eight parts of the endpoints
  invoke heartbeat-receive --serve 8080
                        the receiver of heartbeats, with the state folder;
                        0.0.0.0:8080 lets workers on other machines reach it
  doctor <function>     what each rule reads, found or missing
      --push            sends a test push
${PAST_USAGE}
functions: ${BACKENDS.join(' ')}
`

/** The command line. @returns the exit code. */
export async function runCommand(args: string[]): Promise<number> {
  const [first, ...rest] = args
  if (isPastCommand(first)) return runPast(first, rest)
  let parsed: ReturnType<typeof parse>
  try {
    parsed = parse(args)
  } catch (error) {
    return misused(error instanceof Error ? error.message : String(error))
  }
  const { values, positionals } = parsed
  const [command, name, ...more] = positionals
  if (values.help || command === undefined) return print(USAGE, 0)
  if (command !== 'invoke' && command !== 'doctor') return misused(`there is no command ${command}`)
  if (name === undefined) return misused(`${command} needs the name of a function`)
  if (more.length > 0) return misused(`${command} takes one function, and nothing after it: ${more.join(' ')}`)
  const receives = name === 'heartbeat-receive'
  if (!receives && !isBackend(name)) return misused(`there is no function ${name}`)
  if (receives && command === 'doctor') return misused(`${name} has nothing to check: it waits for its workers`)
  const own = OPTIONS[command === 'doctor' ? 'doctor' : receives ? 'receive' : 'run']
  const foreign = Object.keys(values).find((option) => !own.includes(option))
  if (foreign !== undefined) return misused(`${command} ${name} has no option --${foreign}`)
  const unread = loadEnvFile('.env') ?? (await loadParameters())
  if (unread !== undefined) return failed(unread)
  if (!isBackend(name)) return receive(values.serve ?? '8080')
  if (command === 'doctor') return doctor(name, { push: values.push === true })
  return invoke(name, {
    dryRun: values['dry-run'] === true,
    json: values.json === true,
    why: values.why === true,
    every: values.every,
    shard: values.shard,
  })
}

/** What may stand beside each use. */
const OPTIONS: Record<'run' | 'receive' | 'doctor', readonly string[]> = {
  run: ['dry-run', 'json', 'every', 'why', 'shard'],
  receive: ['serve'],
  doctor: ['push'],
}

/** What a function reads from the parameter store, the command line reads there too. @returns why it cannot. */
async function loadParameters(): Promise<string | undefined> {
  try {
    Object.assign(process.env, await withParameters(process.env, Date.now()))
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Serves heartbeats until the process is told to stop. */
async function receive(listen: string): Promise<number> {
  const place = parseListen(listen)
  if (!place) return misused(`--serve ${listen}: neither a port nor an address with one, as in 0.0.0.0:8080`)
  try {
    const serving = await serve(place.port, process.env, { host: place.host })
    console.log(`heartbeats are received at ${serving.url}/<worker>`)
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

function parse(args: string[]) {
  return parseArgs({
    args,
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean' },
      json: { type: 'boolean' },
      every: { type: 'string' },
      shard: { type: 'string' },
      why: { type: 'boolean' },
      push: { type: 'boolean' },
      serve: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
}

function isBackend(name: string): name is Backend {
  return (BACKENDS as readonly string[]).includes(name)
}

function misused(why: string): number {
  console.error(`${why}\n\n${USAGE}`)
  return 1
}

function failed(why: string): number {
  console.error(why)
  return 1
}

function print(text: string, code: number): number {
  console.log(text)
  return code
}
