import { QUANTILE_AT_LEAST } from '../signals/quantile.ts'
import { lookAtGpu, ofEngine } from '../verdict/advice.ts'
import { base, MINUTE, type RuleSpec, ruleset } from './rule.ts'
import { tooFewObserved } from './unknown.ts'

export const latencyRules = ruleset({
  ttft: {
    ...base,
    ...p99Of('ttft'),
    firesWhen: 'the p99 of the time to first token in the window is above the limit',
    sign: '🐢',
    limit: 3,
    clear: 2,
    priority: 8,
    backends: ['vllm', 'sglang'],
    tells: ['ttft_p99'],
    delaysRequests: true,
    advise: ofEngine(),
  },
  itl: {
    ...base,
    ...p99Of('itl'),
    firesWhen: 'the p99 of the time per output token in the window is above the limit',
    sign: '🐢',
    limit: undefined,
    for: 5 * MINUTE,
    priority: 6,
    backends: ['vllm', 'tgi', 'sglang'],
    advise: ofEngine(lookAtGpu),
  },
})

/** What the rules by the p99 of a histogram share. */
function p99Of(histogram: 'ttft' | 'itl') {
  const name = `${histogram}_p99` as const
  return {
    about: 'engine',
    unit: 'seconds',
    needs: { signals: [histogram] },
    measure: ({ derived }) => [{ value: derived.numbers[name], atLeast: derived.atLeast.includes(name) }],
    unknownReason: (snapshot) =>
      snapshot.derived.atLeast.includes(name)
        ? "only known to be at least this: the limit is above the server's largest bucket"
        : tooFewObserved(histogram, QUANTILE_AT_LEAST, snapshot),
    decidedBy: { histogram, as: 'p99' },
    idles: true,
  } as const satisfies Partial<RuleSpec>
}
