import { defined } from '../model/defined.ts'
import type { EndpointView, FunctionView, PageView } from './view.ts'

/** The page for machines: the names of the run's result, with what only a page knows. */
export function statusJson(view: PageView) {
  return {
    at: iso(view.now),
    functions: view.functions.map((one) => functionOf(one, view.now)),
    problems: view.broken,
  }
}

function functionOf(owner: FunctionView, now: number) {
  return {
    function: owner.name,
    backend: owner.backend,
    ...(owner.ranAt === undefined ? {} : { ranAt: iso(owner.ranAt), age: (now - owner.ranAt) / 1_000 }),
    late: owner.isLate,
    waiting: owner.waiting,
    silences: owner.silences.map(({ id, scope, name, from, until, by, comment }) => ({
      id,
      scope,
      ...defined({ name }),
      from: iso(from),
      until: iso(until),
      by,
      ...defined({ comment }),
    })),
    endpoints: owner.endpoints.map(endpointOf),
  }
}

function endpointOf(endpoint: EndpointView) {
  const { name, group, model, up, numbers, atLeast, fire, pending, quiet, failure, gpus } = endpoint
  const firing = fire?.alerts.map(({ rule }) => [rule, 'firing'] as const) ?? []
  return {
    name,
    ...defined({ group, model, up, failure }),
    signals: { ...(up === undefined ? {} : { up: up ? 1 : 0 }), ...numbers },
    ...(atLeast.length > 0 ? { atLeast } : {}),
    alerts: Object.fromEntries([...pending.map((rule) => [rule, 'pending'] as const), ...firing]),
    ...(fire
      ? {
          firing: fire.alerts.map(({ rule, subject, incident, firedAt, value, limit, peak }) => ({
            rule,
            ...defined({ subject }),
            since: iso(firedAt),
            incident,
            ...defined({ value, limit, peak }),
          })),
          ...defined({ verdict: fire.verdict?.kind }),
          ...(fire.acknowledged ? { acknowledged: { at: iso(fire.acknowledged.at), by: fire.acknowledged.by } } : {}),
        }
      : {}),
    ...(quiet ? { silenced: { until: iso(quiet.until), why: quiet.kind } } : {}),
    ...(gpus.length > 0 ? { gpus } : {}),
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
