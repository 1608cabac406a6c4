import type { Config } from '../model/config.ts'
import type { Observation } from '../model/observation.ts'
import type { EndpointResult } from '../model/result.ts'
import { ruleOf } from '../state/alert-key.ts'
import type { State } from '../state/schema.ts'
import { holdBack, incidentOf, isAnythingQuiet, type Place, quietAt, wake } from '../state/silences.ts'
import { type Evaluation, evaluate } from './evaluate.ts'

/**
 * A run's decisions with what is silenced, acknowledged or planned work. Rules are judged as ever, and the result shows
 * what fires: only what is pushed differs. Where nothing of that kind is there, it is `evaluate` alone.
 */
export function evaluateWithSilences(
  previous: State,
  observations: readonly Observation[],
  config: Config,
  now: number,
): Evaluation {
  const places = observations.map(({ endpoint }) => endpoint)
  if (!isAnythingQuiet(previous, places)) return evaluate(previous, observations, config, now)
  const { state: from, woken } = wake(previous, places, now)
  const evaluation = evaluate(from, remindingOf(observations, woken), config, now)
  const state = holdBack(evaluation.state, places, now)
  const byName = new Map(places.map((place) => [place.name, place]))
  return {
    ...evaluation,
    state,
    endpoints: evaluation.endpoints.map((endpoint) => marked(endpoint, byName.get(endpoint.name), state, now)),
  }
}

/** Shorter than the time between any two runs. Milliseconds. */
const AT_ONCE = 1

/** A rule without reminders has one after a silence: its alert may never have been told. */
function remindingOf(observations: readonly Observation[], woken: ReadonlySet<string>): readonly Observation[] {
  if (woken.size === 0) return observations
  return observations.map((observation) => {
    if (!woken.has(observation.endpoint.name)) return observation
    const rules = observation.endpoint.rules.map((rule) =>
      rule.repeat === undefined ? { ...rule, repeat: AT_ONCE } : rule,
    )
    return { ...observation, endpoint: { ...observation.endpoint, rules } }
  })
}

function marked(endpoint: EndpointResult, place: Place | undefined, state: State, now: number): EndpointResult {
  const quiet = place && quietAt(place, state.silences ?? [], now)
  const alerts = Object.entries(state.endpoints[endpoint.name]?.alerts ?? {})
  const acknowledged = alerts.flatMap(([key, alert]) =>
    state.acknowledged?.[incidentOf(endpoint.name, key, alert)] ? [ruleOf(key)] : [],
  )
  return {
    ...endpoint,
    ...(quiet ? { silenced: new Date(quiet.until).toISOString() } : {}),
    ...(acknowledged.length > 0 ? { acknowledged: [...new Set(acknowledged)] } : {}),
  }
}
