import type { Backend } from '../model/backend.ts'
import type { DerivedSignal } from '../model/notification.ts'
import type { Chart } from './view.ts'

/** The number that a rule looks at, where the page has it. */
const SIGNAL_OF: Readonly<Record<string, DerivedSignal>> = {
  waiting: 'waiting',
  queue_wait: 'queue_wait',
  kv_cache: 'kv_cache',
  ttft: 'ttft_p99',
  itl: 'itl_p99',
  e2e: 'e2e_p99',
  errors: 'failed_share',
  preemptions: 'preemptions_per_second',
  gpu_memory: 'gpu_memory',
  gpu_temperature: 'gpu_temperature',
  canary: 'canary_wait',
  heartbeat: 'beat_age',
}

export function signalOfRule(rule: string, backend: Backend): DerivedSignal | undefined {
  // The canary of one kind of server is judged by its wait, that of the other by its first token.
  return rule === 'canary' && backend === 'openai' ? 'canary_ttft' : SIGNAL_OF[rule]
}

/** The rule whose limit stands on a chart of a signal. */
export function ruleOfSignal(signal: DerivedSignal, backend: Backend): string | undefined {
  return Object.keys(SIGNAL_OF).find((rule) => signalOfRule(rule, backend) === signal)
}

/** The chart that shows what a rule looks at, or else the main one. */
export function chartOfRule(rule: string, backend: Backend, charts: readonly Chart[]): Chart | undefined {
  return charts.find(({ signal }) => signal === signalOfRule(rule, backend)) ?? charts[0]
}
