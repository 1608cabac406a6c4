import { parseDuration } from '../config/duration.ts'
import { parseConfig } from '../config/parse.ts'
import { readSchedule } from '../heartbeats/schedule.ts'
import { tlsProblems } from '../http/tls.ts'
import { tlsSettings } from '../http/ways.ts'
import { mask } from '../log.ts'
import type { Backend } from '../model/backend.ts'
import { type Config, ConfigError } from '../model/config.ts'
import { run } from '../run.ts'
import { limitOf, realIO } from '../scheduled.ts'
import { parseShard } from '../targets/shards.ts'
import { withTelemetry } from '../telemetry/telemetry.ts'
import { renderDecisions, renderRun } from './table.ts'
import { terminalLog } from './terminal-log.ts'

export interface InvokeOptions {
  dryRun: boolean
  /** The result object, one a line where several functions print theirs. */
  json: boolean | 'lines'
  why: boolean
  /** A span with its unit: repeats until stopped. */
  every: string | undefined
  /** `2/8`: only the second of eight parts of the endpoints. */
  shard: string | undefined
}

/** A timer given more than 2^31 milliseconds does not wait at all. */
const LONGEST_WAIT = 24 * 24 * 60 * 60_000

/**
 * Real runs of one function with the environment, or of several side by side: none waits for another.
 * @returns the exit code: 0 when the (last) run of each completed.
 */
export async function invoke(backends: Backend | readonly Backend[], options: InvokeOptions): Promise<number> {
  const all = typeof backends === 'string' ? [backends] : backends
  const every = options.every === undefined ? undefined : parseDuration(options.every)
  if (options.every !== undefined && (!every || every > LONGEST_WAIT)) {
    console.error(`--every ${options.every}: may be a time with its unit, above 0 and at most 24d, as in 30s or 5m`)
    return 1
  }
  const shard = options.shard === undefined ? undefined : parseShard(options.shard)
  if (shard?.ok === false) {
    console.error(`--shard ${options.shard}: ${shard.why}`)
    return 1
  }
  const parsed = all.map((backend) => parseConfig(backend, process.env, { lambda: false, readSchedule }))
  const problems = parsed.flatMap((one) => ('problems' in one ? one.problems : tlsProblems(tlsSettings(one.config))))
  if (problems.length > 0) {
    console.error(new ConfigError([...new Set(problems)]).message)
    return 1
  }
  const configs = parsed.flatMap((one) => (one.ok ? [{ ...one.config, ...(shard && { shard: shard.shard }) }] : []))
  const lines = configs.flatMap((config) => (options.json ? config.warnings : hints(config)))
  for (const line of new Set(lines)) console.error(line)
  const codes = await Promise.all(
    configs.map((config) => (every === undefined ? once(config, options) : repeat(config, options, every))),
  )
  return Math.max(...codes)
}

/** Runs every so many milliseconds until the process is stopped; a run that takes longer skips the starts it missed. */
async function repeat(config: Config, options: InvokeOptions, every: number): Promise<number> {
  let stopped = false
  let wake = () => {}
  const stop = () => {
    stopped = true
    wake()
  }
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  let code = 0
  let next = Date.now()
  while (!stopped) {
    code = await once(config, options)
    next = Math.max(next + every, Date.now())
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, next - Date.now())
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
      if (stopped) wake()
    })
  }
  return code
}

async function once(config: Config, options: InvokeOptions): Promise<number> {
  const io = realIO(config)
  const quiet = options.json !== false || config.logLevel === 'info' ? terminalLog(config) : io.log
  try {
    const own = { ...io, log: quiet, print() {} } // the report has the messages
    const report = await withTelemetry({ config, io: own, env: process.env }, (io) =>
      run({ config, io, dryRun: options.dryRun, deadline: io.now() + limitOf(config) }),
    )
    if (options.json) {
      console.log(options.json === 'lines' ? JSON.stringify(report.result) : JSON.stringify(report.result, null, 2))
      // Without a push server a push goes to whoever sits here, beside the result.
      if (config.channels.length === 0)
        for (const message of report.messages) console.error(frame(message.title, message.body))
    } else {
      console.log(renderRun(report.result, report.config))
      if (options.why) console.log(`\n${renderDecisions(report.decisions)}`)
      for (const message of report.messages) console.log(`\n${frame(message.title, message.body)}`)
    }
    for (const problem of report.problems) console.error(mask(problem, config.secrets))
    return report.problems.length === 0 ? 0 : 1
  } catch (error) {
    console.error(mask(error instanceof Error ? error.message : String(error), config.secrets))
    return 1
  }
}

function frame(title: string, body: string): string {
  return [`┌ ${title}`, ...body.split('\n').map((line) => `│ ${line}`), '└'].join('\n')
}

/** What a person who has configured little needs to know. */
function hints(config: Config): string[] {
  const lines: string[] = [...config.warnings]
  if (config.usedDefault) {
    const isOllama = config.backend === 'ollama'
    lines.push(
      `No endpoint is configured: trying ${config.endpoints[0]?.url ?? ''}. To watch your own servers, set in the environment or in .env:`,
      ...(isOllama
        ? [
            '  OLLAMA_ENDPOINTS="box=http://10.0.0.5:11434"          name=url, or group/replica=url',
            '  NOTIFLY_URL=https://push.example.com, NOTIFLY_TOKEN=…  where pushes go (Notifly or Gotify)',
            '  OLLAMA_CANARY_LIMIT=5s                                 a limit; all variables: docs/variables.md',
          ]
        : [
            '  VLLM_ENDPOINTS="chat/a=http://10.0.0.5:8000 chat/b=http://10.0.0.6:8000"   name=url, or group/replica=url',
            '  NOTIFLY_URL=https://push.example.com and NOTIFLY_TOKEN=…                   where pushes go (Notifly or Gotify)',
            '  VLLM_WAITING_LIMIT=20                                                     a limit; all variables: docs/variables.md',
          ]),
    )
  }
  if (config.channels.length === 0) lines.push('No NOTIFLY_URL is set: pushes are printed here.')
  return lines.length > 0 ? [...lines, ''] : []
}
