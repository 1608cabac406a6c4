import { REQUESTS_AT_LEAST } from '../signals/derive.ts'
import { ofEngine, whenFailing, whenGatewayFails } from '../verdict/advice.ts'
import { base, number, ruleset } from './rule.ts'
import { FIRST_READING, tooFew } from './unknown.ts'

export const failureRules = ruleset({
  errors: {
    ...base,
    firesWhen: `the share of requests that failed by the server's fault, of at least ${REQUESTS_AT_LEAST}, is above the limit; a client's abort or invalid request is none`,
    sign: '💥',
    about: 'engine',
    unit: 'share',
    limit: 0.05,
    clear: 0.01,
    priority: 8,
    backends: ['vllm', 'tgi', 'tei', 'sglang', 'gateway'],
    needs: { signals: ['finished', 'failed'], absentUntilFirst: 'failed' },
    measure: number('failed_share'),
    unknownReason: ({ window }) =>
      window
        ? tooFew((window.counters.finished ?? 0) + (window.counters.failed ?? 0), REQUESTS_AT_LEAST)
        : FIRST_READING,
    idles: true,
    tells: ['failed_share'],
    advise: ofEngine(whenFailing, whenGatewayFails),
  },
})
