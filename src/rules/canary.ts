import { defined } from '../model/defined.ts'
import type { About } from '../model/notification.ts'
import { type Observation, wordsOf } from '../model/observation.ts'
import { usual } from '../signals/baseline.ts'
import { slowCanary, slowCanaryRate } from '../verdict/advice.ts'
import { fall, flagged, type Measured, UNKNOWN } from './measured.ts'
import { base, CANARIES, condition, number, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { SHORT_PAST } from './unknown.ts'

const canary = { about: 'canary', unknownReason } as const

export const canaryRules = ruleset({
  canary: {
    ...base,
    ...canary,
    firesWhen: 'the waiting part of the canary (time to first token for `openai`) is above the limit',
    sign: '🐤',
    unit: 'seconds',
    limit: 5,
    clear: 3,
    priority: 7,
    backends: CANARIES,
    measure: (snapshot) => [waited(snapshot)],
    idles: true,
    advise: slowCanary,
  },
  busy: {
    ...condition,
    ...canary,
    firesWhen:
      "the server or gateway refused the canary: its queue is full, no backend is left, or our own key's limit is reached",
    sign: '🚫',
    priority: 8,
    backends: CANARIES,
    measure: (snapshot) => [refused(snapshot)],
    holds: ['quota'],
    describe: ({ observation }) => defined({ refusal: observation.canary?.refusal }),
    advise: ({ context, refusal }) =>
      context?.backend === 'ollama' && refusal === undefined ? [{ key: 'ollama-queue' }] : [],
  },
  cpu_fallback: {
    ...base,
    ...canary,
    firesWhen:
      'the share of the loaded model in GPU memory fell below its own past by the limit: it fell back to the CPU',
    sign: '🪫',
    unit: 'fall',
    breach: 'at-or-above',
    limit: 0.5,
    clear: 0.25,
    priority: 7,
    backends: ['ollama'],
    measure: ({ derived, before }, _, { now }) => [fall(derived.numbers.vram_share, usual(before.baselines.vram, now))],
    unknownReason: (snapshot) =>
      snapshot.derived.numbers.vram_share === undefined ? unknownReason(snapshot) : SHORT_PAST,
    compared: (usual) => `usually ${Number((usual * 100).toPrecision(3))} % in GPU memory`,
    idles: true,
    ownPast: true,
    // It says why the tokens come slowly.
    holds: ['canary_rate'],
  },
  canary_rate: {
    ...base,
    ...canary,
    firesWhen:
      "twice in a row the canary's tokens a second fell below their own past by the limit; needs `CANARY_TOKENS` above 1",
    sign: '🐢',
    unit: 'fall',
    breach: 'at-or-above',
    limit: undefined,
    whenOn: 0.5,
    clear: 0.25,
    runs: 2,
    priority: 6,
    backends: CANARIES,
    measure: ({ derived, before }, _, { now }) => [
      fall(derived.numbers.canary_rate, usual(before.baselines.canary_rate, now)),
    ],
    unknownReason: (snapshot) =>
      snapshot.derived.numbers.canary_rate === undefined ? unknownRate(snapshot) : SHORT_PAST,
    compared: (usual) => `usually ${Number(usual.toPrecision(3))} tok/s`,
    idles: true,
    ownPast: true,
    advise: slowCanaryRate,
  },
  wrong_answer: {
    ...condition,
    ...canary,
    firesWhen: 'twice in a row the answer did not match `CANARY_EXPECT`; off where that is not set',
    sign: '🥴',
    runs: 2,
    priority: 8,
    backends: CANARIES,
    measure: ({ observation }) => [flagged(isWrong(observation))],
    unknownReason: (snapshot) =>
      snapshot.observation.canary?.answer
        ? 'all tokens were thoughts: CANARY_TOKENS is too low'
        : unknownReason(snapshot),
    describe: wrongAnswer,
  },
  quota: {
    ...base,
    ...canary,
    firesWhen: "a smaller share than the limit is left of a hosted service's rate limit, by its own headers",
    sign: '🎟️',
    unit: 'share',
    breach: 'below',
    limit: 0.1,
    clear: 0.2,
    priority: 6,
    backends: ['openai'],
    measure: number('quota_left'),
    unknownReason: (snapshot) => unknownReason(snapshot) ?? 'the service publishes no rate limit',
    describe: ({ observation }) => defined({ quota: observation.canary?.quota }),
  },
  cold_load: {
    ...base,
    ...canary,
    firesWhen: 'the canary had to wait for the model to load for longer than the limit',
    sign: '❄️',
    unit: 'seconds',
    limit: undefined,
    priority: 4,
    backends: ['ollama'],
    measure: number('canary_load'),
    idles: true,
  },
})

function unknownReason({ observation }: Snapshot): string | undefined {
  if (observation.canary?.status === 'answered') return undefined
  return observation.canary && `canary: ${wordsOf(observation.canary.status)}`
}

function unknownRate(snapshot: Snapshot): string | undefined {
  if ((snapshot.endpoint.canary?.tokens ?? 1) < 2) return 'CANARY_TOKENS is 1: one token has no rate'
  return snapshot.observation.canary?.status === 'answered'
    ? 'fewer than two tokens came, or all at once'
    : unknownReason(snapshot)
}

/** `undefined`: there was no answer, or none that could be told. */
function isWrong({ canary }: Observation): boolean | undefined {
  const matches = canary?.answer?.matches
  return matches === undefined ? undefined : !matches
}

function wrongAnswer({ observation, endpoint }: Snapshot): About {
  const expected = endpoint.canary?.expect
  const { answer } = observation.canary ?? {}
  return expected && answer
    ? { answer: { text: answer.text, expected: `/${expected.source}/${expected.flags.replace('u', '')}` } }
    : {}
}

function waited({ observation, derived, backend }: Snapshot): Measured {
  if (observation.up === false) return UNKNOWN
  switch (observation.canary?.status) {
    case 'parked':
      return { value: observation.up ? observation.took / 1000 : undefined, atLeast: true }
    case 'answered':
    case 'cold-load':
      return { value: derived.numbers[backend === 'ollama' ? 'canary_wait' : 'canary_ttft'] }
    default:
      return UNKNOWN
  }
}

function refused({ observation }: Snapshot): Measured {
  if (observation.up === false) return UNKNOWN
  switch (observation.canary?.status) {
    case 'busy':
      return flagged(true)
    case 'answered':
    case 'cold-load':
    case 'not-loaded':
      return flagged(false)
    default:
      return UNKNOWN
  }
}
