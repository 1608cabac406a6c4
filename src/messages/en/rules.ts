import type { Catalogue, Fact, RuleTexts } from '../catalogue.ts'
import { failuresEn } from './failures.ts'
import { atLeast, limit, n, requests } from './numbers.ts'

const CANARIES: readonly (string | undefined)[] = ['ollama', 'openai']

/** A rule whose sentence is one number against its limit. */
function measured(
  sign: string,
  headline: string,
  over: string,
  what: string,
  write: (value: number) => string,
): RuleTexts {
  return {
    sign,
    headline: () => headline,
    now: ({ value, limit: max, atLeast: least }) =>
      value === undefined ? `${headline}.` : `${what} ${atLeast(least)}${write(value)}${limit(max, write)}.`,
    over,
    peak: (value, least) => `${atLeast(least)}${write(value)} at worst`,
  }
}

/** A rule without a number worth telling. */
function plain(sign: string, headline: string, sentence: string, over: string): RuleTexts {
  return { sign, headline: () => headline, now: () => sentence, over, peak: () => undefined }
}

/** A rule that counts events since the last run. */
function counted(sign: string, headline: string, over: string, what: (count: number) => string): RuleTexts {
  return {
    sign,
    headline: () => headline,
    now: ({ value }) => (value === undefined ? `${headline}.` : `${what(value)} since the last run.`),
    over,
    peak: (value) => `${n.count(value)} in one run at worst`,
  }
}

/** `42 requests are waiting (limit 20), 16 are running.` */
function queue({ value, limit: max, running }: Fact): string {
  if (value === undefined) return 'Requests are piling up.'
  const also = running === undefined ? '' : `, ${n.count(running)} ${running === 1 ? 'is' : 'are'} running`
  return `${requests(value)} ${value === 1 ? 'is' : 'are'} waiting${limit(max, n.count)}${also}.`
}

function growth({ value, waiting }: Fact): string {
  const more =
    value === undefined
      ? 'The queue has grown at each of the last runs'
      : `The queue grew by ${n.count(value)} over the last 5 runs`
  return `${more}${waiting === undefined ? '' : ` to ${n.count(waiting)}`}.`
}

function stalled({ running, waiting, value }: Fact): string {
  const parts = [
    running === undefined ? undefined : `${n.count(running)} running`,
    waiting === undefined ? undefined : `${n.count(waiting)} waiting`,
  ].filter((part) => part !== undefined)
  const runs = value === undefined ? '' : ` for ${n.count(value)} ${n.plural(value, { one: 'run', other: 'runs' })}`
  const work = parts.length > 0 ? `${parts.join(' and ')}, but no` : 'Work is reported, but no'
  return `${work} request finished and no token came${runs}: the engine hangs or its numbers are frozen.`
}

function hits({ value, usual }: Fact): string {
  if (value === undefined) return 'Prompts find less in the prefix cache than usual.'
  if (usual === undefined) return `The share of prompt tokens found in the prefix cache fell by ${n.percent(value)}.`
  const share = usual * Math.max(0, 1 - value)
  return `Prompt tokens found in the prefix cache: ${n.percent(share)}, usually ${n.percent(usual)}.`
}

function throughput({ value, usual, running }: Fact): string {
  if (value === undefined) return 'Fewer tokens come than usual for this much work.'
  const work = running === undefined ? '' : ` with ${n.count(running)} running`
  if (usual === undefined) return `Generation is ${n.percent(value)} slower than usual${work}.`
  const speed = usual * Math.max(0, 1 - value)
  return `${n.large(speed)} tok/s${work}, usually ${n.large(usual)} tok/s.`
}

function sibling({ value }: Fact): string {
  return value === undefined
    ? 'It answers slower than the other replicas of its group.'
    : `It answers ${n.times(value)}× slower than the median of its group.`
}

function down(fact: Fact): string {
  const tries =
    fact.value === undefined
      ? 'No usable answer'
      : `No usable answer ${n.count(fact.value)} ${n.plural(fact.value, { one: 'time', other: 'times' })} in a row`
  if (!fact.failure) return `${tries}.`
  return `${tries}: ${failuresEn[fact.failure.kind].words(fact.failure, CANARIES.includes(fact.backend))}.`
}

