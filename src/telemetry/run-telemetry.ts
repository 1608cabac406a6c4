import type { RunResult } from '../model/result.ts'
import type { Span } from '../model/span.ts'

/** One run's trace and metrics on their way to a collector. */
export interface RunTelemetry {
  root: Span
  /** The signals of each endpoint as metrics, where they are asked for. */
  record(result: RunResult): void
  /** Sends what there is. @returns why it could not be sent; never throws and takes at most `ms`. */
  flush(ms: number): Promise<string | undefined>
}

/**
 * @param env with OpenTelemetry's own variables.
 * @param warn told of each that cannot be followed.
 * @returns `undefined` where they switch all off.
 */
export type StartRun = (
  env: Readonly<Record<string, string | undefined>>,
  name: string,
  warn: (text: string) => void,
) => RunTelemetry | undefined
