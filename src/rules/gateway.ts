import { onOwnGateway } from '../verdict/advice.ts'
import { counted } from './counted.ts'
import { flagged, type Measured } from './measured.ts'
import { condition, number, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { withoutSubjects } from './unknown.ts'

const gateway = { about: 'gateway', priority: 8 } as const

export const gatewayRules = ruleset({
  observer: {
    ...condition,
    ...gateway,
    firesWhen: "the gateway's view of its engine is degraded",
    sign: '👁️',
    needs: { signals: ['observer_degraded'] },
    measure: number('observer_degraded'),
  },
  upstream: {
    ...condition,
    ...gateway,
    firesWhen: 'the gateway considers an upstream unhealthy',
    sign: '🔌',
    needs: { signals: ['upstream_health'] },
    measure: upstreams,
    advise: onOwnGateway,
    unknownReason: withoutSubjects,
  },
  rejected: {
    ...gateway,
    ...counted('admission_rejected'),
    advise: onOwnGateway,
    firesWhen:
      'more requests were refused at admission since the last run than the limit, by reason; of vLLM with a cap on its queue, whose length then has a ceiling',
    sign: '⛔',
    about: 'queue',
  },
  stale: {
    ...gateway,
    ...counted('engine_state_stale'),
    firesWhen: 'the gateway judged by an old engine state more often since the last run than the limit',
    sign: '🕰️',
  },
  queue_full: {
    ...gateway,
    ...counted('queue_full'),
    firesWhen: 'the gateway refused more requests for a full queue since the last run than the limit',
    sign: '🚧',
  },
  parked: {
    ...gateway,
    ...counted('admission_parked'),
    firesWhen: 'the gateway parked more requests since the last run than the limit',
    sign: '🅿️',
    limit: undefined,
  },
})

/** Unhealthy at 0, each upstream by itself; one that the gateway does not name is the endpoint's. */
function upstreams({ readings }: Snapshot): Measured[] {
  const only = readings?.gauges.upstream_health
  const named = Object.entries(readings?.subjects ?? {}).map(([subject, { upstream_health: health }]) =>
    flagged(health === undefined ? undefined : health === 0, subject),
  )
  return only ? [flagged(only.value === 0), ...named] : named
}
