import type { Numbers } from '../model/notification.ts'
import { MEAN_AT_LEAST } from '../signals/quantile.ts'
import { ofEngine } from '../verdict/advice.ts'
import { type Measured, UNKNOWN } from './measured.ts'
import { ofEachModel, ofModel } from './per-model.ts'
import { base, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { judgedSince, tooFewObserved, widenedTo } from './unknown.ts'

const queue = { ...base, symptom: true, about: 'queue', delaysRequests: true, advise: ofEngine() } as const
/** Runs over which a queue must keep growing. */
const GROWING_RUNS = 5

export const queueRules = ruleset({
  waiting: {
    ...queue,
    firesWhen:
      'more requests wait for room than the limit; those deferred for an adapter or a KV transfer do not count',
    sign: '🐌',
    unit: 'requests',
    limit: 20,
    critical: 200,
    clear: 10,
    priority: 8,
    except: ['gateway'],
    needs: { signals: ['waiting'], also: ['waiting_deferred'] },
    measure: ({ derived }) => [{ value: forRoom(derived.numbers) }],
    tells: ['waiting', 'running'],
  },
  inflight: {
    ...queue,
    firesWhen: 'waiting and running requests together reach the limit (a gateway parks at its admission cap)',
    sign: '🚦',
    unit: 'requests',
    breach: 'at-or-above',
    limit: undefined,
    priority: 8,
    needs: { signals: ['waiting', 'running'], oneIsEnough: true },
    measure: (snapshot) => [inflight(snapshot)],
    tells: ['waiting', 'running'],
  },
  growth: {
    ...queue,
    firesWhen: `the queue rose at each of the last ${GROWING_RUNS} runs, and by at least the limit over all of them`,
    sign: '📈',
    unit: 'requests',
    breach: 'at-or-above',
    limit: 5,
    priority: 7,
    except: ['gateway'],
    needs: { signals: ['waiting'] },
    measure: (snapshot) => [growth(snapshot)],
    unknownReason: (snapshot) =>
      `has ${knownInARow(snapshot)} of the ${GROWING_RUNS + 1} runs in a row that it compares`,
    tells: ['waiting'],
  },
  queue_wait: {
    ...queue,
    firesWhen: `the mean time in the queue, of the requests finished in the window, is above the limit; with fewer than ${MEAN_AT_LEAST} the window is widened, up to an hour; of each model where several share the server`,
    sign: '⏳',
    unit: 'seconds',
    limit: 2,
    clear: 1,
    priority: 8,
    needs: { signals: ['queue_wait'] },
    measure: ofEachModel('queue_wait', ({ derived }) => ({ value: derived.numbers.queue_wait })),
    unknownReason: (snapshot, model) => tooFewObserved('queue_wait', MEAN_AT_LEAST, ofModel(snapshot, model)),
    decidedBy: { histogram: 'queue_wait', as: 'mean' },
    since: (snapshot, model) => judgedSince(ofModel(snapshot, model), 'queue_wait'),
    describe: (snapshot, model) => widenedTo(ofModel(snapshot, model), 'queue_wait'),
    idles: true,
    tells: ['queue_wait'],
  },
})

/** Requests that wait for room. The deferred are read a moment before or after, and cannot be more than all. */
function forRoom({ waiting, waiting_deferred = 0 }: Numbers): number | undefined {
  return waiting === undefined ? undefined : Math.max(0, waiting - waiting_deferred)
}

/** When one half is absent that was seen here before, the other half is the least that it can be. */
function inflight({ derived, before }: Snapshot): Measured {
  const { waiting, running } = derived.numbers
  if (waiting === undefined && running === undefined) return UNKNOWN
  const isHalf = (['waiting', 'running'] as const).some(
    (half) => derived.numbers[half] === undefined && before.seen.includes(half),
  )
  return { value: (waiting ?? 0) + (running ?? 0), ...(isHalf ? { atLeast: true } : {}) }
}

/** The rise over the last runs if the queue rose at each of them, else 0. */
function growth({ after, derived }: Snapshot): Measured {
  if ((derived.numbers.waiting ?? 0) > 0 && forRoom(derived.numbers) === 0) return { value: 0 }
  const values = after.recent.slice(-(GROWING_RUNS + 1)).map(([, value]) => value)
  if (values.length <= GROWING_RUNS || values.some((v) => v === null)) return UNKNOWN
  const known = values as number[]
  const rose = known.every((v, i) => i === 0 || v > (known[i - 1] ?? v))
  return { value: rose ? (known.at(-1) ?? 0) - (known[0] ?? 0) : 0 }
}

/** How many of the latest runs, counted back from this one, knew the queue. */
function knownInARow({ after: { recent } }: Snapshot): number {
  return recent.length - 1 - recent.findLastIndex(([, value]) => value === null)
}
