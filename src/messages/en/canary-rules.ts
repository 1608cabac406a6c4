import type { Catalogue } from '../texts.ts'
import { n } from './phrases.ts'

/** What a canary finds out beyond its wait. */
export const canaryRulesEn = {
  canary_rate: {
    headline: () => 'Model writes slowly',
    now: ({ value, usual }) =>
      value === undefined || usual === undefined
        ? 'Our own request was written much slower than usual.'
        : `Our own request was written at ${n.count(usual * Math.max(0, 1 - value))} tokens/s, usually ${n.count(usual)}/s.`,
    over: 'Model writes as fast as before',
    peak: (value) => `down by ${n.percent(value)} at worst`,
    todo: () =>
      'Look at the GPU (nvidia-smi: clocks, temperature, memory, other processes), and at what runs beside our request.',
  },
  wrong_answer: {
    headline: () => 'Model answers wrongly',
    now: ({ answer }) => {
      if (answer === undefined) return 'The answer to our own request does not match what is expected.'
      const said = answer.text === '' || answer.text === undefined ? 'nothing' : `“${answer.text}”`
      return `Our own request was answered with ${said}; expected is ${answer.expected}.`
    },
    over: 'Model answers as expected again',
    todo: () =>
      'The server is up and the model is not well: was it, its quantisation or its chat template changed? Compare its digest, and load it anew.',
  },
  quota: {
    headline: () => 'Rate limit is nearly used up',
    now: ({ quota, value }) => {
      if (quota === undefined)
        return value === undefined
          ? 'Little is left of the rate limit.'
          : `${n.percent(value)} of the rate limit is left.`
      return `${n.count(quota.left)} of ${n.count(quota.of)} ${quota.what} are left of the service's rate limit. Beyond it requests are refused with 429.`
    },
    over: 'Rate limit has room again',
    peak: (value) => `${n.percent(value)} left at worst`,
    todo: () => 'Spread requests over time or keys, or ask the provider for a higher limit. Who else uses this key?',
  },
} satisfies Partial<Catalogue['rules']>
