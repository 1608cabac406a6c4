import type { Meter } from '@opentelemetry/api'
import type { RunResult } from '../model/result.ts'
import { SIGNALS } from '../model/signals.ts'

/** The result's own numbers as gauges, one a signal: `queuebell.waiting`, with the endpoint as attribute. */
export function recordResult(result: RunResult, meter: Meter): void {
  const { backend } = result
  const firing = meter.createGauge('queuebell.alert.firing', { description: '1 while the rule fires' })
  for (const { name, model, signals, alerts } of result.endpoints) {
    const of = {
      'queuebell.backend': backend,
      'queuebell.endpoint': name,
      ...(model && { 'gen_ai.request.model': model }),
    }
    for (const [signal, value] of Object.entries(signals)) {
      if (value === undefined) continue
      meter.createGauge(`queuebell.${signal}`, aboutOf(signal)).record(value, of)
    }
    for (const [rule, phase] of Object.entries(alerts))
      if (phase === 'firing') firing.record(1, { ...of, 'queuebell.rule': rule })
  }
}

/** UCUM, as OpenTelemetry writes units; a number that was worked out has its unit in its name. */
function aboutOf(signal: string): { unit?: string; description?: string } {
  const spec = Object.hasOwn(SIGNALS, signal) ? SIGNALS[signal as keyof typeof SIGNALS] : undefined
  if (!spec) return /_(p\d+|wait)$|^(ttft|itl|e2e)/.test(signal) ? { unit: 's' } : {}
  const unit = spec.unit === 'seconds' ? 's' : spec.unit === 'share' ? '1' : `{${spec.unit}}`
  return { unit, description: spec.meaning }
}