function blind({ missing, signals, sources, backend }: Fact): string {
  if (sources !== undefined)
    return `${sources} cannot be read or is not valid. Its last good list counts; new endpoints are not seen.`
  if (missing !== undefined) {
    if (backend === 'heartbeat-check') return `There is no worker “${missing}”.`
    return `There is no model “${missing}” on this server: its rules see nothing.`
  }
  if (signals !== undefined) return `The server answers, but does not publish: ${signals}. Rules on them see nothing.`
  return 'The server answers, but numbers that the rules need are missing.'
}

function heartbeat({ beat }: Fact): string {
  if (!beat) return 'No beat came in time.'
  const due = `expected every ${n.lasted(beat.interval)}, with ${n.lasted(beat.grace)} of grace`
  if (beat.failed) {
    const code = beat.failed.exit
    return code === undefined ? 'The worker reported a failure.' : `The worker reported a failure, exit code ${code}.`
  }
  if (beat.never) return `No beat ever came (${due}).`
  return beat.age === undefined
    ? `No beat came in time (${due}).`
    : `The last beat came ${n.lasted(beat.age)} ago (${due}).`
}

function heartbeatHeadline({ beat }: Fact): string {
  if (beat?.failed) return 'Worker failed'
  return beat?.never ? 'Worker never reported' : 'Worker is silent'
}

function gap({ gap: span }: Fact): string {
  if (!span) return 'The watcher itself did not run for a while.'
  return `Nothing was watched for ${n.lasted(span.length)}; a run is due every ${n.lasted(span.interval)}.`
}

