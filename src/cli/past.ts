import { parseArgs } from 'node:util'
import { parseDuration } from '../config/duration.ts'
import { BACKENDS, type Backend } from '../model/backend.ts'
import { ConfigError } from '../model/config.ts'
import { RecordingError } from '../recordings/entry.ts'
import { loadEnvFile } from './env-file.ts'
import { exportCommand } from './export.ts'
import { importCommand } from './import.ts'
import { recordCommand } from './record.ts'
import { replayCommand } from './replay.ts'
import { suggestCommand } from './suggest.ts'

export const PAST_USAGE = `  record <function>     writes down each scrape, to be played again later
      --every 15s       how often; 1m unless told
      --to recordings/  the folder
  replay <function> <files or folders>
                        what they would have told, with the limits as they are
      --set WAITING_LIMIT=10,20,40
                        tries other values, each for itself
      --json            as data
  import prometheus <address>
      --match '{job="vllm"}'  --from 7d  --to 0s  --out week.qb
  import openmetrics <file>  --out week.qb
                        makes a recording of what another watcher has
  suggest <function> <files or folders>
      --per-week 2      limits with reasons, with so many incidents at most
      --json            as data
  export prometheus     alerting and recording rules with these limits
  export grafana        a dashboard with these limits as lines
      --match '{job="vllm"}'  only these series
`

const COMMANDS = {
  record: { every: { type: 'string' }, to: { type: 'string' }, times: { type: 'string' } },
  import: {
    match: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    out: { type: 'string' },
    header: { type: 'string', multiple: true },
  },
  export: { match: { type: 'string' } },
  suggest: { 'per-week': { type: 'string' }, json: { type: 'boolean' } },
  replay: { set: { type: 'string', multiple: true }, json: { type: 'boolean' } },
} as const

const MOST_A_WEEK = 10_000

type Command = keyof typeof COMMANDS

/** What the command line was given cannot be used. */
class UsageError extends Error {
  override name = 'UsageError'
}

export function isPastCommand(name: string | undefined): name is Command {
  return name !== undefined && Object.hasOwn(COMMANDS, name)
}

/** `record`, `replay` and what else looks at the past. @returns the exit code. */
export async function runPast(command: Command, args: string[]): Promise<number> {
  try {
    const unread = loadEnvFile('.env')
    if (unread !== undefined) throw new ConfigError([unread])
    return await start(command, args)
  } catch (error) {
    if (error instanceof UsageError) console.error(`${error.message}\n\n${PAST_USAGE}`)
    else if (error instanceof ConfigError || error instanceof RecordingError) console.error(error.message)
    else throw error
    return 1
  }
}

async function start(command: Command, args: string[]): Promise<number> {
  switch (command) {
    case 'record': {
      const { values, positionals } = parsed(args, COMMANDS.record)
      const backend = functionOf(command, positionals, 1)
      const every = parseDuration(values.every ?? '1m')
      if (!every) throw new UsageError(`--every ${values.every}: may be a time with its unit, as in 15s or 1m`)
      const times = values.times === undefined ? {} : { times: Number(values.times) }
      return recordCommand(backend, { every, folder: values.to ?? 'recordings', ...times })
    }
    case 'replay': {
      const { values, positionals } = parsed(args, COMMANDS.replay)
      const backend = functionOf(command, positionals)
      return replayCommand(backend, positionals.slice(1), { set: values.set ?? [], json: values.json === true })
    }
    case 'import': {
      const { values, positionals } = parsed(args, COMMANDS.import)
      const [kind, place, ...more] = positionals
      if (kind !== 'prometheus' && kind !== 'openmetrics')
        throw new UsageError(`import ${kind ?? ''}: write import prometheus <address> or import openmetrics <file>`)
      if (place === undefined)
        throw new UsageError(`import ${kind} needs ${kind === 'prometheus' ? 'an address' : 'a file'}`)
      if (more.length > 0) throw new UsageError(`import ${kind} takes nothing after it: ${more.join(' ')}`)
      return importCommand(kind, place, values)
    }
    case 'suggest': {
      const { values, positionals } = parsed(args, COMMANDS.suggest)
      const backend = functionOf(command, positionals)
      const perWeek = Number(values['per-week'] ?? '2')
      if (!(perWeek > 0 && perWeek <= MOST_A_WEEK))
        throw new UsageError(`--per-week ${values['per-week']}: may be a number of incidents, such as 2`)
      return suggestCommand(backend, positionals.slice(1), { perWeek, json: values.json === true })
    }
    case 'export': {
      const { values, positionals } = parsed(args, COMMANDS.export)
      const [kind, ...names] = positionals
      if (kind !== 'prometheus' && kind !== 'grafana')
        throw new UsageError(`export ${kind ?? ''}: write export prometheus or export grafana`)
      return exportCommand(kind, names.map(backendNamed), values)
    }
    default:
      return command satisfies never
  }
}

function parsed<const O extends NonNullable<Parameters<typeof parseArgs>[0]>['options']>(args: string[], options: O) {
  try {
    return parseArgs({ args, allowPositionals: true, options })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** @param most arguments that the command takes; without it, it needs files beside the function. */
function functionOf(command: Command, positionals: readonly string[], most?: number): Backend {
  const [name, ...more] = positionals
  if (name === undefined) throw new UsageError(`${command} needs the name of a function`)
  const backend = backendNamed(name)
  if (most === undefined && more.length === 0)
    throw new UsageError(`${command} ${name} needs a recording: a file or a folder`)
  if (most !== undefined && positionals.length > most)
    throw new UsageError(`${command} takes one function, and nothing after it: ${more.join(' ')}`)
  return backend
}

function backendNamed(name: string): Backend {
  const backend = BACKENDS.find((one) => one === name)
  if (backend === undefined) throw new UsageError(`there is no function ${name}`)
  return backend
}
