import { bin, usual } from '../signals/baseline.ts'
import { lookAtGpu, ofEngine, restartHung } from '../verdict/advice.ts'
import { fall, inARow, type Measured, UNKNOWN } from './measured.ts'
import { base, MINUTE, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { FIRST_READING, SHORT_PAST } from './unknown.ts'
import { rateNow } from './workload.ts'

export const progressRules = ruleset({
  throughput: {
    ...base,
    firesWhen:
      'generated tokens a second, at the same number of requests running, fell below their own past by the limit',
    sign: '📉',
    about: 'engine',
    unit: 'fall',
    breach: 'at-or-above',
    limit: 0.5,
    clear: 0.25,
    for: 5 * MINUTE,
    priority: 7,
    backends: ['vllm', 'tgi', 'sglang', 'llamacpp'],
    needs: { signals: ['generation_tokens', 'running'] },
    measure: (snapshot, _, { now }) => [throughputFall(snapshot, now)],
    unknownReason: noThroughputFall,
    compared: (usual) => `usually ${Number(usual.toPrecision(3))} tok/s`,
    idles: true,
    ownPast: true,
    tells: ['running', 'tokens_per_second'],
    advise: ofEngine(lookAtGpu),
  },
  stalled: {
    ...base,
    firesWhen: 'work is reported and nothing moved for this many runs: the engine hangs, or its gauges are stale',
    sign: '🧊',
    about: 'engine',
    unit: 'runs',
    breach: 'at-or-above',
    limit: 2,
    priority: 9,
    backends: ['vllm', 'tgi', 'sglang', 'llamacpp'],
    needs: { signals: ['waiting', 'running'], oneIsEnough: true },
    measure: ({ noProgress, after }, rule) => [noProgress === undefined ? UNKNOWN : inARow(after.stalledRuns, rule)],
    unknownReason: ({ last }) => (last ? 'the server publishes no counter that shows progress' : FIRST_READING),
    holds: ['kv_cache'],
    tells: ['waiting', 'running'],
    advise: restartHung,
  },
})

function throughputFall(snapshot: Snapshot, now: number): Measured {
  const running = snapshot.derived.numbers.running ?? 0
  if (running === 0) return UNKNOWN
  return fall(rateNow(snapshot), usual(snapshot.before.baselines[`tokens${bin(running)}`], now))
}

function noThroughputFall(snapshot: Snapshot): string {
  if ((snapshot.derived.numbers.running ?? 0) === 0) return 'nothing is running'
  if (!snapshot.window) return FIRST_READING
  return rateNow(snapshot) === undefined
    ? 'work goes on, its tokens are counted when a request ends'
    : `${SHORT_PAST} at this many running`
}
