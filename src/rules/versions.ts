import type { Notification } from '../model/notification.ts'
import { endpointOf, type State } from '../state/schema.ts'
import type { Evaluation } from './evaluate.ts'
import { lacksVersion } from './rules.ts'

/** A server that told no version is not asked again before. Milliseconds. */
const AGAIN = 24 * 3_600_000
/** In one run; of what fires everywhere at once the advice is told once. */
const AT_MOST = 8

type Told = Pick<Evaluation, 'notifications' | 'endpoints'>

/**
 * Endpoints whose version would say more of what helps, and that were not asked for it since their start. Only where
 * something is told that has advice.
 * @param state what the run leaves.
 */
export function versionsWanted({ notifications, endpoints }: Told, state: State, now: number): string[] {
  const silenced = new Set(endpoints.flatMap((one) => (one.silenced === undefined ? [] : [one.name])))
  const names = notifications.flatMap((notification) => {
    const { endpoint, reason } = notification
    if (endpoint === undefined || silenced.has(endpoint)) return []
    if (!ADVISED.includes(reason) || !lacksVersion(notification)) return []
    const asked = endpointOf(state, endpoint)?.version
    return asked === undefined || now - asked.at >= AGAIN ? [endpoint] : []
  })
  return [...new Set(names)].slice(0, AT_MOST)
}
const ADVISED: readonly Notification['reason'][] = ['fired', 'worse', 'repeated']
