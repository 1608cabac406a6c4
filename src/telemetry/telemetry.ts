import type { Config } from '../model/config.ts'
import { functionName } from '../model/config.ts'
import type { IO } from '../model/io.ts'
import type { RunResult } from '../model/result.ts'
import type { StartRun } from './run-telemetry.ts'

/** All that a collector that is away may cost a run. Milliseconds. */
const LONGEST_FLUSH = 900

/**
 * Does a run as a trace, where OpenTelemetry's variables name a collector; else just does it. The packages are loaded
 * only then. Nothing about a collector makes a run fail.
 */
export async function withTelemetry<T extends { result: RunResult; problems: readonly string[] }>(
  options: { config: Config; io: IO; env: Readonly<Record<string, string | undefined>>; start?: StartRun },
  act: (io: IO) => Promise<T>,
): Promise<T> {
  const { config, io } = options
  if (!isAskedFor(options.env)) return act(io)
  const start = options.start ?? (await load(io))
  const telemetry = start?.(options.env, functionName(config), (warning) => io.log.warn(warning))
  if (!telemetry) return act(io)
  const { root } = telemetry
  try {
    const done = await act({ ...io, trace: root })
    root.set({ 'queuebell.outcome': done.result.outcome, 'queuebell.endpoints': done.result.endpoints.length })
    if (done.problems.length > 0) root.fail('misconfigured')
    telemetry.record(done.result)
    return done
  } catch (error) {
    root.fail(error instanceof Error ? error.name : 'Error')
    throw error
  } finally {
    root.end()
    const failed = await telemetry.flush(LONGEST_FLUSH)
    if (failed !== undefined) io.log.warn(`telemetry was not sent: ${failed}; is the collector up?`)
  }
}

/** What is said beside the address is read with the packages. */
function isAskedFor(env: Readonly<Record<string, string | undefined>>): boolean {
  return Object.entries(env).some(([name, value]) => /^OTEL_EXPORTER_OTLP_(\w+_)?ENDPOINT$/.test(name) && value?.trim())
}

/** The bundle has the packages in a file of its own beside it, which may have been left behind. */
async function load({ log }: IO): Promise<StartRun | undefined> {
  try {
    return (await import('./otlp.ts')).startRun
  } catch (error) {
    log.warn('telemetry is asked for, but telemetry.cjs, which belongs beside this file, cannot be loaded', { error })
    return undefined
  }
}
