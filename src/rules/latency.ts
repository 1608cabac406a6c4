import type { DerivedSignal } from '../model/notification.ts'
import { usual } from '../signals/baseline.ts'
import { countWithin, QUANTILE_AT_LEAST } from '../signals/quantile.ts'
import { SLO_AT_LEAST, sloShare } from '../signals/slo.ts'
import { lookAtGpu, ofEngine } from '../verdict/advice.ts'
import { type Measured, UNKNOWN } from './measured.ts'
import { ofEachModel, ofModel } from './per-model.ts'
import { base, MINUTE, type RuleSpec, ruleset } from './rule.ts'
import type { Snapshot } from './snapshot.ts'
import { FIRST_READING, judgedSince, NO_TRAFFIC, SHORT_PAST, tooFewObserved, widenedTo } from './unknown.ts'
import { timePerTokenOf } from './workload.ts'

const slow = { ...base, about: 'engine', sign: '🐢', idles: true } as const
const symptom = { ...slow, symptom: true } as const

export const latencyRules = ruleset({
  ttft: {
    ...symptom,
    ...quantileOf('ttft', 99),
    measure: ofEachModel('ttft', ({ derived }) => ({
      value: derived.numbers.ttft_p99,
      atLeast: derived.atLeast.includes('ttft_p99'),
    })),
    firesWhen: `the p99 of the time to first token in the window is above the limit; with fewer than ${QUANTILE_AT_LEAST} requests the window is widened, up to an hour; of each model where several share the server`,
    limit: 3,
    clear: 2,
    priority: 8,
    tells: ['ttft_p99'],
    delaysRequests: true,
    advise: ofEngine(),
  },
  itl: {
    ...symptom,
    ...quantileOf('itl', 99),
    firesWhen: 'the p99 of the time per output token in the window is above the limit',
    limit: undefined,
    for: 5 * MINUTE,
    priority: 6,
    advise: ofEngine(lookAtGpu),
  },
  token_time: {
    ...symptom,
    firesWhen:
      'the mean time per output token, at no more requests running than usual, rose above its own past by the limit',
    unit: 'times',
    breach: 'at-or-above',
    limit: 1.8,
    clear: 1.4,
    for: 10 * MINUTE,
    priority: 7,
    with: 'running',
    needs: { signals: ['itl', 'decode_seconds'], oneIsEnough: true, also: ['running'] },
    measure: (snapshot, _, { now }) => [slowerThanUsual(snapshot, now)],
    unknownReason: noTokenTime,
    compared: (usual) => `usually ${Number((usual * 1_000).toPrecision(3))} ms a token`,
    ownPast: true,
    tells: ['running'],
    advise: ofEngine(lookAtGpu),
  },
  queue_tail: {
    ...symptom,
    ...quantileOf('queue_wait', 95),
    firesWhen: 'the p95 of the time in the queue in the window is above the limit',
    about: 'queue',
    limit: undefined,
    priority: 7,
    delaysRequests: true,
    advise: ofEngine(),
  },
  e2e: {
    ...symptom,
    ...quantileOf('e2e', 99),
    firesWhen: 'the p99 of the time of a whole request in the window is above the limit',
    limit: undefined,
    for: 5 * MINUTE,
    priority: 6,
    advise: ofEngine(),
  },
  slo: {
    ...slow,
    firesWhen:
      'of the requests of the last hour, and of those in the window, a smaller share than the limit had its first token within `SLO_TTFT`, of at least 20 each; off where that is not set',
    sign: '🎚️',
    unit: 'share',
    breach: 'below',
    limit: 0.99,
    priority: 8,
    needs: { signals: ['ttft'] },
    measure: (snapshot, rule, { now }) => [objective(snapshot, rule.limit, now)],
    unknownReason: ({ last, after }) =>
      last ? (after.slo ? `fewer than ${SLO_AT_LEAST} requests in the window` : NO_TRAFFIC) : FIRST_READING,
    since: ({ after }) => after.slo?.[0]?.[0],
    describe: ({ endpoint }) => (endpoint.sloTtft === undefined ? {} : { within: endpoint.sloTtft }),
    delaysRequests: true,
    advise: ofEngine(),
  },
})

function slowerThanUsual(snapshot: Snapshot, now: number): Measured {
  const { baselines } = snapshot.before
  const [before, runs] = [usual(baselines.time, now), usual(baselines.running, now)]
  const value = timePerTokenOf(snapshot)
  if (value === undefined || before === undefined || runs === undefined || !(before > 0)) return UNKNOWN
  return isBusier(snapshot, runs) ? UNKNOWN : { value: value / before, usual: before }
}

/** A bigger batch alone makes each of its tokens slower. */
function isBusier({ derived }: Snapshot, usually: number): boolean {
  return (derived.numbers.running ?? 0) > Math.ceil(usually)
}

function noTokenTime(snapshot: Snapshot): string {
  if (!snapshot.last) return FIRST_READING
  if (timePerTokenOf(snapshot) === undefined) return 'too few tokens came'
  const known = snapshot.before.baselines
  return known.time && known.running && known.time.values.length >= 10 ? 'more requests run than usual' : SHORT_PAST
}

/** The better of the two: a bad hour that is over now is no alarm, and neither are five bad minutes in a good hour. */
function objective({ after, window, endpoint }: Snapshot, limit: number, now: number): Measured {
  const hour = after.slo && sloShare(after.slo, now)
  const ttft = window?.histograms.ttft
  const all = ttft?.counts.at(-1) ?? 0
  if (hour === undefined || !ttft || all < SLO_AT_LEAST || endpoint.sloTtft === undefined) return UNKNOWN
  const recent = countWithin(endpoint.sloTtft / 1_000, ttft) / all
  return { value: hour, judgement: hour < limit && recent < limit ? 'breach' : recent < limit ? 'between' : 'clear' }
}

/** What the rules by one quantile of a histogram share. */
function quantileOf<H extends 'ttft' | 'itl' | 'e2e' | 'queue_wait', P extends 95 | 99>(histogram: H, percent: P) {
  const name = `${histogram}_p${percent}` as DerivedSignal
  const numberOf = ({ derived }: Snapshot) => ({
    value: derived.numbers[name],
    atLeast: derived.atLeast.includes(name),
  })
  return {
    unit: 'seconds',
    needs: { signals: [histogram] },
    measure: (snapshot) => [numberOf(snapshot)],
    unknownReason: (snapshot, model) =>
      ofModel(snapshot, model).derived.atLeast.includes(name)
        ? "only known to be at least this: the limit is above the server's largest bucket"
        : tooFewObserved(histogram, QUANTILE_AT_LEAST, ofModel(snapshot, model)),
    decidedBy: { histogram, as: `p${percent}` },
    since: (snapshot, model) => judgedSince(ofModel(snapshot, model), histogram),
    describe: (snapshot, model) => widenedTo(ofModel(snapshot, model), histogram),
  } as const satisfies Partial<RuleSpec>
}
