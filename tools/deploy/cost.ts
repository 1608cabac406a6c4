import { alarmsOf } from './alarms.ts'
import { shardsOf } from './functions.ts'
import type { Price, Prices } from './prices.ts'
import type { Deployment } from './settings.ts'
import { type FunctionName, isScheduled } from './variables.ts'

const MONTH_SECONDS = 730 * 3600
/** A run asks all endpoints at once and mostly waits: seconds it is billed for, and bytes it logs, as a rule. */
const RUN = { seconds: 1, canarySeconds: 4, logBytes: 1_500, metricBytes: 700 }
/** The function's own figures in `src/report/emf.ts`; a shard is a function of its own there. */
export const OWN_FIGURES = 9

export interface CostLine {
  what: string
  /** A month. */
  count: number
  unit: string
  dollars: number
  /** What is left after the free tier, where there is one. */
  dollarsAfterFree: number
}

/**
 * What the scheduled functions cost a month at this schedule. Pure arithmetic; the run's length is an assumption, and
 * the signals that `METRICS=all` adds are not in it: how many there are, the servers decide.
 */
export function monthlyCost(functions: readonly FunctionName[], deployment: Deployment, prices: Prices): CostLine[] {
  const scheduled = functions.filter(isScheduled)
  const runsOf = (name: FunctionName) => (MONTH_SECONDS / deployment.period) * shardsOf(name, deployment)
  const requests = scheduled.reduce((sum, name) => sum + runsOf(name), 0)
  const seconds = scheduled.reduce((sum, name) => sum + runsOf(name) * secondsOf(name), 0)
  const gigabyteSeconds = (seconds * deployment.memory) / 1024
  const alarms = functions.reduce((sum, name) => sum + alarmsOf(name).length, 0)
  const hasMetrics = deployment.metrics !== 'off'
  const bytes = RUN.logBytes + (hasMetrics ? RUN.metricBytes : 0)
  return [
    line('Lambda requests', requests, 'requests', prices['Lambda requests']),
    line('Lambda time', gigabyteSeconds, 'GB-seconds', prices[`Lambda time on ${deployment.architecture}`]),
    line('S3: one write a run', requests, 'requests', prices['S3 writes']),
    line('S3: one read a run', requests, 'requests', prices['S3 reads']),
    line('Logs', (requests * bytes) / 1e9, 'GB', prices.Logs),
    line('Alarms', alarms, 'alarms', prices.Alarms),
    ...(hasMetrics ? [line('Metrics', ownMetrics(scheduled, deployment), 'metrics', prices.Metrics)] : []),
  ]
}

/** A metric is billed for the hours in which it is written. */
function ownMetrics(scheduled: readonly FunctionName[], deployment: Deployment): number {
  const parts = scheduled.reduce((sum, name) => sum + shardsOf(name, deployment), 0)
  return OWN_FIGURES * parts * Math.min(1, 3600 / deployment.period)
}

function line(what: string, count: number, unit: string, { dollars, free }: Price): CostLine {
  return { what, count, unit, dollars: count * dollars, dollarsAfterFree: Math.max(0, count - free) * dollars }
}

function secondsOf(name: FunctionName): number {
  return name === 'ollama' || name === 'openai' ? RUN.canarySeconds : RUN.seconds
}
