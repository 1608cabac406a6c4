import { REQUESTS_AT_LEAST, withoutRefusals } from '../signals/derive.ts'
import type { Increases } from '../signals/window.ts'
import { ofEngine, whenFailing, whenGatewayFails } from '../verdict/advice.ts'
import { counted } from './counted.ts'
import { failuresOfEachModel, ofModel } from './per-model.ts'
import { base, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { FIRST_READING, tooFew } from './unknown.ts'

export const failureRules = ruleset({
  errors: {
    ...base,
    firesWhen: `the share of requests that failed by the server's fault, of at least ${REQUESTS_AT_LEAST}, is above the limit (vLLM: with the 5xx of its own HTTP counter on paths of inference, but for what its cap on the queue turned away); a client's abort or invalid request is none; also of each model where several share the server, and then of the whole without those of a model that is told`,
    sign: '💥',
    about: 'engine',
    unit: 'share',
    limit: 0.05,
    clear: 0.01,
    priority: 8,
    needs: { signals: ['finished', 'failed', 'http_failed'], absentUntilFirst: ['failed', 'http_failed'] },
    // 5xx of the server have no model: the whole is judged, too.
    measure: failuresOfEachModel('errors', ({ derived }) => ({ value: derived.numbers.failed_share })),
    unknownReason: (snapshot, model) => noShare(ofModel(snapshot, model)),
    idles: true,
    tells: ['failed_share'],
    advise: ofEngine(whenFailing, whenGatewayFails),
  },
  corrupted: {
    ...counted('corrupted'),
    firesWhen: 'more requests were answered corruptly (NaN) since the last run than the limit',
    sign: '🧪',
    about: 'engine',
    priority: 9,
    backends: ['vllm'],
  },
  transfer: {
    ...counted('transfer_failed'),
    firesWhen:
      'KV transfers between prefill and decode, or to another tier, failed or expired in this and the last run, more than the limit in each; beside other failures one run is enough',
    sign: '📮',
    about: 'engine',
    unit: 'requests',
    runs: 2,
    provenBy: ['stalled', 'errors', 'corrupted'],
    priority: 7,
    backends: ['vllm', 'sglang'],
  },
})

function noShare({ window }: Snapshot): string {
  return window ? tooFew(endedIn(window.counters), REQUESTS_AT_LEAST) : FIRST_READING
}

function endedIn(counters: Increases['counters']): number {
  return (counters.finished ?? 0) + (counters.failed ?? 0) + withoutRefusals(counters)
}