export const rulesEn: Catalogue['rules'] = {
  waiting: {
    sign: '🐌',
    headline: () => 'Inference queue is growing',
    now: queue,
    over: 'Queue is short again',
    peak: (value) => `${n.count(value)} waiting at most`,
  },
  inflight: {
    sign: '🚦',
    headline: () => 'Admission limit reached',
    now: ({ value, limit: max, running, waiting }) => {
      if (value === undefined) return 'Waiting and running together have reached the limit.'
      const parts =
        running !== undefined && waiting !== undefined
          ? ` (${n.count(running)} running, ${n.count(waiting)} waiting)`
          : ''
      return `${requests(value)} inside${parts}${max === undefined ? '' : `, the limit is ${n.count(max)}`}.`
    },
    over: 'Below the admission limit again',
    peak: (value) => `${n.count(value)} inside at most`,
  },
  growth: {
    sign: '📈',
    headline: () => 'Queue keeps growing',
    now: growth,
    over: 'Queue no longer grows',
    peak: (value) => `up by ${n.count(value)} at most`,
  },
  queue_wait: measured('⏳', 'Requests wait long', 'Requests no longer wait long', 'Mean time in the queue', n.seconds),
  kv_cache: {
    sign: '📦',
    headline: () => 'KV cache is nearly full',
    now: ({ value, limit: max, at }) =>
      value === undefined
        ? 'The KV cache is nearly full.'
        : `KV cache ${n.percent(value)} full${limit(max, n.percent)}${at === undefined ? '' : `, fullest: ${at}`}.`,
    over: 'KV cache has room again',
    peak: (value) => `${n.percent(value)} at most`,
  },
  ttft: measured(
    '🐢',
    'First token comes late',
    'First token comes in time again',
    'Time to first token, p99:',
    n.seconds,
  ),
  itl: measured('🐢', 'Tokens come slowly', 'Tokens come at their pace again', 'Time per token, p99:', n.seconds),
  prefix_hits: {
    sign: '🎯',
    headline: () => 'Prefix cache hits fell',
    now: hits,
    over: 'Prefix cache hits are back',
    peak: (value) => `down by ${n.percent(value)} at worst`,
  },
  throughput: {
    sign: '📉',
    headline: () => 'Generation slowed down',
    now: throughput,
    over: 'Generation is back at its usual speed',
    peak: (value) => `down by ${n.percent(value)} at worst`,
  },
  stalled: {
    sign: '🧊',
    headline: () => 'Engine makes no progress',
    now: stalled,
    over: 'Work moves again',
    peak: () => undefined,
  },
  errors: measured('💥', 'Requests are failing', 'Requests succeed again', 'Failed requests:', n.percent),
  preemptions: measured('🔁', 'Requests are being preempted', 'Preemptions are back to normal', 'Preemptions:', n.rate),
  sibling: {
    sign: '🦥',
    headline: () => 'Slower than its siblings',
    now: sibling,
    over: 'As fast as its siblings again',
    peak: (value) => `${n.times(value)}× slower at worst`,
  },
  down: {
    sign: '🔴',
    headline: ({ failure, backend }) =>
      failure ? failuresEn[failure.kind].headline(failure, CANARIES.includes(backend)) : 'Server does not answer',
    now: down,
    over: 'Answers again',
    peak: () => undefined,
  },
  blind: {
    sign: '🙈',
    headline: ({ missing, sources, backend }) => {
      if (sources !== undefined) return 'The list of endpoints cannot be used'
      if (missing === undefined) return 'Metrics are missing'
      return backend === 'heartbeat-check' ? 'Worker is unknown' : 'Model is not on the server'
    },
    now: blind,
    over: 'Everything is visible again',
    peak: () => undefined,
  },
  gpu_memory: measured('💾', 'GPU memory is nearly full', 'GPU memory has room again', 'GPU memory', n.percent),
  gpu_temperature: measured('🔥', 'GPU is hot', 'GPU has cooled down', 'GPU at', (value) => `${n.count(value)} °C`),
  gpu_xid: {
    sign: '⚡',
    headline: ({ value }) => (value === undefined ? 'GPU reports an error' : `GPU error XID ${value}`),
    now: ({ value }) => (value === undefined ? 'The driver reports an error.' : `The driver reports XID ${value}.`),
    over: 'GPU no longer reports an error',
    peak: () => undefined,
  },
  gpu_lost: plain(
    '🕳️',
    'GPU has disappeared',
    'The exporter no longer lists a GPU that was here before.',
    'GPU is back',
  ),
  observer: plain(
    '👁️',
    'Gateway sees its engine badly',
    'The gateway calls its own view of the engine degraded.',
    'Gateway sees its engine again',
  ),
  upstream: plain(
    '🔌',
    'Upstream is unhealthy',
    'The gateway holds an upstream unhealthy.',
    'Upstream is healthy again',
  ),
  rejected: counted(
    '⛔',
    'Gateway refuses requests',
    'Gateway no longer refuses requests',
    (count) => `${requests(count)} refused at admission`,
  ),
  stale: counted(
    '🕰️',
    'Gateway works with stale engine state',
    'Gateway has fresh engine state again',
    (count) => `${n.count(count)} ${n.plural(count, { one: 'decision', other: 'decisions' })} on a stale engine state`,
  ),
  queue_full: counted(
    '🚧',
    "Gateway's queue is full",
    "Gateway's queue has room again",
    (count) => `${requests(count)} refused because the queue was full`,
  ),
  parked: counted(
    '🅿️',
    'Gateway parks requests',
    'Gateway no longer parks requests',
    (count) => `${requests(count)} parked at admission`,
  ),
  canary: {
    ...measured('🐤', 'Canary waits long', 'Canary is quick again', 'Our own request waited', n.seconds),
    now: ({ value, limit: max, backend }) => {
      if (value === undefined) return 'Our own request waited long.'
      const what = backend === 'openai' ? 'Our own request got its first token after' : 'Our own request waited'
      return `${what} ${n.seconds(value)}${limit(max, n.seconds)}.`
    },
  },
  busy: plain(
    '🚫',
    'Server refuses requests: queue is full',
    'The server refused our own request because its queue is full: users are being refused too.',
    'Server takes requests again',
  ),
  cold_load: measured('❄️', 'Model had to be loaded', 'Model stays loaded', 'Loading the model took', n.seconds),
  heartbeat: {
    sign: '💔',
    headline: heartbeatHeadline,
    now: heartbeat,
    over: 'Worker reports again',
    peak: () => undefined,
  },
  gap: {
    sign: '⏸️',
    headline: () => 'The watcher did not run',
    now: gap,
    over: 'The watcher runs again',
    peak: () => undefined,
  },
  'state-lost': plain(
    '🧩',
    'The saved state was gone',
    'The state object was deleted. Watching started anew: baselines are being learned, open alerts may be told again.',
    'State is back',
  ),
  'state-broken': plain(
    '🧩',
    'The saved state was unreadable',
    'The broken state was put aside and watching started anew: baselines are being learned, open alerts may be told again.',
    'State is back',
  ),
}
