import type { RunResult } from '../model/result.ts'
import type { Span } from '../model/span.ts'
import type { TelemetrySettings } from './settings.ts'

/** One run's trace and metrics on their way to a collector. */
export interface RunTelemetry {
  root: Span
  /** The signals of each endpoint as metrics, where they are asked for. */
  record(result: RunResult): void
  /** Sends what there is. @returns why it could not be sent; never throws and takes at most `ms`. */
  flush(ms: number): Promise<string | undefined>
}

export type StartRun = (settings: TelemetrySettings, name: string) => RunTelemetry
