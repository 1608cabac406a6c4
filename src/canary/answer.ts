import { withDeadline } from '../http/deadline.ts'
import { failureOf } from '../http/network-failure.ts'
import type { Endpoint } from '../model/config.ts'
import { defined } from '../model/defined.ts'
import type { Failure } from '../model/failure.ts'
import type { Answer, CanaryFacts } from '../model/observation.ts'
import type { DataFault } from '../model/signals.ts'
import { gaugeReadings } from '../signals/readings.ts'
import { CanaryFailed, type CanaryOptions } from './exchange.ts'
import { Refused } from './refusal.ts'

/** One canary on its way. */
export interface Asking {
  endpoint: Endpoint
  options: CanaryOptions
  model: string
  signal: AbortSignal
  /** Counted as they are sent. */
  sent: { completions: number }
}

/**
 * One canary, from its deadline to its answer: a refusal and a failure are answers too; nothing is thrown.
 * @param variable names the model.
 */
export async function answerInTime(
  endpoint: Endpoint,
  options: CanaryOptions,
  variable: string,
  ask: (asking: Asking) => Promise<Answer>,
): Promise<Answer> {
  const { model, timeout } = endpoint
  if (model === undefined) return { up: false, failure: { kind: 'other', detail: `${variable} is not set` } }
  const asking = { endpoint, options, model, sent: { completions: 0 } }
  try {
    return await withDeadline(timeout, (signal) => ask({ ...asking, signal }), { outer: options.signal })
  } catch (error) {
    return error instanceof Refused ? answerOf(asking, error.facts) : failedAnswer(error, asking)
  }
}

/** The answer of a server that answered, with what was measured of it. */
export function answerOf(
  { model, options, sent }: Pick<Asking, 'model' | 'options' | 'sent'>,
  facts: CanaryFacts,
  gauges: Parameters<typeof gaugeReadings>[0] = {},
  faults: DataFault[] = [],
): Answer {
  const modelFound = facts.status === 'model-missing' ? false : undefined
  return {
    up: true,
    readings: { ...gaugeReadings(gauges, model), faults, ...defined({ modelFound }) },
    canary: { ...facts, requestId: options.requestId, requests: sent.completions },
  }
}

/**
 * Where the request hardly reached the server, so that nobody finds its id in a log. Wider than `neverSent`, by which it
 * is decided what may be sent again: here a reset connection counts too.
 */
const NEVER_THERE: readonly Failure['kind'][] = ['refused', 'unreachable', 'name-not-found', 'tls']

/** The answer of a canary that came to nothing; with its id, where the server's own logs may show it. */
function failedAnswer(error: unknown, { options, sent }: Pick<Asking, 'options' | 'sent'>): Answer {
  const failure = error instanceof CanaryFailed ? error.failure : failureOf(error, true)
  if (NEVER_THERE.includes(failure.kind)) return { up: false, failure }
  return { up: false, failure, canary: { status: 'failed', requestId: options.requestId, requests: sent.completions } }
}
