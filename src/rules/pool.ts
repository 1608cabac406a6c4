import type { Endpoint, Pool } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import type { About, Notification } from '../model/notification.ts'
import { emptyReadings } from '../signals/readings.ts'
import type { EndpointState } from '../state/schema.ts'
import type { Advice } from '../verdict/advice-kinds.ts'
import { type Measured, UNKNOWN } from './measured.ts'
import type { PoolView } from './pool-view.ts'
import { ALL, base, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'

export const poolRules = ruleset({
  pool: {
    ...base,
    firesWhen:
      'fewer replicas of a group answer than the limit; one counts as gone when its own `down` would fire, a name that resolves to nothing is a group of none',
    sign: '🏚️',
    about: 'reachability',
    unit: 'count',
    breach: 'below',
    limit: 1,
    priority: 10,
    backends: ALL.filter((backend) => backend !== 'heartbeat-check'),
    measure: ({ pool }) => [pool ? answering(pool) : UNKNOWN],
    outlivesRestart: true,
    ofGroup: true,
    describe: ({ pool }) => (pool ? whoIsGone(pool) : {}),
    advise: whenAllAreGone,
  },
})

function answering({ answering, unsure }: PoolView): Measured {
  return unsure ? UNKNOWN : { value: answering }
}

function whoIsGone({ of, gone, failure }: PoolView): About {
  return { pool: { of, gone }, ...defined({ failure }) }
}

/** All endpoints of the function at once, for a cause of the network: it may be the watcher's own. */
function whenAllAreGone({ pool, context, failure }: Notification): Advice[] {
  const isAll = pool !== undefined && pool.of > 1 && pool.gone.length === pool.of && context?.of === pool.of
  const isNetwork = ['unreachable', 'name-not-found', 'timeout', 'tls', 'other'].includes(failure?.kind ?? '')
  return isAll && isNetwork ? [{ key: 'own-network' }] : []
}

const NAMED = 12
const DOWN_RUNS = 3

/** The group as an endpoint of its own: named by the group, with the rule `pool` alone. */
export function poolSnapshot(pool: Pool, replicas: readonly Snapshot[], before: EndpointState, now: number): Snapshot {
  const { group, rule, nameless } = pool
  const failures = nameless ? before.failures + 1 : 0
  const [any] = replicas
  const downAt = (one: Snapshot) => one.endpoint.rules.find(({ id }) => id === 'down')?.limit ?? DOWN_RUNS
  const gone = replicas.filter((one) => nameless || one.after.failures >= downAt(one))
  const failure: Failure | undefined = nameless
    ? { kind: 'name-not-found' }
    : gone.map(({ after }) => after.failure).find((one) => one !== undefined)
  const after = { ...before, failures }
  const endpoint: Endpoint = {
    name: group,
    group: undefined,
    url: '',
    model: any?.endpoint.model,
    authorization: undefined,
    timeout: 0,
    gpuUrl: undefined,
    runbookUrl: any?.endpoint.runbookUrl,
    dashboardUrl: any?.endpoint.dashboardUrl,
    rules: [rule],
    beat: undefined,
    flaps: any?.endpoint.flaps,
  }
  return {
    ...NOTHING_SEEN,
    backend: any?.backend ?? 'vllm',
    endpoint,
    observation: { up: true, readings: emptyReadings(), endpoint, took: 0 },
    before,
    after: { ...after, goodAt: now },
    pool: {
      of: replicas.length,
      answering: replicas.length - gone.length,
      gone: gone.map((one) => one.endpoint.name.slice(group.length + 1)).slice(0, NAMED),
      unsure: nameless ? failures < DOWN_RUNS : replicas.length === 0,
      ...defined({ failure }),
    },
  }
}

const NOTHING_SEEN = {
  readings: undefined,
  derived: { numbers: {}, atLeast: [], faults: [] },
  window: undefined,
  windowFrom: 0,
  last: undefined,
  restarted: false,
  noProgress: undefined,
  motions: {},
  models: undefined,
  missing: [],
  modelMissing: undefined,
  faults: [],
} satisfies Partial<Snapshot>

/** Kept only while there is something to remember: a group in good order leaves no trace. */
export function isWorthKeeping({ alerts, incidents, failures }: EndpointState): boolean {
  return failures > 0 || Object.keys(alerts).length > 0 || Object.keys(incidents).length > 0
}
