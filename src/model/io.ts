import type { Span } from './span.ts'
import type { Store } from './store.ts'

/** One structured line; values are masked before they are written. */
export type LogFields = Record<string, unknown>
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** All that is impure in a run. Built in `scheduled.ts` for real, in tests and in the demo by hand. */
export interface IO {
  /** Wall clock, epoch milliseconds. A run judges with its first reading alone; later ones only measure time that passes. */
  now(): number
  sleep(ms: number): Promise<void>
  store: Store
  log: Log
  /** A new id for this run. */
  runId(): string
  /** The platform's own name for this invocation, which its log lines carry; else the run's id stands there. */
  requestId?: string | undefined
  /** Where a push goes when no push server is configured (a local run): printed. */
  print(text: string): void
  /** The run as a trace, where a collector is configured. */
  trace?: Span | undefined
}
