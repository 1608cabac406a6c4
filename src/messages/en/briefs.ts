import type { Catalogue } from '../texts.ts'
import { atLeast, days, limit, n } from './phrases.ts'

/** What stands in the title behind the endpoint: the figure first. A rule that is not here has its headline. */
export const briefsEn: Catalogue['briefs'] = {
  waiting: ({ value, limit: max }) => value && `${n.count(value)} waiting${limit(max, n.count)}`,
  inflight: ({ value, limit: max }) => value && `${n.count(value)} in flight${limit(max, n.count)}`,
  growth: ({ value, waiting }) =>
    value && `queue up by ${n.count(value)}${waiting === undefined ? '' : ` to ${n.count(waiting)}`}`,
  queue_wait: ({ value, limit: max }) => value && `${n.seconds(value)} in the queue${limit(max, n.seconds)}`,
  queue_tail: ({ value, limit: max, atLeast: least }) =>
    value && `${atLeast(least)}${n.seconds(value)} in the queue, p95${limit(max, n.seconds)}`,
  ttft: ({ value, limit: max, atLeast: least }) =>
    value && `first token after ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}`,
  itl: ({ value, limit: max, atLeast: least }) =>
    value && `${atLeast(least)}${n.seconds(value)} a token${limit(max, n.seconds)}`,
  e2e: ({ value, limit: max, atLeast: least }) =>
    value && `requests take ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}`,
  token_time: ({ value }) => value && `a token takes ${n.times(value)}× as long as usual`,
  slo: ({ value, limit: max }) => value && `${n.percent(value)} of first tokens in time${limit(max, n.percent)}`,
  kv_cache: ({ value, limit: max }) => value && `KV cache ${n.percent(value)} full${limit(max, n.percent)}`,
  preemptions: ({ value, limit: max }) => value && `${n.rate(value)} preempted${limit(max, n.rate)}`,
  prefix_hits: ({ value, usual }) =>
    value && usual && `${n.percent(usual * Math.max(0, 1 - value))} prefix hits, usually ${n.percent(usual)}`,
  throughput: ({ value, usual }) =>
    value && usual && `${n.large(usual * Math.max(0, 1 - value))} tok/s, usually ${n.large(usual)}`,
  stalled: ({ running, waiting, heldBy }) =>
    heldBy === 'unhealthy'
      ? undefined
      : `no progress${running === undefined ? '' : `, ${n.count(running)} running`}${waiting === undefined ? '' : `, ${n.count(waiting)} waiting`}`,
  stuck: ({ waiting, value, heldBy }) =>
    waiting && value && heldBy !== 'asleep'
      ? `${n.count(waiting)} waiting, none done for ${n.lasted(value * 1_000)}`
      : undefined,
  errors: ({ value, limit: max }) => value && `${n.percent(value)} of requests fail${limit(max, n.percent)}`,
  sibling: ({ value }) => value && `${n.times(value)}× slower than the other replicas`,
  gpu_memory: ({ value, limit: max }) => value && `memory ${n.percent(value)} full${limit(max, n.percent)}`,
  gpu_temperature: ({ value, limit: max }) => value && `${n.count(value)} °C${limit(max, n.count)}`,
  gpu_xid: ({ value }) => value && `XID ${value}`,
  canary: ({ value, limit: max, atLeast: least }) =>
    value && `canary waits ${atLeast(least)}${n.seconds(value)}${limit(max, n.seconds)}`,
  canary_rate: ({ value, usual }) =>
    value && usual && `${n.count(usual * Math.max(0, 1 - value))} tok/s for one request, usually ${n.count(usual)}`,
  tls_expiry: ({ value }) => value && (value > 0 ? `certificate ends in ${days(value)}` : undefined),
  quota: ({ quota }) => quota && `${n.count(quota.left)} of ${n.count(quota.of)} ${quota.what} left`,
}
