import type { Config } from '../model/config.ts'
import type { Observation } from '../model/observation.ts'
import type { EndpointResult } from '../model/result.ts'
import { ruleOf } from '../state/alert-key.ts'
import { holdBack, isAnythingQuiet, LONG_AGO, wake } from '../state/hold-back.ts'
import type { State } from '../state/schema.ts'
import { incidentOf, type Place, quietAt } from '../state/silences.ts'
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
  const { state: from, owed } = wake(previous, places, now)
  const evaluation = evaluate(from, owed.size > 0 ? reminding(observations, now) : observations, config, now, owed)
  const state = holdBack(evaluation.state, places, owed, now)
  const byName = new Map(places.map((place) => [place.name, place]))
  return {
    ...evaluation,
    state,
    endpoints: evaluation.endpoints.map((endpoint) => marked(endpoint, byName.get(endpoint.name), state, now)),
  }
}

/** A rule without reminders has one after a silence, for what was not told since: its alert may never have been told. */
function reminding(observations: readonly Observation[], now: number): readonly Observation[] {
  return observations.map((observation) => {
    const { endpoint } = observation
    const rules = endpoint.rules.map((rule) => (rule.repeat === undefined ? { ...rule, repeat: now - LONG_AGO } : rule))
    return { ...observation, endpoint: { ...endpoint, rules } }
  })
}

function marked(endpoint: EndpointResult, place: Place | undefined, state: State, now: number): EndpointResult {
  const quiet = place && quietAt(place, state.silences ?? [], now)
  const { incidents = {}, alerts = {} } = state.endpoints[endpoint.name] ?? {}
  const acknowledged = Object.entries(alerts).flatMap(([key, { phase }]) => {
    const incident = phase === 'firing' ? incidentOf({ incidents }, key) : undefined
    return incident && state.acknowledged?.[incident.id] ? [ruleOf(key)] : []
  })
  return {
    ...endpoint,
    ...(quiet ? { silenced: new Date(quiet.until).toISOString() } : {}),
    ...(acknowledged.length > 0 ? { acknowledged: [...new Set(acknowledged)] } : {}),
  }
}
