import { usual } from '../signals/baseline.ts'
import { TOKENS_AT_LEAST } from '../signals/derive.ts'
import { cacheFull, ofEngine, whenCacheFull, whenHitsFell } from '../verdict/advice.ts'
import { fall } from './measured.ts'
import { base, MINUTE, number, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { FIRST_READING, NO_TRAFFIC, SHORT_PAST, untilTwoReadings } from './unknown.ts'

export const cacheRules = ruleset({
  kv_cache: {
    ...base,
    symptom: true,
    firesWhen: 'the fullest KV cache of the endpoint reaches the limit',
    sign: '📦',
    about: 'engine',
    unit: 'share',
    breach: 'at-or-above',
    limit: 0.9,
    critical: 0.98,
    clear: 0.85,
    for: 5 * MINUTE,
    priority: 7,
    needs: { signals: ['kv_cache'] },
    measure: number('kv_cache'),
    tells: ['kv_cache'],
    delaysRequests: true,
    advise: whenCacheFull,
  },
  prefix_hits: {
    ...base,
    firesWhen:
      'the token hit share of the prefix cache fell below its own past by the limit (34 % to 12 % is a fall of 65 %)',
    sign: '🎯',
    about: 'engine',
    unit: 'fall',
    breach: 'at-or-above',
    limit: 0.5,
    clear: 0.25,
    for: 10 * MINUTE,
    priority: 6,
    except: ['llamacpp'],
    needs: { signals: ['prefix_queries', 'prefix_hits'], standIn: { of: 'prefix_hits', by: 'hit_share' } },
    measure: ({ derived, before }, _, { now }) => [
      fall(derived.numbers.prefix_hit_share, usual(before.baselines.hits, now)),
    ],
    unknownReason: noHitFall,
    compared: (usual) => `usually ${Number((usual * 100).toPrecision(3))} %`,
    idles: true,
    ownPast: true,
    advise: whenHitsFell,
  },
  preemptions: {
    ...base,
    symptom: true,
    firesWhen: 'more requests a second than the limit are thrown out of the KV cache to be computed again',
    sign: '🔁',
    about: 'engine',
    unit: 'per-second',
    limit: 1,
    clear: 0.1,
    for: 5 * MINUTE,
    priority: 5,
    needs: { signals: ['preemptions'] },
    measure: number('preemptions_per_second'),
    unknownReason: untilTwoReadings,
    advise: ofEngine(cacheFull),
  },
})

function noHitFall({ derived, window, readings }: Snapshot): string {
  if (derived.numbers.prefix_hit_share !== undefined) return SHORT_PAST
  if (derived.hitsAlwaysZero) return 'the server publishes prefix hits and never counts them'
  if (!window) return FIRST_READING
  const { prefix_queries, prompt_tokens } = window.counters
  const queries = readings?.gauges.hit_share && !readings.counters.prefix_hits ? prompt_tokens : prefix_queries
  if (queries === undefined || !readings) return 'no hit share is published'
  return queries === 0 ? NO_TRAFFIC : `too few tokens looked up: ${Math.round(queries)} of ${TOKENS_AT_LEAST}`
}
