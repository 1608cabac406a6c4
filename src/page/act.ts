import type { State } from '../state/schema.ts'
import type { Silence } from '../state/silence-schema.ts'
import { acknowledge, addSilence, endSilences, isOpen } from '../state/silences.ts'
import type { Choice, Done } from './act-page.ts'
import { partsOf } from './links.ts'

const HOUR = 3_600_000

/** One press of a link's button. */
export interface Press {
  choice: Choice
  /** Of the link. */
  incidents: readonly string[]
  /** Of the function. */
  name: string
  /** Tells the presses of one link from those of another: the end of its token. */
  link: string
  /** Epoch milliseconds; `morning` is the next 9:00. */
  now: number
  morning: number
}

/** What a press makes of the state. The same press again changes nothing. */
export function press(state: State, by: Press): { state: State; done: Done } {
  const endpoints = endpointsOf(by.incidents)
  switch (by.choice) {
    case 'acknowledge':
      return { state: acknowledged(state, by, endpoints), done: { kind: 'acknowledged' } }
    case 'silence-1h':
      return silenced(state, by, by.now + HOUR)
    case 'silence-4h':
      return silenced(state, by, by.now + 4 * HOUR)
    case 'silence-9am':
      return silenced(state, by, by.morning)
    case 'end':
      return {
        state: endpoints.reduce((from, name) => endSilences(from, { scope: 'endpoint', name }, by.now), state),
        done: { kind: 'ended' },
      }
    default:
      return by.choice satisfies never
  }
}

export function endpointsOf(incidents: readonly string[]): string[] {
  return [...new Set(incidents.map((incident) => partsOf(incident).endpoint))]
}

/** Incidents of an endpoint that are open now. */
export function firingAt(state: State, endpoint: string): string[] {
  const incidents = Object.hasOwn(state.endpoints, endpoint) ? (state.endpoints[endpoint]?.incidents ?? {}) : {}
  return Object.values(incidents)
    .filter(isOpen)
    .map(({ id }) => id)
}

/** All that fires at the endpoint was on the page, and is taken with it; but an old link does not take what is new. */
function acknowledged(state: State, { incidents, now }: Press, endpoints: readonly string[]): State {
  const open = endpoints.flatMap((endpoint) => {
    const firing = firingAt(state, endpoint)
    return firing.some((incident) => incidents.includes(incident)) ? firing : []
  })
  const fresh = open.filter((incident) => !state.acknowledged?.[incident])
  return fresh.length === 0 ? state : acknowledge(state, fresh, now, 'link')
}

function silenced(state: State, by: Press, until: number): { state: State; done: Done } {
  let next = state
  for (const name of endpointsOf(by.incidents)) {
    const silence: Silence = {
      id: `${by.choice} ${by.link} ${name}`,
      scope: 'endpoint',
      name,
      from: by.now,
      until,
      by: 'link',
    }
    next = addSilence(next, silence, by.name)
  }
  if (next !== state) return { state: next, done: { kind: 'silenced', until } }
  const ids = endpointsOf(by.incidents).map((name) => `${by.choice} ${by.link} ${name}`)
  const holding = (state.silences ?? []).filter(({ id }) => ids.includes(id)).map((one) => one.until)
  return { state, done: { kind: 'already', until: Math.max(...holding) } }
}
