import { startDeadline } from '../http/get.ts'

/** Does some work under a signal that aborts after `ms`, or with the run. The timer ends with the work. */
export async function withinTime<T>(
  ms: number,
  run: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, clear } = startDeadline(ms, run)
  try {
    return await work(signal)
  } finally {
    clear()
  }
}
