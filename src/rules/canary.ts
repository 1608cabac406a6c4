import { defined } from '../model/defined.ts'
import { wordsOf } from '../model/observation.ts'
import { usual } from '../signals/baseline.ts'
import { slowCanary } from '../verdict/advice.ts'
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
  return observation.canary && `canary: ${wordsOf(observation.canary.status)}`
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
