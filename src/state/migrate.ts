import { isRecord } from '../model/json.ts'

/** Anything that JSON can hold, while nothing is known of its form. */
type Json = Record<string, unknown>

/** Makes the state of an older version into this version's; anything else is returned as it is, for the schema to judge. */
export function migrate(json: unknown): unknown {
  return isRecord(json) && json.v === 1 ? fromVersion1(json) : json
}

/** Version 2 names an alert's times as Prometheus does, and calls what surrounds a notification its context. */
function fromVersion1(state: Json): Json {
  return {
    ...state,
    v: 2,
    endpoints: mapValues(state.endpoints, (endpoint) => ({
      ...endpoint,
      alerts: mapValues(endpoint.alerts, (alert) =>
        rename(alert, { since: 'activeAt', told: 'lastSentAt', clears: 'clearRuns' }),
      ),
    })),
    outbox: Array.isArray(state.outbox)
      ? state.outbox.map((item) =>
          isRecord(item) && isRecord(item.notification)
            ? { ...item, notification: rename(item.notification, { scene: 'context' }) }
            : item,
        )
      : state.outbox,
  }
}

function mapValues(object: unknown, change: (value: Json) => unknown): unknown {
  if (!isRecord(object)) return object
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, isRecord(value) ? change(value) : value]),
  )
}

function rename(object: Json, names: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names[name] ?? name, value]))
}
