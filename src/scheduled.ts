import { Console } from 'node:console'
import { randomUUID } from 'node:crypto'
import { parseConfig } from './config/parse.ts'
import { withDeadline } from './http/deadline.ts'
import { tlsProblems } from './http/tls.ts'
import { tlsSettings } from './http/ways.ts'
import { createLog, mask } from './log.ts'
import type { Backend } from './model/backend.ts'
import { type Config, ConfigError, functionName, type ReadSchedule } from './model/config.ts'
import { defined } from './model/defined.ts'
import type { IO } from './model/io.ts'
import type { Store } from './model/store.ts'
import { metricLines } from './report/emf.ts'
import { type RunOptions, type RunReport, run } from './run.ts'
import { withParameters } from './secrets/parameters.ts'
import { openStore } from './store/open.ts'
import { parseShard } from './targets/shards.ts'
import { withTelemetry } from './telemetry/telemetry.ts'

/** What a schedule sends; EventBridge names the tick in `time`. */
export interface ScheduledEvent {
  time?: string
  /** The part of the endpoints that this call is for: `2/8` is the second of eight. */
  shard?: string
}

/** What Lambda gives beside the event. */
export interface ScheduledContext {
  awsRequestId?: string
  getRemainingTimeInMillis?: () => number
}

export interface HandlerAnswer {
  statusCode: 200
  /** JSON text of a `RunResult`. */
  body: string
}

/** The run completed but needs a person's attention: it rejects, so that the platform counts an error. */
export class RunFailed extends Error {
  override name = 'RunFailed'
}

/** Without a limit of the platform, a run ends itself after this long, or when the slowest answer has had its time. */
const LOCAL_LIMIT = 50_000
/** Kept for the state and the pushes after the slowest answer. */
const AFTER_ANSWERS = 10_000
/** Kept back from the platform's limit, so that the run ends itself. */
const MARGIN = 1_000

/** Where the loader of a bundle (`tools/build/loader.ts`) says what became of it. */
const CODE_CACHE = Symbol.for('queuebell.codeCache')

let kept: { key: string; store: Store } | undefined
/** What this process has warned of: a warning each minute would only hide the next one. */
const warned = new Set<string>()

/**
 * The handler of one function: environment → configuration → one run. Everything wrong is found at each call, not at import.
 * @param readSchedule of the function that has workers.
 */
export function scheduled(
  backend: Backend,
  readSchedule?: ReadSchedule,
): (event?: ScheduledEvent, context?: ScheduledContext) => Promise<HandlerAnswer> {
  return async (event, context) => {
    const env = await withParameters(process.env, Date.now())
    const lambda = env.AWS_LAMBDA_FUNCTION_NAME !== undefined
    const parsed = parseConfig(backend, env, { lambda, ...defined({ readSchedule }) })
    const shard = event?.shard === undefined ? undefined : parseShard(event.shard)
    const problems = shard?.ok === false ? [`event.shard: ${shard.why}`] : []
    if (!parsed.ok) throw refused([...parsed.problems, ...problems], backend, context)
    const wrong = [...problems, ...tlsProblems(tlsSettings(parsed.config))]
    if (shard?.ok === false || wrong.length > 0) throw refused(wrong, backend, context)
    const config = { ...parsed.config, ...(shard && { shard: shard.shard }) }
    try {
      const io = realIO(config, context?.awsRequestId)
      warn(config, io, context)
      logCodeCache(io)
      const tick = event?.time === undefined ? Number.NaN : Date.parse(event.time)
      const deadline = io.now() + limitOf(config, context)
      const options = { config, io, tick: Number.isNaN(tick) ? undefined : tick, deadline }
      const once = (io: IO) => (lambda ? measured({ ...options, io }) : run({ ...options, io }))
      const left = deadline - io.now() + MARGIN / 4
      const report = await withDeadline(left, () => withTelemetry({ config, io, env }, once), { abandon: endless })
      if (report.problems.length > 0) throw new RunFailed(report.problems.join('\n'))
      return { statusCode: 200, body: JSON.stringify(report.result) }
    } catch (error) {
      throw masked(error, config.secrets)
    }
  }
}

/** Once a process, in a bundle alone: how V8 took its code cache, which makes half of a start. */
function logCodeCache({ log }: IO): void {
  const is: unknown = Reflect.get(globalThis, CODE_CACHE)
  if (is === undefined) return
  log.debug('code cache', { is, v8: process.versions.v8 })
  Reflect.deleteProperty(globalThis, CODE_CACHE)
}

/** A store that stops answering must not hold the run until the platform kills it without a log line. */
function endless(): RunFailed {
  return new RunFailed('the run did not end within its time: did the state store or the push server stop answering?')
}

/** A configuration that cannot be used leaves the one line that every run leaves; how much to log is not known. */
function refused(problems: string[], backend: Backend, context: ScheduledContext | undefined): ConfigError {
  const error = new ConfigError(problems)
  const log = createLog('error', [], writeLine, Date.now)
  log.error('run', { function: backend, requestId: context?.awsRequestId, outcome: 'failed', error })
  return error
}

/** Settings that work but will surprise, once a process. */
function warn(config: Config, { log }: IO, context: ScheduledContext | undefined): void {
  for (const warning of config.warnings) {
    if (!warned.has(warning)) log.warn(warning, { function: functionName(config), requestId: context?.awsRequestId })
    warned.add(warning)
  }
}

/** A run with its figures as CloudWatch metrics, which Lambda takes out of what a function writes. */
async function measured(options: RunOptions): Promise<RunReport> {
  const { config, io } = options
  const now = io.now()
  let report: RunReport | undefined
  try {
    report = await run(options)
    return report
  } finally {
    const failed = report === undefined || report.problems.length > 0
    const figures = { now, ms: io.now() - now, failed, ...(report && { result: report.result }) }
    for (const line of metricLines(figures, config)) writeLine(line)
  }
}

/** Not the global console: Lambda's runtime puts the time and its own words before its lines, and a line must be JSON only. */
const output = new Console(process.stdout, process.stderr)

function writeLine(line: string): void {
  output.log(line)
}

/** The real clock, store and log of a process. */
export function realIO(config: Config, requestId?: string): IO {
  const key = JSON.stringify(config.state)
  if (kept?.key !== key) kept = { key, store: openStore(config.state) }
  return {
    now: () => Date.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    store: kept.store,
    log: createLog(config.logLevel, config.secrets, writeLine, Date.now),
    runId: () => randomUUID(),
    requestId,
    print: (text) => console.log(text),
  }
}

/** Milliseconds that a run may take. */
export function limitOf(config: Config, context?: ScheduledContext): number {
  const left = context?.getRemainingTimeInMillis?.()
  // A platform may say 299,999.4: the state holds whole milliseconds alone.
  if (left !== undefined) return Math.max(1_000, Math.floor(left - MARGIN))
  const slowest = config.endpoints.reduce((most, { timeout }) => Math.max(most, timeout), 0)
  return Math.max(LOCAL_LIMIT, slowest + AFTER_ANSWERS) + (config.canary.load ? config.canary.loadTimeout : 0)
}

/** The same error without a secret in it. */
function masked(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof Error)) return new Error(mask(String(error), secrets))
  error.message = mask(error.message, secrets)
  if (error.stack !== undefined) error.stack = mask(error.stack, secrets)
  return error
}
