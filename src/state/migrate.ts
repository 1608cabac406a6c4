import { isRecord } from '../model/json.ts'
import { ruleOf, subjectOf } from './alert-key.ts'

/** Anything that JSON can hold, while nothing is known of its form. */
type Json = Record<string, unknown>

/** Makes the state of an older version into this version's; anything else is returned as it is, for the schema to judge. */
export function migrate(json: unknown): unknown {
  if (!isRecord(json)) return json
  switch (json.v) {
    case 1:
      return fromVersion3(fromVersion2(fromVersion1(json)))
    case 2:
      return fromVersion3(fromVersion2(json))
    case 3:
      return fromVersion3(json)
    default:
      return json
  }
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

/** Rules of version 2 that are symptoms of one trouble since version 3. */
const SYMPTOMS = 'waiting inflight growth queue_wait kv_cache ttft itl throughput stalled preemptions'.split(' ')

/** Version 3 tells incidents: the symptoms of an endpoint become one, any other alert one each. */
function fromVersion2(state: Json): Json {
  const joined = new Map<unknown, unknown>()
  const endpoints = mapValues(state.endpoints, (endpoint, name) => {
    const firing = Object.entries(isRecord(endpoint.alerts) ? endpoint.alerts : {}).filter(
      (entry): entry is [string, Json] => isRecord(entry[1]) && entry[1].phase === 'firing',
    )
    const incidents: Json = {}
    for (const [key, alert] of firing.sort(toldFirst)) {
      const kind = SYMPTOMS.includes(ruleOf(key)) ? 'work' : key
      const id = `${name}|${ruleOf(key)}|${subjectOf(key) ?? ''}@${alert.firedAt}`
      const symptom = { times: 1, ...only(alert, 'peak'), ...only(alert, 'about') }
      const known = incidents[kind]
      if (isRecord(known)) {
        joined.set(id, known.id)
        known.symptoms = { ...(known.symptoms as Json), [key]: symptom }
        continue
      }
      const { firedAt } = alert
      const begun = { id, openedAt: firedAt, verdicts: [], begins: [firedAt], symptoms: { [key]: symptom } }
      incidents[kind] = { ...begun, ...only(alert, 'lastSentAt') }
    }
    const alerts = mapValues(endpoint.alerts, ({ lastSentAt: _, about: __, ...alert }) => alert)
    return { ...endpoint, alerts, incidents }
  })
  const outbox = Array.isArray(state.outbox) ? state.outbox.map((item) => retold(item, joined)) : state.outbox
  return { ...state, v: 3, endpoints, outbox }
}

/** Version 4 is stored shorter, which was undone before: what is read is the same. */
function fromVersion3(state: Json): Json {
  return { ...state, v: 4 }
}

/** What waits to be told of a symptom of another one's incident is told as a turn of that. */
function retold(item: unknown, joined: ReadonlyMap<unknown, unknown>): unknown {
  if (!isRecord(item) || !isRecord(item.notification)) return item
  const { incident, reason } = item.notification
  if (!joined.has(incident)) return item
  const notification = {
    ...item.notification,
    incident: joined.get(incident),
    reason: reason === 'fired' ? 'worse' : reason,
  }
  return { ...item, notification }
}

/** What was told names the incident, else what fired first. */
function toldFirst([, a]: [string, Json], [, b]: [string, Json]): number {
  const rank = ({ lastSentAt, firedAt }: Json) => [lastSentAt === undefined ? 1 : 0, Number(firedAt)] as const
  const [first, second] = [rank(a), rank(b)]
  return first[0] - second[0] || first[1] - second[1]
}

/** One field of an object, where it is there. */
function only(object: Json, name: string): Json {
  return object[name] === undefined ? {} : { [name]: object[name] }
}

function mapValues(object: unknown, change: (value: Json, name: string) => unknown): unknown {
  if (!isRecord(object)) return object
  return Object.fromEntries(
    Object.entries(object).map(([name, value]) => [name, isRecord(value) ? change(value, name) : value]),
  )
}

function rename(object: Json, names: Readonly<Record<string, string>>): Json {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [names[name] ?? name, value]))
}
