import { defined } from '../model/defined.ts'
import type { RunProgress } from '../model/notification.ts'
import type { BeatFacts, Observation } from '../model/observation.ts'
import type { EndpointState } from '../state/schema.ts'

/** Runs by whose lengths the next is judged. */
const RUNS_KEPT = 10
const RUNS_AT_LEAST = 3
/** A run is too long from so many times the usual on, */
const TOO_LONG = 3
/** and not by less than this: the checker sees a run's end up to a period late. Milliseconds. */
const AT_LEAST_OVER = 2 * 60_000

type WorkerRun = NonNullable<EndpointState['run']>

/** Follows a worker's run from beginning to end, by the beat that lies there now. */
export function followRun(
  before: EndpointState,
  beat: BeatFacts,
  now: number,
): Pick<EndpointState, 'run' | 'runTimes'> {
  const { run, runTimes } = before
  if (beat.age === undefined) return defined({ run, runTimes })
  const at = now - beat.age
  if (beat.running === 'start') {
    const isSame = run !== undefined && Math.abs(run.startedAt - at) < 1_000
    return defined({ run: isSame ? run : { startedAt: at }, runTimes })
  }
  if (beat.running !== undefined)
    return defined({ run: progressed(run ?? { startedAt: at }, beat.running, at), runTimes })
  if (run === undefined) return defined({ runTimes })
  const took = at - run.startedAt
  // A failed run says nothing about how long a good one takes.
  return beat.failed || took <= 0 ? defined({ runTimes }) : { runTimes: [...(runTimes ?? []), took].slice(-RUNS_KEPT) }
}

function progressed(run: WorkerRun, { n, of }: { n: number; of: number }, at: number): WorkerRun {
  // What goes back has begun anew, without saying so.
  const isNew = run.n === undefined || n < run.n
  const first = isNew ? { firstN: n, firstAt: at } : defined({ firstN: run.firstN, firstAt: run.firstAt })
  return { startedAt: run.startedAt, n, of, movedAt: run.n === n && !isNew ? (run.movedAt ?? at) : at, ...first }
}

/** How long a run may take, and what is usual. Milliseconds; absent: not known. */
export function allowedFor(
  { runTimes = [] }: Pick<EndpointState, 'runTimes'>,
  limit: number | undefined,
): { usual?: number; limit?: number } {
  const sorted = [...runTimes].sort((a, b) => a - b)
  const usual = sorted.length >= RUNS_AT_LEAST ? sorted[Math.floor(sorted.length / 2)] : undefined
  const byUsual = usual === undefined ? undefined : Math.max(TOO_LONG * usual, usual + AT_LEAST_OVER)
  return defined({ usual, limit: limit ?? byUsual })
}

/** How far a run is, and how long it still takes at this rate. Milliseconds. */
export function progressOf(run: WorkerRun | undefined, now: number): RunProgress | undefined {
  if (run?.n === undefined || run.of === undefined) return undefined
  const { n, of, movedAt = now, firstN = n, firstAt = now } = run
  const perMs = movedAt > firstAt ? (n - firstN) / (movedAt - firstAt) : 0
  const left = perMs > 0 && n < of ? Math.max(0, (of - n) / perMs - (now - movedAt)) : undefined
  return { n, of, stoodFor: Math.max(0, now - movedAt), ...defined({ left }) }
}

/** What the result says of a worker. */
export function notesOfWorker(
  { observation, after }: { observation: Observation; after: EndpointState },
  now: number,
): string[] {
  if (observation.up === true && observation.beat?.age === undefined) return ['has not reported yet']
  const { run } = after
  if (run === undefined) return []
  const progress = progressOf(run, now)
  const minutes = (ms: number) => `${Math.round(ms / 60_000)} min`
  const far = progress && `, ${progress.n} of ${progress.of}`
  const left = progress?.left === undefined ? '' : `, about ${minutes(progress.left)} left`
  return [`in a run for ${minutes(now - run.startedAt)}${far ?? ''}${left}`]
}
