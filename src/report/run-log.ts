import type { Config } from '../model/config.ts'
import type { Log } from '../model/io.ts'
import type { Observation } from '../model/observation.ts'
import type { RunResult } from '../model/result.ts'
import type { Store } from '../model/store.ts'
import type { Evaluation } from '../rules/evaluate.ts'
import { explain } from '../rules/explain.ts'

/** At `debug`, one line for each endpoint's answer. @returns what it was given. */
export function logAnswers(observations: Observation[], config: Config, log: Log): Observation[] {
  if (config.logLevel !== 'debug') return observations
  for (const one of observations) {
    const { endpoint, took } = one
    log.debug('answer', {
      endpoint: endpoint.name,
      url: endpoint.url,
      outcome: one.up === undefined ? 'not asked' : one.up ? 'answered' : one.failure.kind,
      ms: Math.round(took),
      failure: one.up === false ? one.failure : undefined,
      ...(one.up ? { server: one.readings.server, model: one.readings.model, faults: one.readings.faults } : {}),
      canary: one.canary,
    })
  }
  return observations
}

/** At `debug`, one line for each rule's decision, with the numbers it was made from. */
export function logDecisions(decisions: Evaluation['decisions'], config: Config, log: Log): void {
  if (config.logLevel !== 'debug') return
  for (const { endpoint, decision } of decisions) {
    const { rule, measured, judgement, before, after, heldBy } = decision
    log.debug('decision', {
      endpoint,
      rule: rule.id,
      subject: measured.subject,
      value: measured.value,
      atLeast: measured.atLeast === true ? true : undefined,
      usual: measured.usual,
      limit: rule.limit,
      clear: rule.clear,
      for: rule.for,
      unit: rule.unit,
      judgement,
      before,
      after,
      heldBy,
      why: explain(decision),
    })
  }
}

/** What a store has warned of: it is kept between runs, and a warning each minute would only hide the next one. */
const warned = new WeakMap<Store, Set<string>>()

/** What is odd about the store, once. */
export function logWarnings(store: Store, log: Log): void {
  const before = warned.get(store) ?? new Set()
  for (const warning of store.warnings()) {
    if (!before.has(warning)) log.warn(warning)
    before.add(warning)
  }
  warned.set(store, before)
}

/** The one line that every run ends with: as an error where the run counts as failed although it completed. */
export function logRun(result: RunResult, problems: readonly string[], ms: number, log: Log): void {
  const { outcome, endpoints, pushes } = result
  const counts = {
    endpoints: endpoints.length,
    down: endpoints.filter((e) => !e.up).length,
    blind: endpoints.filter((e) => e.alerts.blind).length,
    firing: endpoints.flatMap((e) => Object.values(e.alerts)).filter((phase) => phase === 'firing').length,
    pushes,
  }
  log[problems.length > 0 ? 'error' : 'info']('run', {
    outcome,
    ...(outcome === 'completed' ? counts : {}),
    ...(problems.length > 0 ? { problems } : {}),
    ms,
  })
}
